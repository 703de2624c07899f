package graphqltest

// A catalog with items, for tests that execute operations without package exec: those of package
// oracle, and those of .ci/clients that print the schema. Everything is deterministic, so expected
// responses can be constants.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/schema"
)

// Ship has members of every kind that a resource can have. Together with the other types of this
// catalog it uses every feature that package model reflects.
type Ship struct {
	// The store assigns the id, so inputs do not contain it. Rig is an enum with a default.
	ID   int64  `json:"id" readOnly:"true" doc:"Given by the harbour."`
	Name string `json:"name" required:"true" minLength:"1" maxLength:"80" unique:"true"`
	Rig  string `json:"rig" enum:"SLOOP,SCHOONER,BARQUE" default:"SLOOP" doc:"How she is rigged.\n\nMost are sloops."`
	// The foreign keys of the relations port and convoy. One ship refers to a port that does not
	// exist.
	PortID  *string `json:"portId" doc:"The port that she is in; null at sea."`
	Escorts []int64 `json:"escorts,omitempty" maxItems:"3"`
	// Numbers. Masts has limits that make it an Int, Tonnage is an Int64 in spite of its Go type,
	// and Serial is a String, because it is quoted in JSON.
	Length  float64  `json:"length" minimum:"0" default:"12.5"`
	Draught *float32 `json:"draught"`
	Masts   int      `json:"masts" minimum:"0" maximum:"7" default:"1"`
	Tonnage uint64   `json:"tonnage" default:"0"`
	Serial  int64    `json:"serial,string"`
	Afloat  bool     `json:"afloat" default:"true"`
	// Launched is never null, although JSON may omit it. The default of Refitted has an offset.
	Launched time.Time  `json:"launched,omitzero"`
	Refitted *time.Time `json:"refitted" default:"2020-02-29T12:00:00.5+02:00"`
	// Flag is base64. Marks and Log have no fixed members, so they are of the scalar JSON.
	Flag  []byte            `json:"flag,omitempty"`
	Marks map[string]string `json:"marks,omitempty"`
	Log   any               `json:"log,omitempty"`
	// Decks is recursive. Owner has an object type without a resource.
	Decks []Deck  `json:"decks,omitempty" maxItems:"9"`
	Owner *Person `json:"owner"`
	// The JSON name call-sign is no GraphQL name and becomes callSign. Secret occurs in inputs
	// only.
	Code   string `json:"call-sign,omitempty" deprecated:"use \"serial\""`
	Secret string `json:"secret,omitempty" writeOnly:"true"`
	// A list of lists.
	Grid [2][2]int32 `json:"grid"`
}

// Deck contains decks. The limits of Guns apply to its elements.
type Deck struct {
	Name string `json:"name" required:"true"`
	Guns []int  `json:"guns,omitempty" minimum:"0" maximum:"64"`
	Over []Deck `json:"over,omitempty"`
}

// Person is an object type that is not a resource. Its zero time is omitted from JSON.
type Person struct {
	Name string    `json:"name" required:"true"`
	Born time.Time `json:"born,omitzero"`
}

// Port has an id that clients choose. The sort and filter options of its resource are restricted,
// unlike those of ships and sailors.
type Port struct {
	ID   string   `json:"id" maxLength:"32"`
	Name string   `json:"name" required:"true"`
	Lat  *float64 `json:"lat,omitzero" minimum:"-90" maximum:"90"`
}

// Sailor refers to a ship. The relation crew of ships follows this reference in reverse.
type Sailor struct {
	ID     int64  `json:"id" readOnly:"true"`
	Name   string `json:"name" required:"true"`
	ShipID *int64 `json:"shipId"`
}

// Voyage is the input of a command. It is also the input of the custom field tides. Days has a
// default and is deprecated.
type Voyage struct {
	Ship int64  `json:"ship" required:"true"`
	To   string `json:"to" required:"true"`
	Days int    `json:"days" default:"3" minimum:"1" maximum:"400" deprecated:"not exact"`
}

