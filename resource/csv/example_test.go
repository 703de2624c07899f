package csv_test

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/schema"
)

type city struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Tags []string `json:"tags,omitzero"`
}

func ExampleNewEncoder() {
	e, err := csv.NewEncoder(schema.For[city](), csv.Dialect{Delimiter: ';', EscapeFormulas: true}, "name", "tags")
	if err != nil {
		fmt.Println(err)
	}
	out := e.AppendHeader(nil)
	for _, c := range []city{{Name: "Athens", Tags: []string{"old"}}, {Name: "=1+1"}} {
		if out, err = e.Append(out, &c); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Print(strings.ReplaceAll(string(out), "\r\n", "\n"))
	// Output:
	// name;tags
	// Athens;"[""old""]"
	// '=1+1;
}

func ExampleNewDecoder() {
	content := "name,id\r\nAthens,a\r\n\"Washington, D.C.\",w\r\n"
	d, err := csv.NewDecoder(strings.NewReader(content), schema.For[city](), nil)
	for err == nil {
		var doc []byte
		if doc, err = d.Append(nil); err == nil {
			fmt.Printf("line %d: %s\n", d.Line(), doc)
		}
	}
	fmt.Println(err)
	// Output:
	// line 2: {"name":"Athens","id":"a"}
	// line 3: {"name":"Washington, D.C.","id":"w"}
	// EOF
}
