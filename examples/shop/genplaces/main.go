// Command genplaces writes the places that are embedded in the shop: the first lines of a file of
// places, compressed. The input has one JSON object per line, the largest population first. The
// same input produces the same bytes, because gzip.Writer stores no time and no name:
//
//	go run -C examples ./shop/genplaces PLACES.jsonl.gz shop/data/places.jsonl.gz
//
// To embed other places, use another file or -n. Tests of the shop count the places and name some
// of them.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// main prints errors to standard error and exits with status 1, or 2 for wrong arguments.
func main() {
	n := flag.Int("n", 1000, "how many places")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "genplaces: two arguments are needed, the file to read and the file to write")
		os.Exit(2)
	}
	if err := generate(flag.Arg(0), flag.Arg(1), *n); err != nil {
		fmt.Fprintln(os.Stderr, "genplaces:", err)
		os.Exit(1)
	}
}

// generate reads a compressed file and writes its first n lines, compressed. An error of Close is
// reported, because it may be the first sign of a full disk.
func generate(from, to string, n int) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(compressHead(out, plain, n), out.Close())
}

// compressHead copies the first n lines of r. Lines that are not sorted by population are an error,
// because the first lines would not be the largest places.
func compressHead(w io.Writer, r io.Reader, n int) error {
	out, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	// larger than every population, so the first line passes
	lines, last := bufio.NewScanner(r), int64(1<<62)
	for i := range n {
		if !lines.Scan() {
			return fmt.Errorf("there are only %d lines: %w", i, errors.Join(lines.Err(), io.ErrUnexpectedEOF))
		}
		var place struct{ Population int64 }
		if err := json.Unmarshal(lines.Bytes(), &place); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		if place.Population > last {
			return fmt.Errorf("line %d: it is larger than the one before", i+1)
		}
		last = place.Population
		if _, err := fmt.Fprintf(out, "%s\n", lines.Bytes()); err != nil {
			return err
		}
	}
	return out.Close()
}
