package graphql

// Trusted documents: a fixed set of documents that the application declares.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
)

// Documents maps ids to documents. A Handler with [Options.Trusted] executes only these documents;
// clients choose variables only.
//
// An id is "sha256:" and the hexadecimal hash of the text, or any name without a colon. Requests
// can refer to a document by id, by hash, or by its exact text.
type Documents map[string]string

// LoadDocuments reads documents from the files of fsys. A .graphql or .gql file is a document; its
// id is its path without the extension. A .json file is an object of texts by id, as client
// generators write it. LoadDocuments returns an error if a file cannot be read or an id is not
// unique.
func LoadDocuments(fsys fs.FS) (Documents, error) {
	docs := Documents{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found, err := loadDocument(fsys, name)
		for _, id := range slices.Sorted(maps.Keys(found)) {
			if _, twice := docs[id]; twice {
				return fmt.Errorf("graphql: %s: duplicate document id %s", name, id)
			}
			docs[id] = found[id]
		}
		return err
	})
	return docs, err
}

// loadDocument returns the documents of a file, and nil for files of other types.
func loadDocument(fsys fs.FS, name string) (Documents, error) {
	ending := path.Ext(name)
	if ending != ".graphql" && ending != ".gql" && ending != ".json" {
		return nil, nil
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("graphql: %w", err)
	}
	if ending != ".json" {
		return Documents{strings.TrimSuffix(name, ending): string(text)}, nil
	}
	var docs Documents
	if err := json.Unmarshal(text, &docs); err != nil {
		return nil, fmt.Errorf("graphql: %s: want a JSON object of documents by id: %w", name, err)
	}
	return docs, nil
}

// trusted holds the trusted documents.
type trusted struct {
	byID  Documents
	texts map[string]bool
}

// setDocuments validates the trusted documents, or creates the cache of persisted queries.
func (h *Handler) setDocuments() {
	if h.opts.Trusted == nil {
		if h.opts.Persisted > 0 {
			h.persisted = newPersistedCache(h.opts.Persisted)
		}
		return
	}
	t := &trusted{byID: Documents{}, texts: map[string]bool{}}
	var wrong []string
	for _, id := range slices.Sorted(maps.Keys(h.opts.Trusted)) {
		text := h.opts.Trusted[id]
		sum := sha256.Sum256([]byte(text))
		hash := sha256Prefix + hex.EncodeToString(sum[:])
		if strings.HasPrefix(id, sha256Prefix) && id != hash {
			wrong = append(wrong, id+" is not the hash of its document; it is "+hash)
		}
		// A document may have several operations, of which a request selects one.
		if _, errs := h.engine.Plan(text, ""); len(errs) > 0 && errs[0].Code != gqlerror.Unresolvable {
			wrong = append(wrong, id+": "+errs[0].Message)
		}
		t.byID[id], t.byID[hash], t.texts[text] = text, text, true
	}
	if wrong != nil {
		panic("graphql: Options.Trusted: " + strings.Join(wrong, "; "))
	}
	h.trusted = t
}

// document returns the document that a request contains or refers to, if it is trusted.
func (t *trusted) document(q *parsedRequest) (string, *gqlerror.Error) {
	id := q.id
	if id == "" && q.hash != "" {
		id = sha256Prefix + strings.ToLower(q.hash)
	}
	switch text, ok := t.byID[id]; {
	case q.hasText && t.texts[q.text]:
		return q.text, nil
	case q.hasText:
		return "", &gqlerror.Error{Code: "FORBIDDEN",
			Message: "Only registered documents are accepted. Send the documentId of one."}
	case ok:
		return text, nil
	}
	return "", notPersisted()
}
