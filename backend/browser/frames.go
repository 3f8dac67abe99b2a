package browser

// A document is one page in one frame, from its load to its end.
type document struct {
	frame  string
	origin float64 // its performance.timeOrigin
}

// A counter is what is known of the messages of one document.
type counter struct {
	next int64 // the number of the next message
	base int64 // monotonic ns at which the document's own clock stood at 0, as far as is known
	last int64 // At of its last event
}
