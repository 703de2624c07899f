package middleware

// The response writer that the middleware of this package shares. It knows the status and whether
// the header has been sent.

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
)

// recorder is a ResponseWriter that records the status and the size of the response. The types that
// embed it have the optional interfaces of the writer below, because handlers use type assertions
// as well as http.ResponseController.
type recorder struct {
	http.ResponseWriter
	status   int   // of the final response; 0 if there is none
	bytes    int64 // of the response body
	hijacked bool
}

// newRecorder returns a writer that wraps w, and its recorder. Adjacent middleware share one
// recorder.
func newRecorder(w http.ResponseWriter) (http.ResponseWriter, *recorder) {
	if is, ok := w.(interface{ asRecorder() *recorder }); ok {
		return w, is.asRecorder()
	}
	// Flush and Hijack can be called through Unwrap. ReadFrom must be implemented by w itself,
	// because a writer below w does not know how w changes the data.
	flush, hijack := reaches[http.Flusher](w), reaches[http.Hijacker](w)
	_, read := w.(io.ReaderFrom)
	base := recorder{ResponseWriter: w}
	switch {
	case flush && hijack && read: // HTTP/1
		all := &fullRecorder{flushRecorder{base}}
		return all, &all.recorder
	case flush && hijack:
		duplex := &hijackRecorder{flushRecorder{base}}
		return duplex, &duplex.recorder
	case flush && read:
		copier := &copyRecorder{flushRecorder{base}}
		return copier, &copier.recorder
	case flush: // HTTP/2 and test recorders
		stream := &flushRecorder{base}
		return stream, &stream.recorder
	default: // a writer that hijacks but does not flush is not from net/http; a ResponseController finds it
		return &base, &base
	}
}

// reaches reports whether w, or a writer that it unwraps to, implements T.
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

// wroteHeader reports whether the response has begun.
func (w *recorder) wroteHeader() bool { return w.status != 0 || w.hijacked }

func (w *recorder) asRecorder() *recorder { return w }

// Unwrap returns the wrapped writer for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) WriteHeader(status int) {
	// other informational responses precede a final one
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// implicitHeader records the status 200 of a response without WriteHeader.
func (w *recorder) implicitHeader() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.implicitHeader()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// WriteString implements [io.StringWriter].
func (w *recorder) WriteString(s string) (int, error) {
	w.implicitHeader()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.bytes += int64(n)
	return n, err
}

// flushRecorder can flush.
type flushRecorder struct{ recorder }

// Flush implements [http.Flusher]. A ResponseController returns the error.
func (w *flushRecorder) Flush() { _ = w.FlushError() }

func (w *flushRecorder) FlushError() error {
	w.implicitHeader()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *flushRecorder) hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.hijacked = w.hijacked || err == nil || errors.Is(err, http.ErrHijacked)
	return conn, rw, err
}

func (w *flushRecorder) readFrom(src io.Reader) (int64, error) {
	w.implicitHeader()
	n, err := w.ResponseWriter.(io.ReaderFrom).ReadFrom(src)
	w.bytes += n
	return n, err
}

// hijackRecorder can flush and hijack.
type hijackRecorder struct{ flushRecorder }

func (w *hijackRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }

// copyRecorder can flush and implements io.ReaderFrom.
type copyRecorder struct{ flushRecorder }

func (w *copyRecorder) ReadFrom(src io.Reader) (int64, error) { return w.readFrom(src) }

// fullRecorder can flush, hijack and implements io.ReaderFrom.
type fullRecorder struct{ flushRecorder }

func (w *fullRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }

func (w *fullRecorder) ReadFrom(src io.Reader) (int64, error) { return w.readFrom(src) }
