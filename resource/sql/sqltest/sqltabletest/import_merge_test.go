package sqltabletest

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// TestImportMerge: with mode=merge a row keeps the columns that its line does not have, also those that refer
// to other rows and unique ones.
func TestImportMerge(t *testing.T) {
	const content = `{"id":"rex","name":"King"}` + "\n" + `{"id":"fido","ownerId":"ann","tag":"G"}` + "\n" +
		`{"id":"x","tag":"T"}` + "\n" + `{"id":"y","name":"Y"}` + "\n"
	ann := "ann"
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range []struct {
			query, content, result string
			rex, fido              dog
		}{
			{"mode=merge", content, "1 2; 3: 422 /name required", dog{"rex", "King", "R", &ann}, dog{"fido", "Fido", "G", &ann}},
			{"mode=merge&atomic=true", content, "3: 422 /name required", dog{"rex", "Rex", "R", &ann}, dog{"fido", "Fido", "F", nil}},
			{"mode=merge", `{"id":"fido","tag":"R"}` + "\n" + `{"id":"rex","ownerId":null}`, "0 1; 1: 409 /tag taken",
				dog{"rex", "Rex", "R", nil}, dog{"fido", "Fido", "F", nil}},
		} {
			h, ops := dogs(t, e, nil)
			created := 0
			w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/dogs/import?"+tt.query, strings.NewReader(tt.content))
			r.Header.Set("Content-Type", "application/x-ndjson")
			h.ServeHTTP(w, r)
			if diff := cmp.Diff(tt.result, importSummary(t, w, &created)); diff != "" {
				t.Errorf("%s: result (-want +got):\n%s", tt.query, diff)
			}
			for _, want := range []dog{tt.rex, tt.fido} {
				got, err := ops.Get(t.Context(), want.ID)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.Value); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tt.query, want.ID, diff)
				}
			}
		}
	})
}
