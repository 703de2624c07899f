package rest

// Requests for a change feed: the cursor, the filter and the negotiation of text/event-stream.
// Called by stream.go, list.go and item.go. It calls package query for filters and encodes events
// for stream_send.go.

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// The cursor of a client. Browsers send the header field when they reconnect. The parameter is for
// the first request, for which a browser cannot set a header field. The field has precedence,
// because the URL of a reconnecting browser does not change.
const (
	lastEventField     = "Last-Event-ID"
	lastEventParameter = "lastEventId"
)

// unsupportedParameters are the parameters of a list that a feed rejects.
var unsupportedParameters = []string{"after", "before", "expand", "highlight", "limit", "q", "sort"}

// subscription is the parsed request for a feed.
type subscription struct {
	filter   query.Filter      // in the names of the contract
	after    feed.Cursor       // zero: start with the next change
	source   problem.Violation // source of the cursor: a field or a parameter
	resource *resource.Resource
	fields   *schema.Selection // of the items; nil for all
	key      any               // a frameKey, converted once
}

// parseSubscription parses the request. It rejects an idempotency key, because a stream cannot be
// replayed. Preconditions must be valid but have no effect.
func (c *call) parseSubscription() (*subscription, error) {
	enc, err := c.encodings()
	// A compressor buffers, which would delay events.
	if err == nil && !enc.Identity {
		err = problem.New(problem.NotAcceptable,
			"Accept-Encoding must allow identity, because a stream is not compressed.")
	}
	if err != nil {
		return nil, err
	}
	if c.r.Header[http.CanonicalHeaderKey(idempotency.KeyField)] != nil {
		return nil, badField(idempotency.KeyField, "unsupported", "is not supported by a stream")
	}
	// Valid preconditions are ignored: a stream has no representation to compare.
	if _, err := parsePreconditions(c.r.Header); err != nil {
		return nil, err
	}
	params, err := c.params()
	if err != nil {
		return nil, err
	}
	l := &subscription{resource: c.route.resource}
	if err := l.parsePosition(params, c.r.Header); err != nil {
		return nil, err
	}
	// The rest of the query is that of a list or an item, which has no such parameter.
	delete(params, lastEventParameter)
	err = refuseParameters(params, unsupportedParameters, "a stream", "which sends changes as they happen")
	if err != nil {
		return nil, err
	}
	return l, c.parseStreamQuery(l, params)
}

// parseStreamQuery parses the filter and the selected fields.
func (c *call) parseStreamQuery(l *subscription, params url.Values) (err error) {
	var p selection
	lenient := c.lenient(c.prefer())
	if c.onItem {
		// An item has no filter: the id selects the events.
		p, err = c.itemParams(params, lenient)
	} else {
		var q query.Query
		if q, err = c.parseQuery(params, lenient); err == nil {
			// expand was rejected before, so the selection has no relations.
			p, err = c.parseSelection(params)
		}
		l.filter = q.Filter
	}
	// Two contracts have different resources, so their frames are separate.
	l.fields, l.key = p.fields, frameKey{l.resource, p.names}
	return err
}

// refuseParameters rejects parameters that a list has, and by has not.
func refuseParameters(params url.Values, names []string, by, because string) error {
	var bad []problem.Violation
	for _, name := range names {
		if params.Has(name) {
			bad = append(bad, problem.Violation{Parameter: name, Code: "unsupported",
				Detail: "is not supported by " + by + ", " + because})
		}
	}
	if bad == nil {
		return nil
	}
	d := problem.New(problem.InvalidParameter, "A parameter of the request is not supported by "+by+".")
	d.Errors = bad
	return d
}

// refuseLastEventID rejects the cursor of a feed in a request for a list or an item. A client that
// omits the Accept header would otherwise take the whole list for the changes after the cursor.
func (c *call) refuseLastEventID(params url.Values, lenient bool) error {
	if lenient || !params.Has(lastEventParameter) || !c.route.resource.Watches() {
		return nil
	}
	return badParameter(lastEventParameter, "unsupported",
		"is only valid for a stream; send Accept: "+mediaStream)
}

// parsePosition parses the cursor in the parameter and in the header field. Both must be valid.
func (l *subscription) parsePosition(params url.Values, h http.Header) error {
	if values := params[lastEventParameter]; values != nil {
		l.source = problem.Violation{Parameter: lastEventParameter}
		if err := l.parseCursor(values); err != nil {
			return err
		}
	}
	// An empty field is the same as no field in the specification of EventSource.
	lines := h[http.CanonicalHeaderKey(lastEventField)]
	if slices.ContainsFunc(lines, func(line string) bool { return line != "" }) {
		l.source = problem.Violation{Header: lastEventField}
		return l.parseCursor(lines)
	}
	return nil
}

// parseCursor parses the values of one field or parameter. Repeated equal values are valid.
func (l *subscription) parseCursor(values []string) (err error) {
	// Two cursors contradict each other. A guess could skip events.
	if slices.ContainsFunc(values, func(v string) bool { return v != values[0] }) {
		err = feed.ErrCursor
	} else if values[0] == expiredID {
		// An earlier stream has ended with this id; see changeStream.end.
		return l.expired()
	} else {
		l.after, err = feed.ParseCursor(values[0])
	}
	if err == nil {
		return nil
	}
	l.source.Code, l.source.Detail = "invalidCursor", "must be the id of an event or an Event-Cursor"
	d := problem.New(problem.InvalidCursor, "The "+cmp.Or(l.source.Header, l.source.Parameter)+" "+
		safe.Quote(strings.Join(values, ", "))+" is not a valid cursor.")
	d.Errors = []problem.Violation{l.source}
	return d
}

