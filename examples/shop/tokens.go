package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Token is a bearer token as the shop keeps it, in a table, so that one shop knows the tokens of another on the same
// database. Whoever reads the table cannot log in with what is there.
type Token struct {
	ID        string    `json:"id"` // the SHA-256 of the token, in hexadecimal
	UserID    int64     `json:"userId"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// tokenLife is how long a token is good for.
const tokenLife = 12 * time.Hour

// newToken gives a user a token. A hash without salt is enough: there is no guessing 256 random bits.
func (c *collections) newToken(ctx context.Context, user int64) (token string, expires time.Time, err error) {
	token, expires = rand.Text()+rand.Text(), toMillisecond(c.now().Add(tokenLife))
	id := tokenID(token)
	_, err = c.tokens.Insert(ctx, id, Token{ID: id, UserID: user, ExpiresAt: expires})
	return token, expires, err
}

func tokenID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// userOfToken returns the active user to whom a token was given, and until when it is good, or
// [resource.ErrUnauthenticated]. id is what tokenID returns.
func (c *collections) userOfToken(ctx context.Context, id string) (user User, expires time.Time, err error) {
	kept, err := c.tokens.Get(ctx, id)
	if err == nil && c.now().Before(kept.Value.ExpiresAt) {
		user, err = c.activeUser(ctx, strconv.FormatInt(kept.Value.UserID, 10))
		return user, kept.Value.ExpiresAt, err
	}
	if err == nil || isAbsent(err) {
		err = resource.ErrUnauthenticated
	}
	return User{}, time.Time{}, err
}

// activeUser returns a user who may still do something, or [resource.ErrUnauthenticated].
func (c *collections) activeUser(ctx context.Context, id string) (User, error) {
	it, err := c.users.Get(ctx, id)
	if isAbsent(err) || err == nil && !it.Value.Active {
		err = resource.ErrUnauthenticated
	}
	return it.Value, err
}

func isAbsent(err error) bool {
	return errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone)
}

// forgetTokens removes some of those that are good for nothing any more.
func (c *collections) forgetTokens(ctx context.Context) error {
	_, err := c.removeTokens(ctx, query.Where("expiresAt", query.Lte, c.now()))
	return err
}

// removeTokens removes at most 100 of those that a filter finds, and returns how many.
func (c *collections) removeTokens(ctx context.Context, which query.Filter) (int, error) {
	var found []resource.Item[Token]
	for it, err := range c.tokens.List(ctx, query.Query{Filter: which, Limit: 100}) {
		if err != nil {
			return 0, err
		}
		found = append(found, it)
	}
	for _, it := range found {
		err := c.tokens.Delete(ctx, it.Value.ID, it.Rev)
		if err != nil && !isAbsent(err) { // another shop was first
			return 0, err
		}
	}
	return len(found), nil
}
