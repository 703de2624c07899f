package middleware

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
)

// watch is a ResponseWriter that knows what went through it. What the one below can do it can do as well, since a handler
// may ask for it with a type assertion or through an http.ResponseController.
type watch struct {
	http.ResponseWriter
	status   int   // of the final response; 0 as long as there is none
	bytes    int64 // of content
	hijacked bool
}

// watched returns a writer that watches w, and the watch in it. Middleware that stand directly in each other share one.
func watched(w http.ResponseWriter) (http.ResponseWriter, *watch) {
	if is, ok := w.(interface{ watching() *watch }); ok {
		return w, is.watching()
	}
	// Flusher and Hijacker are where an http.ResponseController would find them. ReaderFrom has to be that of w itself:
	// what is below it does not know what w does to the bytes.
	flush, hijack := reaches[http.Flusher](w), reaches[http.Hijacker](w)
	_, read := w.(io.ReaderFrom)
	base := watch{ResponseWriter: w}
	switch {
	case flush && hijack && read: // HTTP/1
		all := &watchAll{watchStream{base}}
		return all, &all.watch
	case flush && hijack:
		duplex := &watchDuplex{watchStream{base}}
		return duplex, &duplex.watch
	case flush && read:
		copier := &watchCopy{watchStream{base}}
		return copier, &copier.watch
	case flush: // HTTP/2, and the recorder of tests
		stream := &watchStream{base}
		return stream, &stream.watch
	default: // a writer that hijacks but does not flush is none of net/http: a ResponseController finds it
		return &base, &base
	}
}

// reaches reports whether w or one that it unwraps to is a T.
func reaches[T any](w http.ResponseWriter) bool {
	for {
		if _, ok := w.(T); ok {
			return true
		}
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = outer.Unwrap()
	}
}

// begun reports whether the client has been told something that cannot be taken back.
func (w *watch) begun() bool { return w.status != 0 || w.hijacked }

func (w *watch) watching() *watch { return w }

// Unwrap is for http.ResponseController.
func (w *watch) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watch) WriteHeader(status int) {
	// others are followed by a final one
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// begin is what writing content does without a WriteHeader.
func (w *watch) begin() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

func (w *watch) Write(p []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

func (w *watch) WriteString(s string) (int, error) {
	w.begin()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.bytes += int64(n)
	return n, err
}

// watchStream can flush.
type watchStream struct{ watch }

func (w *watchStream) Flush() { _ = w.FlushError() } // whoever wants the error asks a ResponseController

func (w *watchStream) FlushError() error {
	w.begin()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *watchStream) hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.hijacked = w.hijacked || err == nil || errors.Is(err, http.ErrHijacked)
	return conn, rw, err
}

func (w *watchStream) readFrom(src io.Reader) (int64, error) {
	w.begin()
	n, err := w.ResponseWriter.(io.ReaderFrom).ReadFrom(src)
	w.bytes += n
	return n, err
}

// watchDuplex can flush and hijack.
type watchDuplex struct{ watchStream }

func (w *watchDuplex) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }

// watchCopy can flush and read from a file.
type watchCopy struct{ watchStream }

func (w *watchCopy) ReadFrom(src io.Reader) (int64, error) { return w.readFrom(src) }

// watchAll can flush, hijack and read from a file.
type watchAll struct{ watchStream }

func (w *watchAll) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }

func (w *watchAll) ReadFrom(src io.Reader) (int64, error) { return w.readFrom(src) }
