package main

// The resource places, and the sample of the largest cities that is loaded at the first start.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// Optional members are pointers because 0 is a valid latitude. A pointer with omitzero is absent from
// the response if it is not set.

// Place is a city.
type Place struct {
	// ID is the id of the place. The client chooses it, or the shop assigns it if it is absent or
	// empty.
	ID string `json:"id" maxLength:"64"`
	// Name is the name of the place in English.
	Name string `json:"name" required:"true" minLength:"1" maxLength:"200"`
	// Country is the country code (ISO 3166-1 alpha-2).
	Country string `json:"country" required:"true" pattern:"^[A-Za-z]{2}$"`
	// Kind is the GeoNames feature code, such as PPLC for a capital.
	Kind *string `json:"kind,omitzero"`
	// Admin is the code of the first-level administrative division.
	Admin *string `json:"admin,omitzero"`
	// Population is the number of inhabitants.
	Population *int64 `json:"population,omitzero" minimum:"0"`
	// Lat is the latitude in degrees (WGS 84); north is positive.
	Lat *float64 `json:"lat,omitzero" minimum:"-90" maximum:"90"`
	// Lon is the longitude in degrees (WGS 84); east is positive.
	Lon *float64 `json:"lon,omitzero" minimum:"-180" maximum:"180"`
}

// placesResource declares the places. Clients may choose their ids, so PUT creates as well as POST.
func (c *collections) placesResource() *resource.Resource {
	return c.places.Resource("places", guard(c, &resource.Options[Place]{
		Query:   placesQuery(),
		Samples: samplePlaces(),
	}, mayWritePlace))
}

// placesSearch lists the fields that a search of places covers: ?q=new+york.
var placesSearch = []string{"name", "country"}

// placesQuery declares the queries of places. Places can be grouped:
// ?group=country&count&sum=population&sort=-sum.population.
func placesQuery() query.Support {
	s := allFields[Place]()
	s.Search = placesSearch
	s.Group = []string{"country", "admin", "kind"}
	s.Aggregate = map[string][]query.Func{
		"population": {query.Sum, query.Avg, query.Min, query.Max},
		"kind":       {query.Distinct},
		"admin":      {query.Distinct},
	}
	return s
}

// samplePlaces returns the example of the descriptions.
func samplePlaces() []Place {
	kind, admin, population, lat, lon := "PPLC", "ESYE31", int64(664046), 37.98376, 23.72784
	return []Place{
		{ID: "264371", Name: "Athens", Country: "GR", Kind: &kind, Admin: &admin, Population: &population,
			Lat: &lat, Lon: &lon},
	}
}

// largest are the 1,000 largest places. data/README.md names their source.
//
//go:embed data/places.jsonl.gz
var largest []byte

// loadPlaces stores the places of a file. The empty path means the embedded places. It reads line
// by line, so a file of any size needs constant memory.
func (c *collections) loadPlaces(ctx context.Context, path string) error {
	lines, err := openPlaces(path)
	if err != nil {
		return err
	}
	defer lines.Close()
	scanner := bufio.NewScanner(lines)
	for n := 1; scanner.Scan(); n++ {
		if err := c.loadPlace(ctx, scanner.Bytes()); err != nil {
			return fmt.Errorf("places, line %d: %w", n, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("places: %w", err)
	}
	return nil
}

// loadPlace stores one place, with the same validation as POST. Blank lines are skipped.
func (c *collections) loadPlace(ctx context.Context, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	v, err := schema.For[Place]().Decode(line, &schema.DecodeOptions{Mode: schema.Create})
	if err != nil {
		return err
	}
	place := v.(*Place)
	if place.ID == "" {
		_, err = c.places.Create(ctx, *place)
	} else {
		_, err = c.places.Insert(ctx, place.ID, *place)
	}
	if errors.Is(err, resource.ErrGone) {
		return nil // the place was deleted before
	}
	return err
}

// openPlaces opens a file of places, and decompresses it if its name ends in .gz. The caller closes
// the result, which closes the file.
func openPlaces(path string) (io.ReadCloser, error) {
	if path == "" {
		return gzip.NewReader(bytes.NewReader(largest))
	}
	file, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return file, err
	}
	plain, err := gzip.NewReader(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{plain, file}, nil
}
