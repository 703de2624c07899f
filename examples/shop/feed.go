package main

import (
	"cmp"
	"context"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
)

// newFeed keeps what happened in the shop's own database, so that a change and its event are written in one transaction:
// nobody hears of what was rolled back, and nothing that was acknowledged is missing. All contracts share it, so what was
// changed through one of them is told in each, in its shape.
//
// What is put into an empty shop is no event: nobody can listen before that, and lists have it.
func (c *collections) newFeed(ctx context.Context, s settings) (*feed.Feed, error) {
	log, err := c.newLog(ctx)
	changes := feed.New(log, &feed.Options{BookmarkInterval: s.bookmark, Logger: s.logger})
	if err != nil {
		return changes, err
	}
	// From here on lists know their place without asking the log. On PostgreSQL that may wait for transactions of others, and
	// the shop opens without it then.
	soon, cancel := context.WithTimeout(ctx, cmp.Or(s.patience, 10*time.Second))
	defer cancel()
	for range changes.Watch(soon, feed.Cursor{}, "orders") {
		break
	}
	return changes, nil
}

// newLog returns where events are kept: where everything else is.
func (c *collections) newLog(ctx context.Context) (feed.Log, error) {
	if c.db.sql == nil {
		return feed.NewMemory(&feed.MemoryOptions{Runner: c.db.memory}), nil
	}
	log := sqlfeed.New(c.db.sql, nil)
	return log, log.CreateTable(ctx)
}

// reportFeed returns the lines about events in the start-up report.
func reportFeed(c *collections) string {
	text := "events: kept for 24 hours, at most 1,000,000\n"
	if c.db.sql == nil {
		text += reportWeak(lostAtExit)
	}
	return text
}
