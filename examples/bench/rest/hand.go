package main

// The peer: the same service as a careful engineer would write it for one job, in about 150 lines.
// Its responses have the same status codes, validators and header fields as those of Stoa, and
// checks the same constraints, so the ratio is that of equal work.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource"
)

// handwritten serves places with handlers written for this job with net/http and encoding/json. It
// accepts one media type, one entity tag in If-None-Match and one page. It does not negotiate,
// compress, page or filter, and reports only the first error of a request body.
type handwritten struct{ places *mapStore }

// newHandwritten returns the routes of the handlers.
func newHandwritten(places *mapStore) http.Handler {
	h := &handwritten{places}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /places/{id}", h.get)
	mux.HandleFunc("GET /places", h.list)
	mux.HandleFunc("POST /places", h.post)
	mux.HandleFunc("PATCH /places/{id}", h.patch)
	mux.HandleFunc("PUT /places/{id}", h.put)
	return mux
}

// get answers GET and conditional GET of an item. It compares one entity tag byte by byte. A list
// of tags, weak tags and "*" are not supported.
func (h *handwritten) get(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	found, ok := h.places.find(id)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Header.Get("If-None-Match") == found.etag {
		// A 304 repeats the fields that a cache would update (RFC 9110, section 15.4.5).
		header := w.Header()
		header.Set("ETag", found.etag)
		header.Set("Cache-Control", "private, no-cache")
		header.Set("Vary", "Accept")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	sendPlace(w, http.StatusOK, found)
}

// list answers the first page. It has no cursor, so a client cannot read the second.
func (h *handwritten) list(w http.ResponseWriter, r *http.Request) {
	limit := 50
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 200 {
			http.Error(w, "limit is not a number from 1 to 200", http.StatusBadRequest)
			return
		}
		limit = n
	}
	body, err := json.Marshal(struct {
		Items []place `json:"items"`
	}{h.places.first(limit)})
	send(w, http.StatusOK, "", body, err)
}

// post creates an item. The store assigns the id, as in Stoa.
func (h *handwritten) post(w http.ResponseWriter, r *http.Request) {
	var p place
	if !readPlace(w, r, "application/json", &p) {
		return
	}
	if p.ID != 0 {
		http.Error(w, "id is read-only", http.StatusUnprocessableEntity)
		return
	}
	stored := h.places.add(p)
	w.Header().Set("Location", location(stored))
	sendPlace(w, http.StatusCreated, stored)
}

// location returns the URL of an item.
func location(stored *row) string { return "/places/" + strconv.FormatInt(stored.place.ID, 10) }

// patch applies a merge patch. encoding/json can do that if no member is nullable, because it keeps
// the fields of absent members. The body is buffered because the swap may be retried.
func (h *handwritten) patch(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	// The loop retries the swap after a concurrent write, because a merge patch without If-Match
	// must not lose the other write.
	for {
		found, ok := h.places.find(id)
		if !ok {
			http.NotFound(w, r)
			return
		}
		// Each attempt decodes the patch again, into a copy of what is stored by now.
		r.Body = io.NopCloser(bytes.NewReader(body))
		changed := found.place
		if !readPlace(w, r, "application/merge-patch+json", &changed) {
			return
		}
		changed.ID = id
		stored, err := h.places.swap(changed, found.rev)
		if errors.Is(err, resource.ErrStale) {
			continue
		}
		sendPlace(w, http.StatusOK, stored)
		return
	}
}

// put replaces an item by the request body, which need not have the id.
func (h *handwritten) put(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	var p place
	if !readPlace(w, r, "application/json", &p) {
		return
	}
	if p.ID != 0 && p.ID != id {
		http.Error(w, "id is read-only", http.StatusUnprocessableEntity)
		return
	}
	p.ID = id
	stored, err := h.places.replace(p)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	body, err := json.Marshal(&stored.place)
	// Without an entity tag, because the body was not stored as it is (RFC 9110, section 9.3.4).
	send(w, http.StatusOK, "", body, err)
}

// readPlace decodes and validates a place. If it returns false, it has sent the response.
func readPlace(w http.ResponseWriter, r *http.Request, want string, p *place) bool {
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != want {
		http.Error(w, "the body must be "+want, http.StatusUnsupportedMediaType)
		return false
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	// Stoa also rejects members that the type does not have, and trailing content.
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		http.Error(w, "the body is not a place", http.StatusBadRequest)
		return false
	}
	if _, err := dec.Token(); err != io.EOF {
		http.Error(w, "something follows the place", http.StatusBadRequest)
		return false
	}
	if err := checkPlace(p); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return false
	}
	return true
}

// checkPlace checks the constraints in the tags of place.
func checkPlace(p *place) error {
	switch n := utf8.RuneCountInString(p.Name); {
	case n < 1 || n > 200:
		return errors.New("name must have 1 to 200 characters")
	case len(p.Country) != 2 || !isUpper(p.Country[0]) || !isUpper(p.Country[1]):
		return errors.New("country must be two capital letters")
	case p.Population < 0:
		return errors.New("population must not be negative")
	case p.Lat < -90 || p.Lat > 90:
		return fmt.Errorf("lat must be between %d and %d", -90, 90)
	case p.Lon < -180 || p.Lon > 180:
		return fmt.Errorf("lon must be between %d and %d", -180, 180)
	}
	return nil
}

// isUpper reports whether c is an ASCII capital letter.
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// sendPlace sends an item with its entity tag.
func sendPlace(w http.ResponseWriter, status int, stored *row) {
	body, err := json.Marshal(&stored.place)
	send(w, status, stored.etag, body, err)
}

// send sends a response with its header fields.
func send(w http.ResponseWriter, status int, etag string, body []byte, err error) {
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	// net/http would compute the length of a short body itself. Setting it saves that work, as in
	// Stoa.
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Vary", "Accept")
	if etag != "" {
		header.Set("ETag", etag)
	}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		return // the client has disconnected
	}
}
