package main

// Passwords: hashing, comparing and the passwords of sample users.

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

// Password is the stored hash of a user's password. It is not part of User, so no response can
// contain it. A user without a password cannot log in.
type Password struct {
	ID   string `json:"id"` // the id of the user
	Salt []byte `json:"salt"`
	Hash []byte `json:"hash"`
}

// iterations makes one attempt take about 100ms (PBKDF2 with SHA-256, RFC 8018 section 5.2). The
// number is that of the OWASP recommendation; a higher one needs new hashes for existing users.
const iterations = 600_000

// hashOf returns the hash of a password. It is slow on purpose.
func hashOf(password string, salt []byte) []byte {
	hash, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		panic(err) // the lengths are constants
	}
	return hash
}

// matches compares the hashes in constant time.
func (p Password) matches(password string) bool {
	return subtle.ConstantTimeCompare(hashOf(password, p.Salt), p.Hash) == 1
}

// userOf returns the active user with this email address and password. The error is
// [resource.ErrUnauthenticated] if they do not match. Neither the response nor its duration shows
// whether the address exists.
func (c *collections) userOf(ctx context.Context, email, password string) (User, error) {
	user, err := c.userByEmail(ctx, email)
	if err != nil && !isAbsent(err) {
		return User{}, err
	}
	kept, err := c.passwords.Get(ctx, strconv.FormatInt(user.ID, 10))
	if err != nil && !isAbsent(err) {
		return User{}, err
	}
	if !kept.Value.matches(password) || !user.Active { // without a user it computes a hash, too
		return User{}, resource.ErrUnauthenticated
	}
	return user, nil
}

// userByEmail returns the user with this address, or [resource.ErrNotFound]. The unique index of
// the field makes it a single read.
func (c *collections) userByEmail(ctx context.Context, email string) (User, error) {
	for it, err := range c.users.List(ctx,
		query.Query{Filter: query.Where("email", query.Eq, email), Limit: 1}) {
		return it.Value, err
	}
	return User{}, resource.ErrNotFound
}

// seedPassword returns the password of a seeded user: the part of the address before the at sign.
// The hash is precomputed because computing it would delay the start by about half a second. A real
// service has no seeded users.
func seedPassword(user int64, name, hash string) Password {
	sum, err := base64.RawStdEncoding.DecodeString(hash)
	if err != nil {
		panic(err) // the hashes are constants in seed.go
	}
	return Password{ID: strconv.FormatInt(user, 10), Salt: []byte("stoa shop seed " + name), Hash: sum}
}
