// Package near finds the name that a misspelled one probably means.
package near

import "strings"

// Of returns the known name that a misspelled one probably means, or "". Names of up to four
// letters allow one edit, because db and env are two edits from doc and enum. Longer ones allow two,
// and those of two letters none.
func Of(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		limit := 2
		switch {
		case len(k) <= 2:
			limit = 0
		case len(k) <= 4:
			limit = 1
		}
		if d := distance(fold(name), fold(k)); d <= limit && d < least {
			best, least = k, d
		}
	}
	return best
}

// fold removes what spellings of other libraries differ in, such as min_length and readonly.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// distance returns the number of edits between two names: a letter added, removed or replaced, or
// two neighbors exchanged (the optimal string alignment).
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
