package serve_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/serve"
)

func TestYAML(t *testing.T) {
	t.Parallel()
	const text = `{"openapi":"3.1.0","paths":{"/notes/{id}":{"get":{"tags":["notes"],"security":[],"x":{},
		"responses":{"200":{"description":"The item."},"default":{"$ref":"#/components/responses/p"}}}}},
		"nested":[[1,2],[{"a":true,"b":null},{"c":[]}],-0.5e3],"yes":"no","empty":"","lines":"a\nb: c","é":"ü 😀 \u0007"}`
	const want = `openapi: "3.1.0"
paths:
  /notes/{id}:
    get:
      tags:
        - notes
      security: []
      x: {}
      responses:
        "200":
          description: "The item."
        default:
          $ref: "#/components/responses/p"
nested:
  - - 1
    - 2
  - - a: true
      b: null
    - c: []
  - -0.5e3
"yes": "no"
empty: ""
lines: "a\nb: c"
"é": "ü 😀 \u0007"
`
	if diff := cmp.Diff(want, string(serve.YAMLOf([]byte(text)))); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
}
