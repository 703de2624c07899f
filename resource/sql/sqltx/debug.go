package sqltx

// Detection of statements that escape the transaction of their context, for tests.

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
)

// errStray reports the mistake that Options.Debug detects.
var errStray = errors.New("sqltx: statement would run outside of the current transaction: " +
	"pass the context that InTx passes to its function")

// strayConn rejects all statements.
type strayConn struct{}

func (strayConn) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, errStray
}

func (strayConn) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, errStray
}

// goroutineTracker records which goroutines run the function of a transaction of one DB. The
// context cannot be used for that, because losing it is the mistake to detect.
type goroutineTracker struct {
	mu      sync.Mutex
	running map[string]*attempt // by goroutine
}

func newGoroutineTracker() *goroutineTracker {
	return &goroutineTracker{running: map[string]*attempt{}}
}

// enter records that the calling goroutine runs the function of a. The caller must call leave
// afterwards.
func (w *goroutineTracker) enter(a *attempt) (leave func()) {
	me := goroutine()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[me] = a
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, me)
	}
}

// current returns the attempt that the calling goroutine runs, or nil.
func (w *goroutineTracker) current() *attempt {
	me := goroutine()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[me]
}

// goroutine returns the first words of the stack trace, "goroutine 18", because Go has no other way
// to identify a goroutine.
func goroutine() string {
	var buf [64]byte
	line := buf[:runtime.Stack(buf[:], false)]
	name, _, _ := bytes.Cut(line, []byte(" ["))
	return string(name)
}
