package main

// Commands for a user's own session: logging out and setting a new password.

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

// sessionCommands returns the commands that need login. Without -auth there are none. They are
// declared only if they can work, so the descriptions do not list them otherwise.
func (c *collections) sessionCommands() []resource.Part {
	if !c.auth {
		return nil
	}
	return []resource.Part{c.logoutCommand(), c.passwordCommand()}
}

// Logout is the empty input of the command.
type Logout struct{}

// LoggedOut is the result of revoking the tokens of a user.
type LoggedOut struct {
	Tokens int `json:"tokens"` // the number of tokens that were valid
}

// logoutCommand revokes all tokens of the caller, also those of other devices. Transactions
// declares that the command writes to the database only, so a keyed request is applied exactly
// once.
func (c *collections) logoutCommand() *command.Command {
	return command.New("auth/logout", func(ctx context.Context, _ Logout) (out LoggedOut, err error) {
		user, err := c.caller(ctx)
		if err == nil {
			out.Tokens, err = c.revokeTokens(ctx, user.ID)
		}
		return out, err
	}, &command.Options[Logout]{
		Authorize: func(ctx context.Context, _ *Logout) error {
			return c.requireRole(ctx, customer, clerk, admin)
		},
		Doc:      "Revokes all tokens of the caller.",
		Problems: []problem.Kind{problem.Unauthenticated},

		Transactions: c.db.runner(),
	})
}

// revokeTokens deletes all tokens of a user and publishes an event that ends the user's streams.
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
		return c.changes.Append(ctx,
			&feed.Event{Kind: feed.Deleted, Collection: endedSessions, ID: strconv.FormatInt(user, 10)})
	})
	return count, err
}

// NewPassword is the input of the command that sets a password.
type NewPassword struct {
	// UserID is the id of the user.
	UserID int64 `json:"userId" required:"true" minimum:"1"`
	// Password is the new password of at least 8 characters.
	Password string `json:"password" required:"true" maxLength:"200"`
	// Current is the old password. It is needed to change your own.
	Current string `json:"current,omitempty" maxLength:"200"`
}

// passwordCommand sets the password of a user. A user that was created with POST needs one to log
// in.
func (c *collections) passwordCommand() *command.Command {
	return command.New("auth/password", c.setPassword, &command.Options[NewPassword]{
		Authorize: func(ctx context.Context, in *NewPassword) error {
			user, err := c.caller(ctx)
			if err == nil && user.ID != in.UserID && user.Role != admin {
				err = resource.ErrForbidden
			}
			return err
		},
		Doc: "Sets the password of a user and revokes all tokens of that user; " +
			"only admins may set the password of another user.",
		Cost:     20_000,
		Problems: []problem.Kind{problem.Unauthenticated, problem.Forbidden, problem.TooManyRequests},

		Transactions: c.db.runner(),
	})
}

// setPassword stores the hash and revokes the tokens of the user. The new password and the
// revocation commit together: a token of the old password cannot survive.
func (c *collections) setPassword(ctx context.Context, in NewPassword) (out LoggedOut, err error) {
	if err := c.checkCurrent(ctx, in); err != nil {
		return out, err
	}
	// Not in the schema: an unauthorized caller must be rejected before this check.
	if utf8.RuneCountInString(in.Password) < 8 {
		return out, resource.Invalid("password", "minLength")
	}
	id := strconv.FormatInt(in.UserID, 10)
	password := Password{ID: id, Salt: []byte(rand.Text())}
	err = c.logins.Do(ctx, "", func(context.Context) error {
		password.Hash = hashOf(in.Password, password.Salt)
		return nil
	})
	if err != nil {
		return out, err
	}
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

// checkCurrent checks the current password if the caller changes their own.
func (c *collections) checkCurrent(ctx context.Context, in NewPassword) error {
	user, err := c.caller(ctx)
	if err != nil || user.ID != in.UserID {
		return err
	}
	_, err = c.authenticate(ctx, user.Email, in.Current)
	if errors.Is(err, resource.ErrUnauthenticated) {
		return problem.New(problem.Forbidden, "The current password is wrong.")
	}
	return err
}

// putPassword inserts or replaces the password of a user. It needs a transaction.
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
