// Command genplaces makes the places that the shop carries inside of it: the first lines of a file of places, one JSON
// object a line and the largest first, compressed. The same input gives the same file, byte for byte:
//
//	go run -C examples ./shop/genplaces PLACES.jsonl.gz shop/data/places.jsonl.gz
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

// compressHead copies the first n lines of r and refuses lines that are out of order, since then they are not the
// largest.
func compressHead(w io.Writer, r io.Reader, n int) error {
	out, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
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
