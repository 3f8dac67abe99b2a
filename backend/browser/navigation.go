package browser

// A navigation is what is known of the one a tab is about to make.
type navigation struct {
	kind  string // of human.Navigation
	cause uint64
	at    int64 // monotonic ns, when it began; 0: none is under way
}
