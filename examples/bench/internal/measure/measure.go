// Package measure is shared by the benchmarks: processor time, heap size, medians, ratios, peers
// that run in turn, and a client that calls a handler without a network.
package measure

import (
	"flag"
	"fmt"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// InTurn runs each of fns once per round and returns the results of fns[i] in element i. The peers
// of a comparison run in turn, so that other load of the machine affects all of them.
func InTurn[T any](rounds int, fns ...func() (T, error)) ([][]T, error) {
	results := make([][]T, len(fns))
	for range rounds {
		for i, fn := range fns {
			result, err := fn()
			if err != nil {
				return nil, err
			}
			results[i] = append(results[i], result)
		}
	}
	return results, nil
}

// Median returns the middle element in the order of compare, and of an even number the upper one.
// It does not change all, and panics if all is empty.
func Median[T any](all []T, compare func(a, b T) int) T {
	return slices.SortedStableFunc(slices.Values(all), compare)[len(all)/2]
}

// Ratio returns a/b.
func Ratio[T ~int | ~int64 | ~uint64 | ~float64](a, b T) float64 { return float64(a) / float64(b) }

// SetBenchTime sets how long [testing.Benchmark] runs in a command.
func SetBenchTime(d time.Duration) error {
	testing.Init()
	return flag.Set("test.benchtime", d.String())
}

// Sizes parses the flag of a measurement at several sizes: positive numbers in ascending order,
// separated by commas.
func Sizes(text string) (sizes []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || len(sizes) > 0 && n <= sizes[len(sizes)-1] {
			return nil, fmt.Errorf("sizes %q: want ascending positive numbers, separated by commas", text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// HeapReader returns a function that reports the bytes of all objects on the heap, including dead
// ones that are not swept yet. The function does not allocate. It must not be called concurrently.
func HeapReader() func() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	return func() int64 {
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
}
