package resourcetest_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// fast returns a wrapper that changes the reads without values.
func fast(fn func(o ops, reads *resource.FastReads)) func(o ops) ops {
	return func(o ops) ops {
		reads := o.FastReads()
		fn(o, &reads)
		return o.WithFastReads(reads)
	}
}

// askJSON returns a wrapper that changes the queries of ListJSON.
func askJSON(fn func(q *query.Query)) func(o ops) ops {
	return fast(func(_ ops, reads *resource.FastReads) {
		list := reads.ListJSON
		reads.ListJSON = func(ctx context.Context, q query.Query) iter.Seq2[resource.ItemJSON, error] {
			fn(&q)
			return list(ctx, q)
		}
	})
}

// askRevisions returns a wrapper that changes the queries of ListRevisions.
func askRevisions(fn func(q *query.Query)) func(o ops) ops {
	return fast(func(_ ops, reads *resource.FastReads) {
		list := reads.ListRevisions
		reads.ListRevisions = func(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
			fn(&q)
			return list(ctx, q)
		}
	})
}

// eachJSON returns a wrapper that changes the results of ListJSON.
func eachJSON(fn func(it *resource.ItemJSON)) func(o ops) ops {
	return fast(func(_ ops, reads *resource.FastReads) {
		list := reads.ListJSON
		reads.ListJSON = func(ctx context.Context, q query.Query) iter.Seq2[resource.ItemJSON, error] {
			return changing(list(ctx, q), fn)
		}
	})
}

// eachRevision returns a wrapper that changes the results of ListRevisions.
func eachRevision(fn func(it *resource.Revision)) func(o ops) ops {
	return fast(func(_ ops, reads *resource.FastReads) {
		list := reads.ListRevisions
		reads.ListRevisions = func(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
			return changing(list(ctx, q), fn)
		}
	})
}

// changing passes every result through fn.
func changing[V any](seq iter.Seq2[V, error], fn func(v *V)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for v, err := range seq {
			fn(&v)
			if !yield(v, err) {
				return
			}
		}
	}
}

// fastMutants returns mutants with bugs in the reads without values.
func fastMutants() []mutant {
	return slices.Concat(jsonMutants(), revisionMutants())
}

// jsonMutants returns mutants with bugs in ListJSON.
func jsonMutants() []mutant {
	list := []string{"listjson-list"}
	replaced := func(old, with string) func(o ops) ops {
		return eachJSON(func(it *resource.ItemJSON) {
			it.JSON = bytes.ReplaceAll(it.JSON, []byte(old), []byte(with))
		})
	}
	return []mutant{
		{bug: "listjson ignores the fields", want: list, wrap: askJSON(func(q *query.Query) { q.Fields = nil })},
		{bug: "listjson ignores the filter", want: list,
			wrap: askJSON(func(q *query.Query) { q.Filter = query.Filter{} })},
		{bug: "listjson ignores the position", want: list, wrap: askJSON(func(q *query.Query) { q.After = nil })},
		{bug: "listjson ignores the limit", want: list, wrap: askJSON(func(q *query.Query) { q.Limit = 0 })},
		{bug: "listjson sorts by the id alone", want: list,
			wrap: askJSON(func(q *query.Query) { q.Sort, q.After = nil, nil })},
		{bug: "listjson writes white space", want: list, wrap: replaced(`,"`, `, "`)},
		{bug: "listjson writes null as an empty text", want: list, wrap: replaced(`"note":null`, `"note":""`)},
		{bug: "listjson escapes letters", want: list, wrap: replaced(`"color":"r`, `"color":"\u0072`)},
		{bug: "listjson omits the revision", want: append([]string{"cache-rollback"}, list...),
			wrap: eachJSON(func(it *resource.ItemJSON) { it.Rev = "" })},
		{bug: "listjson omits the modification time", want: list,
			wrap: eachJSON(func(it *resource.ItemJSON) { it.Modified = time.Time{} })},
		{bug: "listjson omits the id", want: list, wrap: eachJSON(func(it *resource.ItemJSON) { it.ID = "" })},
		{bug: "listjson continues after an error", want: []string{"cancel-list"},
			wrap: fast(func(o ops, reads *resource.FastReads) {
				reads.ListJSON = func(ctx context.Context, q query.Query) iter.Seq2[resource.ItemJSON, error] {
					return func(yield func(resource.ItemJSON, error) bool) {
						for it, err := range o.List(context.WithoutCancel(ctx), q) {
							if err == nil {
								err = ctx.Err()
							}
							if !yield(resource.ItemJSON{ID: it.ID, Rev: it.Rev}, err) {
								return
							}
						}
					}
				}
			})},
		{bug: "a stopped listjson leaks a goroutine", want: []string{"list-stop"},
			wrap: fast(func(o ops, reads *resource.FastReads) {
				reads.ListJSON = func(ctx context.Context, q query.Query) iter.Seq2[resource.ItemJSON, error] {
					return func(yield func(resource.ItemJSON, error) bool) {
						for it, err := range throughChannel(ctx, o.List(ctx, q)) {
							if !yield(resource.ItemJSON{ID: it.ID, Rev: it.Rev}, err) {
								return
							}
						}
					}
				}
			})},
		{bug: "listjson keeps what transactions read", want: []string{"cache-rollback"}, wrap: keepsJSON},
	}
}

