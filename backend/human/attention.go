package human

import "time"

// Spared is a request that no person had to answer, or a run that no person had to help.
type Spared struct {
	Kind  Kind // what a person would have done by hand; "" where that is not known any more
	Agent string
	At    time.Time
	Run   bool // a run of a procedure; else a rule decided
}

// The most that one request counts for, so that a person who left the desk is not counted as working.
const (
	MostReading = 5 * time.Minute  // a yes or no, words, a plan
	MostWork    = 30 * time.Minute // work with one's hands, a review, a run that is watched
)