// Arrival is the output of a command. Its port is a nested object and not an item, so it has no
// relations.
type Arrival struct {
	At   time.Time `json:"at"`
	Port *Port     `json:"port"`
}

// Sounding is the input of the lookup. Its default is another one than that of Ship.Rig.
type Sounding struct {
	Rig string `json:"rig" enum:"SLOOP,SCHOONER,BARQUE" default:"BARQUE"`
}

// nothing is the input and the output of a command without either. GraphQL has no empty objects, so
// the field of the command has no argument and returns true.
type nothing struct{}

// Store is a collection that Catalog can fill. The tests supply it, because this package imports no
// store. Ports need an Inserter, because their ids are not assigned.
type Store[T any] interface {
	resource.Collection[T]
	resource.Creator[T]
	resource.Inserter[T]
}

// Catalog fills empty stores with three ports, four ships and five sailors. It returns a catalog of
// them and the options for [model.Reflect]. It panics if a store rejects an item.
func Catalog(ports Store[Port], ships Store[Ship],
	sailors Store[Sailor]) (*resource.Catalog, *model.Options) {
	ctx := context.Background()
	lat, born := 37.94, time.Date(1801, 2, 3, 0, 0, 0, 0, time.UTC)
	fill(ports.Insert(ctx, "piraeus", Port{ID: "piraeus", Name: "Piraeus", Lat: &lat}))
	fill(ports.Insert(ctx, "hull", Port{ID: "hull", Name: "Hull"}))
	// An id with a character outside ASCII has to survive in cursors and entity tags.
	fill(ports.Insert(ctx, "cádiz", Port{ID: "cádiz", Name: "Cádiz"}))
	// The ships differ in every member. The third is in a port that does not exist, and the first
	// has no optional members. Names need escapes in JSON, serials are beyond 2^53, and flags are
	// not valid UTF-8.
	for i, rig := range []string{"SLOOP", "SCHOONER", "BARQUE", "SLOOP"} {
		port, draught := []string{"piraeus", "hull", "nowhere", "hull"}[i], float32(2.1)
		ship := Ship{Name: fmt.Sprintf("Ship \"%d\"", i+1), Rig: rig, PortID: &port,
			Escorts: []int64{4, int64(i + 1), 2}[:i],
			Length:  10.5 * float64(i), Masts: i, Tonnage: 1 << (20 * i), Serial: int64(i) - 1<<60,
			Afloat:   i != 2,
			Launched: born.AddDate(i, 0, 0), Marks: map[string]string{"b": "2", "a": "1"}, Secret: "treasure",
			Log: map[string]any{"n": []any{1.5, nil, "x"}}, Grid: [2][2]int32{{1, 2}, {3, int32(i)}}}
		if i > 0 {
			ship.Draught, ship.Refitted, ship.Flag = &draught, &born, []byte{0xff, byte(i)}
			ship.Owner = &Person{Name: "Owner", Born: born}
			ship.Decks = []Deck{{Name: "main", Guns: []int{i, 2}, Over: []Deck{{Name: "poop"}}},
				{Name: "lower"}}
		}
		fill(ships.Create(ctx, ship))
	}
	for i := range int64(5) {
		ship := i%3 + 1
		fill(sailors.Create(ctx, Sailor{Name: fmt.Sprintf("Sailor %d", i+1), ShipID: &ship}))
	}
	return harbour(ports, ships, sailors), &model.Options{Doc: "A harbour.\n\nWith \"ships\".",
		Fields: custom()}
}

// fill panics if err is not nil. An error means that the data in this file are invalid.
func fill[T any](_ resource.Item[T], err error) {
	if err != nil {
		panic(err)
	}
}