// keepsJSON keeps the JSON of each revision, also of those that are rolled back.
func keepsJSON(o ops) ops {
	var kept sync.Map
	return eachJSON(func(it *resource.ItemJSON) {
		type key struct {
			id  string
			rev resource.Rev
		}
		text, _ := kept.LoadOrStore(key{it.ID, it.Rev}, bytes.Clone(it.JSON))
		it.JSON = text.([]byte)
	})(o)
}

// revisionMutants returns mutants with bugs in ListRevisions and GetRevision.
func revisionMutants() []mutant {
	list, get := []string{"listrevisions-list"}, []string{"getrevision-get"}
	return []mutant{
		{bug: "listrevisions ignores the filter", want: list,
			wrap: askRevisions(func(q *query.Query) { q.Filter = query.Filter{} })},
		{bug: "listrevisions ignores the position", want: list,
			wrap: askRevisions(func(q *query.Query) { q.After = nil })},
		{bug: "listrevisions ignores the limit", want: list,
			wrap: askRevisions(func(q *query.Query) { q.Limit = 0 })},
		{bug: "listrevisions sorts by the id alone", want: list,
			wrap: askRevisions(func(q *query.Query) { q.Sort, q.After = nil, nil })},
		{bug: "listrevisions omits the modification time", want: list,
			wrap: eachRevision(func(it *resource.Revision) { it.Modified = time.Time{} })},
		{bug: "listrevisions returns the first revision", want: append([]string{"cache-rollback"}, list...),
			wrap: func(o ops) ops {
				var first sync.Map
				return eachRevision(func(it *resource.Revision) {
					rev, _ := first.LoadOrStore(it.ID, it.Rev)
					it.Rev = rev.(resource.Rev)
				})(o)
			}},
		{bug: "getrevision of an unknown id succeeds", want: get,
			wrap: fast(func(_ ops, reads *resource.FastReads) {
				read := reads.GetRevision
				reads.GetRevision = func(ctx context.Context, id string) (resource.Revision, error) {
					got, err := read(ctx, id)
					if errors.Is(err, resource.ErrNotFound) {
						return resource.Revision{ID: id}, nil
					}
					return got, err
				}
			})},
		{bug: "getrevision returns ErrNotFound for a deleted id", want: get,
			wrap: fast(func(_ ops, reads *resource.FastReads) {
				read := reads.GetRevision
				reads.GetRevision = func(ctx context.Context, id string) (resource.Revision, error) {
					got, err := read(ctx, id)
					if errors.Is(err, resource.ErrGone) {
						err = resource.ErrNotFound
					}
					return got, err
				}
			})},
		{bug: "getrevision omits the modification time", want: get,
			wrap: fast(func(_ ops, reads *resource.FastReads) {
				read := reads.GetRevision
				reads.GetRevision = func(ctx context.Context, id string) (resource.Revision, error) {
					got, err := read(ctx, id)
					got.Modified = time.Time{}
					return got, err
				}
			})},
		{bug: "getrevision is kept after a write", want: append([]string{"cache-rollback"}, get...),
			wrap: fast(func(_ ops, reads *resource.FastReads) {
				read := reads.GetRevision
				var kept sync.Map
				reads.GetRevision = func(ctx context.Context, id string) (resource.Revision, error) {
					if got, ok := kept.Load(id); ok {
						return got.(resource.Revision), nil
					}
					got, err := read(ctx, id)
					if err == nil {
						kept.Store(id, got)
					}
					return got, err
				}
			})},
	}
}
