package main

import (
	"cmp"
	"context"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
)

// newFeed returns the feed of changes. Its log is in the shop's database, so a change and its event
// commit in one transaction: a change that is rolled back has no event, and no event is lost. All
// contracts share the feed, and each shows events in its own representation.
//
// Seeding appends no events, because it writes to the stores directly and not through the
// resources.
//
// The feed is returned with an error, too, so that the caller can close it.
func (c *collections) newFeed(ctx context.Context, s settings) (*feed.Feed, error) {
	log, err := c.newLog(ctx)
	changes := feed.New(log, &feed.Options{BookmarkInterval: s.bookmark, Logger: s.logger})
	if err != nil {
		return changes, err
	}
	// The first bookmark of Watch arrives when the feed has read its position. Lists then take
	// their cursor from memory; before, each would query the log. On PostgreSQL the read may wait
	// for transactions of other clients, so the shop starts without it after the timeout.
	waiting, cancel := context.WithTimeout(ctx, cmp.Or(s.patience, 10*time.Second))
	defer cancel()
	for range changes.Watch(waiting, feed.Cursor{}, "orders") {
		break
	}
	return changes, nil
}

// newLog returns the log of events, stored with the collections. A store of another kind needs a
// [feed.Log] in the same database; package feedtest tests it.
func (c *collections) newLog(ctx context.Context) (feed.Log, error) {
	if c.db.sql == nil {
		return feed.NewMemory(&feed.MemoryOptions{Runner: c.db.memory}), nil
	}
	log := sqlfeed.New(c.db.sql, nil)
	return log, log.CreateTable(ctx)
}

// reportFeed returns the lines about events in the start-up report. The numbers are the defaults of
// [feed.Options]: Retention and MaxEvents.
func reportFeed(c *collections) string {
	text := "events: kept for 24 hours, at most 1,000,000\n"
	if c.db.sql == nil {
		text += reportWeak(lostAtExit)
	}
	return text
}
