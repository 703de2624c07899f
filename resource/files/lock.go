package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource/internal/retry"
)

// stripes are locks for writing to names: one for goroutines and a file lock for processes. A
// name always has the same stripe. They are held for renames and small writes, not during an
// upload. Sixty-four limit the number of open files; two names with the same stripe only wait for
// each other.
type stripes [64]stripe

type stripe struct {
	turn chan struct{} // has a value while a goroutine holds the stripe
	file *os.File      // opened on first use; guarded by turn
}

// errLocked reports that another process has locked a file.
var errLocked = errors.New("files: another process has locked the file")

// lock locks the stripe of a name.
func (f *Folder) lock(ctx context.Context, name string) (*stripe, error) {
	return f.lockKey(ctx, keyOf(name))
}

// lockKey locks the stripe of a key. Its first two digits select the stripe. The lock for goroutines is
// taken before the file, because flock excludes processes, not goroutines that share a file. The error is
// [retry.ErrContended] after 10 seconds or at the deadline of ctx.
func (f *Folder) lockKey(ctx context.Context, key string) (locked *stripe, err error) {
	first, err := strconv.ParseUint(key[:2], 16, 8)
	if err != nil {
		return nil, err
	}
	n := first % uint64(len(f.stripes))
	s := &f.stripes[n]
	ctx, cancel := context.WithTimeout(ctx, retry.Timeout)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, retry.Contention(ctx.Err())
	}
	defer func() {
		if err != nil {
			<-s.turn
		}
	}()
	if s.file == nil {
		s.file, err = f.create(fmt.Sprintf("%s/%02x", lockFolder, n), os.O_RDWR|os.O_CREATE)
		if err != nil {
			s.file = nil
			return nil, err
		}
	}
	for {
		if ctx.Err() != nil { // waiting may have taken long
			return nil, retry.Contention(ctx.Err())
		}
		if err := lockFile(s.file); err != errLocked {
			return s, err
		}
		select {
		case <-time.After(rand.N(lockInterval)):
		case <-ctx.Done():
		}
	}
}

// lockInterval limits the time between two attempts to lock a file. It is short, because a process that
// writes all the time releases the lock for moments only.
const lockInterval = 4 * time.Millisecond

func (s *stripe) unlock() {
	_ = unlockFile(s.file) // the end of the process releases the lock as well
	<-s.turn
}

// deleted stores in the lock file when a name of the stripe was deleted, for lastDeletion. If that fails,
// only the date of a file is affected.
func (s *stripe) deleted(at time.Time) {
	_, _ = s.file.WriteAt(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())), 0)
}

// lastDeletion returns when a name of the stripe was deleted last, and the zero time if that is not known.
func (s *stripe) lastDeletion(now time.Time) time.Time {
	var b [8]byte
	if _, err := s.file.ReadAt(b[:], 0); err != nil {
		return time.Time{}
	}
	at := time.Unix(0, int64(binary.BigEndian.Uint64(b[:])))
	if at.After(now) { // the clock was set back
		return time.Time{}
	}
	return at
}

// close closes the lock files.
func (s *stripes) close() error {
	var errs []error
	for i := range s {
		s[i].turn <- struct{}{}
		if s[i].file != nil {
			errs = append(errs, s[i].file.Close())
			s[i].file = nil
		}
		<-s[i].turn
	}
	return errors.Join(errs...)
}
