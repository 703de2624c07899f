package graphql

// Automatic persisted queries: documents that clients send once and then refer to by hash.

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
)

// notSupported is the code of the protocol for a server without automatic persisted queries.
const notSupported = "PERSISTED_QUERY_NOT_SUPPORTED"

// document returns the text of the document of a request. The request contains the text, or refers
// to a known document by documentId (GraphQL over HTTP, appendix A) or by hash, as in the protocol
// of Apollo clients. After PERSISTED_QUERY_NOT_FOUND these clients send text and hash together.
func (h *Handler) document(q *parsedRequest) (string, *gqlerror.Error) {
	if h.trusted != nil {
		return h.trusted.document(q)
	}
	if q.foreign && !(q.hasText && h.persisted == nil) {
		return "", &gqlerror.Error{Code: gqlerror.BadUserInput,
			Message: "The version of extensions.persistedQuery is not supported; use 1."}
	}
	if q.hasText {
		// A text stored with the wrong hash would be executed for other clients.
		if q.hash != "" && h.persisted != nil && !hashes(q.hash, q.text) {
			return "", &gqlerror.Error{Message: "The sha256Hash does not match the query.",
				Code: gqlerror.BadUserInput}
		}
		return q.text, nil
	}
	hash, byHash := q.hash, q.hash != ""
	if q.id != "" {
		hash, byHash = strings.CutPrefix(q.id, sha256Prefix)
	}
	switch {
	case h.persisted == nil:
		return "", &gqlerror.Error{Message: "PersistedQueryNotSupported", Code: notSupported}
	case byHash:
		if text, ok := h.persisted.find(hash); ok {
			return text, nil
		}
	}
	return "", notPersisted()
}

// notPersisted returns an error with the code and message that clients of the protocol recognize.
func notPersisted() *gqlerror.Error {
	return &gqlerror.Error{Message: "PersistedQueryNotFound", Code: gqlerror.NotPersisted}
}

// sha256Prefix precedes the hash in the id of a document.
const sha256Prefix = "sha256:"

// hashes reports whether hash is the hexadecimal SHA-256 hash of text.
func hashes(hash, text string) bool {
	sum := sha256.Sum256([]byte(text))
	return strings.EqualFold(hash, hex.EncodeToString(sum[:]))
}

// persistedCache is a least-recently-used cache of documents that clients have sent with their
// hash. It is safe for concurrent use.
type persistedCache struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]*list.Element
	order list.List // of persistedDocument, the most recently used one first
	bytes int
	most  int
}

// persistedDocument is an entry of the cache.
type persistedDocument struct {
	key  [sha256.Size]byte
	text string
}

// entryOverhead is the approximate memory of an entry in addition to its text.
const entryOverhead = 256

// newPersistedCache returns a cache of at most most bytes.
func newPersistedCache(most int) *persistedCache {
	return &persistedCache{byKey: map[[sha256.Size]byte]*list.Element{}, most: most}
}

// find returns the document with this hexadecimal hash.
func (l *persistedCache) find(hash string) (string, bool) {
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
	return e.Value.(persistedDocument).text, true
}

// keep stores a document with its verified hash, and evicts the least recently used ones if the
// limit is exceeded.
func (l *persistedCache) keep(hash, text string) {
	key, ok := parseHash(hash)
	if !ok || len(text)+entryOverhead > l.most {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byKey[key]; e != nil {
		l.order.MoveToFront(e)
		return
	}
	l.byKey[key] = l.order.PushFront(persistedDocument{key, text})
	for l.bytes += len(text) + entryOverhead; l.bytes > l.most; {
		last := l.order.Remove(l.order.Back()).(persistedDocument)
		delete(l.byKey, last.key)
		l.bytes -= len(last.text) + entryOverhead
	}
}

// parseHash decodes a hexadecimal hash.
func parseHash(hash string) (key [sha256.Size]byte, ok bool) {
	if len(hash) != hex.EncodedLen(len(key)) {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(hash))
	return key, err == nil
}
