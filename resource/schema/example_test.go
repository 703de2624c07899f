package schema_test

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/resource/schema"
)

// Book is the type of the examples.
type Book struct {
	ID    string   `json:"id" readOnly:"true"`
	Title string   `json:"title" required:"true" minLength:"1" maxLength:"80" doc:"As on the cover."`
	Pages int      `json:"pages" minimum:"1" default:"100"`
	Tags  []string `json:"tags,omitempty" maxItems:"3" pattern:"^[a-z]+$"`
	PIN   string   `json:"pin,omitzero" writeOnly:"true"`
}

func Example() {
	books := schema.For[Book]()

	v, err := books.Decode([]byte(`{"title": "Middlemarch", "tags": ["novel"], "pin": "1871"}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := books.Append(nil, v)
	fmt.Println(string(b), err)

	_, err = books.Decode([]byte(`{"pages": 0, "tags": ["novel", "19th"], "titel": "Middlemarch"}`), nil)
	if violations, ok := errors.AsType[schema.Violations](err); ok {
		for _, violation := range violations {
			fmt.Println(violation.Pointer, violation.Code+":", violation.Detail)
		}
	}
	// Output:
	// {"id":"","title":"Middlemarch","pages":100,"tags":["novel"]} <nil>
	// /title required: title is required
	// /pages minimum: pages must be at least 1
	// /tags/1 pattern: tags[1] must match the pattern ^[a-z]+$
	// /titel unknown: titel is not a member of this object
}

func ExampleFor() {
	for _, f := range schema.For[Book]().Fields {
		fmt.Printf("%s: %s, required %t, %q\n", f.Name, f.Type.Kind, f.Required, f.Doc)
	}
	// Output:
	// id: string, required false, ""
	// title: string, required true, "As on the cover."
	// pages: integer, required false, ""
	// tags: array, required false, ""
	// pin: string, required false, ""
}

func ExampleOf() {
	type Author struct {
		Name string `json:"name" maxlength:"20"`
	}
	_, err := schema.Of(reflect.TypeFor[Author]())
	fmt.Println(err)
	// Output:
	// schema: Author.Name: unknown tag maxlength; use maxLength
}

// Replacing a document keeps the fields that the client cannot set.
func ExampleType_Decode() {
	books := schema.For[Book]()
	now := &Book{ID: "b1", Title: "Silas Marner", Pages: 240, PIN: "1861"}
	v, err := books.Decode([]byte(`{"id": "b1", "title": "Silas Marner", "pages": 250}`),
		&schema.DecodeOptions{Mode: schema.Replace, Base: now})
	fmt.Printf("%+v %v\n", v, err)
	_, err = books.Decode([]byte(`{"id": "b2", "title": "Silas Marner"}`),
		&schema.DecodeOptions{Mode: schema.Replace, Base: now})
	fmt.Println(err)
	_, err = books.Decode([]byte(`{"title": "Romola", "title": "Adam Bede"}`), nil)
	fmt.Println(err)
	// Output:
	// &{ID:b1 Title:Silas Marner Pages:250 Tags:[] PIN:1861} <nil>
	// id is set by the server and must not be changed
	// the member name "title" occurs twice (at byte 20)
}

func ExampleType_Select() {
	books := schema.For[Book]()
	some, err := books.Select([]string{"title", "id"})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := some.Append(nil, &Book{ID: "b1", Title: "Romola"})
	fmt.Println(string(b), err)
	_, err = books.Select([]string{"author"})
	fmt.Println(err)
	// Output:
	// {"id":"b1","title":"Romola"} <nil>
	// there is no field "author"; the fields are id, title, pages, tags
}

func ExampleField_Parse() {
	pages := schema.For[Book]().Field("pages")
	for _, text := range []string{"120", "0120", "many"} {
		v, err := pages.Parse(text)
		fmt.Println(v, err)
	}
	// Output:
	// 120 <nil>
	// <nil> must be an integer
	// <nil> must be an integer
}

// Shelf is a row of books.
type Shelf struct {
	// Books are the books from left to right.
	Books []Book `json:"books"`
}

// SchemaDescription is the method that command describe writes for Shelf.
func (*Shelf) SchemaDescription() schema.Description {
	return schema.Description{
		Type: reflect.TypeFor[Shelf](),
		Doc:  "A row of books.",
		Fields: map[string]schema.Comment{
			"Books": {Doc: "The books from left to right."},
		},
	}
}

func ExampleDescriber() {
	shelf := schema.For[Shelf]()
	fmt.Println(shelf.Doc)
	fmt.Println(shelf.Field("books").Doc)
	// Output:
	// A row of books.
	// The books from left to right.
}
