package stamps_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/stamps"
	"github.com/stoa-go/stoa/resource/schema"
)

type user string

type audit struct {
	Created time.Time `json:"created" set:"created"`
	By      *user     `json:"by" set:"createdBy"`
}

type note struct {
	ID string `json:"id"`
	audit
	Modified *time.Time `json:"modified" set:"modified"`
	Last     user       `json:"last" set:"modifiedBy"`
}

func at(seconds int) time.Time { return time.Date(2026, 11, 25, 12, 0, seconds, 0, time.UTC) }

func ref[T any](v T) *T { return &v }

func TestSet(t *testing.T) {
	t.Parallel()
	fields := stamps.Of(schema.For[note]())
	first := note{ID: "1", audit: audit{at(0), ref(user("ann"))}, Modified: ref(at(5)), Last: "ann"}
	tests := []struct {
		name   string
		before *note
		now    time.Time
		caller string
		want   note
	}{
		{"creation", nil, at(1).Add(1500), "ann",
			note{audit: audit{at(1).Add(1000), ref(user("ann"))}, Modified: ref(at(1).Add(1000)), Last: "ann"}},
		{"anonymous creation", nil, at(1), "", note{audit: audit{at(1), nil}, Modified: ref(at(1))}},
		{"change", &first, at(9), "bob", note{audit: first.audit, Modified: ref(at(9)), Last: "bob"}},
		{"clock set back", &first, at(2), "bob", note{audit: first.audit, Modified: ref(at(5)), Last: "bob"}},
		{"local time", nil, at(3).In(time.FixedZone("", 3600)), "", note{audit: audit{at(3), nil}, Modified: ref(at(3))}},
		{"stamps of another row", &note{}, at(4), "bob", note{Modified: ref(at(4)), Last: "bob"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := note{audit: audit{at(30), ref(user("eve"))}, Modified: ref(at(30)), Last: "eve"}
			var before any
			if tt.before != nil {
				before = tt.before
			}
			fields.Set(before, &got, tt.now, func() string { return tt.caller })
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(note{})); diff != "" {
				t.Errorf("Set (-want +got):\n%s", diff)
			}
		})
	}
	if first.Modified.Equal(at(9)) || *first.By != "ann" {
		t.Errorf("Set has changed the item before: %+v", first)
	}
}