// positionError adds the source of the cursor to an error about an expired cursor.
func (l *subscription) positionError(err error) error {
	if !errors.Is(err, feed.ErrExpired) || l.source.Parameter+l.source.Header == "" {
		return err
	}
	return l.expired()
}

func (l *subscription) expired() error {
	// Problem returns new details for this error, so they can be modified.
	d := resource.Problem(feed.ErrExpired)
	l.source.Code, l.source.Detail = "expired", "has expired; the feed no longer has all changes after it"
	d.Errors = []problem.Violation{l.source}
	return d
}

func badField(name, code, detail string) error {
	d := problem.New(problem.InvalidHeader, name+" "+detail+".")
	d.Errors = []problem.Violation{{Header: name, Code: code, Detail: detail}}
	return d
}

// frameKey identifies the variants of an encoded change.
type frameKey struct {
	resource *resource.Resource
	names    string // selected fields, sorted
}

// selectionsKey identifies the number of cached variants of a change that clients have selected.
type selectionsKey struct{ resource *resource.Resource }

// maxSelections limits the variants of a change with selected fields that are cached. The feed does
// not count cached frames in its BufferBytes. Without this limit, clients with many selections could
// multiply that memory.
const maxSelections = 8

type frame struct {
	text []byte
	err  error
}

// encode returns the frame of a change. Subscriptions with the same fields share it, so a change is
// encoded once for any number of clients. Beyond maxSelections each subscription encodes its own.
func (l *subscription) encode(c *feed.Change[resource.Entry]) *frame {
	var own *frame
	shared := c.Memo(l.key, func() any {
		own = l.newFrame(c)
		if l.fields != nil && l.countSelection(c) > maxSelections {
			return (*frame)(nil)
		}
		return own
	}).(*frame)
	switch {
	case shared != nil:
		return shared
	case own != nil:
		return own
	}
	return l.newFrame(c)
}

// countSelection counts one more selection of fields of a change, and returns their number.
func (l *subscription) countSelection(c *feed.Change[resource.Entry]) int32 {
	n := c.Memo(selectionsKey{l.resource}, func() any { return new(atomic.Int32) }).(*atomic.Int32)
	return n.Add(1)
}

// newFrame encodes a change.
func (l *subscription) newFrame(c *feed.Change[resource.Entry]) *frame {
	f := &frame{}
	// A panic becomes an error of the event. Otherwise Memo would repeat it for each subscriber.
	err := safe.Call(func() error {
		data, err := l.data(c)
		if err == nil {
			f.text, err = eventstream.Append(nil,
				eventstream.Event{ID: c.Cursor.String(), Name: c.Kind.String(), Data: data})
		}
		return err
	})
	if err != nil {
		f.err = l.resource.Raw().Unpublishable(c.Cursor, err)
	}
	return f
}

// data returns the item as GET returns it. A deleted item is an object that has only the id.
func (l *subscription) data(c *feed.Change[resource.Entry]) ([]byte, error) {
	if c.After != nil {
		p := selection{fields: l.fields}
		return p.append(nil, l.resource.Type(), c.After, 0, nil)
	}
	typ := l.resource.Type()
	// The id is encoded with its type in this contract, which may be an integer.
	v, id := typ.New(), typ.Field(l.resource.Describe().ID)
	if err := id.SetText(v, c.ID); err != nil {
		return nil, err
	}
	data, err := jsontext.AppendQuote([]byte{'{'}, id.Name)
	if err == nil {
		data, err = typ.AppendField(append(data, ':'), id, v)
	}
	return append(data, '}'), err
}

// wantsStream reports whether the client prefers the feed of an item to the item. It negotiates the
// media type of the response.
func (c *call) wantsStream() (bool, error) {
	if !c.route.resource.Watches() {
		return false, c.acceptable()
	}
	lines := c.r.Header["Accept"]
	if len(lines) == 0 || len(lines) == 1 && (lines[0] == "*/*" || lines[0] == mediaJSON) {
		return false, c.acceptable()
	}
	i, err := c.negotiateFeed(lines, itemOffers)
	return i > 0, err
}

// negotiateFeed is negotiate for offers that end with the stream. The stream is selected only if
// Accept names it: a client that sends text/* or */* expects a response that ends.
func (c *call) negotiateFeed(lines, offers []string) (int, error) {
	i, err := c.negotiate(lines, offers)
	if err == nil && offers[i] == mediaStream &&
		!slices.ContainsFunc(lines,
			func(line string) bool { return strings.Contains(strings.ToLower(line), mediaStream) }) {
		// The stream is the last offer, so the others are those before it. The error lists it
		// nevertheless.
		if i, err = c.negotiate(lines, offers[:i]); err != nil {
			err = c.notAcceptable(offers)
		}
	}
	return i, err
}
