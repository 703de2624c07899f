// Package versiontest tests that the contracts of an API keep their promises. A contract that was
// released does not change, a patch is not observable, a minor version does not break clients, and a
// contract ends after its deprecation period only.
//
//	//go:embed contracts/*.json
//	var recorded embed.FS
//
//	func TestContracts(t *testing.T) {
//		versiontest.Run(t, &versiontest.API{
//			Versions: negotiator,
//			OpenAPI:  func(contract string) http.Handler { return documents[contract] },
//			SDL:      func(contract string) string { return handlers[contract].SDL() },
//		}, "contracts")
//	}
//
// The first run with the environment variable VERSIONTEST=update records a snapshot of each contract in
// the folder. Commit the files. Each later run compares the handlers with them. See package
// [github.com/stoa-go/stoa/version/compat] for what is compared and what breaks clients.
package versiontest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
)

// API is an API with its contracts. Only Versions is required.
type API struct {
	// Versions serves the contracts.
	Versions *version.Negotiator
	// Handler receives the requests, for example Versions with its middleware. Default Versions.
	Handler http.Handler
	// OpenAPI returns the handler of the OpenAPI document of a contract, such as that of package
	// resource/openapi; nil if there is none. It receives GET /?profile=full, which selects the complete
	// document of that package.
	OpenAPI func(contract string) http.Handler
	// SDL returns the GraphQL schema of a contract; "" if there is none.
	SDL func(contract string) string
	// Prepare is called with each request and the full name of its contract, for example to set
	// credentials. The request already names the contract, by the first strategy that can name it in any
	// request. Nil means that requests are sent as they are.
	Prepare func(contract string, r *http.Request)
	// Probes are requests in addition to [compat.Probes]. Their responses must not depend on the time
	// or on earlier requests.
	Probes []compat.Probe
	// MinDeprecation is [version.Options.MinDeprecation] of Versions.
	MinDeprecation time.Duration
	// Now is the current time. Default [time.Now].
	Now time.Time
	// Update records snapshots that are missing, as VERSIONTEST=update does.
	Update bool
}

// Run fails the test for each broken rule that [Verify] returns.
func Run(t *testing.T, api *API, dir string) {
	t.Helper()
	for _, err := range Verify(t.Context(), api, dir) {
		t.Error(err)
	}
}

// Verify records the contracts that are served, compares them with the snapshots in the folder dir,
// and returns the violations of [compat.Check]. With [API.Update] it first writes the snapshots that
// are missing, those of previews, and those that differ by dates only. It does not overwrite a snapshot
// from which the contract differs: delete the file to record a contract that was never released again.
//
// A request without a response that the snapshot has is a violation, for example GET of an item of a
// list that is empty. Responses are not compared during a brownout of the contract.
func Verify(ctx context.Context, api *API, dir string) []error {
	served, unanswered, err := api.record(ctx)
	if err != nil {
		return []error{err}
	}
	recorded, err := compat.Load(os.DirFS(dir))
	if err != nil {
		return []error{err}
	}
	if api.Update || os.Getenv("VERSIONTEST") == "update" {
		if err = update(recorded, served, dir); err == nil {
			recorded, err = compat.Load(os.DirFS(dir))
		}
		if err != nil {
			return []error{err}
		}
	}
	if len(recorded) == 0 {
		return []error{fmt.Errorf("versiontest: there are no snapshots in %s; "+
			"run the test with VERSIONTEST=update and commit the files", dir)}
	}
	var errs []error
	violations := compat.Check(recorded, served,
		&compat.CheckOptions{MinDeprecation: api.MinDeprecation, Now: api.Now})
	for _, v := range violations {
		errs = append(errs, v)
	}
	for _, s := range served {
		r := find(recorded, s.Contract)
		if r == nil {
			continue
		}
		for _, name := range unanswered[s.Contract] {
			if hasResponse(r, name) {
				errs = append(errs, fmt.Errorf("versiontest: contract %s has no response to %s; "+
					"the list needs an item", s.Contract, name))
			}
		}
		if len(violations) == 0 && !sameDates(r, s) {
			errs = append(errs, fmt.Errorf("versiontest: the dates of contract %s differ from %s; "+
				"run the test with VERSIONTEST=update", s.Contract, fileOf(dir, s)))
		}
	}
	return errs
}

func find(all []*compat.Snapshot, contract string) *compat.Snapshot {
	i := slices.IndexFunc(all, func(s *compat.Snapshot) bool { return s.Contract == contract })
	if i < 0 {
		return nil
	}
	return all[i]
}

func sameDates(a, b *compat.Snapshot) bool {
	same := func(x, y time.Time) bool { return x.Unix() == y.Unix() }
	return same(a.Deprecated, b.Deprecated) && same(a.Sunset, b.Sunset)
}

func fileOf(dir string, s *compat.Snapshot) string { return filepath.Join(dir, s.Contract+".json") }

