package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// Shelf is a store of books: a JSON file for each book in a folder. It is complete for one process.
type Shelf struct {
	dir string
	mu  sync.Mutex // held by each operation, so that a compare-and-swap is one step

	// forgetful is a mistake that the kit detects: Replace does not compare the revision.
	forgetful bool
}

// file is the content of a file.
type file struct {
	Rev  resource.Rev `json:"rev"`
	Book Book         `json:"book"`
}

// path returns the path of a book. An id may be longer than a file name and may have slashes, so the
// name is a hash.
func (s *Shelf) path(id string) string {
	return filepath.Join(s.dir, fmt.Sprintf("%x.json", sha256.Sum256([]byte(id))))
}

// lock begins an operation, unless the caller no longer waits for it.
func (s *Shelf) lock(ctx context.Context) (unlock func(), err error) {
	s.mu.Lock()
	return s.mu.Unlock, ctx.Err()
}

// read returns the book in a file. The caller holds the lock.
func (s *Shelf) read(path string) (resource.Item[Book], error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return resource.Item[Book]{}, resource.ErrNotFound
	}
	var f file
	if err == nil {
		err = json.Unmarshal(content, &f)
	}
	return resource.Item[Book]{ID: f.Book.ID, Rev: f.Rev, Value: f.Book}, err
}

// write stores a book with a new revision. The rename is atomic, so a crash of the process leaves
// the old content or the new one; after a power failure, only with a Sync before it. The caller holds
// the lock.
func (s *Shelf) write(id string, b Book) (resource.Item[Book], error) {
	b.ID = id
	it := resource.Item[Book]{ID: id, Rev: resource.NewRev(), Value: b}
	content, err := json.Marshal(file{it.Rev, b})
	if err != nil {
		return it, err
	}
	temporary := filepath.Join(s.dir, ".new")
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return it, err
	}
	return it, os.Rename(temporary, s.path(id))
}

// Get implements [resource.Collection].
func (s *Shelf) Get(ctx context.Context, id string) (resource.Item[Book], error) {
	unlock, err := s.lock(ctx)
	defer unlock()
	if err != nil {
		return resource.Item[Book]{}, err
	}
	return s.read(s.path(id))
}

// List implements [resource.Collection]. It reads all files; memory.List filters, sorts and pages them.
func (s *Shelf) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[Book], error] {
	items, err := s.all(ctx)
	if err != nil {
		return func(yield func(resource.Item[Book], error) bool) { yield(resource.Item[Book]{}, err) }
	}
	return memory.List(items, q)
}

func (s *Shelf) all(ctx context.Context) (items []resource.Item[Book], err error) {
	unlock, err := s.lock(ctx)
	defer unlock()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		it, err := s.read(filepath.Join(s.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, err
}

// Insert implements [resource.Inserter].
func (s *Shelf) Insert(ctx context.Context, id string, b Book) (resource.Item[Book], error) {
	unlock, err := s.lock(ctx)
	defer unlock()
	if err != nil {
		return resource.Item[Book]{}, err
	}
	switch _, err := s.read(s.path(id)); {
	case err == nil:
		return resource.Item[Book]{}, resource.ErrExists
	case !errors.Is(err, resource.ErrNotFound):
		return resource.Item[Book]{}, err
	}
	return s.write(id, b)
}

// Replace implements [resource.Replacer].
func (s *Shelf) Replace(
	ctx context.Context, id string, expect resource.Rev, b Book,
) (resource.Item[Book], error) {
	unlock, err := s.lock(ctx)
	defer unlock()
	if err != nil {
		return resource.Item[Book]{}, err
	}
	it, err := s.read(s.path(id))
	if err != nil {
		return it, err
	}
	if it.Rev != expect && !s.forgetful {
		return it, resource.ErrStale
	}
	return s.write(id, b)
}

// Delete implements [resource.Deleter].
func (s *Shelf) Delete(ctx context.Context, id string, expect resource.Rev) error {
	unlock, err := s.lock(ctx)
	defer unlock()
	if err != nil {
		return err
	}
	it, err := s.read(s.path(id))
	if err != nil {
		return err
	}
	if it.Rev != expect {
		return resource.ErrStale
	}
	return os.Remove(s.path(id))
}
