package middleware

// Sessions: authentication by tokens that can be revoked, also for streams. sessions_batch.go reads
// the sessions of many streams at once.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// SessionsOptions configures [NewSessions]. Nil means the zero value.
type SessionsOptions struct {
	AuthenticateOptions
	// Unbatched reports whether [Sessions.Current] must read a session with its own context. It must
	// be true inside a transaction, which a read for other requests could wait for. Nil means never.
	Unbatched func(ctx context.Context) bool
	// ReadTimeout limits a read for several streams. Default 10s.
	ReadTimeout time.Duration
	// Now is the clock that Expires is compared with. Default [time.Now].
	Now func() time.Time
}

// Sessions authenticates requests by bearer tokens that can be revoked. A stream ends when its token
// expires, and when [Sessions.Check] finds that it is not valid any more. It is safe for concurrent
// use.
type Sessions[T any] struct {
	find func(ctx context.Context, tokens []string) (map[string]Session[T], error)
	opts SessionsOptions

	mu      sync.Mutex
	streams map[*stream[T]]struct{}
	next    *sessionBatch[T] // nil if no call is waiting
	busy    bool             // readBatches is running
}

// held is the session of a request, or empty without a token. It is in the context before the request
// is authenticated, because Authenticate cannot pass it to inner handlers otherwise.
type held[T any] struct {
	token  string
	read   time.Time // when the session was read
	stream bool
	Session[T]
}

// currentFor is how long a session that was read for the authentication of a request is current.
const currentFor = time.Second

// stream is an open stream, and the function that ends it.
type stream[T any] struct {
	*held[T]
	end context.CancelFunc
}

type sessionKey struct{}

// NewSessions returns Sessions without streams. find returns the sessions of those tokens that are
// valid, by token. It must be safe for concurrent use. opts may be nil. NewSessions panics if find is
// nil.
func NewSessions[T any](find func(ctx context.Context, tokens []string) (map[string]Session[T], error),
	opts *SessionsOptions) *Sessions[T] {
	if find == nil {
		panic("middleware: NewSessions: find is nil; pass a function that finds sessions")
	}
	s := &Sessions[T]{find: find, streams: map[*stream[T]]struct{}{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Stream == nil {
		s.opts.Stream = isStream
	}
	if s.opts.Unbatched == nil {
		s.opts.Unbatched = func(context.Context) bool { return false }
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	s.opts.ReadTimeout = orDefault(s.opts.ReadTimeout, 10*time.Second)
	return s
}

// Authenticate is the middleware [Authenticate] with these sessions. It ends streams with their
// tokens.
func (s *Sessions[T]) Authenticate(next http.Handler) http.Handler {
	verified := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := sessionOf[T](r.Context())
		if h.token == "" || !s.opts.Stream(r) {
			next.ServeHTTP(w, r)
			return
		}
		h.stream = true
		ctx, cancel := s.open(r.Context(), h)
		defer cancel()
		serveWith(next, w, r, ctx)
	})
	opts := s.opts.AuthenticateOptions
	opts.Stream = func(*http.Request) bool { return false } // open ends streams
	inner := authenticate(s.verify, &opts)(verified)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serveWith(inner, w, r, context.WithValue(r.Context(), sessionKey{}, &held[T]{}))
	})
}

// verify is the argument of Authenticate.
func (s *Sessions[T]) verify(r *http.Request, token string) (Session[T], error) {
	session, err := s.readSession(r.Context(), token)
	if err != nil {
		return Session[T]{}, err
	}
	h := sessionOf[T](r.Context())
	h.token, h.read, h.Session = token, time.Now(), session
	session.Expires = s.until(session)
	return session, nil
}

// until returns the time at which a session expires, or zero. Its clock may differ from that of
// SessionsOptions.
func (s *Sessions[T]) until(session Session[T]) time.Time {
	if session.Expires.IsZero() {
		return time.Time{}
	}
	return time.Now().Add(session.Expires.Sub(s.opts.Now()))
}

// sessionOf returns the session of a request. It is never nil.
func sessionOf[T any](ctx context.Context) *held[T] {
	if h, ok := ctx.Value(sessionKey{}).(*held[T]); ok {
		return h
	}
	return &held[T]{}
}

// readSession returns the session of a valid token.
func (s *Sessions[T]) readSession(ctx context.Context, token string) (Session[T], error) {
	found, err := s.find(ctx, []string{token})
	if err != nil {
		return Session[T]{}, err
	}
	return s.valid(found, token)
}

