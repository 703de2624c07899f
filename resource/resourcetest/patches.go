package resourcetest

// Tests of patch formats over HTTP.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

// PatchesOptions configure [RunPatches]. Nil selects the defaults.
type PatchesOptions struct {
	// Client sends the requests. Default [http.DefaultClient].
	Client *http.Client
}

// RunPatches tests a patch format with requests to a server. newItem returns the URL of a new item
// and is called for each case; the URL must accept PATCH in the format without conditions and keys.
// patches are valid for such an item, and at least one must change it. opts may be nil.
//
// If f.Idempotent is set, a patch that is applied twice must have the same result as one that is
// applied once. If f.Apply is nil, RunPatches tests the server alone, which also suits
// [patch.MergeType].
func RunPatches(t *testing.T, f patch.Format, newItem func(t *testing.T) string, patches []string,
	opts *PatchesOptions) {
	t.Helper()
	for _, c := range patchCases {
		if c.unless != nil && c.unless(f) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			rec := c.try(t.Context(), f, func() string { return newItem(t) }, patches, opts)
			if len(rec.failures) > 0 {
				t.Errorf("%s\n%s", strings.Join(rec.failures, "\n"), indent(c.contract))
			}
		})
	}
}

// patchCase is one requirement of a patch format, and its test.
type patchCase struct {
	name     string
	contract string
	unless   func(f patch.Format) bool // nil if the case applies to every format
	run      func(k *patchKit)
}

// patchKit has the server of a case, and methods that send requests and check the responses.
type patchKit struct {
	format  patch.Format
	newItem func() string
	patches []string
	client  *http.Client
	ctx     context.Context
	rec     *record
}

// try runs the case in a goroutine of its own, so that a case that blocks fails alone.
func (c patchCase) try(ctx context.Context, f patch.Format, newItem func() string, patches []string,
	opts *PatchesOptions) *record {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	k := &patchKit{format: f, newItem: newItem, patches: patches, client: http.DefaultClient, ctx: ctx,
		rec: &record{}}
	if opts != nil && opts.Client != nil {
		k.client = opts.Client
	}
	k.rec.within(patience, func() { c.run(k) })
	return k.rec.result()
}

var patchCases = []patchCase{
	{
		name: "patch-accepted",
		contract: "Each of the patches is valid for a new item, and at least one changes it. Accept-Patch " +
			"lists the media type, so that clients can find the format (RFC 5789 section 3.1).",
		run: (*patchKit).accepted,
	},
	{
		name: "patch-twice",
		contract: "The format is declared idempotent, so clients repeat a request after a lost response. " +
			"A patch that is applied twice must have the same result as one that is applied once.",
		unless: func(f patch.Format) bool { return !f.Idempotent },
		run:    (*patchKit).twice,
	},
	{
		name: "patch-malformed",
		contract: "A patch that the format does not allow is an error of the client (4xx) and changes " +
			"nothing. Apply returns a *patch.Error for it, such as one of patch.NewError.",
		run: (*patchKit).malformed,
	},
	{
		name: "patch-pure",
		contract: "Apply is called again if another request has changed the item, and concurrently. " +
			"It must depend on its arguments only and must not modify them.",
		unless: func(f patch.Format) bool { return f.Apply == nil },
		run:    (*patchKit).pure,
	},
}

// answer is a response and its body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request and returns the response. An error ends the case.
func (k *patchKit) do(method, at, body string) answer {
	r, err := http.NewRequestWithContext(k.ctx, method, at, strings.NewReader(body))
	if err == nil {
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", k.format.MediaType)
		}
		var resp *http.Response
		if resp, err = k.client.Do(r); err == nil {
			defer resp.Body.Close()
			var text []byte
			if text, err = io.ReadAll(resp.Body); err == nil {
				return answer{resp.StatusCode, resp.Header, text}
			}
		}
	}
	k.errorf("%s %s failed: %v", method, at, err)
	runtime.Goexit()
	panic("unreachable")
}

