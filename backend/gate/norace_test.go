//go:build !race

package gate_test

// slower is how much slower the tests run than the program.
const slower = 1
