package main

// The peer: the SQL that an engineer would write for each job, over the same pool.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// handwritten runs the same SQL by hand.
type handwritten struct {
	db    *sql.DB
	place func(int) string // a placeholder
}

// byHand uses the pool of readers, which is also what the catalog reads from.
func (d *database) byHand() handwritten { return handwritten{d.readers, d.dialect.Placeholder} }

// columns selects the columns that the catalog needs, too.
const columns = "SELECT id, name, country, population, rev FROM towns "

// item is a handler written for this job.
func (r handwritten) item(w http.ResponseWriter, req *http.Request) {
	id, err := strconv.ParseInt(req.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, req)
		return
	}
	var t town
	var rev string
	row := r.db.QueryRowContext(req.Context(), columns+"WHERE id = "+r.place(1), id)
	switch err := row.Scan(&t.ID, &t.Name, &t.Country, &t.Population, &rev); {
	case errors.Is(err, sql.ErrNoRows):
		http.NotFound(w, req)
		return
	case err != nil:
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	// The validators and fields are those that Stoa sends, so both responses have the same size.
	tag := strconv.Quote(rev)
	header := w.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Vary", "Accept")
	if req.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body, err := json.Marshal(t)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// list runs only the query, without a handler or JSON.
func (r handwritten) list(ctx context.Context, rest string, args ...any) ([]town, error) {
	rows, err := r.db.QueryContext(ctx, columns+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []town
	for rows.Next() {
		var t town
		var rev string
		if err := rows.Scan(&t.ID, &t.Name, &t.Country, &t.Population, &rev); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}
