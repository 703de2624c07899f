package resource_test

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// stampsAt returns a time of the test.
func stampsAt(minutes int) time.Time { return time.Date(2026, 11, 25, 12, minutes, 0, 0, time.UTC) }

// stamped has all fields that the write path sets.
type stamped struct {
	ID         string     `json:"id"`
	Title      string     `json:"title"`
	CreatedAt  time.Time  `json:"createdAt" set:"created"`
	ModifiedAt *time.Time `json:"modifiedAt" set:"modified"`
	CreatedBy  string     `json:"createdBy" set:"createdBy"`
	ModifiedBy *string    `json:"modifiedBy" set:"modifiedBy"`
}

// TestStampsWithoutCatalog: there is no principal, and the times are set.
func TestStampsWithoutCatalog(t *testing.T) {
	t.Parallel()
	now := stampsAt(0).Add(1500 * time.Nanosecond).In(time.FixedZone("", 3600))
	notes := resource.New("notes", memory.New[stamped](nil), &resource.Options[stamped]{
		Now: func() time.Time { return now }})
	e, err := notes.Create(t.Context(), []byte(`{"id":"1"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := stampsAt(0).Add(time.Microsecond)
	same(t, "item", &stamped{ID: "1", CreatedAt: at, ModifiedAt: &at}, e.Value)
}
