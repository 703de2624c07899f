package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/tx"
)

// TestRule142ImportDigest: content that does not match its digest stores nothing, with or without a key, and the
// key is free for the right content.
func TestRule142ImportDigest(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat(`{"title":"a"}`+"\n", 600) // more than one chunk
	digest := "Content-Digest: sha-256=:" + digestOf(lines) + ":"
	for _, key := range []string{"X-No-Key: x", keyField("k")} {
		d := newDesk(t, idempotency.AtMostOnce)
		h := d.withParts(t)
		wantProblem(t, send(t, h, "POST /memos/import", asAnn, key, linesBody, digest, "", lines[:len(lines)-14]),
			problem.DigestMismatch)
		same(t, "memos after "+key, 0, d.count(t))
		want(t, send(t, h, "POST /memos/import", asAnn, key, linesBody, digest, "", lines), http.StatusOK,
			"Idempotency-Replayed:")
		same(t, "memos after "+key, 600, d.count(t))
	}
}

// importProblem is the problem of an import that ended early.
type importProblem struct {
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Created  int    `json:"created"`
	Replaced int    `json:"replaced"`
	Rejected []struct {
		Line int `json:"line"`
	} `json:"rejected"`
}

// TestRule142ImportThatEndsEarly: a repetition continues if all lines have ids. Otherwise it stores nothing, and
// the problem names the lines that are to be sent.
func TestRule142ImportThatEndsEarly(t *testing.T) {
	t.Parallel()
	const (
		safe    = " All lines have ids, so the import can be repeated."
		unsafe  = " Send the lines after line 501 as a new import, because lines without an id would be stored twice."
		unsure  = " It is not known whether lines after line 501 were stored, too."
		down    = "The service is temporarily unavailable; retry after 1 second."
		downNow = "The service is temporarily unavailable."
		outcome = "It is not known whether the write was committed. Read the current state before you repeat it."
		tooMany = "The import has more than the limit of 600 lines."
	)
	tests := []struct {
		name          string
		ids           bool
		lines, stop   int // the line that the store fails at
		fault         error
		bulk          bool // whether chunks have transactions
		first, again  int  // status
		detail        string
		stored, after int // items, and after the repetition
	}{
		{name: "ids", ids: true, lines: 600, stop: 551, fault: resource.ErrUnavailable,
			first: 503, again: 200, detail: down + " 549 items were stored." + safe, stored: 549, after: 599},
		{name: "ids, a chunk that is rolled back", ids: true, lines: 600, stop: 551, fault: resource.ErrUnavailable,
			bulk: true, first: 503, again: 200, detail: down + " 499 items were stored." + safe, stored: 499, after: 599},
		{name: "ids, an unknown commit", ids: true, lines: 600, stop: 551, fault: tx.ErrOutcomeUnknown, bulk: true,
			first: 503, again: 200, detail: downNow + " 499 items were stored." + safe, stored: 499, after: 599},
		{name: "ids, an unknown first commit", ids: true, lines: 10, stop: 2, fault: tx.ErrOutcomeUnknown, bulk: true,
			first: 503, again: 200, detail: downNow + " 0 items were stored." + safe, after: 9},
		{name: "ids, a caller that must sign in", ids: true, lines: 600, stop: 551, fault: resource.ErrUnauthenticated,
			first: 401, again: 200, detail: "The operation requires authentication. 549 items were stored." + safe,
			stored: 549, after: 599},
		{name: "ids, too many lines", ids: true, lines: 601,
			first: 413, again: 413, detail: tooMany + " 499 items were stored." + safe, stored: 499, after: 499},
		{name: "no ids", lines: 600, stop: 551, fault: resource.ErrUnavailable, first: 503, again: 409,
			detail: down + " 549 items were stored." + strings.Replace(unsafe, "501", "550", 1), stored: 549, after: 549},
		{name: "no ids, a chunk that is rolled back", lines: 600, stop: 551, fault: resource.ErrUnavailable, bulk: true,
			first: 503, again: 409, detail: down + " 499 items were stored." + strings.Replace(unsafe, "501", "500", 1),
			stored: 499, after: 499},
		{name: "no ids, an unknown commit", lines: 600, stop: 551, fault: tx.ErrOutcomeUnknown, bulk: true,
			first: 503, again: 409, detail: outcome + " 499 items were stored." + strings.Replace(unsure, "501", "500", 1),
			stored: 499, after: 499},
		{name: "no ids, a caller that must sign in", lines: 600, stop: 551, fault: resource.ErrUnauthenticated,
			first: 401, again: 409, stored: 549, after: 549, detail: "The operation requires authentication. " +
				"549 items were stored." + strings.Replace(unsafe, "501", "550", 1)},
		{name: "no ids, too many lines", lines: 601, first: 413, again: 413, stored: 499, after: 499,
			detail: tooMany + " 499 items were stored." + strings.Replace(unsafe, "501", "500", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var fault error
			inner := resource.OpsOf(memory.New[village](nil))
			ops := inner
			fails := func(items ...village) error {
				for _, v := range items {
					if v.Name == fmt.Sprint("V", tt.stop) && fault != nil {
						return fault
					}
				}
				return nil
			}
			ops.Create = func(ctx context.Context, v village) (resource.Item[village], error) {
				if err := fails(v); err != nil {
					return resource.Item[village]{}, err
				}
				return inner.Create(ctx, v)
			}
			ops.Insert = func(ctx context.Context, id string, v village) (resource.Item[village], error) {
				if err := fails(v); err != nil {
					return resource.Item[village]{}, err
				}
				return inner.Insert(ctx, id, v)
			}
			ops.InsertMany = func(ctx context.Context, items []resource.Item[village]) error {
				for _, item := range items {
					if err := fails(item.Value); err != nil {
						return err
					}
				}
				return inner.InsertMany(ctx, items)
			}
			if !tt.bulk {
				ops.Transactions = nil
			}
			r := ops.Resource("villages", &resource.Options[village]{Public: true})
			h := byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Principal: caller,
				Limits:      resource.Limits{ImportLines: 600},
				Idempotency: idempotency.New(idempotency.NewMemory(nil), nil)}, r, command.NewImport("villages/import", r)), nil))
			var lines strings.Builder
			for i := range tt.lines {
				switch {
				case i == 2:
					lines.WriteString(`{"id":"bad","name":7}` + "\n")
				case tt.ids:
					fmt.Fprintf(&lines, `{"id":"v%d","name":"V%d"}`+"\n", i+1, i+1)
				default:
					fmt.Fprintf(&lines, `{"name":"V%d"}`+"\n", i+1)
				}
			}
			count := func() int {
				return strings.Count(send(t, h, "GET /villages", asAnn, "Accept: application/x-ndjson").body, "\n")
			}
			fault = tt.fault
			first := send(t, h, "POST /villages/import", asAnn, keyField("k"), linesBody, "", lines.String())
			want(t, first, tt.first)
			got := value[importProblem](t, first)
			same(t, "detail", tt.detail, got.Detail)
			same(t, "items in the problem", tt.stored, got.Created+got.Replaced)
			if tt.stored > 0 && (len(got.Rejected) != 1 || got.Rejected[0].Line != 3) {
				t.Errorf("rejected lines %v, want line 3", got.Rejected)
			}
			same(t, "items", tt.stored, count())
			fault = nil
			again := send(t, h, "POST /villages/import", asAnn, keyField("k"), linesBody, "", lines.String())
			want(t, again, tt.again)
			if !tt.ids {
				want(t, again, tt.again, "Idempotency-Replayed: true")
				repeated := value[importProblem](t, again)
				got.Status = tt.again
				same(t, "the repeated problem", got, repeated)
			}
			same(t, "items after the repetition", tt.after, count())
		})
	}
}

