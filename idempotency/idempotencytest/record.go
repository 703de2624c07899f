package idempotencytest

// Cases about records: every member is returned as it was stored.

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/idempotency"
)

// recordCases tests that records are stored without loss.
func recordCases() []testCase {
	return []testCase{
		{
			// A replay must be the response of the first request, octet by octet. Columns for text,
			// and JSON in place of bytes, change some of these values.
			name: "records",
			contract: "A record is returned unchanged, byte for byte. Empty and nil may be exchanged; " +
				"Done may be rounded to microseconds.",
			try: func(k *kit) {
				for name, rec := range records(k.now) {
					k.want(idempotency.Fresh, name, k.claim("t1"), "first claim")
					k.must(k.store.Finish(k.ctx, id(name), "t1", rec, k.now.Add(kept)), "Finish of "+name)
					got := k.want(idempotency.Finished, name, k.claim("t2"), "after Finish")
					for _, member := range differences(rec, got) {
						k.errorf("the record %q: %s differs", name, member)
					}
				}
			},
		},
	}
}

// records returns records with unusual contents, by name. They cover a record without content, one
// with an unknown outcome, a reference to an item in place of a result, all byte values, 1 MiB of
// content, quotes and letters outside of ASCII, a field with several lines, and a time with
// nanoseconds.
func records(now time.Time) map[string]idempotency.Record {
	every := make([]byte, 256)
	// a content that is not valid UTF-8
	for i := range every {
		every[i] = byte(i)
	}
	return map[string]idempotency.Record{
		"full": {Status: 201, Media: "application/json", Result: []byte(`{"id":"7"}`), Header: http.Header{
			"Location": {
				"/orders/7",
			},
			"Link": {`</a>; rel="x"`, `</b>; rel="y, z"`},
		}, Collection: "orders", ID: "7", Rev: "r1", Done: now},
		"bare":    {Status: 204, Done: now},
		"unknown": {Done: now},
		"reference": {
			Status:     200,
			Media:      "application/json",
			Collection: "orders",
			ID:         "7",
			Rev:        "r1",
			Done:       now,
		},
		"binary": {Status: 200, Media: "application/octet-stream", Result: every, Done: now},
		"large": {
			Status: 200,
			Media:  "text/plain",
			Result: bytes.Repeat([]byte("0123456789abcdef"), 1<<16),
			Done:   now,
		},
		"odd": {
			Status:     200,
			Media:      `text/plain; charset="utf-8"`,
			Result:     []byte("\x00'\"\\ \xff"),
			Collection: "größen",
			ID:         "a'b\"c\\d/%00?",
			Rev:        strings.Repeat("r", 300),
			Header:     http.Header{"Location": {"/größen/'\"\\"}, "X-Empty": {""}},
			Done:       now,
		},
		"fraction": {Status: 200, Done: now.Add(123456789 * time.Nanosecond)},
	}
}

// differences names the members in which two records differ. Nil and empty values are equal, and
// times may differ by a microsecond.
func differences(want, got idempotency.Record) (members []string) {
	note := func(member string, equal bool) {
		if !equal {
			members = append(members, member)
		}
	}
	note("Status", want.Status == got.Status)
	note("Media", want.Media == got.Media)
	note("Result", bytes.Equal(want.Result, got.Result))
	note("Header", maps.EqualFunc(want.Header, got.Header, slices.Equal))
	note("Collection", want.Collection == got.Collection)
	note("ID", want.ID == got.ID)
	note("Rev", want.Rev == got.Rev)
	note("Done", want.Done.Sub(got.Done).Abs() <= time.Microsecond)
	return members
}
