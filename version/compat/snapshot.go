package compat

// Snapshots and their files. Called by versiontest. layout.go writes the JSON, normalize.go and
// sdl_normalize.go remove what clients do not observe.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Snapshot is what clients can observe of one contract. The zero value of each field means that
// nothing is recorded. A Snapshot must not be changed while it is in use.
type Snapshot struct {
	// Contract is the full name, MAJOR.MINOR.PATCH.
	Contract string
	// Preview marks a contract that may still change. [Check] ignores it.
	Preview bool
	// Deprecated and Sunset are the dates of the contract; zero if there are none.
	Deprecated, Sunset time.Time
	// OpenAPI is the OpenAPI 3.1 document in JSON. [Record] and [Parse] remove descriptions, examples,
	// servers, and what names the contract itself.
	OpenAPI json.RawMessage
	// SDL is the GraphQL schema in the schema definition language. [Record] and [Parse] remove
	// descriptions and comments, and sort the definitions.
	SDL string
	// Responses are those of real requests, in the order of the requests.
	Responses []Response
}

// Response is what is recorded of the response to one request.
type Response struct {
	// Request is the method and the path, and the header fields that differ from the default, such as
	// "GET /orders" or "PATCH /orders/{id} If-Match". It identifies the request.
	Request string `json:"request"`
	// Status is the status code.
	Status int `json:"status"`
	// Header has the fields of the response. A value is recorded if clients depend on it, as those of
	// Allow and Content-Type, and the relation types of Link. Otherwise it is empty.
	Header map[string]string `json:"header,omitempty"`
	// Problem and Title are the members type and title of a problem document (RFC 9457).
	Problem string `json:"problem,omitempty"`
	Title   string `json:"title,omitempty"`
	// Codes are the members code in the errors of a problem document, sorted.
	Codes []string `json:"codes,omitempty"`
	// Members are the members of a JSON body and their types, such as items[].id: integer.
	Members map[string]string `json:"members,omitempty"`
	// Order has the members by which the items of a list are sorted, with a minus for descending
	// order. These are all members with values in that order.
	Order []string `json:"order,omitempty"`
}

// file is the JSON form of a Snapshot.
type file struct {
	Contract   string     `json:"contract"`
	Preview    bool       `json:"preview,omitempty"`
	Deprecated *time.Time `json:"deprecated,omitempty"`
	Sunset     *time.Time `json:"sunset,omitempty"`
	Responses  []Response `json:"responses,omitempty"`
	OpenAPI    any        `json:"openapi,omitempty"`
	SDL        []string   `json:"sdl,omitempty"`
}

// Encode returns the snapshot as JSON. Equal snapshots have equal encodings. It panics if OpenAPI
// is not valid JSON; [Record] and [Parse] return no such snapshot.
func (s *Snapshot) Encode() []byte {
	f := file{Contract: s.Contract, Preview: s.Preview, Responses: s.Responses,
		Deprecated: dateOrNil(s.Deprecated), Sunset: dateOrNil(s.Sunset)}
	if len(s.OpenAPI) > 0 {
		document, err := decodeJSON(s.OpenAPI)
		if err != nil {
			panic(fmt.Sprintf("compat: OpenAPI of %s: %v", s.Contract, err))
		}
		f.OpenAPI = document
	}
	if s.SDL != "" {
		f.SDL = strings.Split(strings.TrimSuffix(s.SDL, "\n"), "\n")
	}
	return layout(f)
}

