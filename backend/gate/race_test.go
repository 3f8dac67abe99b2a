//go:build race

package gate_test

// slower is how much slower the tests run than the program: the race detector is on.
const slower = 15
