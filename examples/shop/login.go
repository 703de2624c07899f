package main

// The command that exchanges a password for a token.

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/problem"
)

// Credentials are the email address and the password of a user.
type Credentials struct {
	Email    string `json:"email" required:"true" maxLength:"320"`    // the email address of the user
	Password string `json:"password" required:"true" maxLength:"200"` // the password of the user
}

// Login is the result of a successful login.
type Login struct {
	// Token is the token. Send it in the header: `Authorization: Bearer TOKEN`.
	Token string `json:"token"`
	// ExpiresAt is the time after which the token is rejected.
	ExpiresAt time.Time `json:"expiresAt"`
}

// loginCommand returns a bearer token for valid credentials. It is a command and not a resource,
// because it creates nothing that a client could read later.
func (c *collections) loginCommand() *command.Command {
	return command.New("auth/login", c.login, &command.Options[Credentials]{
		Public:   true,   // login needs no token
		Cost:     20_000, // allows two attempts per GraphQL document
		Doc:      "Returns a bearer token for the email and password of a user.",
		Problems: []problem.Kind{problem.Unauthenticated, problem.TooManyRequests},
		Secret:   true, // tokens are stored only as hashes
	})
}

// login returns a new token. It also removes expired tokens, so that no background task is needed.
func (c *collections) login(ctx context.Context, in Credentials) (Login, error) {
	user, err := c.authenticate(ctx, in.Email, in.Password)
	if errors.Is(err, resource.ErrUnauthenticated) {
		return Login{}, problem.New(problem.Unauthenticated,
			"The address or the password is wrong.")
	}
	if err != nil {
		return Login{}, err
	}
	if err := c.removeExpiredTokens(ctx); err != nil {
		return Login{}, err
	}
	token, expires, err := c.newToken(ctx, user.ID)
	return Login{Token: token, ExpiresAt: expires}, err
}

// authenticate is userOf with limits on wrong passwords and on concurrent logins.
func (c *collections) authenticate(ctx context.Context, email, password string) (user User, err error) {
	err = c.logins.Do(ctx, strings.ToLower(email), func(ctx context.Context) error {
		user, err = c.userOf(ctx, email, password)
		return err
	})
	return user, err
}
