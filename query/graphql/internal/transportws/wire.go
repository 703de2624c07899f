package transportws

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// wire is the connection as the library sees it. Deadlines are set on the connection itself, since a context with one costs
// a timer and a goroutine for each message.
//
// One goroutine at a time writes, and one reads: the library sees to that.
type wire struct {
	net.Conn
	early  []byte        // what the client sent before it had an answer
	within time.Duration // for writing a frame

	frame *[]byte // what is not written yet of the frames that were begun, borrowed; nil if nothing is
	need  uint64  // bytes of the last frame that are not in it yet
	// when the last frame has to be taken, all of it; zero until the first byte of it is written
	by   time.Time
	late atomic.Bool // the peer has not taken a frame in time; by is the last deadline that there is

	mu     sync.Mutex
	ending bool // the deadline for reading is the last one
}

const (
	gather   = 64 << 10        // frames up to this size are written at once
	farewell = 5 * time.Second // for a peer to answer a close frame
	// lastWords is for all that is left when a peer was too slow: what it has not taken, to tell it why, and its answer. It is
	// short, as such a peer seldom wakes up just then, and no socket is to outlive Options.Write by more than that.
	lastWords = time.Second
)

// buffers are lent to those who read or write a message. Those that are too large to be gathered are not kept.
var buffers = httpbody.NewBuffers(0, gather)

// Read reads.
func (w *wire) Read(p []byte) (int, error) {
	if len(w.early) > 0 {
		n := copy(p, w.early)
		w.early = w.early[n:]
		return n, nil
	}
	return w.Conn.Read(p)
}

// Write puts the parts of a frame together and writes it when it is complete, so that it is one system call, and one record
// of TLS.
//
// That the peer was too slow is no error here, for after one the library would write no more: it is kept in mind, with what
// is not written of the frame, so that a close frame can still follow. (Not over TLS, which is at its end then.)
func (w *wire) Write(p []byte) (int, error) {
	if w.need == 0 {
		w.need = frameSize(p)
		if !w.late.Load() {
			w.by = time.Time{}
		}
	}
	w.need -= min(w.need, uint64(len(p)))
	if w.frame == nil {
		w.frame = buffers.Get()
	}
	*w.frame = append(*w.frame, p...)
	if w.need > 0 && (len(*w.frame) < gather || w.late.Load()) {
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what there is. The time for a frame is counted from its first byte, however many parts it is written in: who
// takes one part now and then has stalled, too.
func (w *wire) flush() error {
	if w.by.IsZero() {
		w.by = time.Now().Add(w.within)
	}
	if err := w.SetWriteDeadline(w.by); err != nil {
		return err
	}
	n, err := w.Conn.Write(*w.frame)
	if timedOut(err) && !w.late.Load() {
		w.by = time.Now().Add(lastWords)
		w.readUntil(w.by)
		w.late.Store(true)
		*w.frame = (*w.frame)[:copy(*w.frame, (*w.frame)[n:])]
		return nil
	}
	buffers.Put(w.frame)
	w.frame = nil
	return err
}

// frameSize is the size of an unmasked frame that begins with p (RFC 6455 section 5.2).
func frameSize(p []byte) uint64 {
	if len(p) < 2 {
		return uint64(len(p))
	}
	switch n := p[1] & 0x7f; {
	case n == 126 && len(p) >= 4:
		return 4 + uint64(binary.BigEndian.Uint16(p[2:]))
	case n == 127 && len(p) >= 10:
		return 10 + binary.BigEndian.Uint64(p[2:])
	default:
		return 2 + uint64(n)
	}
}

// readWithin bounds how long reading may take from now on; zero is for ever.
func (w *wire) readWithin(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ending {
		return
	}
	var by time.Time
	if d > 0 {
		by = time.Now().Add(d)
	}
	_ = w.SetReadDeadline(by) // fails on a closed connection only, of which reading tells
}

// lastRead bounds how long reading may take at all.
func (w *wire) lastRead() { w.readUntil(time.Now().Add(farewell)) }

// readUntil sets when reading ends at last, unless that is set.
func (w *wire) readUntil(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ending {
		w.ending = true
		_ = w.SetReadDeadline(at)
	}
}
