package resourcetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// OverOptions configure [Over]. Nil selects the defaults.
type OverOptions struct {
	// Client sends the requests. Default [http.DefaultClient].
	Client *http.Client
	// IDField is the JSON name of the id field. Default "id".
	IDField string
	// Restore reports that the resource has Options.Restore.
	Restore bool
}

// Over returns a client of the collection that a [resource.Catalog] serves at a URL, such as
// "http://localhost:8080/orders", as operations for [RunOps]. Entity tags are the revisions, and
// status codes become errors of package resource. T is the representation that the server sends.
// Over panics if T is not a valid schema.
//
// The client does not detect the capabilities of the server: set missing operations to nil.
// Search, ListByKeys, Deleted and Transactions are nil, because no request corresponds to them. The
// resource needs rest.ResourceOptions.AlwaysETagOnPut, so that PUT returns the revision. No field
// may be writeOnly, because the client sends whole documents. Set [Options.Served] to true.
//
// Lists have no revisions, so the client also gets each item of a list. Groups take one request per page.
func Over[T any](at string, opts *OverOptions) resource.Ops[T] {
	o := &over[T]{at: strings.TrimSuffix(at, "/"), client: http.DefaultClient, typ: schema.For[T](),
		cursors: map[string]string{}}
	name := "id"
	if opts != nil {
		o.client, name = cmp.Or(opts.Client, o.client), cmp.Or(opts.IDField, name)
	}
	if o.id = o.typ.Field(name); o.id == nil {
		panic(fmt.Sprintf("resourcetest: Over: %v has no field with the JSON name %q", o.typ.GoType, name))
	}
	ops := resource.Ops[T]{Get: o.get, List: o.list, Create: o.create, Insert: o.insert, Replace: o.replace,
		Delete: o.remove, Count: o.count, GetMany: o.getMany, Aggregate: o.aggregate}
	if opts != nil && opts.Restore {
		ops.Restore = o.restore
	}
	return ops
}

// over is a collection on a server.
type over[T any] struct {
	at     string // without a trailing slash
	client *http.Client
	typ    *schema.Type
	id     *schema.Field

	mu      sync.Mutex
	cursors map[string]string // the server's cursors by position
}

// answer is a response and its body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request. header alternates names and values.
func (o *over[T]) do(ctx context.Context, method, at string, body []byte, header ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := o.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = failed(resp.StatusCode, text)
	}
	return answer{resp.StatusCode, resp.Header, text}, err
}

// failed returns the error for a response of the server.
func failed(status int, body []byte) error {
	var p struct {
		Type   string `json:"type"`
		Detail string `json:"detail"`
		Errors []struct {
			Pointer string `json:"pointer"`
			Code    string `json:"code"`
		} `json:"errors"`
	}
	json.Unmarshal(body, &p) // p stays empty if body is not a problem
	known := map[int]error{
		http.StatusNotFound: resource.ErrNotFound, http.StatusGone: resource.ErrGone,
		http.StatusPreconditionFailed: resource.ErrStale,
		http.StatusServiceUnavailable: resource.ErrUnavailable, http.StatusForbidden: resource.ErrForbidden,
		http.StatusUnauthorized: resource.ErrUnauthenticated,
	}
	errs := []error{fmt.Errorf("%d %s: %s", status, p.Type, p.Detail), known[status]}
	for _, e := range p.Errors {
		field := strings.TrimPrefix(e.Pointer, "/")
		switch {
		case status == http.StatusConflict:
			errs = append(errs, resource.Taken(field))
		case status == http.StatusUnprocessableEntity:
			errs = append(errs, resource.Invalid(field, e.Code))
		}
	}
	if strings.HasSuffix(p.Type, "/already-exists") {
		errs = append(errs, resource.ErrExists)
	}
	return errors.Join(errs...)
}

// item decodes one item. The server must have sent its revision.
func (o *over[T]) item(a answer) (resource.Item[T], error) {
	var it resource.Item[T]
	if err := json.Unmarshal(a.body, &it.Value); err != nil {
		return it, fmt.Errorf("decode %s: %w", brief(string(a.body)), err)
	}
	tag := a.header.Get("ETag")
	if len(tag) < 3 {
		return it, fmt.Errorf("response %d has ETag %q; set rest.ResourceOptions.AlwaysETagOnPut",
			a.status, tag)
	}
	it.ID, it.Rev = o.id.Text(&it.Value), resource.Rev(tag[1:len(tag)-1])
	return it, nil
}