// dateOrNil returns a date as files have it; nil for the zero time.
func dateOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// Parse returns the snapshot that [Snapshot.Encode] has written. It returns an error if the JSON, the
// name of the contract or the GraphQL schema is not valid.
func Parse(data []byte) (*Snapshot, error) {
	var f struct {
		file
		OpenAPI json.RawMessage `json:"openapi"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("compat: parse snapshot: %w", err)
	}
	s := &Snapshot{Contract: f.Contract, Preview: f.Preview, Responses: f.Responses, OpenAPI: f.OpenAPI}
	if f.Deprecated != nil {
		s.Deprecated = *f.Deprecated
	}
	if f.Sunset != nil {
		s.Sunset = *f.Sunset
	}
	if len(f.SDL) > 0 {
		s.SDL = strings.Join(f.SDL, "\n") + "\n"
	}
	if err := s.normalize(); err != nil {
		return nil, fmt.Errorf("compat: parse snapshot: %w", err)
	}
	return s, nil
}

// normalize removes what clients do not observe. Normalizing twice has no further effect.
func (s *Snapshot) normalize() (err error) {
	if _, ok := parseName(s.Contract); !ok {
		return fmt.Errorf("contract name %q is not MAJOR.MINOR.PATCH", s.Contract)
	}
	if bytes.Equal(s.OpenAPI, []byte("null")) {
		s.OpenAPI = nil
	}
	if len(s.OpenAPI) > 0 {
		if s.OpenAPI, err = normalizeOpenAPI(s.OpenAPI, s.Contract); err != nil {
			return fmt.Errorf("OpenAPI document of %s: %w", s.Contract, err)
		}
	}
	if s.SDL != "" {
		if s.SDL, err = normalizeSDL(s.SDL); err != nil {
			return fmt.Errorf("GraphQL schema of %s: %w", s.Contract, err)
		}
	}
	return nil
}

// Load returns the snapshots in the files *.json of a folder, newest first. Each file is named like
// its contract, such as 1.1.0.json. Load returns no snapshots if there are no files, and an error if
// a file is not valid.
func Load(fsys fs.FS) (Snapshots, error) {
	names, err := fs.Glob(fsys, "*.json")
	if err != nil {
		return nil, fmt.Errorf("compat: load snapshots: %w", err)
	}
	var all Snapshots
	var errs []error
	for _, name := range names {
		s, err := loadFile(fsys, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("compat: load %s: %w", name, err))
			continue
		}
		all = append(all, s)
	}
	sortNewestFirst(all)
	return all, errors.Join(errs...)
}

func loadFile(fsys fs.FS, name string) (*Snapshot, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	s, err := Parse(data)
	if err != nil {
		return nil, err
	}
	if want := strings.TrimSuffix(path.Base(name), ".json"); s.Contract != want {
		return nil, fmt.Errorf("it contains contract %s", s.Contract)
	}
	return s, nil
}

// MustLoad is like [Load] but panics if there is an error or no file. It is for embedded files: those of
// //go:embed contracts are in the folder contracts of the [embed.FS], so pass the result of [fs.Sub].
func MustLoad(fsys fs.FS) Snapshots {
	all, err := Load(fsys)
	if err != nil {
		panic(err)
	}
	if len(all) == 0 {
		panic("compat: MustLoad: no *.json at the root of the file system; " +
			"select the folder of the snapshots by fs.Sub")
	}
	return all
}

func sortNewestFirst(all []*Snapshot) {
	slices.SortFunc(all, func(a, b *Snapshot) int { return compareNames(b.Contract, a.Contract) })
}

// compareNames orders the names of contracts from old to new.
func compareNames(a, b string) int {
	x, _ := parseName(a)
	y, _ := parseName(b)
	return slices.Compare(x[:], y[:])
}

// parseName returns the parts of a full name.
func parseName(s string) (parts [3]int, ok bool) {
	texts := strings.Split(s, ".")
	if len(texts) != len(parts) {
		return parts, false
	}
	for i, text := range texts {
		if text == "" || len(text) > 5 || len(text) > 1 && text[0] == '0' {
			return parts, false
		}
		for _, c := range []byte(text) {
			if c < '0' || c > '9' {
				return parts, false
			}
			parts[i] = parts[i]*10 + int(c-'0')
		}
	}
	return parts, true
}

// decodeJSON decodes a document without loss of digits.
func decodeJSON(data []byte) (document any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err = dec.Decode(&document); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("there is content after the document")
	}
	return document, nil
}

// find returns the response to a request; nil if there is none.
func (s *Snapshot) find(request string) *Response {
	for i := range s.Responses {
		if s.Responses[i].Request == request {
			return &s.Responses[i]
		}
	}
	return nil
}

// sorted returns the keys of a map in order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
