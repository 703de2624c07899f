package exec

// Messages that several subscriptions share. subscribe.go writes a message for the first
// subscription that needs it and stores it in the Memo of the change.

import (
	"sync"
	"sync/atomic"
)

// shared limits the memory of shared messages. The messages are stored with their changes, which
// are kept for a long time, so their size is counted here.
type shared struct {
	most int // limit in bytes

	mu    sync.Mutex
	bytes int
	kept  []*keptMessage // oldest first
}

// keptMessage is a shared message until it is evicted. A change keeps its Memo longer than the
// limit allows, so eviction sets json to nil.
type keptMessage struct {
	json atomic.Pointer[[]byte]
	size int // size in bytes, with the overhead
}

// keep stores a message and evicts the oldest ones. A message that would evict most others is not
// stored.
func (s *shared) keep(json []byte) *keptMessage {
	const around = 160 // overhead in bytes, including the key
	t := &keptMessage{size: around + len(json)}
	if t.size > s.most/4 {
		return t
	}
	t.json.Store(&json)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, t)
	s.bytes += t.size
	// Subscriptions that are about to send an evicted message write it again.
	gone := 0
	for ; s.bytes > s.most; gone++ {
		s.kept[gone].json.Store(nil)
		s.bytes -= s.kept[gone].size
	}
	clear(s.kept[:gone])
	s.kept = s.kept[gone:]
	return t
}
