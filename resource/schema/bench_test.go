package schema_test

import (
	stdjson "encoding/json"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource/schema"
)

// flat is the type of the measurements in commit messages: eight fields without nesting.
type flat struct {
	ID       int64     `json:"id"`
	Name     string    `json:"name" minLength:"1" maxLength:"200"`
	Country  string    `json:"country" pattern:"^[A-Z]{2}$"`
	Region   string    `json:"region"`
	Language string    `json:"language" enum:"en,de,fr"`
	Age      int       `json:"age" minimum:"0"`
	Height   float64   `json:"height"`
	Seen     time.Time `json:"seen"`
}

func newFlat() flat {
	return flat{
		ID: 9007199254740993, Name: "Karl the Great", Country: "DE", Region: "Aachen and around",
		Language: "de",
		Age:      71, Height: 1.84, Seen: time.Date(2026, 11, 20, 8, 30, 15, 123_000_000, time.UTC),
	}
}

func BenchmarkAppend(b *testing.B) {
	one, many := newFlat(), make([]flat, 100)
	for i := range many {
		many[i] = newFlat()
	}
	place := schema.For[flat]()
	b.Run("one/encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := stdjson.Marshal(&one); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one/go-json-experiment", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(&one, json.Deterministic(true)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one/schema", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			var err error
			if buf, err = place.Append(buf[:0], &one); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list/encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := stdjson.Marshal(many); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list/go-json-experiment", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(many, json.Deterministic(true)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list/schema", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf = append(buf[:0], '[')
			for i := range many {
				var err error
				if buf, err = place.Append(buf, &many[i]); err != nil {
					b.Fatal(err)
				}
				buf = append(buf, ',')
			}
			buf[len(buf)-1] = ']'
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	v := newFlat()
	data, err := json.Marshal(&v)
	if err != nil {
		b.Fatal(err)
	}
	place := schema.For[flat]()
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := stdjson.Unmarshal(data, new(flat)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("go-json-experiment", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := json.Unmarshal(data, new(flat)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("schema", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := place.Decode(data, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMembersEncoder encodes the leaves of 100 orders, or shipments, for GraphQL.
func BenchmarkMembersEncoder(b *testing.B) {
	type order struct {
		ID         string    `json:"id"`
		Status     string    `json:"status"`
		TotalCents int32     `json:"totalCents"`
		Note       *string   `json:"note"`
		PlacedAt   time.Time `json:"placedAt"`
		CustomerID string    `json:"customerId"`
	}
	type shipment struct {
		ID      string `json:"id"`
		OrderID string `json:"orderId"`
		Carrier string `json:"carrier"`
		Parcels int32  `json:"parcels"`
	}
	note := `Please ring "twice", at the back.`
	orders, shipments := make([]order, 100), make([]shipment, 100)
	for i := range orders {
		orders[i] = order{ID: "o000042", Status: "placed", TotalCents: 3456, CustomerID: "u000001",
			PlacedAt: time.Date(2026, 11, 2, 12, i%60, 0, 0, time.UTC)}
		if i%4 == 0 {
			orders[i].Note = &note
		}
		shipments[i] = shipment{ID: "s000001-1", OrderID: "o000001", Carrier: "Post", Parcels: 4}
	}
	benchmarkMembers(b, "order", orders, "id", "status", "totalCents", "note", "placedAt")
	benchmarkMembers(b, "shipment", shipments, "id", "carrier", "parcels")
}

func benchmarkMembers[T any](b *testing.B, name string, values []T, fields ...string) {
	typ := schema.For[T]()
	var list []schema.Labelled
	for _, f := range fields {
		list = append(list, schema.Labelled{Field: typ.Field(f), Label: []byte(`,"` + f + `":`)})
	}
	m, err := typ.Members(list...)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 1<<16)
		for b.Loop() {
			e := m.Encoder()
			buf = buf[:0]
			for i := range values {
				buf, _ = e.Append(buf, &values[i])
			}
			e.Release()
		}
	})
}
