package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Password is what the shop keeps of the password of a user. It is no part of the user, so that no answer can hold it, and
// a user without one cannot log in.
type Password struct {
	ID   string `json:"id"` // of the user
	Salt []byte `json:"salt"`
	Hash []byte `json:"hash"`
}

// iterations make a guess cost a tenth of a second (PBKDF2 with SHA-256, RFC 8018 section 5.2).
const iterations = 600_000

// hashOf is slow on purpose.
func hashOf(password string, salt []byte) []byte {
	hash, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		panic(err) // the lengths are written above
	}
	return hash
}

// matches compares in a time that tells nothing of the hash.
func (p Password) matches(password string) bool {
	return subtle.ConstantTimeCompare(hashOf(password, p.Salt), p.Hash) == 1
}

// userOf returns the active user with this address and password, or [resource.ErrUnauthenticated]. Whoever guesses learns
// neither from the answer nor from the time it takes whether there is such a user.
func (c *collections) userOf(ctx context.Context, email, password string) (User, error) {
	user, err := c.userByEmail(ctx, email)
	if err != nil && !isAbsent(err) {
		return User{}, err
	}
	kept, err := c.passwords.Get(ctx, strconv.FormatInt(user.ID, 10))
	if err != nil && !isAbsent(err) {
		return User{}, err
	}
	if !kept.Value.matches(password) || !user.Active { // without a user nothing matches, which takes as long
		return User{}, resource.ErrUnauthenticated
	}
	return user, nil
}

func (c *collections) userByEmail(ctx context.Context, email string) (User, error) {
	for it, err := range c.users.List(ctx, query.Query{Filter: query.Where("email", query.Eq, email), Limit: 1}) {
		return it.Value, err
	}
	return User{}, resource.ErrNotFound
}

// seedPassword is the password of a user that everybody knows, the name before the at sign
// of the address. It is hashed beforehand, as a shop should not take half a second longer to open.
func seedPassword(user int64, name, hash string) Password {
	sum, err := base64.RawStdEncoding.DecodeString(hash)
	if err != nil {
		panic(err) // the hashes are written in seed.go
	}
	return Password{ID: strconv.FormatInt(user, 10), Salt: []byte("stoa shop seed " + name), Hash: sum}
}
