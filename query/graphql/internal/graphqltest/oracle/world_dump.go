package oracle

// The items of a World as JSON. Called by tests in .ci/clients, which pass the result to
// execute.mjs.

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// The JSON form of the items for implementations in other languages. The names of members are those
// of the GraphQL fields, and each item has all of them. Values that a JavaScript
// number or JSON cannot represent are strings. Values that cannot be marshaled are strings, too.
type (
	// dumpedPlace is a Place. An empty zone is written, and the resolver makes it null.
	dumpedPlace struct {
		City  string        `json:"city"`
		Zone  string        `json:"zone"`
		Steps int16         `json:"steps"`
		Near  []dumpedPlace `json:"near"`
		Mood  *string       `json:"mood"`
	}
	// dumpedAuthor is an Author. Integers of 64 bits and floats are text.
	dumpedAuthor struct {
		ID      string       `json:"id"`
		Name    string       `json:"name"`
		Country string       `json:"country"`
		Born    int32        `json:"born"`
		Fans    string       `json:"fans"`
		Rating  string       `json:"rating"`
		Alive   bool         `json:"isAlive"`
		Note    *string      `json:"note"`
		Mood    string       `json:"mood"`
		Whim    *string      `json:"whim"`
		Tags    []string     `json:"tags"`
		Moods   []string     `json:"moods"`
		Whims   []*string    `json:"whims"`
		Home    *dumpedPlace `json:"home"`
		Extra   any          `json:"extra"`
		Odd     bool         `json:"extraFails"` // extra cannot be represented in JSON
		Best    *string      `json:"bestId"`
		Friends []string     `json:"friendIds"`
	}
	// dumpedChapter is a Chapter. A mood of "bad" is an error in the resolver.
	dumpedChapter struct {
		Title string `json:"title"`
		Pages int32  `json:"pages"`
		Mood  string `json:"mood"`
	}
	// dumpedBook is a Book. Pages may exceed the range of Int, which the resolver has to report.
	dumpedBook struct {
		ID       string            `json:"id"`
		Title    string            `json:"title"`
		Author   string            `json:"authorId"`
		Price    string            `json:"price"`
		Pages    int               `json:"pages"`
		Printed  string            `json:"printed"`
		Serial   string            `json:"serial"`
		Shelf    *dumpedPlace      `json:"shelf"`
		Chapters []dumpedChapter   `json:"chapters"`
		Words    map[string]string `json:"words"`
	}
)

// Dump returns the items of every World as JSON, so implementations in other languages can build
// the same one. The output is deterministic. It contains hidden authors, because the other
// implementation enforces the policy itself.
func Dump() ([]byte, error) {
	var out struct {
		Authors []dumpedAuthor `json:"authors"`
		Books   []dumpedBook   `json:"books"`
		Place   *dumpedPlace   `json:"place"` // the result of homeOr for an author without a home
	}
	for i := range authors {
		out.Authors = append(out.Authors, dumpAuthor(author(i+1)))
	}
	for i := range books {
		out.Books = append(out.Books, dumpBook(book(i+1)))
	}
	out.Place = dumpPlace(place(1))
	return json.Marshal(out, json.Deterministic(true))
}

// dumpAuthor returns an author in a form that JavaScript reads without loss: numbers beyond 2^53,
// NaN and infinity are text.
func dumpAuthor(a Author) dumpedAuthor {
	// The only float among the values of Extra is infinity, which JSON cannot represent.
	_, odd := a.Extra.(float64)
	d := dumpedAuthor{
		ID: strconv.FormatInt(a.ID, 10), Name: a.Name, Country: a.Country, Born: a.Born,
		Fans:   strconv.FormatInt(a.Fans, 10),
		Rating: fmt.Sprint(a.Rating), Alive: a.Alive, Note: a.Note, Mood: string(a.Mood),
		Whim: (*string)(a.Whim), Tags: a.Tags,
		Home: dumpPlace(a.Home), Odd: odd, Best: a.Best,
	}
	// The other implementation reports an error for the field if extraFails is set.
	if !odd {
		d.Extra = a.Extra
	}
	for _, m := range a.Moods {
		d.Moods = append(d.Moods, string(m))
	}
	for _, w := range a.Whims {
		d.Whims = append(d.Whims, (*string)(w))
	}
	for _, id := range a.Friends {
		d.Friends = append(d.Friends, strconv.FormatInt(id, 10))
	}
	return d
}

// dumpBook returns a book. Its price is text because it may be infinite, and its serial because it
// exceeds 2^53.
func dumpBook(b Book) dumpedBook {
	d := dumpedBook{
		ID: b.ID, Title: b.Title, Author: strconv.FormatInt(b.Author, 10), Price: fmt.Sprint(b.Price),
		Pages:   b.Pages,
		Printed: b.Printed.Format(time.RFC3339Nano), Serial: strconv.FormatInt(b.Serial, 10),
		Shelf: dumpPlace(b.Shelf), Words: b.Words,
	}
	for _, c := range b.Chapters {
		d.Chapters = append(d.Chapters, dumpedChapter{c.Title, c.Pages, string(c.Mood)})
	}
	return d
}

// dumpPlace returns a place with those near it, and nil for nil.
func dumpPlace(p *Place) *dumpedPlace {
	if p == nil {
		return nil
	}
	d := &dumpedPlace{City: p.City, Zone: p.Zone, Steps: p.Steps, Mood: (*string)(p.Mood)}
	for i := range p.Near {
		d.Near = append(d.Near, *dumpPlace(&p.Near[i]))
	}
	return d
}
