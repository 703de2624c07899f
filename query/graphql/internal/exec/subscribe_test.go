package exec_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
)

// saying returns a message without errors.
func saying(inside string) string { return `{"data":{"bookChanged":{` + inside + `}}}` }

// TestSubscribe checks different documents with the same changes.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, document, variables string
		want                      []string
	}{
		{"everything", `subscription { bookChanged { kind id cursor book { id title pages } } }`, "",
			[]string{
				saying(`"kind":"CREATED","id":"4","cursor":"@1","book":{"id":"4","title":"Fourth",` +
					`"pages":10}`),
				saying(`"kind":"UPDATED","id":"4","cursor":"@2","book":{"id":"4","title":"Fourth",` +
					`"pages":20}`),
				saying(`"kind":"DELETED","id":"4","cursor":"@3","book":null`)}},
		{"aliases, and the order asked",
			`subscription S { now: bookChanged { b: book { p: pages g: genre i: id } c: cursor k: kind ` +
				`i: id } }`, "", []string{
				`{"data":{"now":{"b":{"p":10,"g":"novel","i":"4"},"c":"@1","k":"CREATED","i":"4"}}}`,
				`{"data":{"now":{"b":{"p":20,"g":"poems","i":"4"},"c":"@2","k":"UPDATED","i":"4"}}}`,
				`{"data":{"now":{"b":null,"c":"@3","k":"DELETED","i":"4"}}}`}},
		{"fragments, and names of types",
			`subscription { ...S } fragment S on Subscription { bookChanged { __typename ...C ... on BookChange { id } } }
			fragment C on BookChange { book { __typename ...B } } fragment B on Book { cover { color __typename } moods }`, "", []string{
				saying(`"__typename":"BookChange","book":{"__typename":"Book","cover":{"color":"red",` +
					`"__typename":"Cover"},"moods":["sad"]},"id":"4"`),
				saying(`"__typename":"BookChange","book":{"__typename":"Book","cover":{"color":"red",` +
					`"__typename":"Cover"},"moods":["sad"]},"id":"4"`),
				saying(`"__typename":"BookChange","book":null,"id":"4"`)}},
		{"skipped and included",
			`subscription($s: Boolean!, $i: Boolean!) { bookChanged { id @skip(if: $s) kind book @include(if: $i) {
			id pages @skip(if: $s) author @include(if: $s) { name } } } }`, `{"s": false, "i": true}`, []string{
				saying(`"id":"4","kind":"CREATED","book":{"id":"4","pages":10}`),
				saying(`"id":"4","kind":"UPDATED","book":{"id":"4","pages":20}`),
				saying(`"id":"4","kind":"DELETED","book":null`)}},
		{"skipped and included the other way round",
			`subscription($s: Boolean!, $i: Boolean!) { bookChanged { id @skip(if: $s) kind book @include(if: $i) {
			id pages @skip(if: $s) author @include(if: $s) { name } } } }`, `{"s": true, "i": false}`, []string{
				saying(`"kind":"CREATED"`), saying(`"kind":"UPDATED"`), saying(`"kind":"DELETED"`)}},
		{"relations", `subscription { bookChanged { book { title author { name } reviews { stars } } } }`, "",
			[]string{
				saying(`"book":{"title":"Fourth","author":{"name":"Ann"},"reviews":[]}`),
				saying(`"book":{"title":"Fourth","author":{"name":"Bob \"B\""},"reviews":[]}`),
				saying(`"book":null`)}},
		{"one item twice", `subscription { bookChanged { a: book { id } b: book { author { id } } } }`, "",
			[]string{
				saying(`"a":{"id":"4"},"b":{"author":{"id":"ann"}}`),
				saying(`"a":{"id":"4"},"b":{"author":{"id":"bob"}}`),
				saying(`"a":null,"b":null`)}},
		{"computed", `subscription { bookChanged { book { times(by: 3) } } }`, "", []string{
			saying(`"book":{"times":30}`), saying(`"book":{"times":60}`), saying(`"book":null`)}},
		{"one item", `subscription($id: ID) { bookChanged(id: $id) { kind id } }`, `{"id": 4}`, []string{
			saying(`"kind":"CREATED","id":"4"`), saying(`"kind":"UPDATED","id":"4"`),
			saying(`"kind":"DELETED","id":"4"`)}},
		{"what leaves the filter is gone",
			`subscription($a: String!) { bookChanged(filter: {authorId: {eq: $a}}) { kind id book { ` +
				`pages } } }`,
			`{"a": "ann"}`, []string{
				saying(`"kind":"CREATED","id":"4","book":{"pages":10}`),
				saying(`"kind":"DELETED","id":"4","book":null`)}},
		{"what comes into the filter is new",
			`subscription($a: String!) { bookChanged(filter: {authorId: {eq: $a}}) { kind id book { ` +
				`pages } } }`,
			`{"a": "bob"}`, []string{
				saying(`"kind":"CREATED","id":"4","book":{"pages":20}`),
				saying(`"kind":"DELETED","id":"4","book":null`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := all()
			s.feed = true
			w := newWorld(t, s)
			w.life(t)
			if diff := cmp.Diff(tt.want, w.messages(t.Context(), t, len(tt.want), tt.document,
				tt.variables)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if log := w.logged(); log != "" {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// TestSubscribeRefused checks request errors. The feed is closed, because it must not be used.
func TestSubscribeRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, variables, last, want string }{
		{"no cursor", `subscription { x: bookChanged(after: "nonsense") { id } }`, "", "",
			`{"message":"An argument is not valid. after: is not a valid cursor of a change",` +
				`"locations":[{"line":1,"column":16}],"path":["x"],` +
				`"extensions":{"code":"BAD_USER_INPUT",` +
				`"type":"https://stoa-go.github.io/problems/invalid-parameter",` +
				`"errors":[{"argument":"after","code":"invalidCursor",` +
				`"detail":"is not a valid cursor of a change"}]}}`},
		{"an empty cursor", `subscription($a: String) { bookChanged(after: $a) { id } }`, `{"a": ""}`, "",
			"after: is not a valid cursor"},
		{"no cursor elsewhere", `subscription { bookChanged { id } }`, "", "1",
			"Last-Event-ID: is not a valid cursor"},
		{"the wrong one counts",
			`subscription { bookChanged(after: "AAAAAAAAAAEBAAAAAAAAAAE") { id } }`, "", "1",
			"Last-Event-ID: is not a valid cursor"},
		{"one and a filter",
			`subscription { bookChanged(id: 1, filter: {title: {eq: "a"}}) { id } }`,
			"", "", "filter: cannot be used together with id"},
		{"too much of a filter",
			`subscription { bookChanged(filter: {and: [` + strings.Repeat(`{title: {eq: "a"}}`,
				21) + `]}) { id } }`, "", "", "at most 20 comparisons"},
		{"variables",
			`subscription($a: Int!) { bookChanged { book { times(by: $a) } } }`, `{"a": "x"}`, "",
			`"code":"BAD_USER_INPUT"`},
		{"no variables", `subscription($a: ID!) { bookChanged(id: $a) { id } }`, "", "", `variable $a: `},
		{"cost",
			`subscription { bookChanged { book { author { books { author { books { id } } } } } } }`,
			"", "", "The operation can return"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := all()
			s.feed, s.config.Cost = true, 100
			w := newWorld(t, s)
			w.feed.Close()
			messages, errs := w.engine.Subscribe(t.Context(), w.plan(t, tt.document), vars(t, tt.variables),
				tt.last)
			if messages != nil || len(errs) != 1 {
				t.Fatalf("errors: %v", errs)
			}
			if got := string(errs[0].Append(nil)); !strings.Contains(got, tt.want) {
				t.Errorf("the error is %s, want %s in it", got, tt.want)
			}
		})
	}
}

// TestSubscribeNeedsAFeed checks that the schema has no subscription without a feed.
func TestSubscribeNeedsAFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	if w.schema.Subscription != nil || w.schema.Query.Field("books").Type.Named().Field(
		"eventCursor") != nil {
		t.Error("the schema has what needs a feed")
	}
}

// caller is the context key of the client's name.
type caller struct{}

// TestSubscriberRights checks that permissions apply to each message at the time it is written.
func TestSubscriberRights(t *testing.T) {
	t.Parallel()
	const document = `subscription { bookChanged { kind id book { genre author { name } } } }`
	tests := []struct {
		who  string
		want []string
	}{
		{"reader", []string{saying(`"kind":"CREATED","id":"4","book":{"genre":"novel",` +
			`"author":{"name":"Ann"}}`),
			saying(`"kind":"DELETED","id":"4","book":null`)}}, // poems are hidden from readers
		{"poet", []string{saying(`"kind":"CREATED","id":"4","book":{"genre":"poems","author":null}`),
			saying(`"kind":"DELETED","id":"4","book":null`)}},
		{"stranger", []string{"[bookChanged] UNAUTHENTICATED: The operation requires authentication."}},
	}
	w := newWorld(t, setting{feed: true})
	who := func(ctx context.Context) string { name, _ := ctx.Value(caller{}).(string); return name }
	w.scope = func(ctx context.Context) (query.Filter, error) {
		if who(ctx) == "stranger" {
			return query.Filter{}, resource.ErrUnauthenticated
		}
		return query.Filter{}, nil
	}
	w.authorize = func(ctx context.Context, _ resource.Op, before, _ *book) error {
		if before != nil && (before.Genre == "poems") != (who(ctx) == "poet") {
			return resource.ErrForbidden
		}
		return nil
	}
	w.visible = func(ctx context.Context, a *author) bool { return a.ID != "bob" || who(ctx) != "poet" }
	w.life(t)
	for _, tt := range tests {
		t.Run(tt.who, func(t *testing.T) {
			t.Parallel()
			ctx := context.WithValue(t.Context(), caller{}, tt.who)
			if diff := cmp.Diff(tt.want, w.messages(ctx, t, len(tt.want), document, "")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSubscriptionEnds checks the final errors of subscriptions.
func TestSubscriptionEnds(t *testing.T) {
	t.Parallel()
	const document = `subscription($a: String) { it: bookChanged(after: $a) { id } }`
	other := newWorld(t, setting{feed: true})
	tests := []struct {
		name   string
		change func(w *world)
		last   string
		want   string
		log    string
	}{
		{"a cursor of elsewhere", nil, other.cursors[0], "[it] CURSOR_EXPIRED: ", ""},
		{"the feed is closed", func(w *world) { w.feed.Close() }, "", "feed: closed", ""},
		{"an anonymous client", func(w *world) {
			w.scope = func(context.Context) (query.Filter, error) {
				return query.Filter{},
					resource.ErrUnauthenticated
			}
		}, "", "[it] UNAUTHENTICATED: The operation requires authentication.", ""},
		{"a fault of ours", func(w *world) {
			w.scope = func(context.Context) (query.Filter, error) {
				return query.Filter{}, errors.New("the secret table is gone")
			}
		}, "", "[it] INTERNAL_SERVER_ERROR: Internal server error", "the secret table is gone"},
		{"a panic of policy", func(w *world) {
			w.scope = func(context.Context) (query.Filter, error) { panic("the scope has fallen over") }
		}, "", "[it] INTERNAL_SERVER_ERROR: Internal server error", "the scope has fallen over"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{feed: true})
			if tt.change != nil {
				tt.change(w)
			}
			var got []string
			for m, err := range w.subscribe(t.Context(), t, document, "", tt.last) {
				if err == nil {
					got = append(got, string(m.JSON))
				} else {
					got = append(got, ended(err))
				}
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], tt.want) {
				t.Errorf("it ends with %q, want %q", got, tt.want)
			}
			if log := w.logged(); (tt.log == "") != (log == "") || !strings.Contains(log, tt.log) {
				t.Errorf("logged: %s, want %q", log, tt.log)
			}
		})
	}
}

// TestConsumerPanics checks that a panic of the caller is not recovered.
func TestConsumerPanics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{feed: true})
	w.life(t)
	defer func() {
		if v := recover(); v != "mine" || w.logged() != "" {
			t.Errorf("recovered %v, logged: %s", v, w.logged())
		}
	}()
	for range w.subscribe(t.Context(), t, `subscription { bookChanged { id } }`, "", w.cursors[0]) {
		panic("mine")
	}
}

// TestBookmarks checks messages without JSON, at the start and in intervals.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{feed: true})
		defer w.feed.Close()
		w.life(t)
		var got []string
		for m, err := range w.listen(t.Context(), t, `subscription { bookChanged { kind } }`, "",
			w.cursors[2]) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, w.named(m.Cursor.String())+" "+string(m.JSON)); len(got) == 3 {
				break
			}
		}
		want := []string{"@2 ", "@3 " + saying(`"kind":"DELETED"`), "@3 "}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestConsumerStops checks that nothing is yielded after the caller stops.
func TestConsumerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{feed: true})
		ctx, leave := context.WithCancel(t.Context())
		var got []string
		left := make(chan struct{})
		go func() {
			defer close(left)
			for m, err := range w.subscribe(ctx, t, `subscription { bookChanged { kind } }`, "", "") {
				if err != nil {
					t.Errorf("an error: %v", err)
				}
				got = append(got, string(m.JSON))
			}
		}()
		synctest.Wait()
		w.life(t)
		synctest.Wait()
		leave()
		<-left
		want := []string{saying(`"kind":"CREATED"`), saying(`"kind":"UPDATED"`), saying(`"kind":"DELETED"`)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w.feed.Close()
	})
}

// TestIncompleteMessage checks that an incomplete message is not yielded.
func TestIncompleteMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{feed: true})
	w.life(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w.hook = func(ctx context.Context, _ string) error {
		leave()
		return ctx.Err()
	}
	for m, err := range w.subscribe(ctx, t, `subscription { bookChanged { book { author { name } } } }`, "",
		w.cursors[0]) {
		t.Errorf("got %s, %v", m.JSON, err)
	}
}

// TestChangeTimeout checks that a timeout is an error in one message, and that the next one is
// complete.
func TestChangeTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{feed: true, config: exec.Config{Timeout: time.Second}})
		w.life(t)
		slow := true
		w.hook = func(ctx context.Context, _ string) error {
			if slow {
				<-ctx.Done()
			}
			slow = false
			return ctx.Err()
		}
		want := []string{`{"errors":[{"message":"The operation did not finish in time.",` +
			`"locations":[{"line":1,"column":37}],` +
			`"path":["bookChanged","book","author"],"extensions":{"code":"UNAVAILABLE",` +
			`"type":"https://stoa-go.github.io/problems/unavailable","retryAfter":1}}],` +
			`"data":{"bookChanged":{"book":{"author":null}}}}`,
			saying(`"book":{"author":{"name":"Bob \"B\""}}`)}
		got := w.messages(t.Context(), t, 2, `subscription { bookChanged { book { author { name } } } }`, "")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w.feed.Close()
	})
}

