package resource_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

func TestSmokeEvents(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	log := feed.NewMemory(&feed.MemoryOptions{Runner: db})
	f := feed.New(log, nil)
	defer f.Close()
	start, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := resource.New("things", memory.New(&memory.Options[thing]{DB: db}), nil)
	resource.NewCatalog(&resource.CatalogOptions{Feed: f}, r)
	e, _, err := r.Put(t.Context(), "7", []byte(`{"id":"7","name":"a"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.Delete(t.Context(), e.ID, nil); err != nil {
		t.Fatal(err)
	}
	events, _, err := log.Tail(context.Background(), start, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, e.Kind.String()+" "+e.ID+" "+string(e.Before)+" -> "+string(e.After))
	}
	if diff := cmp.Diff([]string{"x"}, got); diff != "" {
		t.Log(diff)
	}
}
