package exec

import (
	"sync"
	"sync/atomic"
)

// shared are messages that others may ask for, too. They are found through the changes that they are about, which are kept
// for long, so it is here that their bytes are counted: a client decides how long a message is, and how many there are.
type shared struct {
	most int // bytes

	mu    sync.Mutex
	bytes int
	kept  []*keptMessage // the oldest first
}

// keptMessage is a message until it has to make room.
type keptMessage struct {
	json atomic.Pointer[[]byte]
	size int
}

// keep keeps a message, and forgets the oldest. What would throw out most of the others is only for those who are waiting
// for it.
func (s *shared) keep(json []byte) *keptMessage {
	const around = 160 // bytes of memory, with the key
	t := &keptMessage{size: around + len(json)}
	if t.size > s.most/4 {
		return t
	}
	t.json.Store(&json)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, t)
	s.bytes += t.size
	gone := 0
	for ; s.bytes > s.most; gone++ {
		s.kept[gone].json.Store(nil)
		s.bytes -= s.kept[gone].size
	}
	clear(s.kept[:gone])
	s.kept = s.kept[gone:]
	return t
}
