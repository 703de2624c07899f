package resourcetest_test

import "os"

// full reports whether the environment variable STOA_TEST is "full", as in the gate. Otherwise
// tests that take minutes run a representative part and log what they omit.
func full() bool { return os.Getenv("STOA_TEST") == "full" }
