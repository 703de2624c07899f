package fetch_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// stored returns an order directly from the store.
func (s *shop) stored(t *testing.T, id string) order {
	t.Helper()
	item, err := s.orders.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return item.Value
}

func ptr[T any](v T) *T { return &v }

func TestCreate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		input args
		want  order
	}{
		{"the least", args{"status": "paid"}, order{ID: 4, Status: "paid"}},
		{"everything", args{
			"status": "sent", "total": int64(math.MaxInt64), "small": -128, "weight": 0.1, "gift": true,
			"note":       "a \"b\"",
			"placedAt":   time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.FixedZone("", 3600)),
			"tags":       []any{"a", "b"},
			"orderLines": []any{args{"theItem": "x", "qty": 2}, args{"theItem": "y"}},
			"to":         args{"city": "Rome"},
			"extra":      args{"b": []any{1.5, nil}, "a": "x"}, "password": "p"},
			order{ID: 4, Status: "sent", Total: math.MaxInt64, Small: -128, Weight: 0.1, Gift: true,
				Note:   ptr(`a "b"`),
				Placed: time.Date(2026, 11, 20, 11, 0, 0, 123456789, time.UTC), Tags: []string{"a", "b"},
				Lines: []line{{"x", 2}, {"y", 1}}, To: &address{City: "Rome"},
				Extra: args{"b": []any{1.5, nil}, "a": "x"}, Password: "p"}},
		{"nulls", args{"status": "paid", "note": nil, "to": nil, "extra": nil}, order{ID: 4, Status: "paid"}},
		{"large numbers", args{"status": "paid", "weight": 1e300},
			order{ID: 4, Status: "paid", Weight: 1e300}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			e, err := s.Write(t.Context(), s.field(t, "createOrder"), args{"input": tt.input})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, e.Value); diff != "" {
				t.Errorf("what is shown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, s.stored(t, "4")); diff != "" {
				t.Errorf("what is stored (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWriteRefuses checks the errors for invalid writes, and that nothing is written.
func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, field string
		args        args
		code        string
		want        []violation
	}{
		{"null for what is required", "patchOrder", args{"id": "1", "input": args{"status": nil}},
			"BAD_USER_INPUT",
			[]violation{{"input.status", "required"}}},
		{"null inside", "patchOrder", args{"id": "1", "input": args{"to": args{"city": nil}}},
			"BAD_USER_INPUT",
			[]violation{{"input.to.city", "required"}}},
		{"null where none can be", "createOrder", args{"input": args{"status": "paid", "gift": nil}},
			"BAD_USER_INPUT",
			[]violation{{"input.gift", "null"}}},
		{"names that differ", "createOrder",
			args{"input": args{"status": "paid",
				"orderLines": []any{args{"theItem": "x"}, args{"theItem": "", "qty": 0}}}},
			"BAD_USER_INPUT", []violation{{"input.orderLines[1].theItem", "minLength"},
				{"input.orderLines[1].qty", "minimum"}}},
		{"elements", "replaceOrder", args{"id": "1",
			"input": args{"status": "paid", "tags": []any{"a", "toolong"}}},
			"BAD_USER_INPUT", []violation{{"input.tags[1]", "maxLength"}}},
		{"too many", "patchOrder", args{"id": "1", "input": args{"tags": []any{"a"}, "orderLines": []any{
			args{"theItem": "x", "qty": 1}, args{"theItem": "x", "qty": 1}, args{"theItem": "x", "qty": 1},
			args{"theItem": "x", "qty": 1}}}}, "BAD_USER_INPUT",
			[]violation{{"input.orderLines", "maxItems"}}},
		{"a name that is escaped in pointers", "patchOrder", args{"id": "1", "input": args{"aBC": "long"}},
			"BAD_USER_INPUT",
			[]violation{{"input.aBC", "maxLength"}}},
		{"inside of a scalar", "createOrder", args{"input": args{"status": "paid",
			"counts": args{"a": 1.0, "b": 300.0}}},
			"BAD_USER_INPUT", []violation{{"input.counts.b", "range"}}},
		{"an id that is no number to create", "createSlot", args{"input": args{"id": "x", "text": "x"}},
			"BAD_USER_INPUT",
			[]violation{{"input.id", "type"}}},
		{"an id in another spelling", "createSlot", args{"input": args{"id": "05", "text": "x"}},
			"BAD_USER_INPUT",
			[]violation{{"input.id", "type"}}},
		{"an id with a sign", "createSlot", args{"input": args{"id": "+5", "text": "x"}}, "BAD_USER_INPUT",
			[]violation{{"input.id", "type"}}},
		{"an id beyond all numbers", "createSlot",
			args{"input": args{"id": "18446744073709551615", "text": "x"}},
			"BAD_USER_INPUT", []violation{{"input.id", "range"}}},
		{"no text", "createOrder", args{"input": args{"status": "paid", "note": "12345678901"}},
			"BAD_USER_INPUT",
			[]violation{{"input.note", "maxLength"}}},
		{"an id that is no number", "patchOrder", args{"id": "01", "input": args{}}, "NOT_FOUND", nil},
		{"no such item", "patchOrder", args{"id": "77", "input": args{}}, "NOT_FOUND", nil},
		{"a hidden item", "patchOrder", args{"id": "3", "input": args{}}, "NOT_FOUND", nil},
		{"replacing none", "replaceOrder", args{"id": "77", "input": args{"status": "paid"}}, "NOT_FOUND",
			nil},
		{"replacing what is hidden", "replaceOrder", args{"id": "3", "input": args{"status": "paid"}},
			"NOT_FOUND", nil},
		{"deleting none", "deleteOrder", args{"id": "77"}, "NOT_FOUND", nil},
		{"deleting what is hidden", "deleteOrder", args{"id": "3"}, "NOT_FOUND", nil},
		{"replacing a page that is not", "replacePage", args{"id": "a", "input": args{"text": "x"}},
			"NOT_FOUND", nil},
		{"no list of tags", "deleteOrder", args{"id": "1", "ifMatch": "x"}, "BAD_USER_INPUT",
			[]violation{{"ifMatch", "syntax"}}},
		{"nothing for a tag", "deleteOrder", args{"id": "1", "ifMatch": ""}, "BAD_USER_INPUT",
			[]violation{{"ifMatch", "syntax"}}},
		{"a stale tag", "deleteOrder", args{"id": "1", "ifMatch": `"x"`}, "PRECONDITION_FAILED", nil},
		{"a stale tag to replace", "replaceOrder",
			args{"id": "1", "ifMatch": `"x", "y"`, "input": args{"status": "paid"}},
			"PRECONDITION_FAILED", nil},
		{"a stale tag to patch", "patchOrder", args{"id": "1", "ifMatch": `"x"`, "input": args{}},
			"PRECONDITION_FAILED", nil},
		{"any tag of none", "replacePage", args{"id": "a", "ifMatch": "*", "input": args{"text": "x"}},
			"NOT_FOUND", nil},
		{"no id", "createPage", args{"input": args{"id": ".", "text": "x"}}, "BAD_USER_INPUT",
			[]violation{{"input.id", "format"}}},
		{"too deep", "createOrder", args{"input": args{"status": "paid", "extra": deep(70)}},
			"BAD_USER_INPUT", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			_, err := s.Write(t.Context(), s.field(t, tt.field), tt.args)
			code, got := reported(err)
			if code != tt.code {
				t.Errorf("code %q, want %q: %v", code, tt.code, err)
			}
			if diff := cmp.Diff(tt.want, got); tt.want != nil && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n, err := s.orders.Count(t.Context(), query.Query{}); n != 3 || err != nil {
				t.Errorf("there are %d orders: %v", n, err)
			}
		})
	}
}

