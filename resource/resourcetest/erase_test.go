package resourcetest_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// setFields sets all exported fields of a struct to values that are not zero.
func setFields(t *testing.T, v reflect.Value) {
	t.Helper()
	for f, field := range v.Fields() {
		if !f.IsExported() {
			continue
		}
		switch {
		case field.Kind() == reflect.Func:
			field.Set(reflect.MakeFunc(field.Type(), func([]reflect.Value) []reflect.Value { panic("not called") }))
		case field.Kind() == reflect.Struct:
			setFields(t, field)
		case field.Kind() == reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		case field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case field.Kind() == reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case field.Kind() == reflect.String:
			field.SetString("set")
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.CanInt():
			field.SetInt(1)
		case field.CanUint():
			field.SetUint(1)
		default:
			t.Fatalf("field %s has a kind that the test does not set: %v", f.Name, field.Kind())
		}
	}
}

// present reports for each exported field whether it is set.
func present(v any) map[string]bool {
	names := map[string]bool{}
	for f, field := range reflect.ValueOf(v).Fields() {
		if f.IsExported() {
			names[f.Name] = !field.IsZero()
		}
	}
	return names
}

// TestErase checks that the cases get each operation and each option that is set, and no other: without an
// operation the kit would not test a capability.
func TestErase(t *testing.T) {
	t.Parallel()
	var all ops
	setFields(t, reflect.ValueOf(&all).Elem())
	var options resourcetest.Options[thing]
	setFields(t, reflect.ValueOf(&options).Elem())
	tests := []struct {
		name      string
		want, got any
	}{
		{"all operations", all, resourcetest.Erase(all)},
		{"no operation", ops{}, resourcetest.Erase(ops{})},
		{"all options", options, resourcetest.EraseOptions(options)},
		{"no option", resourcetest.Options[thing]{}, resourcetest.EraseOptions(resourcetest.Options[thing]{})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(present(tt.want), present(tt.got)); diff != "" {
				t.Errorf("the fields that are set differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEraseFastReads checks that a decorator of Get or List still disables the reads without values.
func TestEraseFastReads(t *testing.T) {
	t.Parallel()
	plain := resource.OpsOf(newTable(""))
	decorated := plain
	decorated.Get = func(ctx context.Context, id string) (item, error) { return plain.Get(ctx, id) }
	for name, o := range map[string]ops{"plain": plain, "decorated": decorated} {
		erased := resourcetest.Erase(o)
		if diff := cmp.Diff(present(o.FastReads()), present(erased.FastReads())); diff != "" {
			t.Errorf("%s: the fast reads differ (-want +got):\n%s", name, diff)
		}
	}
}
