package resourcetest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// drawer is the reference of a store of bytes: right as long as bug is empty.
type drawer struct {
	bug             string
	remembers, once bool

	mu    sync.Mutex
	kept  map[string]*kept
	gone  map[string]bool
	count int
}

type kept struct {
	blob.Blob
	content []byte
}

// reopened is content that is fetched again for each Read.
type reopened struct {
	*bytes.Reader
	again func() []byte
}

func (r *reopened) Close() error { return nil }

func (r *reopened) Read(p []byte) (int, error) {
	if r.again != nil {
		at, _ := r.Seek(0, io.SeekCurrent)
		r.Reader = bytes.NewReader(r.again())
		r.Seek(at, io.SeekStart)
	}
	return r.Reader.Read(p)
}

func newDrawer(bug string) *drawer {
	return &drawer{bug: bug, kept: map[string]*kept{}, gone: map[string]bool{}}
}

// takeTime yields to other goroutines in a bubble of testing/synctest, like giveWay. It is shorter,
// because it is called many times during one giveWay.
func (d *drawer) takeTime() {
	if d.bug != "" {
		time.Sleep(time.Microsecond)
	}
}

func (d *drawer) absent(id string) error {
	if d.gone[id] && d.remembers != (d.bug == "returns the wrong error for a deleted id") {
		return resource.ErrGone
	}
	return resource.ErrNotFound
}

func (d *drawer) refuses(id string) bool {
	if d.bug == "accepts any id" {
		return false
	}
	return id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\x00")
}

func (d *drawer) Open(_ context.Context, id string) (*blob.Blob, error) {
	d.takeTime()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuses(id) {
		return nil, resource.ErrNotFound
	}
	k := d.kept[id]
	if k == nil {
		if d.bug == "returns an unknown error for an unknown id" {
			return nil, errors.New("no such file")
		}
		return nil, d.absent(id)
	}
	b := k.Blob
	content := &reopened{Reader: bytes.NewReader(k.content)}
	switch d.bug {
	case "each read returns the current content":
		content.again = func() []byte {
			d.mu.Lock()
			defer d.mu.Unlock()
			if now := d.kept[id]; now != nil {
				return now.content
			}
			return nil
		}
	case "reads metadata after content":
		d.mu.Unlock()
		time.Sleep(10 * time.Millisecond) // which is time for several Puts, though the kit waits before each
		d.mu.Lock()
		if now := d.kept[id]; now != nil {
			b = now.Blob
		}
	case "seeks from the start only":
		b.Content = startOnly{content}
		return &b, nil
	case "returns another time":
		b.Modified = b.Modified.Add(time.Hour)
	}
	b.Content = content
	return &b, nil
}

type startOnly struct{ *reopened }

func (s startOnly) Seek(offset int64, _ int) (int64, error) {
	return s.reopened.Seek(offset, io.SeekStart)
}

// check is what compare-and-swap compares.
func (d *drawer) check(id string, expect resource.Rev) error {
	switch k := d.kept[id]; {
	case k == nil && expect != "":
		return resource.ErrStale
	case k == nil && d.once && d.gone[id] && d.bug != "reuses a deleted id":
		return resource.ErrGone
	case k != nil && expect == "" && d.bug != "create overwrites":
		return resource.ErrExists
	case k != nil && expect != "" && k.Rev != expect && d.bug != "replace ignores the revision":
		return resource.ErrStale
	}
	return nil
}

