package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// stripes are the locks under which a name gets another content: goroutines of one process are kept apart by a mutex,
// processes by a lock on a file. A name always has the same stripe, so 64 of them let most names pass each other. They
// are held for renames and small writes, never while content comes in.
type stripes [64]stripe

type stripe struct {
	turn sync.Mutex
	file *os.File // nil until it is needed; guarded by turn
}

// lock locks the stripe of a name.
func (f *Folder) lock(ctx context.Context, name string) (unlock func(), err error) {
	return f.lockKey(ctx, keyOf(name))
}

// lockKey locks the stripe of a key, of which the first two digits say which it is.
func (f *Folder) lockKey(ctx context.Context, key string) (unlock func(), err error) {
	first, err := strconv.ParseUint(key[:2], 16, 8)
	if err != nil {
		return nil, err
	}
	n := first % uint64(len(f.stripes))
	s := &f.stripes[n]
	s.turn.Lock()
	defer func() {
		if err != nil {
			s.turn.Unlock()
		}
	}()
	if err := ctx.Err(); err != nil { // that was a long wait
		return nil, err
	}
	if s.file == nil {
		if s.file, err = f.create(fmt.Sprintf("%s/%02x", lockFolder, n), os.O_RDWR|os.O_CREATE); err != nil {
			s.file = nil
			return nil, err
		}
	}
	if err := lockFile(s.file); err != nil {
		return nil, err
	}
	return func() {
		_ = unlockFile(s.file) // which is gone at the latest when the process is
		s.turn.Unlock()
	}, nil
}

// close closes the files of the locks.
func (s *stripes) close() error {
	var errs []error
	for i := range s {
		s[i].turn.Lock()
		if s[i].file != nil {
			errs = append(errs, s[i].file.Close())
			s[i].file = nil
		}
		s[i].turn.Unlock()
	}
	return errors.Join(errs...)
}
