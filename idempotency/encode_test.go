package idempotency_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stoa-go/stoa/idempotency"
)

// TestEncodeRecord shows the encoding, which operators may read in the table.
func TestEncodeRecord(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		rec  idempotency.Record
		want string
	}{
		{"nothing", idempotency.Record{}, ""},
		{"a deletion", idempotency.Record{Status: 204}, "\":status\" \"204\"\n"},
		{
			"an item",
			idempotency.Record{
				Status:     201,
				Media:      "application/json",
				Result:     []byte("{\n\n}"),
				Collection: "orders",
				ID:         "7",
				Rev:        "r1",
				Header: http.Header{
					"Location": {"/orders/7"},
				},
				Done: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
			},
			`":status" "201"
":done" "2026-01-02T03:04:05.000006Z"
":media" "application/json"
":collection" "orders"
":id" "7"
":rev" "r1"
"Location" "/orders/7"

{

}`,
		},
		{"fields in order", idempotency.Record{Header: http.Header{"Link": {"<b>", "<a>"}, "ETag": {`"x"`}}},
			`"ETag" "\"x\""
"Link" "<b>"
"Link" "<a>"
`},
		{"what is no text", idempotency.Record{ID: "\x00\n\xff", Rev: "größe"}, `":id" "\x00\n\xff"
":rev" "gr\u00f6\u00dfe"
`},
		{"a result of its own", idempotency.Record{Result: []byte("\n")}, "\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := idempotency.EncodeRecord(tt.rec)
			if diff := cmp.Diff(tt.want, string(text)); diff != "" {
				t.Errorf("the bytes (-want +got):\n%s", diff)
			}
			back, err := idempotency.DecodeRecord(text)
			if diff := cmp.Diff(tt.rec, back); diff != "" || err != nil {
				t.Errorf("decoded record, with the error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	t.Parallel()
	lines := []string{
		"x",
		`"x"`,
		`"x" `,
		`"x" y`,
		`"x""y"`,
		`"x" "y" `,
		`"x"  "y"`,
		`":done" "yesterday"`,
		`":status" "ok"`,
		` `,
	}
	for _, line := range lines {
		if rec, err := idempotency.DecodeRecord([]byte(line + "\n")); err == nil {
			t.Errorf("DecodeRecord of the line %q is %+v, want an error", line, rec)
		}
	}
	if rec, err := idempotency.DecodeRecord([]byte(`":id" "7"`)); err == nil {
		t.Errorf("DecodeRecord of a line without an end is %+v, want an error", rec)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`":id" "7"` + "\n" + `"Location" "/orders/7"` + "\n\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rec, err := idempotency.DecodeRecord(text)
		if err != nil {
			return
		}
		back, err := idempotency.DecodeRecord(idempotency.EncodeRecord(rec))
		if diff := cmp.Diff(rec, back, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("a record does not come back, with the error %v (-want +got):\n%s", err, diff)
		}
	})
}
