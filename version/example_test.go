package version_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/version"
)

// greeter is what serves a contract: any handler does.
func greeter(greeting string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := contract.From(r.Context())
		fmt.Fprintf(w, "%s, says %s at %s; the next page is %s", greeting, s.Name(), r.URL.Path,
			s.URL("/hello?page=2"))
	})
}

// Two contracts side by side, named by the path or by a header field.
func Example() {
	june := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	api := version.New(
		[]version.Contract{
			{Name: "1.0.0", Handler: greeter("Good day"), Deprecated: june, Sunset: june.AddDate(1, 0, 0)},
			{Name: "2.0.0", Handler: greeter("Hi")},
		},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}},
		&version.Options{Default: "2.0.0", Now: func() time.Time { return june.AddDate(0, 3, 0) }},
	)
	get := func(target, header string) {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		if header != "" {
			r.Header.Set("API-Version", header)
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
		for _, name := range []string{"API-Version", "Vary", "Deprecation", "Sunset", "Link"} {
			if value := w.Header().Get(name); value != "" {
				fmt.Printf("  %s: %s\n", name, value)
			}
		}
	}
	get("/hello", "")
	get("/v1/hello", "")
	get("/hello", "1")
	// Output:
	// 200 Hi, says 2.0.0 at /hello; the next page is /hello?page=2
	//   API-Version: 2.0.0
	//   Vary: API-Version
	// 200 Good day, says 1.0.0 at /hello; the next page is /v1/hello?page=2
	//   API-Version: 1.0.0
	//   Vary: API-Version
	//   Deprecation: @1780272000
	//   Sunset: Tue, 01 Jun 2027 00:00:00 GMT
	//   Link: </v2/hello>; rel="successor-version"
	// 200 Good day, says 1.0.0 at /hello; the next page is /hello?page=2
	//   API-Version: 1.0.0
	//   Vary: API-Version
	//   Deprecation: @1780272000
	//   Sunset: Tue, 01 Jun 2027 00:00:00 GMT
	//   Link: </v2/hello>; rel="successor-version"
}

// The report belongs into the log at start. Its last line is a weakness: clients of major version 1
// have no date until which to migrate.
func ExampleNegotiator_Report() {
	api := version.New(
		[]version.Contract{{Name: "1.0.0", Handler: greeter("Good day")},
			{Name: "2.0.0", Handler: greeter("Hi")}},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}},
		&version.Options{Default: "2.0.0"},
	)
	fmt.Print(api.Report())
	// Output:
	// contract 2.0.0  current, named 2 2.0 2.0.0, default
	// contract 1.0.0  current, named 1 1.0 1.0.0
	//     named in: the path, the header field API-Version
	// weak: contract 2.0.0 replaces major version 1, of which no contract is deprecated (see Contract.Deprecated)
}

// Older contracts are on other servers. A request for 1.0.0 is redirected with its method, path,
// query and body. A request for 1.1.0 would be forwarded.
func ExampleContract_at() {
	current := greeter("Hi")
	api := version.New(
		[]version.Contract{
			{Name: "2.0.0", Handler: current},
			{Name: "1.1.0", At: "http://10.0.0.7:8080/v1.1", Proxy: true},
			{Name: "1.0.0", At: "https://api-v1.example.com"},
		},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}},
		&version.Options{Default: "2.0.0", Transport: http.DefaultTransport},
	)
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/v1.0/hello?page=2", nil))
	fmt.Println(w.Code, w.Header().Get("API-Version"), w.Header().Get("Location"))
	// The list of versions has the URL, too.
	w = httptest.NewRecorder()
	api.List().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/versions", nil))
	var list struct{ Versions []struct{ Name, URL string } }
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		fmt.Println(err)
	}
	fmt.Println(list.Versions)
	// Output:
	// 308 1.0.0 https://api-v1.example.com/hello?page=2
	// [{2.0.0 } {1.1.0 } {1.0.0 https://api-v1.example.com}]
}

// A request that names two contracts is rejected. The problem has the two places.
func ExampleNew() {
	api := version.New(
		[]version.Contract{{Name: "1.0.0", Handler: greeter("Good day")},
			{Name: "2.0.0", Handler: greeter("Hi")}},
		[]version.Strategy{version.Path{}, version.Query{}},
		nil,
	)
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/hello?version=2", nil))
	var d struct {
		Detail    string
		Supported []string `json:"supported-versions"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		fmt.Println(err)
	}
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	fmt.Println(d.Detail)
	fmt.Println(d.Supported)
	// Output:
	// 400 application/problem+json
	// The request names two versions: "v1" in the path and "2" in the query parameter version.
	// [2.0.0 1.0.0]
}

// An application can look in places of its own.
func ExampleStrategy() {
	api := version.New(
		[]version.Contract{{Name: "1.0.0", Handler: greeter("Good day")},
			{Name: "2.0.0", Handler: greeter("Hi")}},
		[]version.Strategy{cookie("contract")},
		&version.Options{Default: "2.0.0"},
	)
	r := httptest.NewRequest(http.MethodGet, "/hello", nil)
	r.AddCookie(&http.Cookie{Name: "contract", Value: "1"})
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	fmt.Println(w.Body)
	fmt.Println("Vary:", w.Header().Get("Vary"))
	// Output:
	// Good day, says 1.0.0 at /hello; the next page is /hello?page=2
	// Vary: Cookie
}

// cookie names a contract by a cookie.
type cookie string

func (c cookie) Source() string { return "the cookie " + string(c) }
func (c cookie) Vary() []string { return []string{"Cookie"} }
func (c cookie) Find(r *http.Request) (string, bool) {
	found, err := r.Cookie(string(c))
	if err != nil {
		return "", false
	}
	return found.Value, true
}
