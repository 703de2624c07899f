package retry

// Exhausted is false, because Plan 9 has texts in place of error numbers.
func Exhausted(error) bool { return false }