func (d *drawer) Put(ctx context.Context, id string, expect resource.Rev, mediaType string, r io.Reader) (*blob.Blob, error) {
	d.mu.Lock()
	err := d.check(id, expect)
	d.mu.Unlock()
	switch {
	case d.refuses(id):
		return nil, resource.ErrNotFound
	case err != nil:
		return nil, err
	}
	if d.bug == "truncates first" {
		d.mu.Lock()
		d.kept[id] = &kept{Blob: blob.Blob{ID: id, Rev: resource.NewRev()}}
		d.mu.Unlock()
	}
	content, err := d.read(r)
	switch {
	case err != nil && d.bug == "returns an unknown error for a failed upload":
		return nil, errors.New("upload failed")
	case err != nil && d.bug != "stores a partial upload":
		return nil, err
	case ctx.Err() != nil && d.bug != "ignores the context":
		return nil, ctx.Err()
	}
	d.takeTime()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(id, expect); err != nil && d.bug != "checks at the beginning only" && d.bug != "truncates first" {
		return nil, err
	}
	return d.keep(id, mediaType, content), nil
}

func (d *drawer) read(r io.Reader) ([]byte, error) {
	if d.bug != "reads one buffer" {
		return io.ReadAll(r)
	}
	buf := make([]byte, 64<<10)
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = nil
	}
	return buf[:n], err
}

func (d *drawer) keep(id, mediaType string, content []byte) *blob.Blob {
	d.count++
	sum := sha256.Sum256(content)
	k := &kept{blob.Blob{ID: id, Rev: resource.NewRev(), MediaType: mediaType, Modified: time.Unix(1e9, int64(d.count)),
		Size: int64(len(content)), SHA256: sum[:]}, content}
	switch d.bug {
	case "the revision is a hash":
		k.Rev = resource.Rev(fmt.Sprintf("%x", sum))
	case "returns a wrong digest":
		k.SHA256[0]++
	case "drops parameters of the media type":
		k.MediaType, _, _ = strings.Cut(mediaType, ";")
	case "keeps the first media type":
		if old := d.kept[id]; old != nil {
			k.MediaType = old.MediaType
		}
	case "keeps the end of longer content":
		if old := d.kept[id]; old != nil && len(old.content) > len(content) {
			k.content = append(content, old.content[len(content):]...)
		}
	case "decodes percent signs":
		id = strings.ReplaceAll(id, "%20", " ")
	}
	d.kept[id] = k
	b := k.Blob
	return &b
}

func (d *drawer) List(_ context.Context, q blob.ListQuery) iter.Seq2[*blob.Blob, error] {
	return func(yield func(*blob.Blob, error) bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		ids := slices.Sorted(maps.Keys(d.kept))
		if d.bug == "lists without order" && len(ids) > 0 {
			ids[0], ids[len(ids)-1] = ids[len(ids)-1], ids[0]
		}
		if q.Reverse && d.bug != "lists in one order" {
			slices.Reverse(ids)
		}
		if d.bug == "lists only after an id that exists" && d.kept[q.After] == nil {
			q.After = ""
		}
		for _, id := range ids {
			b := d.kept[id].Blob
			if d.bug == "lists without the digest" {
				b.SHA256 = nil
			}
			if q.Contains(id) && !yield(&b, nil) {
				return
			}
		}
	}
}

func (d *drawer) Delete(_ context.Context, id string, expect resource.Rev) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.kept[id]
	switch {
	case d.refuses(id):
		return resource.ErrNotFound
	case k == nil:
		return d.absent(id)
	case k.Rev != expect && d.bug != "delete ignores the revision":
		return resource.ErrStale
	}
	if d.bug == "delete checks without a lock" {
		d.mu.Unlock()
		giveWay()
		d.mu.Lock()
	}
	if d.bug != "deletes nothing" {
		delete(d.kept, id)
		d.gone[id] = true
	}
	return nil
}

func TestBlobReferencePasses(t *testing.T) {
	t.Parallel()
	for _, opts := range []resourcetest.BlobsOptions{{}, {Remembers: true}, {Remembers: true, Once: true}, {Volatile: true}} {
		t.Run(fmt.Sprintf("%+v", opts), func(t *testing.T) {
			t.Parallel()
			resourcetest.RunBlobs(t, func(*testing.T) blob.Store {
				d := newDrawer("")
				d.remembers, d.once = opts.Remembers, opts.Once
				return d
			}, &opts)
		})
	}
}

