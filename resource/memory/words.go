package memory

// The index of the words of Options.Search. write.go changes it, and search.go reads it.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
)

// wordIndex contains the words of the live records, sorted by word and then by id.
type wordIndex struct {
	search query.Search // its Fields are indexed
	*sorted.List[*wordEntry]
}

// wordEntry is a word of a record.
type wordEntry struct {
	word, id string
	record   *record
}

// newWordIndex returns an empty index of the words of fields.
func newWordIndex(fields []string) *wordIndex {
	return &wordIndex{query.Search{Fields: fields}, sorted.New(func(a, b *wordEntry) int {
		return cmp.Or(strings.Compare(a.word, b.word), strings.Compare(a.id, b.id))
	})}
}

// covers reports whether the index has the words of all fields of a search.
func (x *wordIndex) covers(s query.Search) bool {
	return x != nil && !slices.ContainsFunc(s.Fields, func(name string) bool {
		return !slices.Contains(x.search.Fields, name)
	})
}

// change replaces the words of an item, which are sorted, by those of a record.
func (x *wordIndex) change(id string, from, to []string, record *record) {
	for _, word := range from {
		if _, stays := slices.BinarySearch(to, word); !stays {
			x.Remove(&wordEntry{word: word, id: id})
		}
	}
	for _, word := range to {
		e := &wordEntry{word, id, record}
		if _, stays := slices.BinarySearch(from, word); stays {
			x.Replace(e, e) // compares the word and the id
		} else {
			x.Insert(e)
		}
	}
}

// wordRange is a part of an index: the records with a word, or with words of a prefix.
type wordRange struct {
	from, to sorted.Place
	prefix   bool // a record can have several words of the range
}

// rangesOf returns a range for each alternative of a search, which has all records that match it, and the
// number of entries in them. In each alternative it selects the least frequent word.
func rangesOf(v sorted.View[*wordEntry], s query.Search) (ranges []wordRange, total int) {
	for _, terms := range s.Any {
		var best wordRange
		least := -1
		for _, t := range terms {
			if t.Not {
				continue
			}
			for i, word := range t.Words {
				r := rangeOfWord(v, word, t.Prefix && i == len(t.Words)-1)
				if n := v.Count(r.from, r.to); least < 0 || n < least {
					best, least = r, n
				}
			}
		}
		if least > 0 {
			ranges, total = append(ranges, best), total+least
		}
	}
	return ranges, total
}

func rangeOfWord(v sorted.View[*wordEntry], word string, prefix bool) wordRange {
	return wordRange{
		v.Seek(func(e *wordEntry) bool { return e.word < word }),
		v.Seek(func(e *wordEntry) bool {
			return e.word <= word || prefix && strings.HasPrefix(e.word, word)
		}),
		prefix,
	}
}
