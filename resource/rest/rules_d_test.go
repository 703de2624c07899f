package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

// Section D: request bodies. The tests of Expect are in rules_d_wire_test.go.

const patchTypes = patch.MergeType + ", " + patch.JSONType + ", application/json"

func TestRule058UnsupportedTypes(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	js := "application/json"
	tests := []struct {
		line, contentType            string
		accept, acceptPost, acceptPa string
	}{
		{"POST /orders", "text/plain", postTypes, postTypes, ""},
		{"POST /orders", "application/xml", postTypes, postTypes, ""},
		{"POST /orders", "application/jsonx", postTypes, postTypes, ""},
		{"POST /orders", "application/x-www-form-urlencoded", postTypes, postTypes, ""},
		{"POST /orders", "application/*", postTypes, postTypes, ""},
		{"PUT " + path, "text/json", js, "", ""},
		{"PATCH " + path, "text/plain", "", "", patchTypes},
	}
	for _, tt := range tests {
		t.Run(tt.line+" "+tt.contentType, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, tt.line, "Content-Type: "+tt.contentType, "", `{"customerId":"v"}`)
			wantProblem(t, res, problem.UnsupportedMediaType, "Accept: "+tt.accept, "Accept-Post: "+tt.acceptPost,
				"Accept-Patch: "+tt.acceptPa)
		})
	}
}

// If a request has several errors, the first of this order is reported: 405, 406, 415, 413, 412,
// 400, 422.
func TestRule058Order(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.catalog.Limits.Body = 100 })
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	html, text, stale := "Accept: text/html", "Content-Type: text/plain", `If-Match: "stale"`
	long := strings.Repeat("x", 101)
	tests := []struct {
		name string
		line string
		rest []string
		want problem.Kind
	}{
		{"501 before 404", "BREW /nothing", []string{html, text, "", long}, problem.NotImplemented},
		{"404 before 405", "PATCH /nothing", []string{html, text, "", long}, problem.NotFound},
		{"405 before 406", "PUT /orders", []string{html, text, "", long}, problem.MethodNotAllowed},
		{"406 before 415", "PUT " + path, []string{html, text, "", long}, problem.NotAcceptable},
		{"415 before 413", "PUT " + path, []string{text, stale, "", long}, problem.UnsupportedMediaType},
		{"415 of a coding before 413", "PUT " + path, []string{jsonBody, "Content-Encoding: br", "", long},
			problem.UnsupportedMediaType},
		{"413 before 412", "PUT " + path, []string{jsonBody, stale, "", long}, problem.TooLarge},
		{"413 before 404", "PUT /orders/7", []string{jsonBody, "", long}, problem.TooLarge},
		{"412 before 400, PUT", "PUT " + path, []string{jsonBody, stale, "", `{`}, problem.PreconditionFailed},
		{"412 before 400, merge", "PATCH " + path, []string{mergeBody, stale, "", `{`}, problem.PreconditionFailed},
		{"412 before 400, patch", "PATCH " + path, []string{patchBody, stale, "", `[{}]`}, problem.PreconditionFailed},
		{"412 before 409", "PATCH " + path, []string{patchBody, stale, "", `[{"op":"remove","path":"/x"}]`},
			problem.PreconditionFailed},
		{"412 before 422", "PUT " + path, []string{jsonBody, stale, "", `{}`}, problem.PreconditionFailed},
		{"404 before 400", "PATCH /orders/7", []string{mergeBody, "", `{`}, problem.NotFound},
		{"404 before 422", "PUT /orders/7", []string{jsonBody, "", `{}`}, problem.NotFound},
		{"400 before 422", "POST /orders", []string{jsonBody, "", `{"cents":-1,}`}, problem.MalformedJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantProblem(t, send(t, h, tt.line, tt.rest...), tt.want)
		})
	}
}

func TestRule059NoContentType(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	for _, line := range []string{"POST /orders", "PUT " + path, "PATCH " + path} {
		wantProblem(t, send(t, h, line, "", `{"customerId":"v"}`), problem.UnsupportedMediaType)
		wantProblem(t, send(t, h, line, "Content-Type:", "", `{"customerId":"v"}`), problem.UnsupportedMediaType)
		wantProblem(t, send(t, h, line), problem.MalformedJSON) // the missing body is the error
	}
}