// TestFieldErrors checks that field errors are part of messages and do not end the
// subscription.
func TestFieldErrors(t *testing.T) {
	t.Parallel()
	bad := book{ID: 5, Title: "Fifth", Genre: "cookbook", Shelf: "A1", AuthorID: "ann"}
	good := bad
	good.Genre = "novel"
	text := `"message":"Enum \"BookGenre\" cannot represent value: \"cookbook\"",`
	code := `"path":["bookChanged","book","genre"],"extensions":{"code":"INTERNAL_SERVER_ERROR",` +
		`"type":"https://stoa-go.github.io/problems/internal-error","instance":"urn:`
	tests := []struct {
		name, document string
		in, next       string
	}{
		{"shared",
			`subscription { bookChanged { kind book { genre } } }`,
			`"data":{"bookChanged":{"kind":"CREATED","book":null}}}`,
			saying(`"kind":"UPDATED","book":{"genre":"novel"}`)},
		{"not shared",
			`subscription { bookChanged { kind book { genre author { id } } } }`,
			`"data":{"bookChanged":{"kind":"CREATED","book":null}}}`,
			saying(`"kind":"UPDATED","book":{"genre":"novel","author":{"id":"ann"}}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{feed: true})
			w.happens(t, nil, &bad)
			w.happens(t, &bad, &good)
			got := w.messages(t.Context(), t, 2, tt.document, "")
			if !strings.Contains(got[0], text) || !strings.Contains(got[0], code) || !strings.HasSuffix(got[0], tt.in) {
				t.Errorf("the first is %s", got[0])
			}
			if got[1] != tt.next {
				t.Errorf("the second is %s, want %s", got[1], tt.next)
			}
			if log := w.logged(); strings.Count(log, "cannot represent value") != 1 {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// TestLongMessage checks a message that exceeds the limit of responses.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{feed: true, config: exec.Config{Answer: 1000}})
	long := strings.Repeat("x", 2000)
	w.happens(t, nil, &book{ID: 6, Title: "Sixth", Genre: "novel", Note: &long})
	got := w.messages(t.Context(), t, 1, `subscription { bookChanged { kind book { note again: note } } }`,
		"")
	const why = `{"errors":[{"message":"The response is longer than the limit of 1000 bytes`
	if !strings.HasPrefix(got[0], why) || !strings.HasSuffix(got[0], `"data":null}`) {
		t.Errorf("got %s", got[0])
	}
}

// TestEventCursor checks that the cursor of a list precedes all changes that are not in the list.
func TestEventCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{feed: true})
	const list = `query($e: Boolean = true) { books(first: 1) { eventCursor @include(if: $e) nodes { id } } }`
	answer := w.named(w.ask(t, list))
	if want := `{"data":{"books":{"eventCursor":"@0","nodes":[{"id":"1"}]}}}`; answer != want {
		t.Fatalf("the list is %s, want %s", answer, want)
	}
	w.life(t)
	const behind = `subscription($a: String) { bookChanged(after: $a) { cursor } }`
	for m, err := range w.subscribe(t.Context(), t, behind, `{"a": "`+w.cursors[0]+`"}`, "") {
		if err != nil || w.named(m.Cursor.String()) != "@1" ||
			!strings.Contains(string(m.JSON), w.cursors[1]) {
			t.Errorf("the first is %s, %v", m.JSON, err)
		}
		break
	}
	closed := newWorld(t, setting{feed: true})
	closed.feed.Close()
	if got := closed.ask(t, list, `{"e": false}`); got != `{"data":{"books":{"nodes":[{"id":"1"}]}}}` {
		t.Errorf("without a feed the list is %s", got)
	}
	got := closed.ask(t, `{ books(first: 1) { nodes { id } at: eventCursor } }`)
	if !strings.Contains(got, `"path":["books","at"]`) ||
		!strings.HasSuffix(got, `"data":{"books":null}}`) {
		t.Errorf("without a feed the cursor is %s", got)
	}
}

// TestEventCursorIsTakenFirst checks that the cursor is read before the list, and only if it is
// selected.
func TestEventCursorIsTakenFirst(t *testing.T) {
	t.Parallel()
	tests := []struct {
		document, want string
		asked          bool
	}{
		{`{ books(first: 1) { nodes { id } eventCursor } }`,
			`{"data":{"books":{"nodes":[{"id":"1"}],"eventCursor":"@0"}}}`, true},
		{`{ books(first: 1) { nodes { id } eventCursor @skip(if: true) } }`,
			`{"data":{"books":{"nodes":[{"id":"1"}]}}}`, false},
		{`query($s: Boolean = true) { books(first: 1) { nodes { id } eventCursor @skip(if: $s) } }`,
			`{"data":{"books":{"nodes":[{"id":"1"}]}}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.document, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{feed: true})
			w.hook = func(context.Context, string) error { // while the list is read
				w.life(t)
				return nil
			}
			if got := w.named(w.ask(t, tt.document)); got != tt.want {
				t.Errorf("the list is %s, want %s", got, tt.want)
			}
			if got := w.events.asked.Load() > 0; got != tt.asked {
				t.Errorf("the log was asked: %v, want %v", got, tt.asked)
			}
		})
	}
}

// TestSubscriptionByRun checks that Run rejects a subscription.
func TestSubscriptionByRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{feed: true})
	answer, outcome := w.run(t.Context(), t, `subscription { bookChanged { id } }`, "")
	if outcome != exec.Refused || !strings.Contains(answer, gqlerror.Unresolvable) {
		t.Errorf("Run answers %s", answer)
	}
}
