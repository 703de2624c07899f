package graphql_test

import (
	"io"
	"log"
	"net/http"
	"sync/atomic"
)

// silentLog is for servers with handlers that panic on purpose.
var silentLog = log.New(io.Discard, "", 0)

// exploding is a writer that panics once it is armed.
type exploding struct {
	http.ResponseWriter
	armed atomic.Bool
}

func (e *exploding) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *exploding) Write(b []byte) (int, error) {
	if e.armed.Load() {
		panic("armed")
	}
	return e.ResponseWriter.Write(b)
}
