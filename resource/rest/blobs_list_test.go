package rest_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// folder returns an empty folder of files.
func folder(t testing.TB) *files.Folder {
	t.Helper()
	f, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// fourFiles serves a folder with four files at /files.
func fourFiles(t testing.TB, opts *blob.Options) http.Handler {
	t.Helper()
	h := attic(t, folder(t), opts)
	for _, name := range []string{"b.txt", "a-2.txt", "a-1.txt", "c.txt"} {
		want(t, send(t, h, "PUT /files/"+name, "Content-Type: text/plain", "", name), http.StatusCreated)
	}
	return h
}

// TestBlobList: GET of the collection is a list as that of a resource.
func TestBlobList(t *testing.T) {
	t.Parallel()
	h := fourFiles(t, nil)
	tests := []struct{ name, query, ids string }{
		{"all", "", "a-1.txt a-2.txt b.txt c.txt"},
		{"a prefix", "?id.startsWith=a-", "a-1.txt a-2.txt"},
		{"a prefix of none", "?id.startsWith=x", ""},
		{"one", "?id=b.txt", "b.txt"},
		{"descending", "?sort=-id", "c.txt b.txt a-2.txt a-1.txt"},
		{"a filter", `?filter={"or":[{"id":{"startsWith":"a"}},{"id":{"eq":"c.txt"}}]}`, "a-1.txt a-2.txt c.txt"},
		{"a filter with and", `?filter={"and":[{"id":{"startsWith":"a"}},{"id":{"startsWith":"a-2"}}]}`, "a-2.txt"},
		{"a filter with not", `?filter={"not":{"id":{"startsWith":"a"}}}`, "b.txt c.txt"},
		{"limit", "?limit=2", "a-1.txt a-2.txt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "GET /files"+strings.NewReplacer(" ", "%20", `"`, "%22").Replace(tt.query))
			want(t, res, http.StatusOK, "Content-Type: application/json", "Etag: *", "Vary: Accept, Accept-Encoding")
			var page struct{ Items []blob.File }
			decode(t, res.body, &page)
			var ids []string
			for _, f := range page.Items {
				ids = append(ids, f.ID)
			}
			if diff := cmp.Diff(tt.ids, strings.Join(ids, " ")); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
	for _, query := range []string{"?size.gt=1", "?sort=size", "?mediaType=text/plain", "?id.contains=a", "?x=1"} {
		wantProblem(t, send(t, h, "GET /files"+query), problem.InvalidParameter)
	}
}

// TestBlobListPages follows the links of the pages in both directions.
func TestBlobListPages(t *testing.T) {
	t.Parallel()
	h := fourFiles(t, nil)
	var got []string
	line := "/files?limit=2&fields=id"
	for _, rel := range []string{"next", "prev", ""} {
		res := send(t, h, "GET "+line)
		var page struct{ Items []blob.File }
		decode(t, res.body, &page)
		for _, f := range page.Items {
			got = append(got, f.ID)
		}
		line = linkOf(res, rel)
	}
	if diff := cmp.Diff("a-1.txt a-2.txt b.txt c.txt a-1.txt a-2.txt", strings.Join(got, " ")); diff != "" {
		t.Errorf("files of the pages (-want +got):\n%s", diff)
	}
}

// linkOf returns the target of a link, or "".
func linkOf(res *response, rel string) string {
	for _, link := range strings.Split(res.header.Get("Link"), ", ") {
		if target, ok := strings.CutSuffix(link, `>; rel="`+rel+`"`); ok {
			return target[1:]
		}
	}
	return ""
}

// TestBlobListItems: an entry has the metadata of the file, and a list can be revalidated.
func TestBlobListItems(t *testing.T) {
	t.Parallel()
	h := fourFiles(t, nil)
	res := send(t, h, "GET /files?id=b.txt")
	var page struct{ Items []map[string]any }
	decode(t, res.body, &page)
	item := page.Items[0]
	if _, ok := item["modified"].(string); !ok || len(item["sha256"].(string)) != 2*sha256.Size {
		t.Errorf("item %v", item)
	}
	delete(item, "modified")
	delete(item, "sha256")
	if diff := cmp.Diff(map[string]any{"id": "b.txt", "size": 5.0, "mediaType": "text/plain"}, item); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
	tag := "If-None-Match: " + res.header.Get("Etag")
	want(t, send(t, h, "GET /files?id=b.txt", tag), http.StatusNotModified)
	want(t, send(t, h, "HEAD /files"), http.StatusOK, "Content-Length: *", "Content-Type: application/json")
	want(t, send(t, h, "OPTIONS /files"), http.StatusNoContent, "Allow: GET, HEAD, QUERY, POST, OPTIONS")
	want(t, send(t, h, "PUT /files/b.txt", "", "other"), http.StatusNoContent)
	want(t, send(t, h, "GET /files?id=b.txt", tag), http.StatusOK)
	lines := send(t, h, "GET /files?fields=id", "Accept: application/x-ndjson")
	wantBody(t, lines, http.StatusOK, `{"id":"a-1.txt"}`+"\n"+`{"id":"a-2.txt"}`+"\n"+`{"id":"b.txt"}`+"\n"+`{"id":"c.txt"}`+"\n")
}

// TestBlobListPolicy: a list has the files that the caller may read.
func TestBlobListPolicy(t *testing.T) {
	t.Parallel()
	h := fourFiles(t, &blob.Options{
		Authorize: func(_ context.Context, op resource.Op, before, _ *blob.Blob) error {
			if op == resource.OpGet && strings.HasPrefix(before.ID, "a") {
				return resource.ErrForbidden
			}
			if op == resource.OpGet && before.MediaType != "text/plain" {
				return resource.ErrForbidden
			}
			return nil
		}})
	res := send(t, h, "GET /files?fields=id&limit=1")
	wantBody(t, res, http.StatusOK, `{"items":[{"id":"b.txt"}],"next":"`+nextOf(t, res)+`"}`)
	wantBody(t, send(t, h, "GET /files?fields=id&id.startsWith=a"), http.StatusOK, `{"items":[]}`)
}

// nextOf returns the cursor of the next page.
func nextOf(t *testing.T, res *response) string {
	t.Helper()
	var page struct{ Next string }
	decode(t, res.body, &page)
	return page.Next
}

func TestBlobListMethods(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		store blob.Store
		opts  blob.Options
		allow string
	}{
		{"no lister", newCellar(), blob.Options{}, "POST, OPTIONS"},
		{"NoList", folder(t), blob.Options{NoList: true}, "POST, OPTIONS"},
		{"read-only", folder(t), blob.Options{ReadOnly: true}, "GET, HEAD, QUERY, OPTIONS"},
		{"read-only and NoList", folder(t), blob.Options{ReadOnly: true, NoList: true}, "OPTIONS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := attic(t, tt.store, &tt.opts)
			want(t, send(t, h, "OPTIONS /files"), http.StatusNoContent, "Allow: "+tt.allow)
			status := http.StatusMethodNotAllowed
			if strings.Contains(tt.allow, "GET") {
				status = http.StatusOK
			}
			want(t, send(t, h, "GET /files"), status)
			want(t, send(t, h, "DELETE /files"), http.StatusMethodNotAllowed, "Allow: "+tt.allow)
		})
	}
}

// TestBlobEvents: uploads and deletions are events, over REST and GraphQL.
func TestBlobEvents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := resource.NewCatalog(&resource.CatalogOptions{Feed: newFeed(t)}, blob.New("files", folder(t), nil))
		h, api := rest.New(c, nil), graphql.New(c, nil)
		s := open(t, h, "GET /files?fields=id,size&id.startsWith=a", streamType)
		s.read()
		messages := api.Subscribe(t.Context(), graphql.Request{
			Query: `subscription{fileChanged{kind id file{size mediaType}}}`})
		plainText := "Content-Type: text/plain"
		want(t, send(t, h, "PUT /files/b", plainText, "", "12"), http.StatusCreated)
		want(t, send(t, h, "PUT /files/a", plainText, "", "123"), http.StatusCreated)
		want(t, send(t, h, "PUT /files/a", plainText, "", "1234"), http.StatusNoContent)
		want(t, send(t, h, "DELETE /files/a"), http.StatusNoContent)
		want(t, send(t, h, "DELETE /files/a"), http.StatusGone)
		same(t, "events", []string{`created {"id":"a","size":3}`, `updated {"id":"a","size":4}`, `deleted {"id":"a"}`},
			s.newEvents())
		var got []string
		for res, err := range messages {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, string(res.Data)); len(got) == 4 {
				break
			}
		}
		message := func(kind, id, file string) string {
			return `{"fileChanged":{"kind":"` + kind + `","id":"` + id + `","file":` + file + `}}`
		}
		same(t, "messages", []string{
			message("CREATED", "b", `{"size":2,"mediaType":"text/plain"}`),
			message("CREATED", "a", `{"size":3,"mediaType":"text/plain"}`),
			message("UPDATED", "a", `{"size":4,"mediaType":"text/plain"}`),
			message("DELETED", "a", "null"),
		}, got)
	})
}

// TestBlobsInGraphQL: the metadata has a type, and other items can refer to it.
func TestBlobsInGraphQL(t *testing.T) {
	t.Parallel()
	f := folder(t)
	c := resource.NewCatalog(nil, blob.New("files", f, nil))
	want(t, send(t, rest.New(c, nil), "PUT /files/a", "Content-Type: image/png", "", "123"), http.StatusCreated)
	res := graphql.New(c, nil).Execute(t.Context(), graphql.Request{Query: `{
		file(id: "a") { id size mediaType }
		missing: file(id: "b") { id }
		files(filter: {id: {startsWith: "a"}}, last: 1) { nodes { id } }
	}`})
	const data = `{"file":{"id":"a","size":3,"mediaType":"image/png"},"missing":null,"files":{"nodes":[{"id":"a"}]}}`
	if diff := cmp.Diff(data, string(res.Data)); diff != "" || res.Err() != nil {
		t.Errorf("data (-want +got):\n%s%v", diff, res.Err())
	}
}

// decode decodes the JSON of a response.
func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// slowStore is a store with a Put that returns after its content was stored and done is closed.
type slowStore struct {
	*files.Folder
	slow string // the content that is slow
	done chan struct{}
}

func (s *slowStore) Put(
	ctx context.Context, id string, expect resource.Rev, mediaType string, r io.Reader,
) (*blob.Blob, error) {
	b, err := s.Folder.Put(ctx, id, expect, mediaType, r)
	if err == nil && b.Size == int64(len(s.slow)) {
		<-s.done
	}
	return b, err
}

// TestBlobEventsInOrder: the last event is the last state, in whichever order concurrent writes return.
func TestBlobEventsInOrder(t *testing.T) {
	tests := []struct {
		name     string
		requests []string // while the first one is in progress
		want     []string
		next     string // kind of the next event
	}{
		{"replaced", []string{"PUT 1234"}, []string{`updated {"id":"a","size":4}`}, "updated"},
		{"deleted", []string{"DELETE"}, []string{`deleted {"id":"a"}`}, "created"},
		{"replaced and deleted", []string{"PUT 1234", "DELETE"},
			[]string{`updated {"id":"a","size":4}`, `deleted {"id":"a"}`}, "created"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				store := &slowStore{folder(t), "123456", make(chan struct{})}
				c := resource.NewCatalog(&resource.CatalogOptions{Feed: newFeed(t)}, blob.New("files", store, nil))
				h := rest.New(c, nil)
				want(t, send(t, h, "PUT /files/a", "", "1"), http.StatusCreated)
				s := open(t, h, "GET /files?fields=id,size", streamType)
				s.read()
				var wg sync.WaitGroup
				wg.Go(func() { want(t, send(t, h, "PUT /files/a", "", store.slow), http.StatusNoContent) })
				synctest.Wait()
				for _, r := range tt.requests {
					method, body, _ := strings.Cut(r, " ")
					want(t, send(t, h, method+" /files/a", "", body), http.StatusNoContent)
				}
				close(store.done)
				wg.Wait()
				same(t, "events", tt.want, s.newEvents())
				send(t, h, "PUT /files/a", "", "12345") // the next write is not affected
				same(t, "next event", []string{tt.next + ` {"id":"a","size":5}`}, s.newEvents())
			})
		})
	}
}

// heldStore returns from write n of its blobs after held[n] is closed.
type heldStore struct {
	*files.Folder
	held []chan struct{}
	n    atomic.Int32
}

func (s *heldStore) Put(
	ctx context.Context, id string, expect resource.Rev, mediaType string, r io.Reader,
) (*blob.Blob, error) {
	b, err := s.Folder.Put(ctx, id, expect, mediaType, r)
	<-s.held[s.n.Add(1)-1]
	return b, err
}

func (s *heldStore) Delete(ctx context.Context, id string, expect resource.Rev) error {
	err := s.Folder.Delete(ctx, id, expect)
	<-s.held[s.n.Add(1)-1]
	return err
}

// TestBlobDeletionHasEvent: a blob is deleted, created and deleted, and the creation returns first. It
// has no event, because the blob is deleted then. The deletion of the first blob has one.
func TestBlobDeletionHasEvent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &heldStore{Folder: folder(t)}
		for range 4 {
			store.held = append(store.held, make(chan struct{}))
		}
		c := resource.NewCatalog(&resource.CatalogOptions{Feed: newFeed(t)},
			blob.New("files", store, &blob.Options{AllowRecreate: true}))
		h := rest.New(c, nil)
		close(store.held[0])
		want(t, send(t, h, "PUT /files/a", "", "1"), http.StatusCreated)
		s := open(t, h, "GET /files?fields=id", streamType)
		s.read()
		var wg sync.WaitGroup
		wg.Go(func() { want(t, send(t, h, "DELETE /files/a"), http.StatusNoContent) })
		synctest.Wait()
		wg.Go(func() { want(t, send(t, h, "PUT /files/a", "", "2"), http.StatusCreated) })
		synctest.Wait()
		wg.Go(func() { want(t, send(t, h, "DELETE /files/a"), http.StatusNoContent) })
		synctest.Wait()
		for _, n := range []int{2, 1, 3} {
			close(store.held[n])
			synctest.Wait()
		}
		wg.Wait()
		same(t, "events", []string{`deleted {"id":"a"}`}, s.newEvents())
	})
}

// TestRule164EqualFiles: PUT of the same bytes is a write.
func TestRule164EqualFiles(t *testing.T) {
	t.Parallel()
	h := catalog(t, blob.New("files", folder(t), &blob.Options{Public: true}))
	tags := map[string]bool{}
	for i, status := range []int{http.StatusCreated, http.StatusNoContent, http.StatusNoContent} {
		want(t, send(t, h, "PUT /files/a.txt", "Content-Type: text/plain", "", "same"), status)
		if tags[send(t, h, "HEAD /files/a.txt").header.Get("ETag")] = true; len(tags) != i+1 {
			t.Errorf("PUT %d of the same content: %d different tags", i+1, len(tags))
		}
	}
	wantBody(t, send(t, h, "GET /files/a.txt"), http.StatusOK, "same")
}
