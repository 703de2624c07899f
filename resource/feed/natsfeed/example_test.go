package natsfeed_test

import (
	"context"
	"fmt"
	"log"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
)

// In an application, source is the log of the database from sqlfeed.New. NATS cannot be reached in
// this example, and events are delivered without it.
func ExampleNew() {
	nc, err := nats.Connect("nats://127.0.0.1:14222", nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	events := natsfeed.New(feed.NewMemory(nil), js, &natsfeed.Options{Replicas: 3})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go events.Run(ctx)
	changes := feed.New(events, nil)
	defer changes.Close()

	at, err := changes.Position(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := changes.Append(ctx,
		&feed.Event{Kind: feed.Created, Collection: "orders", ID: "7"}); err != nil {
		log.Fatal(err)
	}
	for e, err := range changes.Watch(ctx, at, "orders") {
		if err != nil {
			log.Fatal(err)
		}
		if e.Kind == feed.Created {
			fmt.Println(e.Kind, e.ID)
			break
		}
	}
	// Output: created 7
}