// harbour returns the catalog. Its relations are of each kind: to one, to many by ids, and to many
// by a field of the other resource. All resources and commands are public, because the tests are
// not about authorization.
func harbour(ports Store[Port], ships Store[Ship], sailors Store[Sailor]) *resource.Catalog {
	return resource.NewCatalog(nil,
		// The page size is below the number of ships, so that a list has two pages. The limit of
		// convoy cuts off the escorts of the last ship.
		resource.New("ships", ships, &resource.Options[Ship]{Query: everything[Ship](), Public: true,
			PageSize: 3, MaxPageSize: 10,
			Relations: []resource.Relation[Ship]{
				{Name: "port", Target: "ports", Field: "portId"},
				{Name: "convoy", Target: "ships", Field: "escorts", Many: true, Limit: 2},
				{Name: "crew", Target: "sailors", By: "shipId"}}}),
		resource.New("ports", ports, &resource.Options[Port]{Query: query.Support{Sort: []string{"name"},
			Filter: map[string][]query.Op{"name": {query.Eq, query.StartsWith}}}, Public: true}),
		resource.New("sailors", sailors, &resource.Options[Sailor]{Query: everything[Sailor](),
			Public: true}),
		// There is no flagship with the rig SLOOP.
		resource.NewLookup("flagship", "ships", func(_ context.Context, in Sounding) (string, error) {
			return map[string]string{"BARQUE": "3", "SCHOONER": "2"}[in.Rig], nil
		}),
		command.New("ships/sail", func(_ context.Context, in Voyage) (Arrival, error) {
			// The error names a member of the input, which the response has to show as an argument.
			if in.To == "nowhere" {
				return Arrival{}, resource.Invalid("to", "unknown")
			}
			return Arrival{At: time.Date(2026, 1, in.Days, 0, 0, 0, 0, time.UTC),
				Port: &Port{ID: in.To, Name: "There"}}, nil
		}, &command.Options[Voyage]{Public: true, Doc: "Sails a ship elsewhere."}),
		// A command without input and output.
		command.New("harbour/close",
			func(context.Context, nothing) (nothing, error) { return nothing{}, nil },
			&command.Options[nothing]{Public: true}))
}

// custom returns custom fields, one of each kind, in the form that package graphql produces. tides
// returns an error for more than 31 days. ring has no result. berths is null for a ship without
// masts.
func custom() []*model.CustomField {
	return []*model.CustomField{
		{On: "Query", Name: "tides", Doc: "When the water is high.", In: schema.For[Voyage](),
			Out: schema.For[[]Arrival](), Cost: 2,
			Root: func(_ context.Context, in any) (any, error) {
				// A root function receives a pointer to the struct of its arguments.
				if in.(*Voyage).Days > 31 {
					return nil, errors.New("the moon is not known so far ahead")
				}
				return &[]Arrival{{At: time.Date(2026, 3, in.(*Voyage).Days, 6, 0, 0, 0, time.UTC)}}, nil
			}},
		{On: "Mutation", Name: "ring", Doc: "Rings the bell.", Cost: 1,
			Root: func(context.Context, any) (any, error) { return nil, nil }},
		{On: "ships", Name: "berths", Deprecated: "count them", Out: schema.For[int](), Nullable: true,
			Cost:   1,
			Parent: reflect.TypeFor[Ship](),
			Each: func(_ context.Context, items []any, _ any) ([]any, error) {
				// The result has one element for each item, and a nil element is null.
				values := make([]any, len(items))
				for i, item := range items {
					if n := item.(*Ship).Masts * 4; n > 0 {
						values[i] = &n
					}
				}
				return values, nil
			}},
	}
}

// everything returns a Support with all operators for all comparable fields that are not
// write-only. The operators for a field follow from its type, as package query requires.
func everything[T any]() query.Support {
	s := query.Support{Filter: map[string][]query.Op{}}
	for _, f := range schema.For[T]().Fields {
		if !f.Comparable() || f.WriteOnly {
			continue
		}
		ops := []query.Op{query.Eq, query.Ne, query.In, query.NotIn}
		if f.Type.Kind != schema.Boolean {
			ops = append(ops, query.Lt, query.Lte, query.Gt, query.Gte)
		}
		if f.Type.Kind == schema.String && f.Type.Format != "date-time" {
			ops = append(ops, query.Contains, query.StartsWith)
		}
		if f.Nullable {
			ops = append(ops, query.IsNull)
		}
		s.Filter[f.Name], s.Sort = ops, append(s.Sort, f.Name)
	}
	return s
}