// TestRule142ResultsNotKept: the record of a result that is too large has what fits, and a replay that would
// lack its content is a problem.
func TestRule142ResultsNotKept(t *testing.T) {
	t.Parallel()
	const notKept = `{"type":"https://stoa-go.github.io/problems/conflict","title":"Conflict","status":409,` +
		`"detail":"The first request with this key was answered with status 200, and its content was not kept. ` +
		`Do not send it again with another key.","firstStatus":200}`
	long := func(context.Context, nothing) (village, error) { return village{Name: strings.Repeat("x", 2000)}, nil }
	declined := func(ctx context.Context, _ nothing) (tidyOut, error) {
		idempotency.RecordRefusal(ctx)
		d := problem.New(problem.Conflict, "declined")
		d.Errors = []problem.Violation{{Code: "long", Detail: strings.Repeat("x", 2000)}}
		return tidyOut{}, d
	}
	bad := strings.Repeat(`{"name":7}`+"\n", 20) + `{"id":"a","name":"A"}` + "\n"
	tests := []struct {
		name, line string
		max        int
		rest       []string
		first      int
		status     int
		check      func(t *testing.T, first, again *response)
	}{
		{"import", "POST /villages/import", 1000, []string{linesBody, "", bad}, 200, 200,
			func(t *testing.T, first, again *response) {
				type result struct {
					Created       int              `json:"created"`
					Rejected      []map[string]any `json:"rejected"`
					RejectedTotal int              `json:"rejectedTotal"`
				}
				one, two := value[result](t, first), value[result](t, again)
				if n := len(two.Rejected); len(one.Rejected) != 20 || n == 0 || n == 20 || len(again.body) > 1000 ||
					len(first.body)/20*(n+1) < 900 || two.RejectedTotal != 20 || two.Created != 1 {
					t.Errorf("%d of %d rejected lines in %s", n, len(one.Rejected), again.body)
				}
			}},
		{"import, nothing fits", "POST /villages/import", 10, []string{linesBody, "", bad}, 200, 409, nil},
		{"command", "POST /villages/long", 1000, []string{jsonBody, "", "{}"}, 200, 409, nil},
		{"batch", "POST /villages", 10, []string{batchBody, "", operations(`{"op":"create","value":{"name":"a"}}`)}, 200, 409, nil},
		{"refusal", "POST /villages/declined", 1000, []string{jsonBody, "", "{}"}, 409, 409,
			func(t *testing.T, _, again *response) {
				same(t, "body", `{"type":"https://stoa-go.github.io/problems/conflict","title":"Conflict","status":409,`+
					`"detail":"declined"}`, strings.TrimSpace(again.body))
			}},
		{"refusal, nothing fits", "POST /villages/declined", 10, []string{jsonBody, "", "{}"}, 409, 409,
			func(t *testing.T, _, again *response) {
				same(t, "body", strings.ReplaceAll(notKept, "200", "409"), strings.TrimSpace(again.body))
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, public := villages(), &command.Options[nothing]{Public: true}
			h := keyedCatalog(idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{MaxResult: tt.max}), r,
				command.NewImport("villages/import", r), command.New("villages/long", long, public),
				command.New("villages/declined", declined, public))
			fields := append([]string{asAnn, keyField("k")}, tt.rest...)
			first := send(t, h, tt.line, fields...)
			want(t, first, tt.first)
			again := send(t, h, tt.line, fields...)
			want(t, again, tt.status)
			if tt.check != nil {
				tt.check(t, first, again)
			} else {
				same(t, "body", notKept, strings.TrimSpace(again.body))
			}
		})
	}
}
