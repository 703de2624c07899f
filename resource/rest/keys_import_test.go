package rest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestCompositeImportLines checks which item a line names. One that lacks a field of the key names none:
// the zero of the field could be the key of another item.
func TestCompositeImportLines(t *testing.T) {
	t.Parallel()
	// line has no minimum for its number, so 0 is a valid one.
	type line struct {
		ID      string `json:"id" readOnly:"true" id:"orderId,lineNo"`
		OrderID string `json:"orderId"`
		LineNo  int    `json:"lineNo"`
		Product string `json:"product" required:"true"`
		Qty     int    `json:"qty"`
	}
	tests := []struct {
		name, text string
		want       string // of GET /7,0, or the code of the line
	}{
		{"whole key", `{"orderId":"7","lineNo":0,"product":"pen"}`, `"replaced":1`},
		{"id", `{"id":"7,0","product":"pen"}`, `"replaced":1`},
		{"id and key", `{"id":"7,0","orderId":"7","lineNo":0,"product":"pen"}`, `"replaced":1`},
		{"part of the key", `{"orderId":"7","product":"pen"}`, `"/lineNo","code":"required"`},
		{"other id", `{"id":"7,1","orderId":"7","lineNo":0,"product":"pen"}`, `"code":"mismatch"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := memory.New[line](nil)
			if _, err := store.Insert(t.Context(), "7,0", line{OrderID: "7", Product: "ink", Qty: 4}); err != nil {
				t.Fatal(err)
			}
			r := resource.New("lines", store, &resource.Options[line]{Public: true})
			result, err := r.Import(t.Context(), strings.NewReader(tt.text+"\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(result), tt.want) {
				t.Errorf("result %s, want %s", result, tt.want)
			}
			want := line{ID: "7,0", OrderID: "7", Product: "ink", Qty: 4}
			if strings.Contains(tt.want, "replaced") {
				want.Product, want.Qty = "pen", 0
			}
			got, err := store.Get(t.Context(), "7,0")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Value); diff != "" {
				t.Errorf("the stored item (-want +got):\n%s", diff)
			}
		})
	}
}
