package term

import (
	"slices"
	"strings"
)

// matched is which of the suggested commands a line is, exactly or with changes; nil where it is none.
func matched(suggested []string, line string) (which *int, edited bool) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, false
	}
	best, at := 0.0, -1
	for i, s := range suggested {
		other := strings.Fields(s)
		if slices.Equal(words, other) {
			return &i, false
		}
		// The same program, and most of the words in the same order.
		if len(other) == 0 || other[0] != words[0] || len(words)*len(other) > 250_000 {
			continue
		}
		if like := 2 * float64(common(words, other)) / float64(len(words)+len(other)); like >= 0.6 && like > best {
			best, at = like, i
		}
	}
	if at < 0 {
		return nil, false
	}
	return &at, true
}

// common is the length of the longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			before = up
		}
	}
	return row[len(b)]
}
