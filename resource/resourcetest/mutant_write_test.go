package resourcetest_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/tx"
)

// writeMutants returns mutants with bugs in single writes.
func writeMutants() []mutant {
	return []mutant{
		{bug: "many are inserted one by one", want: []string{"insertmany-all-or-none", "insertmany-deleted"}, wrap: func(o ops) ops {
			o.InsertMany = func(ctx context.Context, items []item) error {
				for _, it := range items {
					if _, err := o.Insert(ctx, it.ID, it.Value); err != nil {
						return err
					}
				}
				return nil
			}
			return o
		}},
		{bug: "of many only some are inserted", want: []string{"insertmany-get"}, wrap: func(o ops) ops {
			many := o.InsertMany
			o.InsertMany = func(ctx context.Context, items []item) error { return many(ctx, items[:min(len(items), 100)]) }
			return o
		}},
		{bug: "GetMany in a transaction omits inserted items", want: []string{"insertmany-transaction"}, wrap: func(o ops) ops {
			many := o.GetMany
			o.GetMany = func(ctx context.Context, ids []string) iter.Seq2[item, error] {
				if tx.Active(ctx) {
					return func(func(item, error) bool) {}
				}
				return many(ctx, ids)
			}
			return o
		}},
		{bug: "GetMany in a transaction returns another revision", want: []string{"insertmany-transaction"}, wrap: func(o ops) ops {
			many := o.GetMany
			o.GetMany = func(ctx context.Context, ids []string) iter.Seq2[item, error] {
				return func(yield func(item, error) bool) {
					for it, err := range many(ctx, ids) {
						if tx.Active(ctx) {
							it.Rev += "?"
						}
						if !yield(it, err) {
							return
						}
					}
				}
			}
			return o
		}},
		{bug: "replace ignores the revision", want: []string{"replace-stale"}, wrap: func(o ops) ops {
			replace := o.Replace
			o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				if it, err := o.Get(ctx, id); err == nil {
					expect = it.Rev
				}
				return replace(ctx, id, expect, v)
			}
			return o
		}},
		{bug: "an empty revision matches", want: []string{"replace-stale"}, wrap: func(o ops) ops {
			replace := o.Replace
			o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				if it, err := o.Get(ctx, id); err == nil && expect == "" {
					expect = it.Rev
				}
				return replace(ctx, id, expect, v)
			}
			return o
		}},
		{bug: "replace writes what differs from what get returned", want: []string{"replace-in-place"}, wrap: func(o ops) ops {
			var read sync.Map
			get, replace := o.Get, o.Replace
			o.Get = func(ctx context.Context, id string) (item, error) {
				it, err := get(ctx, id)
				read.Store(id, it)
				return it, err
			}
			o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				if old, ok := read.Load(id); ok && old.(item).Rev == expect {
					stored, err := get(ctx, id)
					if before := old.(item).Value; err == nil {
						keepEqual(&v, &before, &stored.Value)
					}
				}
				return replace(ctx, id, expect, v)
			}
			return o
		}},
		{bug: "replace creates", want: []string{"replace-unknown"}, wrap: func(o ops) ops {
			replace := o.Replace
			o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				it, err := replace(ctx, id, expect, v)
				if errors.Is(err, resource.ErrNotFound) {
					return o.Insert(ctx, id, v)
				}
				return it, err
			}
			return o
		}},
		{bug: "the revision is a hash of the content", want: []string{"replace-revisions"}, wrap: revise(contentRev)},
		{bug: "stale precedes gone", want: []string{"tombstone-precedes-stale"}, wrap: func(o ops) ops {
			remove := o.Delete
			o.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
				err := remove(ctx, id, expect)
				if errors.Is(err, resource.ErrGone) && len(expect) < 24 {
					return resource.ErrStale
				}
				return err
			}
			return o
		}},
		{bug: "get of a deleted item is ErrNotFound", want: []string{"delete-get"}, wrap: func(o ops) ops {
			get := o.Get
			o.Get = func(ctx context.Context, id string) (item, error) {
				it, err := get(ctx, id)
				if errors.Is(err, resource.ErrGone) {
					err = resource.ErrNotFound
				}
				return it, err
			}
			return o
		}},
		{bug: "a stale delete deletes", want: []string{"delete-stale"}, wrap: func(o ops) ops {
			remove := o.Delete
			o.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
				err := remove(ctx, id, expect)
				if it, e := o.Get(ctx, id); e == nil && errors.Is(err, resource.ErrStale) {
					remove(ctx, id, it.Rev)
				}
				return err
			}
			return o
		}},
		{bug: "Deleted returns a time for an existing item", want: []string{"tombstone-deleted", "tombstone-recreate"}, wrap: func(o ops) ops {
			deleted := o.Deleted
			o.Deleted = func(ctx context.Context, id string) (time.Time, error) {
				when, err := deleted(ctx, id)
				if _, e := o.Get(ctx, id); e == nil {
					return time.Now(), nil
				}
				return when, err
			}
			return o
		}},
		{bug: "a canceled write takes effect", want: []string{"cancel-write"}, wrap: func(o ops) ops {
			replace := o.Replace
			o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				return replace(context.WithoutCancel(ctx), id, expect, v)
			}
			return o
		}},
		{bug: "a canceled write fails and takes effect", want: []string{"cancel-write"}, wrap: func(o ops) ops {
			create := o.Create
			o.Create = func(ctx context.Context, v thing) (item, error) {
				it, err := create(context.WithoutCancel(ctx), v)
				return it, cmp.Or(err, ctx.Err())
			}
			return o
		}},
	}
}