// deep returns a list with n levels.
func deep(n int) any {
	v := any("x")
	for range n {
		v = []any{v}
	}
	return v
}

// TestReplaceNeverCreates checks that Replace fails for an id that does not exist or was deleted,
// even if PUT would create the item.
func TestReplaceNeverCreates(t *testing.T) {
	t.Parallel()
	s := open(t)
	input := args{"id": "a", "input": args{"text": "x"}}
	if _, err := s.Write(t.Context(), s.field(t, "replacePage"), input); kindOf(err) != problem.NotFound {
		t.Errorf("what is not: %v", err)
	}
	if _, err := s.Write(t.Context(), s.field(t, "createPage"),
		args{"input": args{"id": "a", "text": "x"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), s.field(t, "createPage"),
		args{"input": args{"id": "a", "text": "x"}}); kindOf(err) != problem.Exists {
		t.Errorf("a second one: %v", err)
	}
	if e, err := s.Write(t.Context(), s.field(t, "replacePage"),
		args{"id": "a", "input": args{"text": "y"}}); err != nil {
		t.Error(err)
	} else if diff := cmp.Diff(&page{"a", "y"}, e.Value); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := s.Write(t.Context(), s.field(t, "deletePage"), args{"id": "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), s.field(t, "replacePage"), input); kindOf(err) != problem.Gone {
		t.Errorf("what was: %v", err)
	}
}

// TestCreateWithNumber checks that numeric ids are strings in GraphQL.
func TestCreateWithNumber(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, id := range []string{"9007199254740993", "-5", "0"} {
		e, err := s.Write(t.Context(), s.field(t, "createSlot"), args{"input": args{"id": id, "text": "x"}})
		if id == "0" { // 0 is not a valid id, and numbers above 2^52 do not move the next one
			id = "1"
		}
		if err != nil || e.ID != id {
			t.Errorf("%s: it is %v: %v", id, e, err)
		}
	}
}

// TestWriteUnconvertible checks a write with a result that this version cannot represent.
// The write succeeds.
func TestWriteUnconvertible(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[slot](nil))
	create := ops.Create
	ops.Create = func(ctx context.Context, v slot) (resource.Item[slot], error) {
		v.Text = "secret"
		return create(ctx, v)
	}
	same := func(v slot) (slot, error) { return v, nil }
	slots := resource.View(ops.Resource("slots", nil), same,
		func(v, _ slot) (slot, error) { return v, nil },
		&resource.ViewOptions{Where: query.Where("text", query.Ne, "secret")})
	c := resource.NewCatalog(nil, slots)
	schema, err := model.Reflect(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := schema.Mutation.Field("createSlot")
	if e, err := fetch.New(c).Write(t.Context(), f, args{"input": args{"text": "x"}}); e != nil ||
		err != nil {
		t.Errorf("it shows %v: %v", e, err)
	}
}

// TestReplaceAndPatch checks absent members, which get defaults or stay unchanged, and null, which
// clears.
func TestReplaceAndPatch(t *testing.T) {
	t.Parallel()
	before := order{ID: 4, Status: "paid", Total: 5, Note: ptr("n"), To: &address{"Rome", "1"},
		Tags:  []string{"a"},
		Lines: []line{{"x", 2}}, Password: "p"}
	tests := []struct {
		name, field string
		input       args
		want        func(*order)
	}{
		{"replace", "replaceOrder", args{"status": "sent"},
			func(o *order) { *o = order{ID: 4, Status: "sent", Password: "p"} }},
		{"patch nothing", "patchOrder", args{}, func(*order) {}},
		{"patch one", "patchOrder", args{"total": int64(6)}, func(o *order) { o.Total = 6 }},
		{"clear", "patchOrder", args{"note": nil, "tags": nil, "total": nil, "to": nil},
			func(o *order) { o.Note, o.Tags, o.Total, o.To = nil, nil, 0, nil }},
		{"inside", "patchOrder", args{"to": args{"zip": nil}}, func(o *order) { o.To.Zip = "" }},
		{"a list whole", "patchOrder", args{"orderLines": []any{args{"theItem": "y", "qty": 3}}},
			func(o *order) { o.Lines = []line{{"y", 3}} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			if _, err := s.orders.Create(t.Context(), before); err != nil {
				t.Fatal(err)
			}
			want := before
			want.To = ptr(*before.To)
			tt.want(&want)
			e, err := s.Write(t.Context(), s.field(t, tt.field), args{"id": "4", "input": tt.input})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, s.stored(t, "4")); diff != "" {
				t.Errorf("what is stored (-want +got):\n%s", diff)
			}
			if e.ID != "4" {
				t.Errorf("it shows item %s", e.ID)
			}
		})
	}
}

// TestIfMatch checks the values of ifMatch with which a write succeeds: the current ETag, a star,
// and null.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	s := open(t)
	e, err := s.Item(t.Context(), s.field(t, "order"), args{"id": "1"})
	if err != nil {
		t.Fatal(err)
	}
	tag := s.field(t, "order").Resource.ETag(e)
	for _, ifMatch := range []any{tag, `"other", ` + tag, "*", nil} {
		if _, err := s.Write(t.Context(), s.field(t, "patchOrder"),
			args{"id": "1", "input": args{}, "ifMatch": ifMatch}); err != nil {
			t.Errorf("%v: %v", ifMatch, err)
		}
	}
	if _, err := s.Write(t.Context(), s.field(t, "patchOrder"),
		args{"id": "1", "input": args{"gift": true}, "ifMatch": tag}); err != nil {
		t.Error(err)
	}
	if _, err := s.Write(t.Context(), s.field(t, "deleteOrder"),
		args{"id": "1", "ifMatch": tag}); kindOf(err) != problem.PreconditionFailed {
		t.Errorf("a tag that was: %v", err)
	}
}