// one is do for a response with one item.
func (o *over[T]) one(ctx context.Context, method, at string, body []byte,
	header ...string) (resource.Item[T], error) {
	a, err := o.do(ctx, method, at, body, header...)
	if err != nil {
		return resource.Item[T]{}, err
	}
	return o.item(a)
}

func (o *over[T]) path(id string) string { return o.at + "/" + url.PathEscape(id) }

// get returns [resource.ErrNotFound] without a request for a dot segment, with which no URL can end (RFC
// 3986 section 5.2.4), and for control characters, which package rest rejects with 400.
func (o *over[T]) get(ctx context.Context, id string) (resource.Item[T], error) {
	if id == "." || id == ".." || strings.ContainsFunc(id, unicode.IsControl) {
		return resource.Item[T]{}, resource.ErrNotFound
	}
	return o.one(ctx, http.MethodGet, o.path(id), nil)
}

// document returns the request body: without the fields that only the server writes, and without
// the id, which is in the path.
func (o *over[T]) document(v T) ([]byte, error) {
	text, err := o.typ.Append(nil, &v)
	if err != nil {
		return nil, err
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for _, f := range o.typ.Fields {
		if f.ReadOnly || f == o.id {
			delete(members, f.Name)
		}
	}
	return json.Marshal(members)
}

func (o *over[T]) create(ctx context.Context, v T) (resource.Item[T], error) {
	return o.write(ctx, http.MethodPost, o.at, v)
}

// insert maps a failed precondition to ErrExists.
func (o *over[T]) insert(ctx context.Context, id string, v T) (resource.Item[T], error) {
	it, err := o.write(ctx, http.MethodPut, o.path(id), v, "If-None-Match", "*")
	if errors.Is(err, resource.ErrStale) {
		err = resource.ErrExists
	}
	return it, err
}

func (o *over[T]) replace(
	ctx context.Context, id string, expect resource.Rev, v T,
) (it resource.Item[T], err error) {
	err = o.compared(ctx, id, expect, func(tag string) error {
		it, err = o.write(ctx, http.MethodPut, o.path(id), v, "If-Match", tag)
		return err
	})
	return it, err
}

func (o *over[T]) remove(ctx context.Context, id string, expect resource.Rev) error {
	return o.compared(ctx, id, expect, func(tag string) error {
		_, err := o.do(ctx, http.MethodDelete, o.path(id), nil, "If-Match", tag)
		return err
	})
}

func (o *over[T]) restore(ctx context.Context, id string) (resource.Item[T], error) {
	return o.one(ctx, http.MethodPost, o.path(id)+"/restore", nil)
}

func (o *over[T]) write(ctx context.Context, method, at string, v T,
	header ...string) (resource.Item[T], error) {
	body, err := o.document(v)
	if err != nil {
		return resource.Item[T]{}, err
	}
	return o.one(ctx, method, at, body, header...)
}

// compared sends a conditional request. For a missing item the condition fails as well (RFC 9110
// section 13.1.1), and a revision that is not a valid entity tag (section 8.8.3) cannot be sent. In
// both cases compared gets the item to find the error.
func (o *over[T]) compared(ctx context.Context, id string, expect resource.Rev,
	request func(tag string) error) error {
	err := resource.ErrStale
	if !strings.ContainsFunc(string(expect), func(r rune) bool { return r <= ' ' || r == '"' || r > '~' }) {
		err = request(`"` + string(expect) + `"`)
	}
	if errors.Is(err, resource.ErrStale) {
		if _, missing := o.get(ctx, id); missing != nil {
			return missing
		}
	}
	return err
}

// count requests the smallest page with a total.
func (o *over[T]) count(ctx context.Context, q query.Query) (int, error) {
	p, err := o.page(ctx, query.Query{Filter: q.Filter, Limit: 1}, "")
	if err == nil && p.Total == nil {
		err = errors.New("the response to Prefer: count=exact has no total")
	}
	if err != nil {
		return 0, err
	}
	return *p.Total, nil
}

// listPage is the response to a list request.
type listPage[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
	Total *int   `json:"total"` // nil if it was not requested
}

func (o *over[T]) page(ctx context.Context, q query.Query, cursor string) (listPage[T], error) {
	params := q.Values()
	if cursor != "" {
		params.Set("after", cursor)
	}
	params.Set("limit", strconv.Itoa(q.Limit))
	var p listPage[T]
	a, err := o.do(ctx, http.MethodGet, o.at+"?"+params.Encode(), nil, "Prefer", "count=exact")
	if err == nil {
		err = json.Unmarshal(a.body, &p)
	}
	return p, err
}
