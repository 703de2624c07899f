package schema_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

func TestTagsOfWrites(t *testing.T) {
	t.Parallel()
	typ := schema.For[struct {
		Tenant   string     `json:"tenantId"`
		Region   *int       `json:"region"`
		Email    string     `json:"email" unique:"tenantId,region"`
		Login    string     `json:"login" unique:"true"`
		Created  time.Time  `json:"created" set:"created"`
		Modified *time.Time `json:"modified" set:"modified" readOnly:"true"`
		By       string     `json:"by" set:"createdBy"`
		Hosts    []struct {
			Host string `json:"host"`
		} `json:"hosts" key:"host"`
		Last *string `json:"last" set:"modifiedBy"`
	}]()
	type tags struct {
		Unique, ReadOnly bool
		UniqueWith       []string
		Set, ElemKey     string
	}
	got := map[string]tags{}
	for _, f := range typ.Fields {
		got[f.Name] = tags{f.Unique, f.ReadOnly, f.UniqueWith, f.Set, f.ElemKey}
	}
	want := map[string]tags{
		"tenantId": {},
		"region":   {},
		"email":    {UniqueWith: []string{"tenantId", "region"}},
		"login":    {Unique: true},
		"created":  {ReadOnly: true, Set: "created"},
		"modified": {ReadOnly: true, Set: "modified"},
		"by":       {ReadOnly: true, Set: "createdBy"},
		"hosts":    {ElemKey: "host"},
		"last":     {ReadOnly: true, Set: "modifiedBy"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tags mismatch (-want +got):\n%s", diff)
	}
}

func TestTagsOfWritesRefused(t *testing.T) {
	t.Parallel()
	type name string
	tests := []struct {
		name  string
		value any
		want  string // after "schema: struct.A: tag "
	}{
		{"set of another word", &struct {
			A time.Time `set:"updated"`
		}{}, `set: write created, modified, createdBy or modifiedBy, not "updated"`},
		{"a time in a string", &struct {
			A string `set:"created"`
		}{}, "set: created applies to time.Time and *time.Time, and the field is a string"},
		{"a principal in a number", &struct {
			A int `set:"createdBy"`
		}{}, "set: createdBy applies to string and *string, and the field is an integer"},
		{"unique with nothing", &struct {
			A name `unique:""`
		}{}, `unique: write true, false or JSON names separated by commas, not ""`},
		{"unique with a space", &struct {
			A name `unique:"b, c"`
		}{}, `unique: write true, false or JSON names separated by commas, not "b, c"`},
		{"unique with itself", &struct {
			A name `json:"a" unique:"a"`
		}{}, `unique: "a" is the field itself; name the other fields only`},
		{"unique with one field twice", &struct {
			A name `unique:"b,b"`
		}{}, `unique: "b" occurs twice`},
		{"unique with a field that does not exist", &struct {
			A name `unique:"B"`
			B name `json:"b"`
		}{}, `unique: the type has no field with the JSON name "B"`},
		{"unique with a list", &struct {
			A name   `unique:"b"`
			B []name `json:"b"`
		}{}, `unique: "b" is an array; name strings, numbers, booleans or times`},
		{"a list unique with a field", &struct {
			A []name `unique:"b"`
			B name   `json:"b"`
		}{}, "unique: a list of fields applies to strings, numbers, booleans and times, and the field is an array"},
		{"key of strings", &struct {
			A []string `key:"b"`
		}{}, "key: it applies to arrays of objects, and the field is an array"},
		{"key that does not exist", &struct {
			A []struct{} `key:"b"`
		}{}, `key: the elements have no member with the JSON name "b"`},
		{"key that clients cannot read", &struct {
			A []struct {
				B string `json:"b" writeOnly:"true"`
			} `key:"b"`
		}{}, `key: "b" must be a string, number, boolean or time that clients can read`},
		{"key of lists", &struct {
			A []struct {
				B []int `json:"b"`
			} `key:"b"`
		}{}, `key: "b" must be a string, number, boolean or time that clients can read`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(reflect.TypeOf(tt.value).Elem())
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "schema: struct.A: tag ")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
