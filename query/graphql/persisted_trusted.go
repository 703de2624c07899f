package graphql

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

// Documents are the documents of an application, by id. With [Options.Trusted] no others are answered, so that nobody but
// its authors decides what the server is asked; only variables are left to clients.
//
// An id is sha256: and the hash of the text in hexadecimal, or any other name without a colon. Whatever its id is, a
// document is found by its hash, too, and by its text, octet by octet.
type Documents map[string]string

// LoadDocuments reads documents from the files of a folder and those in it: each .graphql or .gql file is one, whose id is
// its path without the ending, and each .json file is an object of texts by id, as generators of clients write it. It
// returns an error if a file cannot be read or if two documents have one id.
func LoadDocuments(fsys fs.FS) (Documents, error) {
	docs := Documents{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found, err := loadDocument(fsys, name)
		for _, id := range slices.Sorted(maps.Keys(found)) {
			if _, twice := docs[id]; twice {
				return fmt.Errorf("graphql: %s: a document %s was there before", name, id)
			}
			docs[id] = found[id]
		}
		return err
	})
	return docs, err
}

// loadDocument reads a file, if it is one of those that have documents.
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
		return nil, fmt.Errorf("graphql: %s is no object of documents by id: %w", name, err)
	}
	return docs, nil
}

// trusted finds documents.
type trusted struct {
	byID  Documents
	texts map[string]bool
}

// setDocuments checks the documents that are trusted, or makes room for those that will be learned.
func (h *Handler) setDocuments() {
	if h.opts.Trusted == nil {
		if h.opts.Persisted > 0 {
			h.learned = newLearned(h.opts.Persisted)
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
			wrong = append(wrong, id+" is not the hash of its document, "+hash)
		}
		// Which of several operations is meant, only a request says.
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

// document returns the document that a request names in whatever way, if it is trusted.
func (t *trusted) document(q *request) (string, *gqlerror.Error) {
	id := q.id
	if id == "" && q.hash != "" {
		id = sha256Prefix + strings.ToLower(q.hash)
	}
	switch text, ok := t.byID[id]; {
	case q.hasText && t.texts[q.text]:
		return q.text, nil
	case q.hasText:
		return "", &gqlerror.Error{Message: "Only documents that are known are answered here.",
			Code: "FORBIDDEN"}
	case ok:
		return text, nil
	}
	return "", notPersisted()
}
