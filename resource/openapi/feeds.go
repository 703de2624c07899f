package openapi

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// A feed is another representation of a collection or an item, so it is described where those are. OpenAPI 3.1 has no word for
// a sequence of events, which comes with 3.2 as itemSchema: what an event is made of is told in text.

// watched reports whether one can listen to a resource of the catalog.
func (b *builder) watched() bool {
	return slices.ContainsFunc(b.c.Resources(), (*resource.Resource).Watches)
}

// cursorHeader is the field that says where to begin to listen.
func (d *described) cursorHeader() []string {
	if !d.r.Watches() {
		return nil
	}
	return []string{"Event-Cursor"}
}

// feeds adds what a feed can be refused with: 410 where it cannot be gone on with, and 429 for one more than a caller may have.
func (d *described) feeds(statuses ...int) []int {
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

// listens says in the description of an operation that it can be asked for a feed, of what.
func (d *described) listens(of string) string {
	if !d.r.Watches() {
		return ""
	}
	return "Asked for `" + eventstream.ContentType + "` it is the feed of changes to " + of +
		": it begins behind `Last-Event-ID`, or else now, and does not end. `Event-Cursor` is where to begin so that nothing is " +
		"missed that is not in this answer. 410 means that this is too long ago: get it anew"
}

// listen adds the feed to the operation that gets a collection or an item.
func (d *described) listen(op *operation, content *ordered[*mediaType]) {
	if !d.r.Watches() {
		return
	}
	const field = "Where to go on: the `id` of the last event that came, or an `Event-Cursor`. It is for feeds only."
	op.Parameters = append(op.Parameters,
		d.share("LastEventID", &parameter{Name: "Last-Event-ID", In: "header", Schema: text(), Example: quote(cursorText),
			Description: field + " Browsers send it by themselves when they come back."}),
		d.share("LastEventIDOfURL", &parameter{Name: "lastEventId", In: "query", Schema: text(), Example: quote(cursorText),
			Description: field + " It is for browsers that come for the first time, and can send no field. `Last-Event-ID` goes before it."}))
	content.add(eventstream.ContentType, d.events())
}

const cursorText = "AcQ_tkSe6jcFCNQqAlvSYmc"

// events describes a feed.
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
