package graphql

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
)

// notSupported is what the protocol of automatic persisted queries calls a server that keeps none: clients then stop asking.
const notSupported = "PERSISTED_QUERY_NOT_SUPPORTED"

// document returns the text of the document that a request is about. The request says it itself, or names one that is
// known: by documentId (GraphQL over HTTP, appendix A), or by the hash of the protocol that Apollo's clients speak, who on
// PERSISTED_QUERY_NOT_FOUND send text and hash together.
func (h *Handler) document(q *request) (string, *gqlerror.Error) {
	if h.trusted != nil {
		return h.trusted.document(q)
	}
	if q.foreign && !(q.hasText && h.learned == nil) {
		return "", &gqlerror.Error{Message: "Persisted queries of this version are not known here.",
			Code: gqlerror.BadUserInput}
	}
	if q.hasText {
		// A wrong hash would hand one client's document to another who asks for his own.
		if q.hash != "" && h.learned != nil && !hashes(q.hash, q.text) {
			return "", &gqlerror.Error{Message: "The hash is not the one of the query.",
				Code: gqlerror.BadUserInput}
		}
		return q.text, nil
	}
	hash, byHash := q.hash, q.hash != ""
	if q.id != "" {
		hash, byHash = strings.CutPrefix(q.id, sha256Prefix)
	}
	switch {
	case h.learned == nil:
		return "", &gqlerror.Error{Message: "PersistedQueryNotSupported", Code: notSupported}
	case byHash:
		if text, ok := h.learned.find(hash); ok {
			return text, nil
		}
	}
	return "", notPersisted()
}

// notPersisted has the words that clients of the protocol look for, beside the code.
func notPersisted() *gqlerror.Error {
	return &gqlerror.Error{Message: "PersistedQueryNotFound", Code: gqlerror.NotPersisted}
}

// sha256Prefix stands before the hash in the id of a document.
const sha256Prefix = "sha256:"

// hashes reports whether hash is the one of a text, in hexadecimal.
func hashes(hash, text string) bool {
	sum := sha256.Sum256([]byte(text))
	return strings.EqualFold(hash, hex.EncodeToString(sum[:]))
}

// learned are the documents that clients have sent together with their hash, those used last, as many as fit. It is safe for
// concurrent use.
type learned struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]*list.Element
	order list.List // of lesson, the last one used in front
	bytes int
	most  int
}

type lesson struct {
	key  [sha256.Size]byte
	text string
}

// lessonSize is about what keeping a document takes beside its text.
const lessonSize = 256

func newLearned(most int) *learned {
	return &learned{byKey: map[[sha256.Size]byte]*list.Element{}, most: most}
}

// find returns the document with a hash in hexadecimal.
func (l *learned) find(hash string) (string, bool) {
	key, ok := parseHash(hash)
	if !ok {
		return "", false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.byKey[key]
	if e == nil {
		return "", false
	}
	l.order.MoveToFront(e)
	return e.Value.(lesson).text, true
}

// keep keeps a document under its hash, which has been checked, and forgets those that were used least lately if that is
// too much.
func (l *learned) keep(hash, text string) {
	key, ok := parseHash(hash)
	if !ok || len(text)+lessonSize > l.most {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byKey[key]; e != nil {
		l.order.MoveToFront(e)
		return
	}
	l.byKey[key] = l.order.PushFront(lesson{key, text})
	for l.bytes += len(text) + lessonSize; l.bytes > l.most; {
		last := l.order.Remove(l.order.Back()).(lesson)
		delete(l.byKey, last.key)
		l.bytes -= len(last.text) + lessonSize
	}
}

func parseHash(hash string) (key [sha256.Size]byte, ok bool) {
	if len(hash) != hex.EncodedLen(len(key)) {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(hash))
	return key, err == nil
}
