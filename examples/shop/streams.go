package main

// The sessions of users, and the event streams that end with them. sessions.go has the commands.

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/tx"
)

// newSessions returns the sessions of bearer tokens. Each request is authenticated: writes other than
// login require a token. Requests to /graphql are always POST, so there the policies of the resources
// decide.
func (c *collections) newSessions() *middleware.Sessions[User] {
	return middleware.NewSessions(c.findSessions, &middleware.SessionsOptions{
		AuthenticateOptions: middleware.AuthenticateOptions{
			Realm: realm,
			// The path may begin with that of a contract.
			Required: func(r *http.Request) bool {
				return middleware.Writes(r) && !strings.HasSuffix(r.URL.EscapedPath(), "/auth/login") &&
					!asksGraphQL(r)
			},
			// A public response that depends on the token must not be served to callers with another
			// one.
			Vary:   strings.Contains(c.cache, "public"),
			Stream: isStream,
		},
		Now: func() time.Time { return c.now() },
		// Memory needs no batches.
		Unbatched: func(ctx context.Context) bool { return tx.Active(ctx) || c.db.sql == nil },
	})
}

// findSessions returns the sessions of valid tokens, if their users are active.
func (c *collections) findSessions(ctx context.Context,
	tokens []string) (map[string]middleware.Session[User], error) {
	byID := make(map[string]string, len(tokens))
	for _, token := range tokens {
		byID[tokenID(token)] = token
	}
	ofUser := map[string][]Token{}
	for kept, err := range c.tokens.GetMany(ctx, slices.Collect(maps.Keys(byID))) {
		if err != nil {
			return nil, err
		}
		user := strconv.FormatInt(kept.Value.UserID, 10)
		ofUser[user] = append(ofUser[user], kept.Value)
	}
	found := make(map[string]middleware.Session[User], len(tokens))
	for it, err := range c.users.GetMany(ctx, slices.Collect(maps.Keys(ofUser))) {
		if err != nil {
			return nil, err
		}
		if !it.Value.Active {
			continue
		}
		for _, kept := range ofUser[it.ID] {
			found[byID[kept.ID]] = middleware.Session[User]{
				Principal: it.ID, Expires: kept.ExpiresAt, Claims: it.Value,
			}
		}
	}
	return found, nil
}

// endedSessions is the name under which ended sessions are published in the feed. It is not a
// collection, so clients cannot subscribe to it.
const endedSessions = "sessions"

// endStreams ends streams when the feed reports a change of their users, in this process or another:
// each event checks the permissions of its subscribers, but an idle stream has no events. It returns
// when the feed is closed.
func (c *collections) endStreams(ctx context.Context, collection string) {
	for ctx.Err() == nil {
		for e, err := range c.changes.Watch(ctx, feed.Cursor{}, collection) {
			if errors.Is(err, feed.ErrClosed) {
				return
			}
			if err != nil {
				break // the next subscription begins with a bookmark, which checks all streams
			}
			// The ID of a bookmark is empty. If the database fails, the next bookmark checks again.
			c.sessions.Check(ctx, e.ID)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
