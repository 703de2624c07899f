package fetch_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

func TestItem(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.Write(t.Context(), s.field(t, "deleteOrder"), args{"id": "2"}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, field string
		args        args
		want        string // the id
	}{
		{"there", "order", args{"id": "1"}, "1"},
		{"hidden", "order", args{"id": "3"}, ""},
		{"gone", "order", args{"id": "2"}, ""},
		{"never there", "order", args{"id": "77"}, ""},
		{"no id", "order", args{"id": "x"}, ""},
		{"not canonical", "order", args{"id": "01"}, ""},
		{"empty", "order", args{"id": ""}, ""},
		{"looked up", "newest", args{"ofStatus": "placed"}, "1"},
		{"looked up within bounds", "newest", args{"ofStatus": "placed", "since": int64(2000)}, "1"},
		{"looked up and hidden", "newest", args{"ofStatus": "sent"}, ""},
		{"looked up in vain", "newest", args{"ofStatus": "none"}, ""},
		{"looked up what is not there", "newest", args{"ofStatus": "other"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := s.Item(t.Context(), s.field(t, tt.field), tt.args)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if e != nil {
				got = e.ID
			}
			if got != tt.want {
				t.Errorf("it is item %q, want %q", got, tt.want)
			}
		})
	}
}

func TestItemFails(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := s.Item(t.Context(), s.field(t, "newest"), args{"ofStatus": "placed", "since": int64(1)})
	code, list := reported(err)
	if diff := cmp.Diff([]violation{{"since", "minimum"}}, list); diff != "" || code != "BAD_USER_INPUT" {
		t.Errorf("code %s (-want +got):\n%s", code, diff)
	}
	if _, err := s.Item(t.Context(), s.field(t, "newest"),
		args{"ofStatus": "bad"}); kindOf(err) != problem.Internal {
		t.Errorf("it is %v", err)
	}
	s = open(t, func(o *resource.Options[order]) {
		o.Authorize = func(context.Context, resource.Op, *order,
			*order) error {
			return resource.ErrUnauthenticated
		}
	})
	if _, err := s.Item(t.Context(), s.field(t, "order"),
		args{"id": "1"}); kindOf(err) != problem.Unauthenticated {
		t.Errorf("it is %v", err)
	}
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	s := open(t)
	out, err := s.Invoke(t.Context(), s.field(t, "authLogin"),
		args{"input": args{"userName": "ann", "days": 3}})
	if diff := cmp.Diff(&token{"ann3"}, out); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if out, err := s.Invoke(t.Context(), s.field(t, "shopClose"), args{}); out != nil || err != nil {
		t.Errorf("a command without output gives %v, %v", out, err)
	}
	tests := []struct {
		name  string
		input args
		code  string
		want  []violation
	}{
		{"bounds", args{"userName": "x", "days": 0}, "BAD_USER_INPUT",
			[]violation{{"input.userName", "minLength"}, {"input.days", "minimum"}}},
		{"what the command says", args{"userName": "bob", "days": 1}, "BAD_USER_INPUT",
			[]violation{{"input.userName", "unknown"}}},
		{"policy", args{"userName": "eve", "days": 1}, "FORBIDDEN", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Invoke(t.Context(), s.field(t, "authLogin"), args{"input": tt.input})
			code, got := reported(err)
			if diff := cmp.Diff(tt.want, got); diff != "" || code != tt.code {
				t.Errorf("code %s (-want +got):\n%s", code, diff)
			}
		})
	}
}

type pairIn struct {
	A int64  `json:"a-number" required:"true" minimum:"1"`
	B string `json:"b" minLength:"2"`
	C int32  `json:"c" default:"7"`
}

// custom returns a custom field with the arguments of pairIn.
func custom() *model.Field {
	in := schema.For[pairIn]()
	f := &model.Field{Name: "pair", Source: model.Custom, Custom: &model.CustomField{
		On: "Query", Name: "pair", In: in, Out: schema.For[string](), Parent: reflect.TypeFor[order]()}}
	for i, name := range []string{"aNumber", "b", "c"} {
		f.Args = append(f.Args, &model.Input{Name: name, Member: in.Fields[i],
			Type: &model.Ref{Type: &model.Type{Name: "X"}}})
	}
	f.Custom.Root = func(_ context.Context, in any) (any, error) { return in, nil }
	f.Custom.Each = func(_ context.Context, items []any, in any) ([]any, error) {
		var out []any
		for range items {
			out = append(out, in)
		}
		return out, nil
	}
	return f
}

func TestCustom(t *testing.T) {
	t.Parallel()
	s, f := open(t), custom()
	given := args{"aNumber": int64(1) << 60, "b": "xy"}
	out, err := s.Invoke(t.Context(), f, given)
	if diff := cmp.Diff(&pairIn{1 << 60, "xy", 7}, out); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	values, err := s.Compute(t.Context(), f, []any{&order{}, &order{}}, given)
	if diff := cmp.Diff([]any{out, out}, values); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// the minimum length does not apply to an absent argument
	out, err = s.Invoke(t.Context(), f, args{"aNumber": int64(2), "c": 3})
	if diff := cmp.Diff(&pairIn{2, "", 3}, out); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	f.Custom.In = nil
	if out, err := s.Invoke(t.Context(), f, args{}); out != nil || err != nil {
		t.Errorf("without a type for arguments it is given %v, %v", out, err)
	}
}

func TestCustomFails(t *testing.T) {
	t.Parallel()
	s, f := open(t), custom()
	bad := args{"aNumber": int64(0), "b": "x"}
	want := []violation{{"aNumber", "minimum"}, {"b", "minLength"}}
	_, invoked := s.Invoke(t.Context(), f, bad)
	_, computed := s.Compute(t.Context(), f, []any{&order{}}, bad)
	for _, err := range []error{invoked, computed} {
		code, got := reported(err)
		if diff := cmp.Diff(want, got); diff != "" || code != "BAD_USER_INPUT" {
			t.Errorf("code %s (-want +got):\n%s", code, diff)
		}
	}
	good := args{"aNumber": int64(1)}
	f.Custom.Root = func(context.Context, any) (any, error) {
		return nil,
			resource.Invalid("a-number", "odd")
	}
	_, err := s.Invoke(t.Context(), f, good)
	if _, got := reported(err); cmp.Diff([]violation{{"aNumber", "odd"}}, got) != "" {
		t.Errorf("it complains of %v", got)
	}
	secret := errors.New("secret")
	f.Custom.Each = func(context.Context, []any, any) ([]any, error) { return nil, secret }
	if _, err := s.Compute(t.Context(), f, []any{&order{}}, good); !errors.Is(err, secret) {
		t.Errorf("it is %v", err)
	}
	f.Custom.Each = func(context.Context, []any, any) ([]any, error) { return []any{1, 2}, nil }
	if _, err := s.Compute(t.Context(), f, []any{&order{}}, good); kindOf(err) != problem.Internal {
		t.Errorf("two values for one item: %v", err)
	}
}
