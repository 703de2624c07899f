package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// Violation has the name of a type of package problem.
type Violation struct {
	Kind string `json:"kind" enum:"a,b"`
	Mood mood   `json:"mood" enum:"c,d"`
}

type mood string

type box[T any] struct {
	Of T `json:"of"`
}

// doubles has nested Go types with equal names.
type doubles[A, B, C any] struct {
	ID string `json:"id"`
	A  A      `json:"a"`
	B  B      `json:"b"`
	C  C      `json:"c"`
}

// TestNamesOfGoTypes checks the names of nested Go types, in outputs and inputs.
func TestNamesOfGoTypes(t *testing.T) {
	t.Parallel()
	type plain = box[int32]
	type nullable = box[*int32]
	names := func(pairs ...string) *model.Options {
		o := &model.Options{Names: map[string]string{"doubles": "Couple"}}
		for i := 0; i < len(pairs); i += 2 {
			o.Names[pairs[i]] = pairs[i+1]
		}
		return o
	}
	tests := []struct {
		name string
		part resource.Part
		opts *model.Options
		want [3]string
	}{
		{"two packages", doublesOf[Violation, problem.Violation, []problem.Violation](), names(),
			[3]string{"Violation", "ProblemViolation", "ProblemViolation"}},
		{"the other order", doublesOf[problem.Violation, Violation, string](), names(),
			[3]string{"Violation", "ModelTestViolation"}},
		{"two of one package", ofOnePackage(), names(),
			[3]string{"Violation", "ModelTestViolation", "ModelTestViolation2"}},
		{"instances of a generic type", doublesOf[plain, nullable, box[[]int32]](), names(),
			[3]string{"BoxOfInt32", "BoxOfNullableInt32", "ModelTestBoxOfInt32"}},
		{"the other order of instances", doublesOf[nullable, plain, string](), names(),
			[3]string{"BoxOfNullableInt32", "BoxOfInt32"}},
		{"type arguments of two packages", doublesOf[box[Violation], box[problem.Violation], string](), names(),
			[3]string{"BoxOfViolation", "ModelTestBoxOfViolation"}},
		{"items", doublesOf[problem.Violation, string, string](), names("doubles", "Violation"),
			[3]string{"ProblemViolation"}},
		{"options", doublesOf[Violation, problem.Violation, nullable](),
			names("problem.Violation", "Fault", "model_test.box[*int32]", "Maybe"),
			[3]string{"Violation", "Fault", "Maybe"}},
		{"options for the first", doublesOf[Violation, problem.Violation, string](),
			names("model_test.Violation", "Fault"), [3]string{"Fault", "Violation"}},
		{"options with the name of another type", doublesOf[Violation, problem.Violation, string](),
			names("problem.Violation", "Violation"), [3]string{"ModelTestViolation", "Violation"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := reflected(t, resource.NewCatalog(nil, tt.part), tt.opts)
			sound(t, s)
			item := tt.opts.Names["doubles"]
			var got, inputs [3]string
			want := tt.want
			for i, name := range []string{"a", "b", "c"} {
				if typ := typeOf(s, item).Field(name).Type.Named(); typ.Kind == model.Object {
					got[i] = typ.Name
				}
				if typ := typeOf(s, "Create"+item+"Input").Input(name).Type.Named(); typ.Kind == model.InputObject {
					inputs[i] = typ.Name
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			for i := range want {
				if want[i] != "" {
					want[i] += "Input"
				}
			}
			if diff := cmp.Diff(want, inputs); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
		})
	}
}

// ofOnePackage has a third type of the name.
func ofOnePackage() resource.Part {
	type packageLevel = Violation
	type Violation struct {
		Text string `json:"text"`
	}
	return doublesOf[problem.Violation, packageLevel, Violation]()
}

func doublesOf[A, B, C any]() resource.Part {
	return resource.New("doubles", memory.New[doubles[A, B, C]](nil), nil)
}

// TestNamesOfEnums checks the names of enums of nested Go types.
func TestNamesOfEnums(t *testing.T) {
	t.Parallel()
	s := reflected(t, resource.NewCatalog(nil, doublesOf[Violation, string, string]()), &model.Options{
		Names: map[string]string{"doubles": "Couple", "model_test.Violation": "Fault", "model_test.mood": "Temper"}})
	got := []string{typeOf(s, "Fault").Field("kind").Type.Named().Name,
		typeOf(s, "Fault").Field("mood").Type.Named().Name}
	if diff := cmp.Diff([]string{"FaultKind", "Temper"}, got); diff != "" {
		t.Errorf("enums (-want +got):\n%s", diff)
	}
}