// blobMutants returns the bugs of the broken blob stores, with the cases that must detect each.
func blobMutants() map[string][]string {
	return map[string][]string{
		"returns the wrong error for a deleted id": {"blob-delete", "blob-delete-race"},
		"accepts any id": {"blob-ids"},
		"returns an unknown error for an unknown id":   {"blob-unknown"},
		"each read returns the current content":        {"blob-old-content"},
		"reads metadata after content":                 {"blob-content-race"},
		"seeks from the start only":                    {"blob-seek"},
		"returns another time":                         {"blob-sizes"},
		"create overwrites":                            {"blob-exists", "blob-create-race"},
		"replace ignores the revision":                 {"blob-stale", "blob-count-race", "blob-late-stale"},
		"truncates first":                              {"blob-partial", "blob-visibility"},
		"returns an unknown error for a failed upload": {"blob-partial"},
		"stores a partial upload":                      {"blob-partial"},
		"ignores the context":                          {"blob-cancel"},
		"checks at the beginning only":                 {"blob-late-stale", "blob-create-race"},
		"reads one buffer":                             {"blob-sizes"},
		"the revision is a hash":                       {"blob-recreate", "blob-replace"},
		"returns a wrong digest":                       {"blob-sizes"},
		"drops parameters of the media type":           {"blob-sizes"},
		"keeps the first media type":                   {"blob-replace"},
		"keeps the end of longer content":              {"blob-replace"},
		"decodes percent signs":                        {"blob-ids"},
		"delete ignores the revision":                  {"blob-stale"},
		"delete checks without a lock":                 {"blob-delete-race"},
		"deletes nothing":                              {"blob-delete", "blob-recreate"},
		"reuses a deleted id":                          {"blob-recreate"},
		"lists without order":                          {"blob-list-range"},
		"lists in one order":                           {"blob-list-range"},
		"lists only after an id that exists":           {"blob-list-range"},
		"lists without the digest":                     {"blob-list"},
	}
}

func TestBlobMutantsDetected(t *testing.T) {
	t.Parallel()
	for bug, cases := range blobMutants() {
		t.Run(strings.NewReplacer(", ", "-", " ", "-", "'", "").Replace(bug), func(t *testing.T) {
			t.Parallel()
			once := bug == "reuses a deleted id"
			var verdicts map[string]resourcetest.Verdict
			synctest.Test(t, func(t *testing.T) { // see giveWay
				verdicts = resourcetest.JudgeBlobs(t, func() blob.Store {
					d := newDrawer(bug)
					d.remembers, d.once = once, once
					return d
				}, &resourcetest.BlobsOptions{Seed: 20261121, Remembers: once, Once: once})
			})
			var caught []string
			for name, v := range verdicts {
				if len(v.Failures) > 0 && !v.Panicked && !v.Blocked {
					caught = append(caught, name)
				}
			}
			slices.Sort(caught)
			t.Logf("caught by %s", strings.Join(caught, ", "))
			for _, want := range cases {
				if !slices.Contains(caught, want) {
					t.Errorf("case %s should have found it: %+v", want, verdicts[want])
				}
			}
		})
	}
}

// TestEveryBlobCaseCanFail keeps cases out of the kit that no mutant ever made fail.
func TestEveryBlobCaseCanFail(t *testing.T) {
	t.Parallel()
	var proven []string
	for _, cases := range blobMutants() {
		proven = append(proven, cases...)
	}
	for name, contract := range resourcetest.BlobContracts() {
		if !slices.Contains(proven, name) {
			t.Errorf("no mutant must be detected by case %s", name)
		}
		if len(contract) < 60 || !strings.HasSuffix(contract, ".") {
			t.Errorf("the contract of case %s does not explain anything: %q", name, contract)
		}
	}
}

func ExampleRunBlobs() {
	// In a test of the store:
	_ = func(t *testing.T) {
		resourcetest.RunBlobs(t, func(t *testing.T) blob.Store { return newDrawer("") }, nil)
	}
	// Output:
}