func TestRule060OneContentType(t *testing.T) {
	t.Parallel()
	h := api(t)
	doc := `{"customerId":"u"}`
	for _, fields := range [][]string{
		{jsonBody, jsonBody},
		{jsonBody, "Content-Type: text/plain"},
		{"Content-Type: text/plain", jsonBody},
		{"Content-Type: application/json, application/json"},
		{"Content-Type: application/json; charset"},
		{"Content-Type: json"},
		{"Content-Type: /"},
	} {
		wantProblem(t, send(t, h, "POST /orders", append(fields, "", doc)...), problem.UnsupportedMediaType)
	}
}

func TestRule061CharsetOfContent(t *testing.T) {
	t.Parallel()
	h := api(t)
	for contentType, status := range map[string]int{
		"application/json; charset=utf-8":      http.StatusCreated,
		"application/json;":                    http.StatusCreated, // RFC 9110 section 5.6.6
		"application/json;charset=UTF-8":       http.StatusCreated,
		`application/json; charset="utf-8"`:    http.StatusCreated,
		"Application/JSON":                     http.StatusCreated,
		"application/json;odata.metadata=full": http.StatusCreated, // rule 51
		"application/json; charset=utf8":       http.StatusUnsupportedMediaType,
		"application/json; charset=latin1":     http.StatusUnsupportedMediaType,
		"application/json; charset=utf-16":     http.StatusUnsupportedMediaType,
		`application/json; charset="us-asci"`:  http.StatusUnsupportedMediaType,
	} {
		want(t, send(t, h, "POST /orders", "Content-Type: "+contentType, "", `{"customerId":"u"}`), status)
	}
}

func TestRule062TypesOfPatches(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	wantProblem(t, send(t, h, "PUT "+path, patchBody, "", `[]`), problem.UnsupportedMediaType)
	wantProblem(t, send(t, h, "PUT "+path, mergeBody, "", `{"customerId":"v"}`), problem.UnsupportedMediaType)
	wantProblem(t, send(t, h, "POST /orders", mergeBody, "", `{"customerId":"v"}`), problem.UnsupportedMediaType)
	want(t, send(t, h, "PATCH "+path, mergeBody+"; charset=utf-8", "", `{"cents":7}`), http.StatusOK)
	want(t, send(t, h, "PATCH "+path, "Content-Type: Application/Merge-Patch+JSON", "", `{"cents":8}`), http.StatusOK)
}

// TestRule062PlainJSON: application/json is a merge patch, unless RequirePatchType is set.
func TestRule062PlainJSON(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u","note":"x"}`)
	for _, contentType := range []string{jsonBody, jsonBody + "; charset=utf-8"} {
		wantBody(t, send(t, h, "PATCH "+path, contentType, "", `{"note":null,"cents":7}`), http.StatusOK,
			`{"id":1,"customerId":"u","status":"open","cents":7,"note":null}`)
	}
	wantErrors(t, wantProblem(t, send(t, h, "PATCH "+path, jsonBody, "", `{"cents":-1}`), problem.Invalid), "/cents minimum")
	wantProblem(t, send(t, h, "PATCH "+path, jsonBody, `If-Match: "x"`, "", `{"cents":1}`), problem.PreconditionFailed)
	wantProblem(t, send(t, h, "PATCH "+path, jsonBody, "", `{"cents":`), problem.MalformedPatch)
	wantProblem(t, send(t, h, "PATCH "+path, jsonBody, "", `[{"op":`), problem.MalformedPatch)
	wantErrors(t, wantProblem(t, send(t, h, "PATCH "+path, jsonBody, "", `7`), problem.Invalid), " type")

	d := wantProblem(t, send(t, h, "PATCH "+path, jsonBody, "", `[{"op":"replace","path":"/cents","value":1}]`), problem.Invalid)
	wantErrors(t, d, " type")
	if !strings.Contains(d.Detail, patch.JSONType) {
		t.Errorf("the problem of an array does not name %s: %s", patch.JSONType, d.Detail)
	}
	wantProblem(t, send(t, h, "PATCH /orders/7", jsonBody, "", `[]`), problem.NotFound)
	wantProblem(t, send(t, h, "PATCH "+path, jsonBody, `If-Match: "x"`, "", `[]`), problem.PreconditionFailed)

	h = api(t, func(s *setup) { s.rest.RequirePatchType = true })
	path = create(t, h, "/orders", `{"customerId":"u"}`)
	wantProblem(t, send(t, h, "PATCH "+path, jsonBody, "", `{"cents":1}`), problem.UnsupportedMediaType,
		"Accept-Patch: application/merge-patch+json, application/json-patch+json")
	want(t, send(t, h, "PATCH "+path, mergeBody, "", `{"cents":1}`), http.StatusOK)
}

