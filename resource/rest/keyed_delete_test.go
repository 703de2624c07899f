package rest_test

import "testing"

// TestRuleD04RepeatsUnderAKey: a retry with the same key receives the 204 again, and any other
// request 410.
func TestRuleD04RepeatsUnderAKey(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, level)
			if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
				t.Fatal(err)
			}
			v2, v1 := d.open(t)
			for i, tt := range []struct {
				key, replayed string
				status        int
			}{
				{keyField("a"), "", 204}, {keyField("a"), "true", 204}, {keyField("b"), "", 410}, {keyField("b"), "", 410},
				{"Prefer: return=minimal", "", 410}, {keyField("a"), "true", 204},
			} {
				h := v2
				if i == 5 {
					h = v1 // it is the same key in an older contract
				}
				got := send(t, h, "DELETE /memos/1", asAnn, tt.key)
				want(t, got, tt.status)
				if replayed := got.header.Get("Idempotency-Replayed"); replayed != tt.replayed {
					t.Errorf("%d: Idempotency-Replayed is %q, want %q", i, replayed, tt.replayed)
				}
			}
			if n := d.count(t); n != 0 {
				t.Errorf("there are %d memos", n)
			}
		})
	}
}