// update writes snapshots if that hides no change.
func update(recorded, served []*compat.Snapshot, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("versiontest: %w", err)
	}
	for _, s := range served {
		r := find(recorded, s.Contract)
		released := r != nil && !r.Preview
		empty := s.OpenAPI == nil && s.SDL == "" && s.Responses == nil
		if empty || released && len(compat.Compare(r, s)) > 0 {
			continue
		}
		if released {
			s = withResponses(s, r)
		}
		data := s.Encode()
		if r != nil && bytes.Equal(data, r.Encode()) {
			continue
		}
		if err := os.WriteFile(fileOf(dir, s), data, 0o666); err != nil {
			return fmt.Errorf("versiontest: %w", err)
		}
	}
	return nil
}

func hasResponse(s *compat.Snapshot, request string) bool {
	return slices.ContainsFunc(s.Responses, func(r compat.Response) bool { return r.Request == request })
}

// withResponses returns s with the recorded responses that s lacks, because the list was empty or
// during a brownout. The others are equal.
func withResponses(s, recorded *compat.Snapshot) *compat.Snapshot {
	lost := func(r compat.Response) bool { return !hasResponse(s, r.Request) }
	if !slices.ContainsFunc(recorded.Responses, lost) {
		return s
	}
	complete := *s
	complete.Responses = slices.Clone(recorded.Responses)
	for _, r := range s.Responses {
		if !hasResponse(recorded, r.Request) {
			complete.Responses = append(complete.Responses, r)
		}
	}
	return &complete
}

// record returns the snapshots of the contracts, and by contract the names of the probes without a
// response. Contracts that have ended, and those to which clients are redirected, have a name and
// dates only. During a brownout every response is 410, so none is recorded.
func (api *API) record(
	ctx context.Context,
) (all []*compat.Snapshot, unanswered map[string][]string, err error) {
	if api.Versions == nil {
		return nil, nil, errors.New("versiontest: API.Versions is nil; set it to the Negotiator of the API")
	}
	unanswered = map[string][]string{}
	for _, c := range api.Versions.Contracts() {
		source := compat.Source{Contract: c.Name, Preview: c.Preview, Deprecated: c.Deprecated,
			Sunset: c.Sunset}
		if api.Versions.Status(c.Name) != version.Retired && (c.At == "" || c.Proxy) {
			if err := api.complete(ctx, &source); err != nil {
				return nil, nil, err
			}
		}
		if api.inBrownout(c) {
			source.Handler, source.Probes = nil, nil
		}
		s, err := compat.Record(ctx, source)
		if err != nil {
			return nil, nil, fmt.Errorf("versiontest: %w", err)
		}
		all = append(all, s)
		for _, p := range source.Probes {
			if name := cmp.Or(p.Name, p.Method+" "+p.Path); !hasResponse(s, name) {
				unanswered[c.Name] = append(unanswered[c.Name], name)
			}
		}
	}
	return all, unanswered, nil
}

func (api *API) inBrownout(c version.Contract) bool {
	now := api.Now
	if now.IsZero() {
		now = time.Now()
	}
	return slices.ContainsFunc(c.Brownouts, func(w version.Window) bool {
		return !now.Before(w.From) && now.Before(w.Until)
	})
}

// complete adds documents, handler and probes to a source.
func (api *API) complete(ctx context.Context, source *compat.Source) error {
	name := source.Contract
	if api.OpenAPI != nil {
		if h := api.OpenAPI(name); h != nil {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/?profile=full", nil))
			if w.Code != http.StatusOK {
				return fmt.Errorf("versiontest: GET of the OpenAPI document of contract %s is %d, want 200",
					name, w.Code)
			}
			source.OpenAPI = w.Body.Bytes()
		}
	}
	if api.SDL != nil {
		source.SDL = api.SDL(name)
	}
	if source.Handler = api.Handler; source.Handler == nil {
		source.Handler = api.Versions
	}
	place, err := api.placeName(name)
	if err != nil {
		return err
	}
	source.Prepare = func(r *http.Request) {
		place(r)
		if api.Prepare != nil {
			api.Prepare(name, r)
		}
	}
	source.Probes = append(compat.Probes(source.OpenAPI), api.Probes...)
	return nil
}

// placeName returns a function that names a contract in requests, by the first strategy that can
// name it in any request.
func (api *API) placeName(name string) (func(*http.Request), error) {
	for _, s := range api.Versions.Strategies() {
		switch s := s.(type) {
		case version.Path:
			return func(r *http.Request) {
				if u, err := url.Parse("/v" + name + r.URL.RequestURI()); err == nil {
					r.URL = u
				}
			}, nil
		case version.Header:
			return func(r *http.Request) { r.Header.Set(s.Name, name) }, nil
		case version.Query:
			return func(r *http.Request) {
				query := url.Values{cmp.Or(s.Name, "version"): {name}}.Encode()
				if r.URL.RawQuery != "" {
					query = r.URL.RawQuery + "&" + query
				}
				r.URL.RawQuery = query
			}, nil
		case version.Host:
			host := cmp.Or(s.Prefix, "api-v") + strings.ReplaceAll(name, ".", "-") + "." + s.Domains[0]
			return func(r *http.Request) { r.Host = host }, nil
		}
	}
	if api.Prepare == nil && api.Versions.Default() != name {
		return nil, fmt.Errorf("versiontest: no strategy names contract %s in every request; "+
			"set API.Prepare to do it", name)
	}
	return func(*http.Request) {}, nil
}