func TestRule063ContentCodings(t *testing.T) {
	t.Parallel()
	h := api(t)
	doc := `{"customerId":"u"}`
	for _, coding := range []string{"gzip", "GZIP", "x-gzip"} {
		want(t, send(t, h, "POST /orders", jsonBody, "Content-Encoding: "+coding, "", zip(t, doc)), http.StatusCreated)
	}
	want(t, send(t, h, "POST /orders", jsonBody, "Content-Encoding: identity", "", doc), http.StatusCreated)
	want(t, send(t, h, "PATCH /orders/1", mergeBody, "Content-Encoding: gzip", "", zip(t, `{"cents":3}`)), http.StatusOK)
	for _, fields := range [][]string{{"br"}, {"deflate"}, {"gzip, gzip"}, {"gzip", "gzip"}, {"gzip, br"}} {
		for i := range fields {
			fields[i] = "Content-Encoding: " + fields[i]
		}
		wantProblem(t, send(t, h, "POST /orders", append(fields, jsonBody, "", doc)...), problem.UnsupportedMediaType,
			"Accept-Encoding: gzip, identity")
	}
	// Invalid or truncated gzip is an error of the client.
	whole := zip(t, doc)
	for name, content := range map[string]string{
		"plain":        doc,
		"empty":        "",
		"head only":    whole[:10],
		"cut":          whole[:len(whole)-6],
		"bad checksum": whole[:len(whole)-8] + "12345678",
		"bad block":    whole[:10] + "\xff\xff" + whole[12:],
		"garbage tail": whole + "tail",
	} {
		d := wantProblem(t, send(t, h, "POST /orders", jsonBody, "Content-Encoding: gzip", "", content), problem.BadRequest)
		if !strings.Contains(d.Detail, "gzip") {
			t.Errorf("%s: %s", name, d.Detail)
		}
	}
}

