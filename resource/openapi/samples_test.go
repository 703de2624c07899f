package openapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/openapi"
)

// sample returns the example of an operation for a media type, as JSON.
func (d reader) sample(t *testing.T, path, method, media string) string {
	t.Helper()
	content := d.at(d.root, "paths", path, method, "requestBody", "content", media)
	v := d.at(content, "examples", "sample", "value")
	if v == nil {
		t.Fatalf("%s %s has no example", method, path)
	}
	if bad := d.invalid(d.at(content, "schema"), v, ""); len(bad) > 0 {
		t.Errorf("the example of %s %s: %v", method, path, bad)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestExamplesAreTaken sends what the document gives as examples, as its readers will.
func TestExamplesAreTaken(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/orders", "/users", "/places"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			shop := newShop(t)
			d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
			res := send(shop.handler(), "POST "+path, d.sample(t, path, "post", "application/json"))
			if res.StatusCode != http.StatusCreated {
				body, _ := io.ReadAll(res.Body)
				t.Fatalf("POST: %d %s", res.StatusCode, body)
			}
			at, item := res.Header.Get("Location"), path+"/{id}"
			d.takesBatch(t, shop.handler(), path, at)
			for _, tt := range []struct{ method, media string }{
				{"put", "application/json"},
				{"patch", "application/merge-patch+json"},
				{"patch", "application/json-patch+json"},
			} {
				res := send(shop.handler(), strings.ToUpper(tt.method)+" "+at,
					d.sample(t, item, tt.method, tt.media),
					"Content-Type: "+tt.media)
				if res.StatusCode != http.StatusOK {
					body, _ := io.ReadAll(res.Body)
					t.Errorf("%s with %s: %d %s", tt.method, tt.media, res.StatusCode, body)
				}
			}
		})
	}
}

// takesBatch sends the example of a batch, with an id that is there, and looks up what is answered.
func (d reader) takesBatch(t *testing.T, h http.Handler, path, at string) {
	t.Helper()
	const media = "application/vnd.stoa.batch+json"
	list := d.at(d.root, "paths", path, "post", "requestBody", "content", media, "examples", "sample",
		"value", "operations").([]any)
	list[1].(object)["id"] = at[strings.LastIndexByte(at, '/')+1:]
	id, _ := list[0].(object)["value"].(object)["id"].(string)
	if email, _ := list[0].(object)["value"].(object)["email"].(string); id+email != "" {
		list = list[1:] // it has been created by itself
	}
	body, err := json.Marshal(object{"operations": list})
	if err != nil {
		t.Fatal(err)
	}
	res := send(h, "POST "+path, string(body), "Content-Type: "+media)
	if res.StatusCode != http.StatusOK {
		t.Errorf("a batch: %d", res.StatusCode)
	}
	d.check(t, path, "POST "+path, res)
}

// TestExamplesOfAnswers fit what they are examples of, and have the id.
func TestExamplesOfAnswers(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	checked := 0
	d.operations(func(path, method string, op object) {
		for status := range op["responses"].(object) {
			content, _ := d.at(op, "responses", status, "content").(object)
			for media := range content {
				examples, _ := d.at(content, media, "examples").(object)
				for name := range examples {
					v := d.at(examples, name, "value")
					if bad := d.invalid(d.schemaOf(d.at(op, "responses", status), media), v,
						""); len(bad) > 0 {
						t.Errorf("%s %s %s %s: %v", method, path, status, name, bad)
					}
					checked++
				}
			}
		}
	})
	if checked < 100 {
		t.Errorf("only %d examples", checked)
	}
	if id := d.at(d.root, "components", "examples", "Order", "value", "id"); id != 7.0 {
		t.Errorf("the order of the examples has the id %v", id)
	}
	if _, ok := d.at(d.root, "components", "examples", "User", "value").(object)["password"]; ok {
		t.Error("the user of the examples shows a password")
	}
}
