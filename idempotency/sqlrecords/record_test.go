package sqlrecords_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/sqlrecords"
)

// TestEncode shows the text, which people may read in the table.
func TestEncode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		rec  idempotency.Record
		want []string
	}{
		{"nothing", idempotency.Record{Status: 204}, nil},
		{"an item", idempotency.Record{Status: 201, Media: "application/json", Result: []byte("{}"), Collection: "orders", ID: "7", Rev: "r1",
			Header: http.Header{"Location": {"/orders/7"}}, Done: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)},
			[]string{`":done" "2026-01-02T03:04:05.000006Z"`, `":media" "application/json"`, `":collection" "orders"`, `":id" "7"`,
				`":rev" "r1"`, `"Location" "/orders/7"`}},
		{"fields in order", idempotency.Record{Header: http.Header{"Link": {"<b>", "<a>"}, "ETag": {`"x"`}}},
			[]string{`"ETag" "\"x\""`, `"Link" "<b>"`, `"Link" "<a>"`}},
		{"what is no text", idempotency.Record{ID: "\x00\n\xff", Rev: "größe"}, []string{`":id" "\x00\n\xff"`, `":rev" "gr\u00f6\u00dfe"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := sqlrecords.Encode(tt.rec)
			lines := strings.Split(text, "\n")
			if diff := cmp.Diff(tt.want, lines[:len(lines)-1], cmp.Transformer("nil", func(l []string) string { return strings.Join(l, "\n") })); diff != "" {
				t.Errorf("the text (-want +got):\n%s", diff)
			}
			tt.rec.Status, tt.rec.Result = 0, nil // which have columns of their own
			back, err := sqlrecords.Decode(text)
			if diff := cmp.Diff(tt.rec, back); diff != "" || err != nil {
				t.Errorf("what comes back, with the error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", `"x"`, `"x" `, `"x" y`, `"x""y"`, `"x" "y" `, `"x"  "y"`, `":done" "yesterday"`, "\n", `"x" "y` + "\n\""} {
		if rec, err := sqlrecords.Decode(text); err == nil {
			t.Errorf("Decode(%q) is %+v, want an error", text, rec)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`":id" "7"` + "\n" + `"Location" "/orders/7"` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		rec, err := sqlrecords.Decode(text)
		if err != nil {
			return
		}
		back, err := sqlrecords.Decode(sqlrecords.Encode(rec))
		if diff := cmp.Diff(rec, back); diff != "" || err != nil {
			t.Errorf("a record does not come back, with the error %v (-want +got):\n%s", err, diff)
		}
	})
}
