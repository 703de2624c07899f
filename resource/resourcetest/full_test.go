package resourcetest_test

import "os"

// full reports whether the environment variable STOA_MUTANTS is "full", as in .ci/run long mutants.
// Otherwise the test of the mutants, which then takes minutes, runs a part of it and logs what it omits.
func full() bool { return os.Getenv("STOA_MUTANTS") == "full" }
