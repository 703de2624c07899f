package main

// Tokens of sessions. Only a hash of each is stored, so the table reveals no valid token.

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Token is a bearer token in the database, so all shops on the database accept it. Only its hash is
// stored, so read access to the table does not allow a login.
type Token struct {
	ID        string    `json:"id"` // the SHA-256 of the token, in hexadecimal
	UserID    int64     `json:"userId"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// tokenLife is how long a token is valid. A revoked token is rejected immediately, so it may be
// long.
const tokenLife = 12 * time.Hour

// newToken creates a token for a user. A hash without salt is enough for 256 random bits.
func (c *collections) newToken(ctx context.Context, user int64) (token string, expires time.Time, err error) {
	token, expires = rand.Text()+rand.Text(), toMillisecond(c.now().Add(tokenLife))
	id := tokenID(token)
	_, err = c.tokens.Insert(ctx, id, Token{ID: id, UserID: user, ExpiresAt: expires})
	return token, expires, err
}

// tokenID returns the id under which a token is stored.
func tokenID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// isAbsent reports whether an item does not exist or was deleted. Most callers treat both alike.
func isAbsent(err error) bool {
	return errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone)
}

// removeExpiredTokens removes some expired tokens. The limit of removeTokens bounds the time of a
// login. The next login removes more.
func (c *collections) removeExpiredTokens(ctx context.Context) error {
	_, err := c.removeTokens(ctx, query.Where("expiresAt", query.Lte, c.now()))
	return err
}

// removeTokens removes at most 100 tokens that match a filter, and returns their number.
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
		if err != nil && !isAbsent(err) { // absent: another shop removed it
			return 0, err
		}
	}
	return len(found), nil
}