func TestRule064Limits(t *testing.T) {
	t.Parallel()
	const limit = 1000
	h := api(t, func(s *setup) {
		s.catalog.Limits.Body, s.catalog.Limits.Depth, s.catalog.Limits.Names = limit, 5, 10
	})
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	sized := func(n int) string { // a document of n bytes
		doc := `{"customerId":"u","note":"`
		return doc + strings.Repeat("x", n-len(doc)-2) + `"}`
	}
	bomb := zip(t, sized(100_000))
	if len(bomb) > limit {
		t.Fatalf("the bomb has %d octets", len(bomb))
	}
	gz := "Content-Encoding: gzip"
	want(t, send(t, h, "POST /orders", jsonBody, "", sized(limit)), http.StatusCreated)
	want(t, send(t, h, "POST /orders", jsonBody, gz, "", zip(t, sized(limit))), http.StatusCreated)
	tests := []struct {
		name string
		line string
		rest []string
	}{
		{"one octet too many", "POST /orders", []string{jsonBody, "", sized(limit + 1)}},
		{"PUT", "PUT " + path, []string{jsonBody, "", sized(limit + 1)}},
		{"PATCH", "PATCH " + path, []string{mergeBody, "", sized(limit + 1)}},
		{"gzip, one octet too many", "POST /orders", []string{jsonBody, gz, "", zip(t, sized(limit+1))}},
		{"gzip bomb", "POST /orders", []string{jsonBody, gz, "", bomb}},
		{"gzip too large itself", "POST /orders", []string{jsonBody, gz, "", strings.Repeat(zip(t, ""), 50)}},
	}
	for _, tt := range tests {
		for _, chunked := range []bool{false, true} {
			r := request(t, tt.line, tt.rest...)
			if chunked {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			d := wantProblem(t, received(tt.name, w.Result()), problem.TooLarge, "Connection: close")
			if d.Limit != limit {
				t.Errorf("%s: limit %d", tt.name, d.Limit)
			}
		}
	}
	deep := `{"customerId":"u","note":` + strings.Repeat("[", 6) + strings.Repeat("]", 6) + "}"
	wantProblem(t, send(t, h, "POST /orders", jsonBody, "", deep), problem.MalformedJSON)
	wide := `{"customerId":"u"`
	for _, c := range "abcdefghij" {
		wide += `,"` + string(c) + `":1`
	}
	wantProblem(t, send(t, h, "POST /orders", jsonBody, "", wide+"}"), problem.MalformedJSON)
	wantBody(t, send(t, h, "GET "+path), http.StatusOK, `{"id":1,"customerId":"u","status":"open","cents":0,"note":null}`)
}

// Bodies of rejected requests are not read.
func TestRule064NothingIsReadInVain(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, line := range []string{"POST /orders", "PUT /orders/1", "GET /orders", "DELETE /orders/1", "POST /nothing"} {
		r := request(t, line, "Content-Type: text/plain", "", "x")
		r.Body = io.NopCloser(unreadable{t})
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	r := request(t, "POST /orders", jsonBody, "", "x")
	r.Body, r.ContentLength = io.NopCloser(unreadable{t}), 1<<20+1
	h.ServeHTTP(httptest.NewRecorder(), r)
}

type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the content is read")
	return 0, io.EOF
}

func TestRule065GateOverHTTP(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	for name, doc := range map[string]string{
		"duplicate name":     `{"customerId":"u","customerId":"v"}`,
		"duplicate, escaped": `{"customerId":"u","\u0063ustomerId":"v"}`,
		"invalid UTF-8":      "{\"customerId\":\"\xff\"}",
		"lone surrogate":     `{"customerId":"\ud800"}`,
		"two values":         `{"customerId":"u"}{}`,
		"trailing comma":     `{"customerId":"u",}`,
		"comment":            `{"customerId":"u"/**/}`,
		"unquoted":           `{customerId:"u"}`,
		"leading zero":       `{"customerId":"u","cents":01}`,
		"cut":                `{"customerId":"u"`,
		"blank":              ` `,
		"form":               `customerId=u`,
		"NaN":                `{"customerId":"u","cents":NaN}`,
		"mark":               "\xef\xbb\xbf",
	} {
		wantProblem(t, send(t, h, "POST /orders", jsonBody, "", doc), problem.MalformedJSON)
		wantProblem(t, send(t, h, "PUT "+path, jsonBody, "", doc), problem.MalformedJSON)
		if res := send(t, h, "PATCH "+path, mergeBody, "", doc); res.status != http.StatusBadRequest {
			t.Errorf("%s: PATCH %d %s", name, res.status, res.body)
		}
	}
}

func TestRule066NumbersSurvive(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u","cents":9007199254740993}`)
	wantCents := func(n string) {
		t.Helper()
		wantBody(t, send(t, h, "GET "+path+"?fields=cents"), http.StatusOK, `{"cents":`+n+`}`)
	}
	wantCents("9007199254740993")
	want(t, send(t, h, "PATCH "+path, mergeBody, "", `{"note":"x"}`), http.StatusOK)
	wantCents("9007199254740993")
	want(t, send(t, h, "PATCH "+path, patchBody, "", `[{"op":"replace","path":"/cents","value":9007199254740995}]`),
		http.StatusOK)
	wantCents("9007199254740995")
	want(t, send(t, h, "PUT "+path, jsonBody, "", `{"customerId":"u","cents":9223372036854775807}`), http.StatusOK)
	wantCents("9223372036854775807")
	wantBody(t, send(t, h, "GET /orders?cents.gte=9223372036854775807&fields=id"), http.StatusOK, `{"items":[{"id":1}]}`)
	wantErrors(t, wantProblem(t, send(t, h, "PATCH "+path, mergeBody, "", `{"cents":9223372036854775808}`),
		problem.Invalid), "/cents range")
}

func TestRule067UnknownMembersOverHTTP(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	tests := []struct {
		line, contentType, doc string
	}{
		{"POST /orders", jsonBody, `{"customerId":"u","nmae":"x"}`},
		{"PUT " + path, jsonBody, `{"customerId":"u","nmae":"x"}`},
		{"PATCH " + path, mergeBody, `{"nmae":"x"}`},
		{"PATCH " + path, patchBody, `[{"op":"add","path":"/nmae","value":"x"}]`},
	}
	for _, tt := range tests {
		wantErrors(t, wantProblem(t, send(t, h, tt.line, tt.contentType, "", tt.doc), problem.Invalid), "/nmae unknown")
		res := send(t, h, tt.line, tt.contentType, "Prefer: handling=lenient", "", tt.doc)
		if res.status/100 != 2 || strings.Contains(res.body, "nmae") {
			t.Errorf("%s lenient: %d %s", tt.line, res.status, res.body)
		}
		want(t, res, res.status, "Preference-Applied: handling=lenient")
	}
}

func TestRule068NullAbsentZeroOverHTTP(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u","status":"paid","cents":5,"note":"n","tags":["a"]}`)
	// Absent members after PUT: the default, the zero value, null, or absent.
	wantBody(t, send(t, h, "PUT "+path, jsonBody, "", `{"customerId":"u"}`), http.StatusOK,
		`{"id":1,"customerId":"u","status":"open","cents":0,"note":null}`)
	wantBody(t, send(t, h, "PATCH "+path, mergeBody, "", `{"note":""}`), http.StatusOK,
		`{"id":1,"customerId":"u","status":"open","cents":0,"note":""}`)
	wantBody(t, send(t, h, "PATCH "+path, mergeBody, "", `{"note":null}`), http.StatusOK,
		`{"id":1,"customerId":"u","status":"open","cents":0,"note":null}`)
	for _, doc := range []string{`{"customerId":null}`, `{"customerId":"u","cents":null}`,
		`{"customerId":"u","id":null}`} {
		wantProblem(t, send(t, h, "POST /orders", jsonBody, "", doc), problem.Invalid)
	}
}

// Null never means the default: it is refused, or removes the member in a merge patch.
func TestRule068NullAndDefaults(t *testing.T) {
	t.Parallel()
	type lamp struct {
		ID    int64   `json:"id" readOnly:"true"`
		Mode  string  `json:"mode" default:"dim" enum:"dim,bright"`
		Watts int64   `json:"watts" default:"40"`
		Label *string `json:"label" default:"new"`
	}
	h := catalog(t, resource.New("lamps", memory.New[lamp](nil), &resource.Options[lamp]{Public: true}))
	const full = `{"id":1,"mode":"dim","watts":40,"label":"new"}`
	wantBody(t, send(t, h, "POST /lamps", jsonBody, "", `{}`), http.StatusCreated, full)
	for _, line := range []string{"POST /lamps", "PUT /lamps/1"} {
		d := wantProblem(t, send(t, h, line, jsonBody, "", `{"mode":null,"watts":null}`), problem.Invalid)
		wantErrors(t, d, "/mode null", "/watts null")
	}
	wantBody(t, send(t, h, "PUT /lamps/1", jsonBody, "", `{"label":null}`), http.StatusOK,
		`{"id":1,"mode":"dim","watts":40,"label":null}`)
	wantBody(t, send(t, h, "PUT /lamps/1", jsonBody, "", `{}`), http.StatusOK, full)
	for _, fields := range [][]string{
		{mergeBody, "", `{"mode":null}`}, {patchBody, "", `[{"op":"remove","path":"/mode"}]`},
	} {
		wantErrors(t, wantProblem(t, send(t, h, "PATCH /lamps/1", fields...), problem.Invalid), "/mode enum")
	}
	wantBody(t, send(t, h, "PATCH /lamps/1", mergeBody, "", `{"watts":null,"label":null}`), http.StatusOK,
		`{"id":1,"mode":"dim","watts":0,"label":null}`)
}

func TestRule163Times(t *testing.T) {
	t.Parallel()
	type visit struct {
		ID   int64     `json:"id" readOnly:"true"`
		At   time.Time `json:"at"`
		Text string    `json:"text,omitempty" format:"date-time"`
	}
	h := catalog(t, resource.New("visits", memory.New[visit](nil), &resource.Options[visit]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"at": {query.Eq}}}}))
	want(t, send(t, h, "POST /visits", jsonBody, "", `{"at":"2016-12-31T23:59:59Z"}`), http.StatusCreated)
	for _, at := range []string{"2016-12-31T23:59:60Z", "2016-12-31t23:59:59Z", "2016-12-31T23:59:59z"} {
		d := wantProblem(t, send(t, h, "POST /visits", jsonBody, "", `{"at":"`+at+`","text":"`+at+`"}`),
			problem.Invalid)
		wantErrors(t, d, "/at format", "/text format")
		wantProblem(t, send(t, h, "GET /visits?at="+at), problem.InvalidParameter)
	}
}

