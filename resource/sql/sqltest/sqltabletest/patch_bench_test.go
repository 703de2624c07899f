package sqltabletest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

// BenchmarkPatch patches one member of an item with a few columns, and of one with a column of each sort.
func BenchmarkPatch(b *testing.B) {
	for _, e := range sqltest.Engines() {
		db, pool := pooled(b, e)
		towns, _ := openTowns(b, db, pool)
		table := sqltable.New[everything](db, "everything", nil)
		if err := table.CreateTable(b.Context()); err != nil {
			b.Fatal(err)
		}
		note, count, ratio, sure, at := "note", int32(3), float32(0.5), true, time.Unix(1e9, 0).UTC()
		wide := everything{ID: "a", Email: "a@example.com", Phone: "1", Title: "title", Status: "paid", Note: &note, Maybe: &count,
			Ratio: &ratio, Sure: &sure, MadeAt: at, SentAt: &at, Photo: make([]byte, 100), Billing: &address{"street", "zip"},
			Lines: make([]line, 5), Labels: map[string]string{"a": "b", "c": "d"}, Anything: map[string]any{"x": []any{1.0, "y"}}}
		if _, err := table.Ops().Insert(b.Context(), "a", wide); err != nil {
			b.Fatal(err)
		}
		all := rest.New(resource.NewCatalog(nil, table.Ops().Resource("everything", &resource.Options[everything]{Public: true})), nil)
		for _, job := range []struct {
			name, path, body string
			h                http.Handler
		}{{"narrow", "/towns/7", `{"population":%d}`, towns}, {"wide", "/everything/a", `{"stars":%d}`, all}} {
			b.Run(e.Name+"/"+job.name, func(b *testing.B) {
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					r := httptest.NewRequestWithContext(b.Context(), "PATCH", job.path, strings.NewReader(fmt.Sprintf(job.body, n)))
					r.Header.Set("Content-Type", "application/merge-patch+json")
					w := httptest.NewRecorder()
					job.h.ServeHTTP(w, r)
					if w.Code != 200 {
						b.Fatalf("%d %s", w.Code, w.Body)
					}
				}
			})
		}
	}
}