func (k *patchKit) errorf(format string, args ...any) { k.rec.add(&k.rec.failures, format, args...) }

// get returns the item, which must exist.
func (k *patchKit) get(at string) answer {
	a := k.do(http.MethodGet, at, "")
	if a.status != http.StatusOK {
		k.errorf("GET %s returned %d, want 200: %s", at, a.status, brief(string(a.body)))
	}
	return a
}

// apply sends a patch that must be accepted, and returns the item after it.
func (k *patchKit) apply(at, patch string) answer {
	if a := k.do(http.MethodPatch, at, patch); a.status != http.StatusOK && a.status != http.StatusNoContent {
		k.errorf("PATCH with %s returned %d, want 200 or 204: %s", brief(patch), a.status,
			brief(string(a.body)))
	}
	return k.get(at)
}

// accepted is the case patch-accepted.
func (k *patchKit) accepted() {
	changed := false
	for _, p := range k.patches {
		at := k.newItem()
		before := k.get(at)
		changed = !bytes.Equal(before.body, k.apply(at, p).body) || changed
		listed := k.do(http.MethodOptions, at, "").header.Values("Accept-Patch")
		if !strings.Contains(strings.Join(listed, ", ")+",", k.format.MediaType+",") {
			k.errorf("Accept-Patch of %s is %q, which does not list %s", at, listed, k.format.MediaType)
		}
	}
	if !changed {
		k.errorf("none of the %d patches has changed its item", len(k.patches))
	}
}

// twice is the case patch-twice. An item that is equal to the one before keeps its entity tag.
func (k *patchKit) twice() {
	for _, p := range k.patches {
		at := k.newItem()
		once := k.apply(at, p)
		again := k.apply(at, p)
		if diff := cmp.Diff(string(once.body), string(again.body)); diff != "" {
			k.errorf("%s applied twice differs from once (-once +twice):\n%s", brief(p), diff)
			continue
		}
		if a, b := once.header.Get("ETag"), again.header.Get("ETag"); a != b {
			k.errorf("%s applied again changed the ETag from %s to %s, although the item is equal",
				brief(p), a, b)
		}
	}
}

// malformed is the case patch-malformed.
func (k *patchKit) malformed() {
	texts := []string{"", "{", "null", "7", `"text"`, "[]", `[null]`, `{"":null}`, `{"id":{"a":[]}}`,
		"\x00\xff", "%zz"}
	for _, p := range k.patches {
		texts = append(texts, p[:len(p)/2])
	}
	at := k.newItem()
	for _, text := range texts {
		before := k.get(at)
		a := k.do(http.MethodPatch, at, text)
		switch {
		case a.status < 300: // valid in this format
		case a.status < 400 || a.status >= 500:
			k.errorf("PATCH with %q returned %d, want 2xx or 4xx: %s", text, a.status, brief(string(a.body)))
		default:
			if diff := cmp.Diff(string(before.body), string(k.get(at).body)); diff != "" {
				k.errorf("PATCH with %q returned %d and changed the item (-before +after):\n%s", text,
					a.status, brief(diff))
			}
		}
	}
}

// pure is the case patch-pure.
func (k *patchKit) pure() {
	for _, p := range k.patches {
		doc := k.get(k.newItem()).body
		var results [2]string
		for i := range results {
			given, text := bytes.Clone(doc), []byte(p)
			changed, err := k.format.Apply(given, text)
			results[i] = fmt.Sprintf("%s, %v", changed, err)
			// The result may share memory with the document, but the document must be unchanged.
			if !bytes.Equal(given, doc) {
				k.errorf("Apply of %s has modified the document", brief(p))
			}
			if string(text) != p {
				k.errorf("Apply of %s has modified the patch", brief(p))
			}
		}
		if diff := cmp.Diff(results[0], results[1]); diff != "" {
			k.errorf("two calls of Apply with %s differ (-first +second):\n%s", brief(p), diff)
		}
	}
}
