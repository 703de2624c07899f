package resource_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/schema"
)

// jsonThing has sort keys of each kind that can be read from JSON, and one that cannot.
type jsonThing struct {
	ID      int64     `json:"id" readOnly:"true"`
	Text    string    `json:"text"`
	Note    *string   `json:"note"`
	Amount  string    `json:"amount" format:"decimal"`
	At      time.Time `json:"at"`
	Empty   *string   `json:"empty,omitempty"`
	Secret  string    `json:"secret" writeOnly:"true"`
	Numbers []int     `json:"numbers"`
}

// jsonThings returns resources with the same items: without and with a JSONLister, and the number of
// calls of the latter.
func jsonThings(
	t *testing.T, opts *resource.Options[jsonThing],
) (plain, encoding *resource.Resource, calls *int) {
	t.Helper()
	store := memory.New[jsonThing](nil)
	random := rand.New(rand.NewPCG(1, 0))
	for i := range 60 {
		v := jsonThing{
			Text: fmt.Sprintf("%c\n\"é", 'a'+random.IntN(5)), Amount: fmt.Sprintf("%d.50", random.IntN(4)),
			At: time.Unix(int64(random.IntN(9)), int64(random.IntN(3))).UTC(), Numbers: []int{i}, Secret: "s"}
		text := fmt.Sprint(random.IntN(3))
		switch random.IntN(3) {
		case 0:
			v.Note = &text
		case 1:
			v.Empty = new(string)
		}
		if _, err := store.Create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	ops := resource.OpsOf(store)
	o := *opts
	o.Query = query.Support{Sort: []string{"text", "note", "amount", "at", "empty"},
		Filter: map[string][]query.Op{"text": {query.Eq, query.Gt}}}
	plain = ops.Resource("things", &o)
	typ, err := schema.Of(reflect.TypeFor[jsonThing]())
	if err != nil {
		t.Fatal(err)
	}
	calls = new(int)
	ops = ops.WithFastReads(resource.FastReads{ListJSON: func(
		ctx context.Context, q query.Query,
	) iter.Seq2[resource.ItemJSON, error] {
		*calls++
		return func(yield func(resource.ItemJSON, error) bool) {
			var b []byte
			for it, err := range store.List(ctx, q) {
				item := resource.ItemJSON{ID: it.ID, Rev: it.Rev, Modified: it.Modified, Next: it.Next}
				if err == nil && q.Fields == nil {
					b, err = typ.Append(b[:0], &it.Value)
				} else if err == nil {
					var s *schema.Selection
					if s, err = typ.Select(q.Fields); err == nil {
						b, err = s.Append(b[:0], &it.Value)
					}
				}
				item.JSON = b
				if !yield(item, err) || err != nil {
					return
				}
			}
		}
	}})
	return plain, ops.Resource("things", &o), calls
}

// TestListJSON compares whole responses for lists of encoded items with those for lists of values.
func TestListJSON(t *testing.T) {
	t.Parallel()
	plain, encoding, calls := jsonThings(t, &resource.Options[jsonThing]{PageSize: 7})
	want := rest.New(resource.NewCatalog(nil, plain), nil)
	got := rest.New(resource.NewCatalog(nil, encoding), nil)
	tests := []struct {
		target, accept string
		encoded        bool
	}{
		{"/things", "application/json", true},
		{"/things?sort=-text", "application/json", true},
		{"/things?sort=note,-amount,at&limit=3", "application/json", true},
		{"/things?sort=empty", "application/json", false},
		{"/things?fields=id,text&sort=text", "application/json", true},
		{"/things?fields=text", "application/json", false},
		{"/things?text.gt=b&limit=60", "application/json", true},
		{"/things?text=zz", "application/json", true},
		{"/things?sort=-at", "application/x-ndjson", true},
		{"/things?sort=-at", "text/csv", false},
	}
	for _, tt := range tests {
		*calls = 0
		target := tt.target
		for pages := 0; target != ""; pages++ {
			if pages == 100 {
				t.Fatalf("%s does not end", tt.target)
			}
			a, b := getThings(want, target, tt.accept), getThings(got, target, tt.accept)
			if diff := cmp.Diff(a, b, cmp.AllowUnexported(thingsAnswer{})); diff != "" {
				t.Fatalf("%s of encoded items (-want +got):\n%s", target, diff)
			}
			if a.code != http.StatusOK {
				t.Fatalf("%s: %d %s", target, a.code, a.body)
			}
			target = ""
			for _, l := range a.links {
				if l[1] == "next" || l[1] == "prev" && pages == 1 {
					target = l[0]
				}
			}
			if pages > 12 { // of the pages backward as well
				break
			}
		}
		if encoded := *calls > 0; encoded != tt.encoded {
			t.Errorf("%s, %s: the items are encoded by the collection: %t, want %t",
				tt.target, tt.accept, encoded, tt.encoded)
		}
	}
}

var linkPattern = regexp.MustCompile(`<([^>]*)>; rel="?(\w+)`)

// thingsAnswer is what a client sees of a response.
type thingsAnswer struct {
	code   int
	header http.Header
	body   string
	links  [][2]string
}

func getThings(h http.Handler, target, accept string) thingsAnswer {
	r := httptest.NewRequest("GET", target, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	a := thingsAnswer{code: w.Code, header: w.Header(), body: w.Body.String()}
	for _, l := range linkPattern.FindAllStringSubmatch(w.Header().Get("Link"), -1) {
		a.links = append(a.links, [2]string{l[1], l[2]})
	}
	return a
}

// TestListJSONNeedsValues checks that policy and views are applied, and that the report has the
// reason why the collection does not encode.
func TestListJSONNeedsValues(t *testing.T) {
	t.Parallel()
	_, encoding, calls := jsonThings(t, &resource.Options[jsonThing]{
		Authorize: func(_ context.Context, _ resource.Op, before, _ *jsonThing) error {
			if before.ID%2 == 0 {
				return resource.ErrForbidden
			}
			return nil
		}})
	c := resource.NewCatalog(nil, encoding)
	page, err := encoding.Raw().ListJSON(t.Context(), query.Query{}, resource.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Release()
	for _, e := range page.Entries {
		if e.JSON != nil || e.Value.(*jsonThing).ID%2 == 0 {
			t.Errorf("an entry of a list with Authorize is %+v", e)
		}
	}
	if *calls > 0 {
		t.Error("the collection has encoded items that Authorize decides about")
	}
	const want = "    lists: encoded from values: Options.Authorize is called with the value of each item\n"
	if report := c.Report(); !strings.Contains(report, want) {
		t.Errorf("the report does not say why lists read values:\n%s", report)
	}
}

// TestListJSONFaults checks that a collection that violates its contract is an internal error.
func TestListJSONFaults(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	tests := []struct {
		name  string
		items []resource.ItemJSON
		err   error
	}{
		{"no id", []resource.ItemJSON{{Rev: "1", JSON: []byte(`{"id":1}`)}}, nil},
		{"no revision", []resource.ItemJSON{{ID: "1", JSON: []byte(`{"id":1}`)}}, nil},
		{"an error", []resource.ItemJSON{{ID: "1", Rev: "1", JSON: []byte(`{"id":1}`)}}, failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops := resource.OpsOf(memory.New[jsonThing](nil))
			ops = ops.WithFastReads(resource.FastReads{ListJSON: func(
				context.Context, query.Query,
			) iter.Seq2[resource.ItemJSON, error] {
				return func(yield func(resource.ItemJSON, error) bool) {
					for _, it := range tt.items {
						if !yield(it, nil) {
							return
						}
					}
					if tt.err != nil {
						yield(resource.ItemJSON{}, tt.err)
					}
				}
			}})
			r := ops.Resource("things", &resource.Options[jsonThing]{
				Query: query.Support{Sort: []string{"text"}}})
			q := query.Query{Limit: 1, Sort: []query.Order{{Field: "text"}}}
			if tt.err != nil {
				q.Limit = 9
			}
			page, err := r.Raw().ListJSON(t.Context(), q, resource.Position{})
			if err == nil {
				page.Release()
				t.Fatal("there is no error")
			}
			if kind := resource.Problem(err).Kind; kind != problem.Internal {
				t.Errorf("problem %v of %v, want an internal error", kind, err)
			}
			if tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("the error is %v, want %v", err, tt.err)
			}
		})
	}
}
