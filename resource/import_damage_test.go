package resource_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// parcel is an item of which no cell may have several lines, so a row of several lines is rejected.
type parcel struct {
	ID    string `json:"id"`
	Label string `json:"label" pattern:"^[^\\n]*$"`
	Count int    `json:"count"`
}

// TestDamagedImports imports files of which some bytes were changed, inserted or removed. The result
// accounts for each line: stored, rejected, skipped with a rejected row, or blank. Each line without
// damage is stored, or the result names it. STOA_TEST=full has 10,000 files of each type.
func TestDamagedImports(t *testing.T) {
	t.Parallel()
	files := 400
	if os.Getenv("STOA_TEST") == "full" {
		files = 10_000
	}
	for _, format := range []struct {
		name, header string
		dialect      *csv.Dialect
		row          func(id string, n int) string
	}{
		{"CSV", "id,label,count\n", &csv.Dialect{}, csvParcel},
		{"NDJSON", "", nil, func(id string, n int) string {
			return fmt.Sprintf(`{"id":%q,"label":"a \"%d\", b","count":%d}`, id, n, n) + "\n"
		}},
	} {
		t.Run(format.name, func(t *testing.T) {
			t.Parallel()
			rnd, total := rand.New(rand.NewPCG(48, 7)), damageCounts{}
			for range files {
				var rows []byte
				written := map[string]parcel{}
				for n := range 1 + rnd.IntN(30) {
					id := fmt.Sprintf("%08x", rnd.Uint32())
					row := format.row(id, n)
					rows = append(rows, row...)
					written[row] = parcel{ID: id, Count: n}
				}
				content := format.header + string(damaged(rnd, rows))
				store := memory.New[parcel](nil)
				parcels := resource.New("parcels", store, &resource.Options[parcel]{Public: true})
				answer, err := parcels.Import(t.Context(), strings.NewReader(content), &resource.ImportOptions{CSV: format.dialect})
				if err != nil {
					t.Fatalf("%q: %v", content, err)
				}
				var result damageResult
				if err := json.Unmarshal(answer, &result); err != nil {
					t.Fatal(err)
				}
				total.add(t, content, format.dialect != nil, &result)
				result.checkRows(t, content, func(line string) bool {
					want, ok := written[line]
					if !ok {
						return true
					}
					got, err := store.Get(t.Context(), want.ID)
					return err == nil && got.Value.Count == want.Count && strings.HasPrefix(got.Value.Label, "a")
				})
			}
			t.Logf("%d files: %+v", files, total)
			if total.rejected == 0 || total.stored < total.lines/2 || format.dialect != nil && total.skipped == 0 {
				t.Errorf("the damage is not that of a test: %+v", total)
			}
		})
	}
}

// csvParcel returns a row with or without quotation marks.
func csvParcel(id string, n int) string {
	label := []string{"a b", `"a, b"`, `"a ""12"" b"`}[n%3]
	return fmt.Sprintf("%s,%s,%d\n", id, label, n)
}

// damaged returns content with up to three changes.
func damaged(rnd *rand.Rand, content []byte) []byte {
	for range rnd.IntN(4) {
		at := rnd.IntN(len(content) + 1)
		with := []string{"", "\"", "\"", "\\\"", "\n", "\n\n", "\r", ",", "x", "\x00", "\xff"}[rnd.IntN(11)]
		if rnd.IntN(10) == 0 { // a part that was sent twice
			with = string(content[max(0, at-rnd.IntN(60)):at])
		}
		end := min(len(content), at+[]int{0, 0, 1, 1, 2, 30}[rnd.IntN(6)])
		content = append(append(bytes.Clone(content[:at]), with...), content[end:]...)
	}
	return content
}

// damageResult is the result of an import.
type damageResult struct {
	Created, Replaced, Skipped int
	Rejected                   []struct{ Line, Skipped int }
}

// checkRows reports lines that are neither stored nor named by the result.
func (r *damageResult) checkRows(t *testing.T, content string, stored func(line string) bool) {
	named := map[int]bool{}
	for _, row := range r.Rejected {
		for n := row.Line; n <= row.Line+row.Skipped; n++ {
			if named[n] {
				t.Errorf("%q: line %d is named twice", content, n)
			}
			named[n] = true
		}
	}
	for i, line := range strings.SplitAfter(content, "\n") {
		if !named[i+1] && !stored(line) {
			t.Errorf("%q: line %d is neither stored nor rejected", content, i+1)
		}
	}
}

// damageCounts are the numbers of lines of all files.
type damageCounts struct{ lines, stored, rejected, skipped, blank int }

// add adds a file. Its lines must be those of the result.
func (c *damageCounts) add(t *testing.T, content string, isCSV bool, r *damageResult) {
	lines := strings.Count(content, "\n")
	if content != "" && !strings.HasSuffix(content, "\n") {
		lines++
	}
	blank := 0
	if isCSV {
		lines-- // the header row
		blank = lines
		d, err := csv.NewDecoder(strings.NewReader(content), schema.For[parcel](), nil)
		for err == nil {
			for _, err = d.Append(nil); err != io.EOF; _, err = d.Append(nil) {
				blank -= d.LastLine() - d.Line() + 1
			}
		}
	} else {
		for line := range strings.Lines(content) {
			if strings.Trim(line, " \t\r\n") == "" {
				blank++
			}
		}
	}
	stored := r.Created + r.Replaced
	if sum := stored + len(r.Rejected) + r.Skipped + blank; sum != lines {
		t.Errorf("%q: %d lines, and %d + %d stored, %d rejected, %d skipped, %d blank", content, lines, r.Created, r.Replaced,
			len(r.Rejected), r.Skipped, blank)
	}
	*c = damageCounts{c.lines + lines, c.stored + stored, c.rejected + len(r.Rejected), c.skipped + r.Skipped, c.blank + blank}
}
