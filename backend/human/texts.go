package human

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// HasAll says whether a text has all of others, which may be no parts of longer numbers: 500 is not in 1500, 1,500 or 500,000.
func HasAll(text string, others []string) bool {
	return !slices.ContainsFunc(others, func(other string) bool { return !has(text, other) })
}

func has(text, other string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], other)
		if i < 0 {
			return false
		}
		if at += i; !partOfNumber(text[:at], other, text[at+len(other):]) {
			return true
		}
		if at++; at > len(text) {
			return false
		}
	}
}

func partOfNumber(before, other, after string) bool {
	digit := func(text string, i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	separates := func(text string, i int) bool {
		return i >= 0 && i < len(text) && strings.IndexByte(".,'", text[i]) >= 0
	}
	if n := len(before); digit(other, 0) && (digit(before, n-1) || separates(before, n-1) && digit(before, n-2)) {
		return true
	}
	thousands := separates(after, 0) && digit(after, 1) && digit(after, 2) && digit(after, 3) && !digit(after, 4)
	return digit(other, len(other)-1) && (digit(after, 0) || thousands)
}

// Digested is what something is known again by that is not kept: 12 characters.
func Digested(parts ...any) string {
	sum := sha256.Sum256(fmt.Append(nil, parts...))
	return base64.RawStdEncoding.EncodeToString(sum[:9])
}
