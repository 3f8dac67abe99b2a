package shell

import (
	"regexp"
	"sync"
)

// A pattern is compiled at its first use: most calls hold no code, and a hook must start fast.
type pattern struct{ compiled func() *regexp.Regexp }

func lazy(expr string) pattern {
	return pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

func (p pattern) FindString(s string) string { return p.compiled().FindString(s) }
func (p pattern) MatchString(s string) bool  { return p.compiled().MatchString(s) }
func (p pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

func (p pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

// setOf is a set of words that is made at its first use, likewise.
func setOf(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return set(words) })
}
