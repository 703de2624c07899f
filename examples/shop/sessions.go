package main

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// sessionCommands are those that mean something only where people log in: with -auth.
func (c *collections) sessionCommands() []resource.Part {
	if !c.auth {
		return nil
	}
	return []resource.Part{c.logoutCommand(), c.passwordCommand()}
}

// Logout has nothing to say.
type Logout struct{}

// LoggedOut says how many tokens are good for nothing any more.
type LoggedOut struct {
	Tokens int `json:"tokens"`
}

func (c *collections) logoutCommand() *command.Command {
	return command.New("auth/logout", func(ctx context.Context, _ Logout) (out LoggedOut, err error) {
		user, err := c.caller(ctx)
		if err == nil {
			out.Tokens, err = c.revokeTokens(ctx, user.ID)
		}
		return out, err
	}, &command.Options[Logout]{
		Authorize: func(ctx context.Context, _ *Logout) error { return c.mustBe(ctx, customer, clerk, admin) },
		Doc:       "Revokes all tokens of the caller.",
		Problems:  []problem.Kind{problem.Unauthenticated},

		Transactions: c.db.runner(),
	})
}

// revokeTokens ends all sessions of a user. It tells so, as whoever listens in one of them does not ask.
func (c *collections) revokeTokens(ctx context.Context, user int64) (count int, err error) {
	err = c.db.runner().InTx(ctx, func(ctx context.Context) error {
		count = 0
		for {
			n, err := c.removeTokens(ctx, query.Where("userId", query.Eq, user))
			count += n
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
		}
		if count == 0 {
			return nil
		}
		return c.changes.Append(ctx, &feed.Event{Kind: feed.Deleted, Collection: endedSessions, ID: strconv.FormatInt(user, 10)})
	})
	return count, err
}

// NewPassword says whose, and what it is from now on.
type NewPassword struct {
	UserID   int64  `json:"userId" required:"true" minimum:"1"`
	Password string `json:"password" required:"true" maxLength:"200" doc:"At least 8 characters."`
	Current  string `json:"current,omitempty" maxLength:"200" doc:"The password until now, from who changes their own: a token that was found is not enough."`
}

// passwordCommand gives a password to a user, which is how one who was created by POST can log in.
func (c *collections) passwordCommand() *command.Command {
	return command.New("auth/password", c.setPassword, &command.Options[NewPassword]{
		Authorize: func(ctx context.Context, in *NewPassword) error {
			user, err := c.caller(ctx)
			if err == nil && user.ID != in.UserID && user.Role != admin {
				err = resource.ErrForbidden
			}
			return err
		},
		Doc:      "Sets the password of a user and revokes all tokens of that user; only admins may set the password of another user.",
		Cost:     20_000,
		Problems: []problem.Kind{problem.Unauthenticated, problem.Forbidden, problem.TooManyRequests},

		Transactions: c.db.runner(),
	})
}

func (c *collections) setPassword(ctx context.Context, in NewPassword) (out LoggedOut, err error) {
	if err := c.knowsCurrent(ctx, in); err != nil {
		return out, err
	}
	if utf8.RuneCountInString(in.Password) < 8 { // not in the schema: who may not set it is not told how long it had to be
		return out, resource.Invalid("password", "minLength")
	}
	id := strconv.FormatInt(in.UserID, 10)
	salt := []byte(rand.Text())
	password := Password{ID: id, Salt: salt, Hash: hashOf(in.Password, salt)}
	err = c.db.runner().InTx(ctx, func(ctx context.Context) error {
		if _, err := c.users.Get(ctx, id); isAbsent(err) {
			return resource.Invalid("userId", "unknownUser")
		} else if err != nil {
			return err
		}
		if err := c.putPassword(ctx, password); err != nil {
			return err
		}
		out.Tokens, err = c.revokeTokens(ctx, in.UserID)
		return err
	})
	return out, err
}

// knowsCurrent refuses who changes their own password without knowing it.
func (c *collections) knowsCurrent(ctx context.Context, in NewPassword) error {
	user, err := c.caller(ctx)
	if err != nil || user.ID != in.UserID {
		return err
	}
	_, err = c.proven(ctx, user.Email, in.Current)
	if errors.Is(err, resource.ErrUnauthenticated) {
		return problem.New(problem.Forbidden, "The current password is another.")
	}
	return err
}

// putPassword takes the place of the password that there is, if any.
func (c *collections) putPassword(ctx context.Context, p Password) error {
	old, err := c.passwords.Get(ctx, p.ID)
	if isAbsent(err) {
		_, err = c.passwords.Insert(ctx, p.ID, p)
		return err
	}
	if err == nil {
		_, err = c.passwords.Replace(ctx, p.ID, old.Rev, p)
	}
	return err
}