func TestRule069WrongShapeOverHTTP(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	for _, doc := range []string{`null`, `[]`, `[{}]`, `"x"`, `1`, `true`} {
		for _, line := range []string{"POST /orders", "PUT " + path} {
			d := wantProblem(t, send(t, h, line, jsonBody, "", doc), problem.Invalid)
			wantErrors(t, d, " type")
		}
		d := wantProblem(t, send(t, h, "PATCH "+path, mergeBody, "", doc), problem.Invalid)
		wantErrors(t, d, " type")
	}
	for _, line := range []string{"POST /orders", "PUT " + path} {
		r := request(t, line, jsonBody)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		wantProblem(t, received(line, w.Result()), problem.MalformedJSON)
	}
	wantProblem(t, send(t, h, "PATCH "+path, mergeBody), problem.MalformedPatch)
}

func TestRule070AllViolationsOverHTTP(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	bad := `{"id":9,"customerId":"","status":"lost","cents":-1,"note":3,"tags":["a","b","c","d","e","f"],"x":1}`
	all := []string{"/id readOnly", "/customerId minLength", "/status enum", "/cents minimum", "/note type",
		"/tags maxItems", "/x unknown"}
	for _, line := range []string{"POST /orders", "PUT " + path} {
		d := wantProblem(t, send(t, h, line, jsonBody, "", bad), problem.Invalid)
		wantErrors(t, d, all...)
		for _, v := range d.Errors {
			if v.Detail == "" {
				t.Errorf("%s: no detail for %s", line, *v.Pointer)
			}
		}
	}
	wantErrors(t, wantProblem(t, send(t, h, "PATCH "+path, mergeBody, "", bad), problem.Invalid), all...)
	wantErrors(t, wantProblem(t, send(t, h, "POST /orders", jsonBody, "", `{"tags":["a",2,null]}`), problem.Invalid),
		"/customerId required", "/tags/1 type", "/tags/2 null")
}

func TestRule071ContentWithoutMeaning(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	plain := send(t, h, "GET "+path)
	content := []string{"Content-Type: text/plain", "Content-Encoding: br", "", `{"fields":"id","limit":0`}
	res := send(t, h, "GET "+path, content...)
	wantBody(t, res, http.StatusOK, plain.body)
	want(t, send(t, h, "GET /orders", content...), http.StatusOK)
	want(t, send(t, h, "HEAD "+path, content...), http.StatusOK)
	want(t, send(t, h, "OPTIONS "+path, content...), http.StatusNoContent)
	want(t, send(t, h, "DELETE "+path, content...), http.StatusNoContent)
}

func TestRule073NoContentRange(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	for _, line := range []string{"PUT " + path, "PUT /orders/7", "POST /orders"} {
		wantProblem(t, send(t, h, line, "Content-Range: bytes 0-17/40", jsonBody, "", `{"customerId":"v"}`),
			problem.BadRequest)
	}
	wantBody(t, send(t, h, "GET "+path+"?fields=customerId"), http.StatusOK, `{"customerId":"u"}`)
}
