// Package report is what the benchmarks share after a measurement: figures and ratios, the file
// that stores them, the budgets, the gate, and the tables of the documents.
//
// The benchmarks rest, graphql, scale, fanout and rows write [Results] with their flag -json. The
// command all merges them, and draws them with package chart.
package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// Results is the content of a file of results. The zero value has none.
type Results struct {
	Commit  string   `json:"commit"` // short hash of the tree that was measured; empty if unknown
	Date    string   `json:"date"`   // of the run: 2026-11-26
	Figures []Figure `json:"figures"`
	Ratios  []Ratio  `json:"ratios"`
	Curves  []Curve  `json:"curves"`
}

// Figure is the cost of one request of a job on one peer.
type Figure struct {
	Table        string  `json:"table"` // rest, sockets, graphql or rows
	Job          string  `json:"job"`
	Peer         string  `json:"peer"`
	Microseconds float64 `json:"microseconds"` // processor time, median of the rounds
	Allocs       int64   `json:"allocs"`       // -1 if they were not counted
	Bytes        int64   `json:"bytes"`        // -1 if they were not counted
}

// Ratio is the processor time of a peer divided by that of another one, in the same round.
type Ratio struct {
	Table  string  `json:"table"`
	Job    string  `json:"job"`
	Peer   string  `json:"peer"`
	Beside string  `json:"beside"`
	Median float64 `json:"median"` // of the rounds
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// Curve is the cost of one request as a size grows, such as the number of rows.
type Curve struct {
	Panel  string  `json:"panel"`  // curves with the same panel are drawn together
	Cost   string  `json:"cost"`   // what is measured, such as "elapsed time of a request"
	Size   string  `json:"size"`   // label of the horizontal axis, such as "rows"
	Series string  `json:"series"` // name of the line
	Points []Point `json:"points"` // sorted by Size
}

// Point is one measurement of a [Curve].
type Point struct {
	Size         int     `json:"size"`
	Microseconds float64 `json:"microseconds"`
}

// Compare appends the figures of a job to r, without allocations, and the ratios of pairs of its
// peers, each as {peer, beside}. rounds[i] has the samples of peers[i], one of each round.
func (r *Results) Compare(table, job string, peers []string, rounds [][]measure.Sample, pairs [][2]string) {
	for i, peer := range peers {
		s := measure.Median(rounds[i], func(a, b measure.Sample) int {
			return cmp.Compare(a.Nanoseconds, b.Nanoseconds)
		})
		r.Figures = append(r.Figures, Figure{table, job, peer, round(s.Microseconds()), -1, s.Bytes})
	}
	for _, pair := range pairs {
		a, b := slices.Index(peers, pair[0]), slices.Index(peers, pair[1])
		if a < 0 || b < 0 {
			continue // a peer that was left out
		}
		// The ratio of each round, because other load of the machine differs between rounds.
		all := make([]float64, len(rounds[a]))
		for k := range all {
			all[k] = measure.Ratio(rounds[a][k].Nanoseconds, rounds[b][k].Nanoseconds)
		}
		r.Ratios = append(r.Ratios, Ratio{table, job, pair[0], pair[1],
			round(measure.Median(all, cmp.Compare)), round(slices.Min(all)), round(slices.Max(all))})
	}
}

// SetAllocs sets the allocations of a figure; see [measure.Allocs].
func (r *Results) SetAllocs(table, job, peer string, allocs int64) {
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Table == table && f.Job == job && f.Peer == peer {
			f.Allocs = allocs
		}
	}
}

// round keeps three decimals, which is more than two runs have in common.
func round(f float64) float64 { return float64(int64(f*1000+0.5)) / 1000 }

// Figure returns the figure of a job on a peer.
func (r *Results) Figure(table, job, peer string) (Figure, bool) {
	for _, f := range r.Figures {
		if f.Table == table && f.Job == job && f.Peer == peer {
			return f, true
		}
	}
	return Figure{}, false
}

// Ratio returns the ratio of a job between two peers.
func (r *Results) Ratio(table, job, peer, beside string) (Ratio, bool) {
	for _, x := range r.Ratios {
		if x.Table == table && x.Job == job && x.Peer == peer && x.Beside == beside {
			return x, true
		}
	}
	return Ratio{}, false
}

// Merge adds the results of another run. It replaces the tables and the panels that both have.
func (r *Results) Merge(other *Results) {
	for _, f := range other.Figures {
		r.Figures = slices.DeleteFunc(r.Figures, func(old Figure) bool { return old.Table == f.Table })
	}
	for _, x := range other.Ratios {
		r.Ratios = slices.DeleteFunc(r.Ratios, func(old Ratio) bool { return old.Table == x.Table })
	}
	for _, c := range other.Curves {
		r.Curves = slices.DeleteFunc(r.Curves, func(old Curve) bool {
			return old.Panel == c.Panel && old.Series == c.Series
		})
	}
	r.Figures = append(r.Figures, other.Figures...)
	r.Ratios = append(r.Ratios, other.Ratios...)
	r.Curves = append(r.Curves, other.Curves...)
}

// Load reads a file of results. A file that does not exist has none.
func Load(file string) (*Results, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &Results{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Results{}
	return r, json.Unmarshal(text, r)
}

// Save writes a file of results, one figure a line, so that a difference can be read.
func (r *Results) Save(file string) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// encode returns the text of the file.
func (r *Results) encode() ([]byte, error) {
	var out []byte
	var failed error
	line := func(before string, v any) {
		text, err := json.Marshal(v)
		failed = errors.Join(failed, err)
		out = append(append(out, before...), text...)
	}
	line("{\n\"commit\": ", r.Commit)
	line(",\n\"date\": ", r.Date)
	array(&out, "figures", r.Figures, line)
	array(&out, "ratios", r.Ratios, line)
	array(&out, "curves", r.Curves, line)
	return append(out, "\n}\n"...), failed
}

// array appends a member with an array.
func array[T any](out *[]byte, name string, all []T, line func(before string, v any)) {
	*out = append(*out, ",\n\""+name+"\": ["...)
	for i, v := range all {
		before := ",\n  "
		if i == 0 {
			before = "\n  "
		}
		line(before, v)
	}
	*out = append(*out, "\n]"...)
}