// keepEqual gives v the lists and maps of stored where they equal those of before.
func keepEqual(v, before, stored *thing) {
	if slices.Equal(v.Tags, before.Tags) {
		v.Tags = stored.Tags
	}
	if maps.Equal(v.Labels, before.Labels) {
		v.Labels = stored.Labels
	}
}

// absentMutants returns mutants that confuse ids in use with ids that are not.
func absentMutants() []mutant {
	return []mutant{
		{bug: "insert chooses the id itself", want: []string{"insert-get"}, wrap: func(o ops) ops {
			o.Insert = func(ctx context.Context, _ string, v thing) (item, error) { return o.Create(ctx, v) }
			return o
		}},
		{bug: "insert overwrites an existing item", want: []string{"insert-duplicate"}, wrap: func(o ops) ops {
			insert := o.Insert
			o.Insert = func(ctx context.Context, id string, v thing) (item, error) {
				if it, err := o.Get(ctx, id); err == nil {
					return o.Replace(ctx, id, it.Rev, v)
				}
				return insert(ctx, id, v)
			}
			return o
		}},
		{bug: "replace merges", want: []string{"replace-get"}, wrap: func(o ops) ops {
			replace := o.Replace
			o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				if it, err := o.Get(ctx, id); err == nil && v.Note == nil {
					v.Note = it.Value.Note
				}
				return replace(ctx, id, expect, v)
			}
			return o
		}},
		{bug: "a taken value is an unknown error", want: []string{"unique-taken"}, wrap: func(o ops) ops {
			create := o.Create
			o.Create = func(ctx context.Context, v thing) (item, error) {
				it, err := create(ctx, v)
				if err != nil {
					err = errors.New("constraint failed: things.serial")
				}
				return it, err
			}
			return o
		}},
		{bug: "delete of an unknown id succeeds", want: []string{"delete-unknown"}, wrap: func(o ops) ops {
			remove := o.Delete
			o.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
				if err := remove(ctx, id, expect); !errors.Is(err, resource.ErrNotFound) {
					return err
				}
				return nil
			}
			return o
		}},
		{bug: "a canceled get returns ErrNotFound", want: []string{"cancel-read"}, wrap: func(o ops) ops {
			get := o.Get
			o.Get = func(ctx context.Context, id string) (item, error) {
				if ctx.Err() != nil {
					return item{}, resource.ErrNotFound
				}
				return get(ctx, id)
			}
			return o
		}},
	}
}

// revise returns a wrapper that gives out revisions of another making, and translates them back.
func revise(make func(it item) resource.Rev) func(o ops) ops {
	return func(o ops) ops {
		get, list, create, insert, replace, remove, many := o.Get, o.List, o.Create, o.Insert, o.Replace, o.Delete, o.GetMany
		out := func(it item, err error) (item, error) {
			if err == nil {
				it.Rev = make(it)
			}
			return it, err
		}
		in := func(ctx context.Context, id string, expect resource.Rev) resource.Rev {
			if it, err := get(ctx, id); err == nil && make(it) == expect {
				return it.Rev
			}
			return expect
		}
		o.Get = func(ctx context.Context, id string) (item, error) { return out(get(ctx, id)) }
		o.List = func(ctx context.Context, q query.Query) seq {
			return each(list(ctx, q), func(it *item) { it.Rev = make(*it) })
		}
		o.GetMany = func(ctx context.Context, ids []string) seq {
			return each(many(ctx, ids), func(it *item) { it.Rev = make(*it) })
		}
		o.Create = func(ctx context.Context, v thing) (item, error) { return out(create(ctx, v)) }
		o.Insert = func(ctx context.Context, id string, v thing) (item, error) { return out(insert(ctx, id, v)) }
		o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
			return out(replace(ctx, id, in(ctx, id, expect), v))
		}
		o.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
			return remove(ctx, id, in(ctx, id, expect))
		}
		return o
	}
}

func contentRev(it item) resource.Rev {
	return resource.Rev(fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, it.Value.Name, it.Value.Size, it.Value.Born))))
}

// transactionMutants returns mutants with transactions that are not atomic or not isolated.
func transactionMutants() []mutant {
	return []mutant{
		{bug: "each call returns a new runner", want: []string{"tx-runner"}, wrap: func(o ops) ops {
			inner := o.Transactions()
			o.Transactions = func() tx.Runner { return &changedRunner{Runner: inner} }
			return o
		}},
		{bug: "a commit rolls back", want: []string{"tx-commit"}, wrap: func(o ops) ops {
			lost := errors.New("lost")
			runner := &changedRunner{Runner: o.Transactions(), after: func(err error) error { return cmp.Or(err, lost) }}
			o.Transactions = func() tx.Runner { return runner }
			return o
		}},
	}
}

// changedRunner replaces the error of a transaction without notice.
type changedRunner struct {
	tx.Runner
	after func(err error) error
}

func (r *changedRunner) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	var result error
	err := r.Runner.InTx(ctx, func(ctx context.Context) error {
		if result = fn(ctx); r.after != nil {
			return r.after(result)
		}
		return result
	})
	if r.after != nil {
		return result
	}
	return err
}
