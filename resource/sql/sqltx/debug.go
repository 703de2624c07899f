package sqltx

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
)

// errStray is what Options.Debug is for.
var errStray = errors.New("sqltx: a statement inside of a transaction was about to run outside of it: " +
	"pass on the context that InTx gives to its function")

// strayConn runs nothing.
type strayConn struct{}

func (strayConn) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, errStray
}

func (strayConn) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, errStray
}

// watch knows which goroutines run the function of a transaction of one DB. The context cannot tell, since losing it is
// the mistake to be found.
type watch struct {
	mu      sync.Mutex
	running map[string]*attempt // by goroutine
}

func newWatch() *watch { return &watch{running: map[string]*attempt{}} }

// enter notes that the calling goroutine runs the function of a, until the result is called.
func (w *watch) enter(a *attempt) (leave func()) {
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

// current returns the attempt whose function the calling goroutine runs, or nil.
func (w *watch) current() *attempt {
	me := goroutine()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[me]
}

// goroutine names the calling goroutine as the first line of its stack trace does, "goroutine 18 [running]:". There is
// no other way to tell goroutines apart, and good reasons for that, which do not hold for finding mistakes.
func goroutine() string {
	var buf [64]byte
	line := buf[:runtime.Stack(buf[:], false)]
	name, _, _ := bytes.Cut(line, []byte(" ["))
	return string(name)
}
