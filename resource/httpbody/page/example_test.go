package page_test

import (
	"fmt"
	"net/http/httptest"
	"testing/fstest"

	"github.com/stoa-go/stoa/resource/httpbody/page"
)

func ExampleNew() {
	files := fstest.MapFS{
		"page.html": {Data: []byte("<title>{{title}}</title><style>{{style}}</style>\n" +
			`<script type="module">{{script}}</script>`)},
		"page.css": {Data: []byte("p { margin: 0 }")},
		"app.js":   {Data: []byte("import { greet } from './greet.js'\ngreet()\n")},
		"greet.js": {Data: []byte("export function greet() { document.body.append('Hello') }\n")},
	}
	w := httptest.NewRecorder()
	page.New(files, "{{title}}", "Greeting").ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Body)
	// Output:
	// <title>Greeting</title><style>p { margin: 0 }</style>
	// <script type="module">function greet() { document.body.append('Hello') }
	// greet()
	// </script>
}
