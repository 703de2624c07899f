package openapi

// Event streams in the document: their parameters, responses and headers.

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// A feed is another representation of a collection or an item and is described with it. OpenAPI 3.1
// cannot describe a sequence of events (3.2 has itemSchema), so the events are described in text.

// hasFeeds reports whether any resource of the catalog has a feed. The components of 410 and 429
// are shared by all operations, so they mention feeds if any exist.
func (b *builder) hasFeeds() bool {
	return slices.ContainsFunc(b.c.Resources(), (*resource.Resource).Watches)
}

// hasFeed reports whether the document describes the feed of the resource. The default profile does
// not: generated clients would receive 200 with one of two media types.
func (d *described) hasFeed() bool { return d.full && d.r.Watches() }

// cursorHeader returns the header field with the cursor of the feed, if the resource has one.
func (d *described) cursorHeader() []string {
	if !d.hasFeed() {
		return nil
	}
	return []string{"Event-Cursor"}
}

// withFeedErrors adds the error statuses of a feed: 410 for an expired cursor, and 429 for too many
// feeds of one caller.
func (d *described) withFeedErrors(statuses ...int) []int {
	if !d.hasFeed() {
		return statuses
	}
	for _, status := range []int{gone, 429} {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses
}

// feedText returns the description of the feed in an operation. It repeats in each operation what
// generalText could state once, because not every resource has a feed.
func (d *described) feedText(of string) string {
	if !d.hasFeed() {
		return ""
	}
	return "With `Accept: " + eventstream.ContentType + "` the response is the feed of changes to " + of +
		": it begins after `Last-Event-ID`, or with the next change, and does not end. To miss no change " +
		"after this response, " +
		"send its `Event-Cursor` as `Last-Event-ID`. 410 means that the cursor has expired: repeat the " +
		"request without it"
}

// addFeed adds the feed to the operation that reads a collection or an item. It adds to the
// parameters of op and to content, so callers use content afterwards.
func (d *described) addFeed(op *operation, content *ordered[*mediaType]) {
	if !d.hasFeed() {
		return
	}
	const field = "For feeds: the cursor to resume after, which is the `id` of the last event received or " +
		"an `Event-Cursor`."
	// EventSource cannot set header fields. It sends Last-Event-ID when it reconnects (WHATWG HTML
	// section 9.2.4), so a first request with a cursor needs the query parameter.
	op.Parameters = append(op.Parameters,
		d.share("LastEventID", &parameter{Name: "Last-Event-ID", In: "header", Schema: text(),
			Example:     quote(cursorText),
			Description: field + " Browsers send it when they reconnect."}),
		d.share("LastEventIDOfURL", &parameter{Name: "lastEventId", In: "query", Schema: text(),
			Example: quote(cursorText),
			Description: field +
				" For browsers, which cannot send a header field with the first request. `Last-Event-ID` " +
				"takes precedence."}))
	content.add(eventstream.ContentType, d.events())
}

// cursorText is an example of a cursor, which is opaque to clients.
const cursorText = "AcQ_tkSe6jcFCNQqAlvSYmc"

// events describes the content of a feed.
func (d *described) events() *mediaType {
	id := d.r.Describe().ID
	m := &mediaType{Schema: textOf("Server-sent events (WHATWG HTML section 9.2). `event` is `created`, " +
		"`updated` or `deleted`: " +
		"an item that starts to match the filters is `created`, and one that stops matching is `deleted`. " +
		"`data` is the item as JSON; for a deleted item it has only the `" + id + "`. " +
		"`id` is the cursor to resume after when the connection has ended. An event that has only an `id` " +
		"updates the cursor. The event `expired` means, like 410, that the cursor has expired. Lines that " +
		"begin with a colon are comments.")}
	m.ItemSchema = &schemaObject{Type: typeNames{"object"}, Properties: ordered[*schemaObject]{
		{"id", textOf("The cursor to resume after.")},
		{"event", &schemaObject{Type: typeNames{"string"},
			Enum: jsonStrings("created", "updated", "deleted", "expired")}},
		{"data", &schemaObject{Type: typeNames{"string"}, ContentMediaType: mediaJSON,
			ContentSchema: d.item}},
	}}
	item := d.exampleValue(d.samples.item)
	if item == nil {
		return m
	}
	// The content is not JSON, so the example is a JSON string with the text of one event.
	one, err := eventstream.Append(nil, eventstream.Event{ID: cursorText, Name: "updated", Data: item})
	if err == nil {
		m.Examples.add("event", &example{Value: quote(string(one))})
	}
	return m
}
