// Command csv exports rows of a resource as CSV and imports them again, in one process, and reports
// the peak of the heap. The store generates its rows, so that the heap is that of the library.
//
//	csv -rows N -dir FOLDER     exports to FOLDER/rows.csv and .jsonl, and imports that file
//	csv -rows N -check FILE     compares the rows that another program has written with those of the store
//	csv -rows N -check FILE -no-nulls   for a program that does not distinguish null from an empty text
//
// It fails if a row is missing, changed or repeated, or if the peak is over -heap MiB.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/schema"
)

var (
	rows    = flag.Int("rows", 20000, "the number of rows")
	dir     = flag.String("dir", "", "export to this folder and import again")
	check   = flag.String("check", "", "compare this file with the rows")
	noNulls = flag.Bool("no-nulls", false, "the file does not distinguish null from an empty text")
	whole   = flag.Bool("whole", false, "the control: keep the content in memory")
	heap    = flag.Int("heap", 24, "the limit of the heap in MiB")
	sample  = flag.Int("sample", 20000, "the number of rows of sample.csv and sample.jsonl")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	var err error
	switch {
	case *check != "":
		err = compare(*check)
	case *dir != "":
		err = run()
	default:
		err = errors.New("csv: -dir or -check is required")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run exports the rows to a file and imports the file.
func run() error {
	store := &cities{n: *rows}
	source := resource.New("cities", store, &resource.Options[city]{Public: true, MaxPageSize: *sample})
	out := httptest.NewServer(rest.New(resource.NewCatalog(nil, source), nil))
	defer out.Close()
	file := filepath.Join(*dir, "rows.csv")
	if err := measure("export", file, func() error { return download(out.URL+"/cities", "text/csv", file) }); err != nil {
		return err
	}
	few := out.URL + fmt.Sprintf("/cities?limit=%d", *sample)
	if err := download(few, "text/csv;formulas=escaped;bom=present", filepath.Join(*dir, "sample.csv")); err != nil {
		return err
	}
	if err := download(few, "application/x-ndjson", filepath.Join(*dir, "sample.jsonl")); err != nil {
		return err
	}
	target := &cities{}
	into := resource.New("cities", target, &resource.Options[city]{Public: true})
	in := httptest.NewServer(rest.New(resource.NewCatalog(nil, into, command.NewImport("cities/import", into)), nil))
	defer in.Close()
	err := measure("import", file, func() error { return upload(in.URL+"/cities/import", file) })
	if err == nil && target.inserted != *rows {
		err = fmt.Errorf("csv: %d of %d rows were imported", target.inserted, *rows)
	}
	return err
}

// peak is the greatest size of the heap since the last reset.
type peak struct {
	mu   sync.Mutex
	most uint64
}

var heapPeak peak

// sample reads the size of the heap.
func (p *peak) sample() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = max(p.most, s[0].Value.Uint64())
}

// reset returns the peak and begins again.
func (p *peak) reset() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := p.most
	p.most = 0
	return most
}

// measure runs a transfer, and prints its time and the peak of the heap.
func measure(name, file string, transfer func() error) error {
	heapPeak.reset()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				heapPeak.sample()
			}
		}
	}()
	began := time.Now()
	err := transfer()
	took := time.Since(began)
	close(stop)
	<-stopped
	heapPeak.sample()
	most := heapPeak.reset()
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d rows, %.1f MB in %.1fs, peak heap %.1f MiB\n", name, *rows, float64(info.Size())/1e6, took.Seconds(),
		float64(most)/(1<<20))
	if most > uint64(*heap)<<20 {
		return fmt.Errorf("csv: the heap is over %d MiB", *heap)
	}
	return nil
}

func download(url, accept, file string) error {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		return fmt.Errorf("csv: %s: %s: %s", url, res.Status, text)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if *whole {
		all, err := io.ReadAll(res.Body)
		heapPeak.sample() // while the content is in memory
		if err == nil {
			_, err = f.Write(all)
		}
		return err
	}
	_, err = io.Copy(f, res.Body)
	return err
}

func upload(url, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	res, err := http.Post(url, csv.Dialect{}.MediaType(), f)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if want := fmt.Sprintf(`{"created":%d,"replaced":0,"rejected":[]}`, *rows); err == nil && string(text) != want {
		err = fmt.Errorf("csv: import: %s: %s", res.Status, text)
	}
	return err
}

// compare reads a file that another program has written from its table.
func compare(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	t := schema.For[city]()
	d, err := csv.NewDecoder(bufio.NewReader(f), t, nil)
	if err != nil {
		return err
	}
	for i := range *rows {
		doc, err := d.Append(nil)
		if err != nil {
			return fmt.Errorf("line %d: %w", d.Line(), err)
		}
		v, err := t.Decode(doc, nil)
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", d.Line(), doc, err)
		}
		got, want := *v.(*city), cityAt(i)
		if *noNulls && got.Note != nil && *got.Note == "" {
			got.Note = nil
		}
		if *noNulls && want.Note != nil && *want.Note == "" {
			want.Note = nil
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("line %d: %+v, want %+v", d.Line(), got, want)
		}
	}
	if _, err := d.Append(nil); err != io.EOF {
		return fmt.Errorf("after the last row: %v", err)
	}
	fmt.Printf("%d rows are equal\n", *rows)
	return nil
}

// cities is a store that generates its items, and compares those that are inserted with them.
type cities struct {
	n        int
	mu       sync.Mutex
	inserted int
}

func (s *cities) Get(context.Context, string) (resource.Item[city], error) {
	return resource.Item[city]{}, resource.ErrNotFound
}

func (s *cities) InsertMany(_ context.Context, items []resource.Item[city]) error {
	for _, item := range items {
		if err := s.insert(item.Value); err != nil {
			return err
		}
	}
	return nil
}

func (s *cities) Insert(_ context.Context, id string, v city) (resource.Item[city], error) {
	return resource.Item[city]{ID: id, Rev: "1", Value: v}, s.insert(v)
}

// insert compares an item with the next one.
func (s *cities) insert(v city) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if want := cityAt(s.inserted); !reflect.DeepEqual(v, want) {
		return fmt.Errorf("csv: row %d is %+v, want %+v", s.inserted, v, want)
	}
	s.inserted++
	return nil
}
