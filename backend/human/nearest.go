package human

import "strings"

// Nearest is the word, of those that are known, that was most likely meant: one that begins with it, or that differs by a slip or two; ""
// where none is near.
func Nearest(word string, known []string) string {
	const longest = 64
	if word = strings.ToLower(word); len(word) < 2 || len(word) > longest {
		return ""
	}
	nearest, least := "", 1+min(2, len(word)/2)
	for _, k := range known {
		d := Distance(word, strings.ToLower(k))
		if len(word) > 2 && strings.HasPrefix(strings.ToLower(k), word) {
			d = min(d, 1)
		}
		if d < least {
			nearest, least = k, d
		}
	}
	return nearest
}

// Distance counts the insertions, deletions and replacements of bytes that turn a into b.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above, cost := row[j+1], 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above+1, row[j]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}
