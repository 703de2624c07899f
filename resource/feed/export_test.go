package feed

// WakeOf returns the channel that wakes the subscribers of a collection. It changes with each
// event.
func WakeOf(f *Feed, collection string) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ring.list(collection).wake.Load()
}

// Listening returns how many subscribers a collection has.
func Listening(f *Feed, collection string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ring.list(collection).subscribers.Load()
}
