package schema_test

import (
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The types in this file are shared by the tests and fuzz targets. Together they use every feature
// of package schema.

// colour has text methods and one spelling per value.
type colour struct{ name string }

var errColour = errors.New("pq: relation colours does not exist") // must not be sent to clients

func (c colour) MarshalText() ([]byte, error) { return []byte(c.name), nil }

func (c *colour) UnmarshalText(text []byte) error {
	if name := strings.ToLower(string(text)); name == "red" || name == "blue" || name == "" {
		c.name = name
		return nil
	}
	return errColour
}

// opaque has JSON methods.
type opaque struct{ raw string }

func (o opaque) MarshalJSON() ([]byte, error) {
	if o.raw == "" {
		return []byte("null"), nil
	}
	return []byte(o.raw), nil
}

func (o *opaque) UnmarshalJSON(b []byte) error {
	if string(b) == `"bad"` {
		return errColour
	}
	o.raw = string(b)
	return nil
}

type status string

type stamped struct {
	Created time.Time `json:"created" readOnly:"true"`
	Version uint16    `json:"version" readOnly:"true"`
}

type address struct {
	Street string `json:"street" required:"true" maxLength:"20"`
	City   string `json:"city,omitempty" minLength:"2"`
	Geo    *geo   `json:"geo,omitzero"`
}

type geo struct {
	Lat float64 `json:"lat" minimum:"-90" maximum:"90"`
	Lng float32 `json:"lng"`
}

type line struct {
	SKU   string `json:"sku" pattern:"^[A-Z]+$"`
	Count uint8  `json:"count" minimum:"1" default:"1"`
	Price int64  `json:"price" readOnly:"true"`
}

// everything is the type of the comparisons with go-json-experiment/json.
type everything struct {
	ID       int64             `json:"id"`
	Name     string            `json:"name" required:"true" minLength:"1" maxLength:"40"`
	Status   status            `json:"status" enum:"open,done" default:"open"`
	Big      uint64            `json:"big,string"`
	Small    int8              `json:"small,omitzero"`
	Ratio    float64           `json:"ratio"`
	Single   float32           `json:"single,omitempty"`
	Ok       bool              `json:"ok"`
	Maybe    *string           `json:"maybe" minLength:"2"`
	Number   *int              `json:"number,omitempty"`
	When     time.Time         `json:"when,omitzero"`
	Until    *time.Time        `json:"until"`
	Colour   colour            `json:"colour,omitempty"`
	Data     []byte            `json:"data"`
	Hash     [4]byte           `json:"hash"`
	Tags     []string          `json:"tags" maxItems:"5" unique:"true" minLength:"1" maxLength:"8"`
	Counts   []int             `json:"counts,omitempty" maximum:"100"`
	Pair     [2]float32        `json:"pair"`
	Labels   map[string]string `json:"labels" maxLength:"8"`
	ByNumber map[int]*geo      `json:"byNumber,omitzero"`
	Colours  map[colour]bool   `json:"colours,omitempty"`
	Address  address           `json:"address"`
	Other    *address          `json:"other,omitempty"`
	Lines    []line            `json:"lines"`
	Pointers []*line           `json:"pointers,omitempty"`
	Any      any               `json:"any"`
	Raw      jsontext.Value    `json:"raw,omitzero"`
	Opaque   opaque            `json:"opaque"`
	Next     *everything       `json:"next,omitempty"`
	Funny    string            `json:"a/b~<é>"`
	stamped
	Hidden string `json:"-"`
	secret string
}

func newEverything() *everything {
	maybe, number, until := "perhaps \u2028 <b> \"q\" \\ \t é 𝄞", -3, time.Date(1999, 12, 31, 23, 59, 59, 1,
		time.FixedZone("", 5400))
	return &everything{
		ID: 9007199254740993, Name: "Name", Status: "done", Big: 1<<64 - 1, Small: -128, Ratio: 1e21,
		Single: 0.1, Ok: true,
		Maybe: &maybe, Number: &number, When: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), Until: &until,
		Colour: colour{"red"}, Data: []byte{0, 1, 254}, Hash: [4]byte{1, 2, 3, 4}, Tags: []string{"b", "a"},
		Counts: []int{3, -1},
		Pair:   [2]float32{1.5, -0.25}, Labels: map[string]string{"z": "1", "a": "<2>"},
		ByNumber: map[int]*geo{10: {Lat: 1}, 9: nil, -1: {Lng: 2.5}},
		Colours:  map[colour]bool{{"red"}: true, {"blue"}: false},
		Address:  address{Street: "Main"},
		Other:    &address{Street: "Side", City: "Rome", Geo: &geo{41.9, 12.5}},
		Lines:    []line{{"A", 1, 5}, {"B", 2, 6}}, Pointers: []*line{nil, {"C", 3, 0}},
		Any:    map[string]any{"b": 1.5, "a": []any{nil, true, "x"}},
		Raw:    jsontext.Value(`{"z":1,"a":1e400}`),
		Opaque: opaque{`[1,2]`}, Next: &everything{Name: "inner"}, Funny: "f",
		stamped: stamped{Created: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), Version: 7},
		Hidden:  "hidden", secret: "secret",
	}
}

// account has a writeOnly field.
type account struct {
	ID       string    `json:"id"`
	Email    string    `json:"email" required:"true" format:"email"`
	Password string    `json:"password" required:"true" writeOnly:"true" minLength:"8"`
	Plan     string    `json:"plan" default:"free" enum:"free,paid"`
	Balance  int64     `json:"balance" readOnly:"true"`
	Note     *string   `json:"note,omitempty"`
	Profile  profile   `json:"profile"`
	Created  time.Time `json:"created" readOnly:"true"`
	Hash     string    `json:"-"`
	internal []string
}

type profile struct {
	Bio    string `json:"bio"`
	Rank   int    `json:"rank" readOnly:"true"`
	Theme  string `json:"theme" default:"light"`
	Hidden int    `json:"-"`
}

func newAccount() *account {
	note := "hello"
	return &account{
		ID: "a1", Email: "a@example.com", Password: "long enough", Plan: "paid", Balance: 12, Note: &note,
		Profile: profile{Bio: "b", Rank: 3, Theme: "dark", Hidden: 9},
		Created: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Hash: "#", internal: []string{"kept"},
	}
}

func ptr[T any](v T) *T { return &v }