func TestIfMatchRequired(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *resource.Options[order]) { o.RequireIfMatch = true })
	code, _ := reported(func() error {
		_, err := s.Write(t.Context(), s.field(t, "patchOrder"), args{"id": "1", "input": args{"gift": true}})
		return err
	}())
	if code != "PRECONDITION_FAILED" || s.stored(t, "1").Gift {
		t.Errorf("code %q, and the order is %v", code, s.stored(t, "1"))
	}
}

// TestDelete checks that Delete returns the last state, and that a second Delete fails.
func TestDelete(t *testing.T) {
	t.Parallel()
	s := open(t)
	want := s.stored(t, "2")
	e, err := s.Write(t.Context(), s.field(t, "deleteOrder"), args{"id": "2"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, e.Value); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e, err = s.Write(t.Context(), s.field(t, "deleteOrder"), args{"id": "2"})
	if e != nil || kindOf(err) != problem.Gone {
		t.Errorf("deleting it again: %v, %v", e, err)
	}
}

// TestWriteNotAllowed checks that writes are authorized as in other protocols.
func TestWriteNotAllowed(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *resource.Options[order]) {
		o.Authorize = func(_ context.Context, op resource.Op, _, _ *order) error {
			if op != resource.OpGet {
				return resource.ErrForbidden
			}
			return nil
		}
	})
	for name, a := range map[string]args{
		"createOrder":  {"input": args{"status": "paid"}},
		"replaceOrder": {"id": "1", "input": args{"status": "paid"}},
		"patchOrder":   {"id": "1", "input": args{"gift": true}},
		"deleteOrder":  {"id": "1"},
	} {
		_, err := s.Write(t.Context(), s.field(t, name), a)
		if kindOf(err) != problem.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff("placed", s.stored(t, "1").Status); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
