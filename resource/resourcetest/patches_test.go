package resourcetest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/rest"
)

// box is an item with a number and a list.
type box struct {
	ID    int64    `json:"id" readOnly:"true"`
	Count int64    `json:"count"`
	Tags  []string `json:"tags" maxItems:"3"`
}

const rawType = "application/vnd.example.raise+json"

// boxPatch is the patch of the formats below.
type boxPatch struct {
	Add   int64    `json:"add"`   // to count
	Raise int64    `json:"raise"` // to at least this count
	Tags  []string `json:"tags"`  // to append
}

// changeBox returns an Apply that calls change.
func changeBox(change func(b *box, p boxPatch)) func(doc, text []byte) ([]byte, error) {
	return func(doc, text []byte) ([]byte, error) {
		var b box
		var p boxPatch
		if err := json.Unmarshal(doc, &b); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &p); err != nil || len(p.Tags) > 1 {
			return nil, patch.NewError(patch.Malformed, "", "type", "the patch must be an object with add, raise or tags")
		}
		change(&b, p)
		return json.Marshal(b)
	}
}

func raiseBox(b *box, p boxPatch) { b.Count = max(b.Count, p.Raise) }

func addBox(b *box, p boxPatch) {
	raiseBox(b, p)
	b.Count += p.Add
	b.Tags = append(b.Tags, p.Tags...)
}

// boxes returns the URL of new boxes that are served with a format.
func boxes(t *testing.T, f patch.Format) func() string {
	t.Helper()
	store := memory.New[box](nil)
	things := resource.New("boxes", store, nil)
	opts := &rest.Options{}
	if f.MediaType == rawType {
		opts.PatchFormats = []patch.Format{f}
	}
	server := httptest.NewServer(rest.New(
		resource.NewCatalog(&resource.CatalogOptions{Logger: slog.New(slog.DiscardHandler)}, things), opts))
	t.Cleanup(server.Close)
	return func() string {
		it, err := store.Create(t.Context(), box{Count: 1, Tags: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		return server.URL + "/boxes/" + it.ID
	}
}

func TestRunPatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		format  patch.Format
		patches []string
	}{
		{"idempotent", patch.Format{MediaType: rawType, Idempotent: true, Apply: changeBox(raiseBox)},
			[]string{`{"raise":5}`, `{}`}},
		{"not idempotent", patch.Format{MediaType: rawType, Apply: changeBox(addBox)},
			[]string{`{"raise":5,"add":1}`, `{"tags":["a"]}`}},
		{"merge patch", patch.Format{MediaType: patch.MergeType, Idempotent: true}, []string{`{"count":2,"tags":["a"]}`}},
		{"JSON Patch", patch.Format{MediaType: patch.JSONType}, []string{`[{"op":"add","path":"/tags/-","value":"a"}]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			newItem := boxes(t, tt.format)
			resourcetest.RunPatches(t, tt.format, func(*testing.T) string { return newItem() }, tt.patches, nil)
		})
	}
}

// TestPatchMutantsDetected: each broken format fails the cases that are named.
func TestPatchMutantsDetected(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	good := changeBox(raiseBox)
	tests := []struct {
		bug     string
		format  patch.Format
		patches []string
		want    map[string]string // case, and a part of its failure
	}{
		{"an increment is declared idempotent",
			patch.Format{Idempotent: true, Apply: changeBox(addBox)}, []string{`{"raise":1}`, `{"add":1}`},
			map[string]string{"patch-twice": `{"add":1} applied twice differs from once`}},
		{"appending is declared idempotent",
			patch.Format{Idempotent: true, Apply: changeBox(addBox)}, []string{`{"tags":["a"]}`},
			map[string]string{"patch-twice": "applied twice differs from once"}},
		{"a second patch is refused",
			patch.Format{Idempotent: true, Apply: func(doc, text []byte) ([]byte, error) {
				if strings.Contains(string(doc), `"count":5`) {
					return nil, patch.NewError(patch.Conflict, "/count", "count", "it is 5 already")
				}
				return good(doc, text)
			}}, []string{`{"raise":5}`}, map[string]string{"patch-twice": "returned 409, want 200 or 204"}},
		{"an error of the client is a fault",
			patch.Format{Apply: func(doc, text []byte) ([]byte, error) {
				changed, err := good(doc, text)
				if err != nil {
					err = errors.New(err.Error())
				}
				return changed, err
			}}, []string{`{"raise":5}`}, map[string]string{"patch-malformed": "returned 500, want 2xx or 4xx"}},
		{"the document is modified",
			patch.Format{Apply: func(doc, text []byte) ([]byte, error) {
				changed, err := good(doc, text)
				clear(doc)
				return changed, err
			}}, []string{`{"raise":5}`}, map[string]string{"patch-pure": "has modified the document"}},
		{"the patch is modified",
			patch.Format{Apply: func(doc, text []byte) ([]byte, error) {
				changed, err := good(doc, text)
				clear(text)
				return changed, err
			}}, []string{`{"raise":5}`}, map[string]string{"patch-pure": "has modified the patch"}},
		{"the result depends on the number of calls",
			patch.Format{Apply: func(doc, _ []byte) ([]byte, error) {
				return good(doc, fmt.Appendf(nil, `{"raise":%d}`, 100+calls.Add(1)))
			}}, []string{`{}`}, map[string]string{"patch-pure": "two calls of Apply with {} differ"}},
		{"nothing is changed",
			patch.Format{Apply: func(doc, _ []byte) ([]byte, error) { return doc, nil }}, []string{`{"raise":5}`},
			map[string]string{"patch-accepted": "none of the 1 patches has changed its item"}},
		{"a panic", patch.Format{Apply: func([]byte, []byte) ([]byte, error) { panic("no such luck") }}, []string{`{}`},
			map[string]string{"patch-accepted": "returned 500", "patch-malformed": "returned 500", "patch-pure": "panicked"}},
	}
	for _, tt := range tests {
		t.Run(strings.ReplaceAll(tt.bug, " ", "-"), func(t *testing.T) {
			t.Parallel()
			tt.format.MediaType = rawType
			verdicts := resourcetest.JudgePatches(t, tt.format, boxes(t, tt.format), tt.patches, nil)
			caught, want := map[string]bool{}, map[string]bool{}
			for name, v := range verdicts {
				if len(v.Failures) > 0 {
					caught[name] = true
				}
			}
			for name, part := range tt.want {
				want[name] = true
				if text := strings.Join(verdicts[name].Failures, "\n"); !strings.Contains(text, part) {
					t.Errorf("case %s does not report %q: %s", name, part, text)
				}
			}
			if diff := cmp.Diff(want, caught); diff != "" {
				t.Errorf("the failed cases (-want +got):\n%s", diff)
			}
		})
	}
	unlisted := patch.Format{MediaType: "application/vnd.example.other+json"}
	v := resourcetest.JudgePatches(t, unlisted, boxes(t, unlisted), []string{`{}`}, nil)["patch-accepted"]
	if text := strings.Join(v.Failures, "\n"); !strings.Contains(text, "returned 415") || !strings.Contains(text, "does not list") {
		t.Errorf("a format that is not registered: %q", v.Failures)
	}
}
