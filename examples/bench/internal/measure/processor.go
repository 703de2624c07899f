package measure

import "testing"

// Sample is one measurement of a job: the cost of one request.
type Sample struct {
	Nanoseconds float64 // processor time
	Bytes       int64   // allocated; negative if they were not counted
}

// Microseconds returns the processor time in microseconds.
func (s Sample) Microseconds() float64 { return s.Nanoseconds / 1000 }

// Processor repeats send for the time of [SetBenchTime] and returns the cost of one call. The time
// is that of the whole process, so nothing else may run at the same time. It stops early, with the
// error, if send fails.
func Processor(send func() error) (Sample, error) {
	var failed error
	var used float64
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		began := ProcessorTime()
		for b.Loop() {
			if failed = send(); failed != nil {
				return
			}
		}
		used = float64(ProcessorTime() - began)
	})
	if failed != nil {
		return Sample{}, failed
	}
	return Sample{used / float64(max(r.N, 1)), r.AllocedBytesPerOp()}, nil
}

// Allocs returns the number of objects that one call of send allocates, as the documents state it.
// It is the mean of 200 calls, because some requests allocate more as revisions grow, and of 5 calls
// if each allocates more than 1,000 objects. It must not be called while other goroutines run.
func Allocs(send func() error) (int64, error) {
	var failed error
	count := func(calls int) int64 {
		return int64(testing.AllocsPerRun(calls, func() {
			if err := send(); err != nil {
				failed = err
			}
		}))
	}
	n := count(5)
	if n <= 1000 {
		n = count(200)
	}
	return n, failed
}
