// Package lazy holds tables of words and patterns that are made at their first use. Most calls need few of them, and a hook, which judges one
// call and ends, must start fast.
package lazy

import (
	"regexp"
	"strings"
	"sync"
)

// A Regexp is compiled at its first use. It can be used at once by many.
type Regexp struct{ compiled func() *regexp.Regexp }

// Pattern is a regular expression; a wrong one panics at its first use.
func Pattern(expr string) Regexp {
	return Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// FindString is regexp.Regexp's.
func (p Regexp) FindString(s string) string { return p.compiled().FindString(s) }

// MatchString is regexp.Regexp's.
func (p Regexp) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindAllStringSubmatch is regexp.Regexp's.
func (p Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringIndex is regexp.Regexp's.
func (p Regexp) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

// Set is the set of the words of a text, made at its first use.
func Set(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return Words(words) })
}

// Words is the set of the words of a text.
func Words(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
