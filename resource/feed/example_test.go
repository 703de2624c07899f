package feed_test

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/resource/feed"
)

func ExampleNew() {
	log := feed.NewMemory(nil)
	f := feed.New(log, nil)
	defer f.Close()
	ctx := context.Background()

	// Take the position before reading the data: the feed delivers every change that the data
	// lacks.
	position, err := f.Position(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	log.Append(ctx,
		&feed.Event{Kind: feed.Created, Collection: "orders", ID: "7"},
		&feed.Event{Kind: feed.Created, Collection: "users", ID: "ann"},
		&feed.Event{Kind: feed.Deleted, Collection: "orders", ID: "7"})

	for e, err := range f.Watch(ctx, position, "orders") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v %q\n", e.Kind, e.ID)
		if e.Kind == feed.Deleted {
			break
		}
	}
	// Output:
	// bookmark ""
	// created "7"
	// deleted "7"
}

func ExampleEvent_Memo() {
	type upper struct{}
	e := &feed.Event{After: []byte(`{"id":7}`)}
	for range 3 { // subscribers
		frame := e.Memo(upper{}, func() any {
			fmt.Println("encoded once")
			return fmt.Sprintf("data: %s", e.After)
		}).(string)
		fmt.Println(frame)
	}
	// Output:
	// encoded once
	// data: {"id":7}
	// data: {"id":7}
	// data: {"id":7}
}
