package report

import (
	"errors"
	"fmt"
)

// CheckAllocs compares the allocations of a table in a file of results with those that count returns
// for a job and a peer. Figures without allocations are ignored. A difference of 3 % is accepted,
// because the garbage collector empties pools; counts below 30 must be equal. With update set it writes
// the new counts to the file instead. The documents state the counts of the file.
func CheckAllocs(file, table string, update bool, count func(job, peer string) (int64, error)) error {
	r, err := Load(file)
	if err != nil {
		return err
	}
	var differences []error
	checked := 0
	for _, f := range r.Figures {
		if f.Table != table || f.Allocs < 0 {
			continue
		}
		got, err := count(f.Job, f.Peer)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", f.Job, f.Peer, err)
		}
		checked++
		if max(got-f.Allocs, f.Allocs-got) > tolerance(f.Allocs) {
			differences = append(differences, fmt.Errorf("%s, %s: %d allocations, and %s states %d", f.Job,
				f.Peer, got, file, f.Allocs))
		}
		if update {
			r.SetAllocs(table, f.Job, f.Peer, got)
		}
	}
	switch {
	case checked == 0:
		return fmt.Errorf("%s has no allocations of the table %s", file, table)
	case update:
		return r.Save(file)
	}
	return errors.Join(differences...)
}

// tolerance returns the difference that is not reported. A garbage collection empties pools, so requests
// that run long allocate a few objects more in some runs.
func tolerance(allocs int64) int64 {
	if allocs < 20 {
		return 0
	}
	return max(allocs/30, min(allocs/10, 5))
}
