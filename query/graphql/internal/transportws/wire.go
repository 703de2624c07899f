package transportws

// The connection below the WebSocket library: deadlines, and joining the parts of a frame.

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// wire is the net.Conn that the WebSocket library uses. Deadlines are set on the connection,
// because a context with a deadline costs a timer and a goroutine per message.
//
// The library calls Write from one goroutine at a time, and Read from one.
type wire struct {
	net.Conn
	early  []byte        // bytes that arrived before the upgrade
	within time.Duration // timeout for writing a frame

	frame *[]byte // bytes that are not yet written, in a pooled buffer; nil if there are none
	need  uint64  // bytes of the current frame that are not yet in frame
	// by is the deadline for the current frame. It is zero until the first byte is written.
	by   time.Time
	late atomic.Bool // the client did not read a frame in time; by is then final

	mu     sync.Mutex
	ending bool // the read deadline is final
}

const (
	maxBuffered  = 64 << 10        // frames up to this size are written at once
	closeTimeout = 5 * time.Second // timeout for the client's close frame
	// lateTimeout is the timeout for all remaining writes and the client's close frame after a write
	// timeout. It is short, because such a client seldom recovers, and bounds the lifetime of a
	// socket beyond Options.Write.
	lateTimeout = time.Second
)

// buffers is the pool for reading and writing messages. Buffers larger than maxBuffered are not returned
// to it.
var buffers = httpbody.NewBuffers(0, maxBuffered)

// Read implements [net.Conn].
func (w *wire) Read(p []byte) (int, error) {
	if len(w.early) > 0 {
		n := copy(p, w.early)
		w.early = w.early[n:]
		return n, nil
	}
	return w.Conn.Read(p)
}

// Write collects the parts of a frame and writes the complete frame, which takes one system call
// and one TLS record.
//
// A write timeout is not returned, because the library would not write again after an error. Write
// records it and keeps the rest of the frame, so that a close frame can follow. Over TLS a close
// frame is not possible after a timeout.
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
	if w.need > 0 && (len(*w.frame) < maxBuffered || w.late.Load()) {
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes the collected bytes. The deadline of a frame counts from its first byte, so that a
// client that reads in small parts is detected as well.
func (w *wire) flush() error {
	if w.by.IsZero() {
		w.by = time.Now().Add(w.within)
	}
	if err := w.SetWriteDeadline(w.by); err != nil {
		return err
	}
	n, err := w.Conn.Write(*w.frame)
	if timedOut(err) && !w.late.Load() {
		w.by = time.Now().Add(lateTimeout)
		w.readUntil(w.by)
		w.late.Store(true)
		*w.frame = (*w.frame)[:copy(*w.frame, (*w.frame)[n:])]
		return nil
	}
	buffers.Put(w.frame)
	w.frame = nil
	return err
}

// frameSize returns the size of the unmasked frame that begins with p (RFC 6455 section 5.2).
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

// readWithin sets the read deadline to d from now, or to none if d is zero.
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
	_ = w.SetReadDeadline(by) // fails only on a closed connection, on which Read fails too
}

// lastRead sets the final read deadline.
func (w *wire) lastRead() { w.readUntil(time.Now().Add(closeTimeout)) }

// readUntil sets the final read deadline, unless it is set.
func (w *wire) readUntil(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ending {
		w.ending = true
		_ = w.SetReadDeadline(at)
	}
}
