package openapi

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// A feed is another representation of a collection or an item and is described with it. OpenAPI 3.1
// cannot describe a sequence of events (3.2 has itemSchema), so the events are described in text.

// hasFeeds reports whether any resource of the catalog has a feed.
func (b *builder) hasFeeds() bool {
	return slices.ContainsFunc(b.c.Resources(), (*resource.Resource).Watches)
}

// cursorHeader returns the header field with the cursor of the feed, if the resource has one.
func (d *described) cursorHeader() []string {
	if !d.r.Watches() {
		return nil
	}
	return []string{"Event-Cursor"}
}

// withFeedErrors adds the error statuses of a feed: 410 for an expired cursor, and 429 for too many feeds of
// one caller.
func (d *described) withFeedErrors(statuses ...int) []int {
	if !d.r.Watches() {
		return statuses
	}
	for _, status := range []int{gone, 429} {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses
}

// feedText returns the description of the feed in an operation.
func (d *described) feedText(of string) string {
	if !d.r.Watches() {
		return ""
	}
	return "Asked for `" + eventstream.ContentType + "` it is the feed of changes to " + of +
		": it begins behind `Last-Event-ID`, or else now, and does not end. `Event-Cursor` is where to begin so that nothing is " +
		"missed that is not in this answer. 410 means that this is too long ago: get it anew"
}

// addFeed adds the feed to the operation that reads a collection or an item.
func (d *described) addFeed(op *operation, content *ordered[*mediaType]) {
	if !d.r.Watches() {
		return
	}
	const field = "Where to go on: the `id` of the last event that came, or an `Event-Cursor`. It is for feeds only."
	op.Parameters = append(op.Parameters,
		d.share("LastEventID", &parameter{Name: "Last-Event-ID", In: "header", Schema: text(),
			Example:     quote(cursorText),
			Description: field + " Browsers send it by themselves when they come back."}),
		d.share("LastEventIDOfURL", &parameter{Name: "lastEventId", In: "query", Schema: text(),
			Example: quote(cursorText),
			Description: field +
				" It is for browsers that come for the first time, and can send no field. `Last-Event-ID` goes before it."}))
	content.add(eventstream.ContentType, d.events())
}

const cursorText = "AcQ_tkSe6jcFCNQqAlvSYmc"

// events describes the content of a feed.
func (d *described) events() *mediaType {
	id := d.r.ID()
	m := &mediaType{Schema: textOf("Server-sent events (WHATWG HTML section 9.2). `event` is `created`, `updated` or `deleted`: " +
		"what comes into sight of the filters, and of what the caller may see, is created, and what leaves it is deleted. " +
		"`data` is the item as JSON, as it is answered otherwise; of a deleted one only its `" + id + "`. " +
		"`id` is the cursor of the event, from which a client goes on when the connection has ended, and misses nothing. An `id` " +
		"by itself says how far the feed has come. If it is `expired` one cannot go on, as with 410. Lines that begin with a colon are to be passed over.")}
	item := d.exampleValue(d.samples.item)
	if item == nil {
		return m
	}
	one, err := eventstream.Append(nil, eventstream.Event{ID: cursorText, Name: "updated", Data: item})
	if err == nil {
		m.Examples.add("event", &example{Value: quote(string(one))})
	}
	return m
}
