package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// city has a member of each kind of cell.
type city struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	Note   *string   `json:"note"`
	Count  int64     `json:"count"`
	Price  float64   `json:"price"`
	Open   bool      `json:"open"`
	Since  time.Time `json:"since"`
	Tags   []string  `json:"tags"`
	Bounds *bounds   `json:"bounds"`
}

type bounds struct {
	North float64 `json:"north"`
	Label string  `json:"label"`
}

// names are texts that readers of CSV confuse.
var names = []string{"Athens", "Old, Town", `The "Port"`, "two\r\nlines", "one\nline", "=1+1", "+49 30", "-x", "@home", "\tTab",
	" spaces ", "Αθήνα", "a;b|c", `\.`, `\N`, "'=quoted", "NULL", "007", "1e3", "日本\"語\"", "true", "", `back\slash`}

// cityAt returns the item at an index. Items at different indexes differ.
func cityAt(i int) city {
	c := city{ID: fmt.Sprintf("%09d", i), Name: names[i%len(names)], Count: int64(i)*7919 - 1e6, Price: float64(i%10007) / 8,
		Open: i%3 == 0, Since: time.Unix(int64(i)*3600, 0).UTC(), Tags: []string{}}
	for k := range i % 4 {
		c.Tags = append(c.Tags, names[(i+k)%len(names)])
	}
	switch note := names[(i/3)%len(names)]; i % 5 {
	case 0: // null
	case 1:
		note = ""
		fallthrough
	default:
		c.Note = &note
	}
	if i%6 == 0 {
		c.Bounds = &bounds{float64(i%180) - 90.5, strings.Repeat(names[i%len(names)], i%3)}
	}
	return c
}

// List yields the items in the order of their ids.
func (s *cities) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[city], error] {
	return func(yield func(resource.Item[city], error) bool) {
		first := 0
		if q.After != nil {
			n, err := strconv.Atoi(q.After[0].(string))
			if err != nil {
				yield(resource.Item[city]{}, err)
				return
			}
			first = n + 1
		}
		for i := first; i < s.n && i < first+q.Limit; i++ {
			c := cityAt(i)
			if !yield(resource.Item[city]{ID: c.ID, Rev: "1", Value: c}, nil) {
				return
			}
		}
	}
}
