package resource_test

import (
	"errors"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

func TestSamplesAreValid(t *testing.T) {
	t.Parallel()
	ok := book{ID: 1, Title: "Emma"}
	wantPanic(t, `resource: books: Options.Samples[1] is not valid: title must be at least 1 character long`, func() {
		resource.New("books", memory.New[book](nil), &resource.Options[book]{Samples: []book{ok, {ID: 2}}})
	})
	hub := resource.New("books", memory.New[book](nil), &resource.Options[book]{Samples: []book{ok}})
	ok.Title = "changed"
	same(t, "samples", []any{&book{ID: 1, Title: "Emma"}}, hub.Describe().Samples)
}

// gauge is a thing for views with all kinds of errors.
type gauge struct {
	ID    string           `json:"id"`
	Level int64            `json:"level" minimum:"0"`
	Marks []int64          `json:"marks,omitempty"`
	Notes map[string]int64 `json:"a/b"`
	Kept  string           `json:"-"`
}

type gaugeV1 struct {
	ID    string           `json:"id"`
	Level int64            `json:"level" maximum:"50"`
	Marks []int64          `json:"marks,omitempty"`
	Notes map[string]int64 `json:"a/b"`
}

func toGaugeV1(g gauge) (gaugeV1, error) { return gaugeV1{g.ID, g.Level, g.Marks, g.Notes}, nil }

func fromGaugeV1(v gaugeV1, base gauge) (gauge, error) {
	base.Level, base.Marks, base.Notes = v.Level, v.Marks, v.Notes
	return base, nil
}

func TestViewChecksItself(t *testing.T) {
	t.Parallel()
	type (
		down = func(gauge) (gaugeV1, error)
		up   = func(gaugeV1, gauge) (gauge, error)
	)
	// changing returns an up function that changes something.
	changing := func(change func(v *gaugeV1, g *gauge)) up {
		return func(v gaugeV1, base gauge) (gauge, error) {
			change(&v, &base)
			return base, nil
		}
	}
	low := query.Where("level", query.Lt, 10)
	tests := []struct {
		name string
		down down
		up   up
		opts *resource.ViewOptions
		want string // the message after the position; empty if the view is valid
	}{
		{"faithful", toGaugeV1, fromGaugeV1, nil, ""},
		{"keeps its arguments", toGaugeV1, func(v gaugeV1, base gauge) (gauge, error) {
			for i := range base.Marks {
				base.Marks[i] = -1
			}
			for name := range base.Notes {
				base.Notes[name] = -1
			}
			return fromGaugeV1(v, base)
		}, nil, ""},
		{"changes its arguments", toGaugeV1, changing(func(v *gaugeV1, g *gauge) {
			v.Marks[0], v.Notes["x"] = -1, -1
			*g, _ = fromGaugeV1(*v, *g)
		}), nil, "changes when it is converted up and down: /a~1b/x was 1 and is -1; /marks/0 was 1 and is -1"},
		{"forgets", toGaugeV1, changing(func(_ *gaugeV1, g *gauge) { g.Level++ }), nil,
			"changes when it is converted up and down: /level was 3 and is 4"},
		{"forgets members", toGaugeV1, changing(func(_ *gaugeV1, g *gauge) { g.Notes, g.Marks = map[string]int64{"y": 2}, nil }), nil,
			"changes when it is converted up and down: /a~1b/x was 1 and is absent; /a~1b/y was absent and is 2; /marks was [1,2] and is absent"},
		{"forgets elements", toGaugeV1, changing(func(_ *gaugeV1, g *gauge) { g.Marks = g.Marks[:min(1, len(g.Marks))] }), nil,
			"changes when it is converted up and down: /marks was [1,2] and is [1]"},
		{"shows nothing valid", func(g gauge) (gaugeV1, error) { return gaugeV1{g.ID, 51, nil, nil}, nil }, fromGaugeV1, nil,
			`is not valid after conversion down: level must be at most 50`},
		{"makes nothing valid", toGaugeV1, changing(func(_ *gaugeV1, g *gauge) { g.Level = -1 }), nil,
			`is not valid after conversion up: level must be at least 0`},
		{"cannot show", func(gauge) (gaugeV1, error) { return gaugeV1{}, errors.New("broken") }, fromGaugeV1, nil,
			"cannot be converted down: view gaugeV1: down: broken"},
		{"cannot show again", func(g gauge) (gaugeV1, error) {
			if g.Level == 4 {
				return gaugeV1{}, errors.New("broken")
			}
			return toGaugeV1(g)
		}, changing(func(_ *gaugeV1, g *gauge) { g.Level = 4 }), nil,
			"cannot be converted down after conversion up: view gaugeV1: down: broken"},
		{"refuses", toGaugeV1, func(gaugeV1, gauge) (gauge, error) { return gauge{}, errors.New("broken") }, nil,
			"cannot be converted up: broken"},
		{"counts on base", toGaugeV1, changing(func(_ *gaugeV1, g *gauge) { g.Marks[0]++ }), nil,
			"makes up panic for a new item, for which base is the zero value: runtime error: index out of range [0] with length 0"},
		{"refuses new ones", toGaugeV1, func(v gaugeV1, base gauge) (gauge, error) {
			if base.ID == "" {
				return gauge{}, resource.ErrForbidden
			}
			return fromGaugeV1(v, base)
		}, nil, ""},
		{"leaves Where", toGaugeV1, changing(func(_ *gaugeV1, g *gauge) { g.Level = 11 }), &resource.ViewOptions{Where: low},
			"does not match Where after conversion up"},
		{"is not expressed", func(gauge) (gaugeV1, error) { return gaugeV1{}, errors.New("broken") }, fromGaugeV1,
			&resource.ViewOptions{Where: query.Not(low)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sample := gauge{ID: "a", Level: 3, Marks: []int64{1, 2}, Notes: map[string]int64{"x": 1}, Kept: "here"}
			hub := resource.New("gauges", memory.New[gauge](nil), &resource.Options[gauge]{Samples: []gauge{sample}})
			make := func() { resource.View(hub, tt.down, tt.up, tt.opts) }
			if tt.want == "" {
				make()
			} else {
				wantPanic(t, "resource: View gaugeV1 of gauges: Options.Samples[0] "+tt.want, make)
			}
			same(t, "sample afterwards", []any{&sample}, hub.Describe().Samples)
		})
	}
}

// TestViewChecksChains: if one view keeps a value and the view on top of it loses it, the second
// one is reported.
func TestViewChecksChains(t *testing.T) {
	t.Parallel()
	hub := resource.New("orders", memory.New[purchase](nil), &resource.Options[purchase]{Samples: purchaseSamples()})
	v11, v10 := purchaseViews(hub)
	note := "Ring twice."
	same(t, "1.1.0", []any{&purchaseV11{1, "paid", 7, 1, nil}, &purchaseV11{2, "placed", 7, 2, &note}}, v11.Describe().Samples)
	same(t, "1.0.0", []any{&purchaseV10{1, "paid", 7, 1}, &purchaseV10{2, "placed", 7, 2}}, v10.Describe().Samples)
	wantPanic(t, "resource: View again of orders: Options.Samples[1] changes when it is converted up and down: /qty was 2 and is 1", func() {
		resource.View(v11, purchaseToV10, func(v purchaseV10, base purchaseV11) (purchaseV11, error) {
			base.Qty = min(v.Qty, 1)
			return base, nil
		}, &resource.ViewOptions{Name: "again"})
	})
}
