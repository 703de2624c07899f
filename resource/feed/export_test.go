package feed

// WakeOf is the channel by which the listeners of a collection are woken: another each time.
func WakeOf(f *Feed, collection string) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ring.of(collection).wake.Load()
}

// Listening is how many listeners a collection has.
func Listening(f *Feed, collection string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ring.of(collection).waiting.Load()
}
