package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/report"
)

func TestBrief(t *testing.T) {
	t.Parallel()
	const full = `files: /tmp/a
    a detail
    weak: lost at exit
/a  GET, HEAD, QUERY, POST, OPTIONS
/a/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS
    store: Creator
    keys: exactly once: a reason
    keys: another
    feed: after each write: a reason
    weak: open
/a/do  POST, OPTIONS
    command: input nothing, output nothing
/b  a lookup of /a
/c  OPTIONS
/c/{id}  GET, HEAD, OPTIONS
    weak: open
/d  7 fields of 2 types
/a
    weak: open
    weak: public
weak: no Principal
database: SQLite
    weak: lost at exit
`
	const want = `files: /tmp/a
database: SQLite
/a  GET POST PUT PATCH DELETE; keys: exactly once; events: after each write
/a/do  POST
/b  a lookup of /a
/c  GET
/d  7 fields of 2 types
weak: files database: lost at exit
weak: /a /c: open
weak: /a: public
weak: no Principal
`
	if diff := cmp.Diff(want, report.Brief(full)); diff != "" {
		t.Errorf("brief report (-want +got):\n%s", diff)
	}
}