// valid returns the session of a token that was found, has a principal and has not expired.
func (s *Sessions[T]) valid(found map[string]Session[T], token string) (Session[T], error) {
	session, ok := found[token]
	if !ok || session.Principal == "" || !session.Expires.IsZero() && !s.opts.Now().Before(session.Expires) {
		return Session[T]{}, errSession()
	}
	return session, nil
}

// errSession returns an error that is ErrToken for Authenticate, and a problem (401) for resources and
// GraphQL.
func errSession() error {
	return fmt.Errorf("%w: %w", ErrToken,
		problem.New(problem.Unauthenticated, "The request has no token, or its token is not valid any more."))
}

// Current returns the session of a request, for policies. [Claims] has the claims of the time at which
// the request was authenticated. Current reads the session again if the request is a stream or was
// authenticated more than a second ago, because the token may have been revoked and the user may have
// changed. Concurrent calls share reads. Without a token, and if the token is not valid any more, the
// error is [ErrToken] and a problem (401).
func (s *Sessions[T]) Current(ctx context.Context) (Session[T], error) {
	switch h := sessionOf[T](ctx); {
	case h.token == "":
		return Session[T]{}, errSession()
	case !h.stream && time.Since(h.read) < currentFor:
		return h.Session, nil
	case s.opts.Unbatched(ctx):
		return s.readSession(ctx, h.token)
	default:
		return s.readBatched(ctx, h.token)
	}
}

// Connect authenticates a WebSocket by its first message, {"Authorization": "Bearer TOKEN"}, because
// browsers cannot set header fields of a WebSocket. It is a graphql.Socket.Connect. Without the
// member the session of the request applies. The returned context ends with the session, and until is
// the time at which the token expires, or zero.
func (s *Sessions[T]) Connect(ctx context.Context, payload []byte) (within context.Context, until time.Time,
	err error) {
	token, given, err := readConnect(payload)
	if err != nil {
		return nil, until, err
	}
	h := sessionOf[T](ctx)
	if given {
		session, err := s.readSession(ctx, token)
		if err != nil {
			return nil, until, err
		}
		h = &held[T]{token: token, Session: session}
		session.Expires = s.until(session)
		ctx = WithSession(context.WithValue(ctx, sessionKey{}, h), session)
	}
	until = Expires(ctx)
	if h.token == "" {
		return ctx, until, nil
	}
	h.stream = true
	within, cancel := s.open(ctx, h)
	context.AfterFunc(ctx, cancel)
	return within, until, nil
}

// open returns a context that ends with the session of a stream. The caller calls cancel.
func (s *Sessions[T]) open(ctx context.Context, h *held[T]) (context.Context, context.CancelFunc) {
	var within context.Context
	var cancel context.CancelFunc
	if h.Expires.IsZero() {
		within, cancel = context.WithCancel(ctx)
	} else {
		within, cancel = context.WithTimeout(ctx, h.Expires.Sub(s.opts.Now()))
	}
	opened := &stream[T]{h, cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[opened] = struct{}{}
	context.AfterFunc(within, func() { // otherwise the map would grow with each stream
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.streams, opened)
	})
	return within, cancel
}

// Check ends the streams of a principal if their tokens are not valid any more. Call it after tokens were
// revoked or a user was changed, also by another process; an empty principal checks all streams. A
// stream that is opened at the same time is safe, because its policy calls Current. The error is that
// of find; then no stream was ended.
func (s *Sessions[T]) Check(ctx context.Context, principal string) error {
	open, tokens := s.streamsOf(principal)
	if len(tokens) == 0 {
		return nil
	}
	found, err := s.find(ctx, slices.Collect(maps.Keys(tokens)))
	if err != nil {
		return err
	}
	for _, stream := range open {
		if _, err := s.valid(found, stream.token); errors.Is(err, ErrToken) {
			stream.end()
		}
	}
	return nil
}

// streamsOf returns the open streams of a principal, or all if it is empty, and their tokens.
func (s *Sessions[T]) streamsOf(principal string) (open []*stream[T], tokens map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tokens = map[string]bool{}
	for stream := range s.streams {
		if principal == "" || stream.Principal == principal {
			open, tokens[stream.token] = append(open, stream), true
		}
	}
	return open, tokens
}

// Streams returns the number of open streams of a principal, or of all if it is empty.
func (s *Sessions[T]) Streams(principal string) int {
	open, _ := s.streamsOf(principal)
	return len(open)
}
