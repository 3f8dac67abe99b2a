package install

import (
	"fmt"
	"slices"
	"strings"
)

// around is how many unchanged lines stand around a change.
const around = 3

// A line of a diff: its sign is ' ', '-' or '+'.
type diffLine struct {
	sign byte
	text string
}

// unified is a unified diff; no text is no file. It takes time and space by the product of the lines that differ, which
// settings files have few of.
func unified(path string, before, after []byte) string {
	all := compare(lines(before), lines(after))
	name := func(text []byte) string {
		if text == nil {
			return "/dev/null"
		}
		return path
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name(before), name(after))
	changed := func(l diffLine) bool { return l.sign != ' ' }
	at, oldLine, newLine := 0, 1, 1
	skip := func(to int) {
		for ; at < to; at++ {
			if all[at].sign != '+' {
				oldLine++
			}
			if all[at].sign != '-' {
				newLine++
			}
		}
	}
	for {
		next := slices.IndexFunc(all[at:], changed)
		if next < 0 {
			return out.String()
		}
		from := max(at, at+next-around)
		end := at + next
		for { // a change that is near belongs to the same hunk
			for end < len(all) && changed(all[end]) {
				end++
			}
			more := slices.IndexFunc(all[end:], changed)
			if more < 0 || more > 2*around {
				break
			}
			end += more
		}
		to := min(len(all), end+around)
		skip(from)
		first, second := oldLine, newLine
		var body strings.Builder
		for _, l := range all[from:to] {
			body.WriteByte(l.sign)
			body.WriteString(strings.TrimRight(l.text, "\r\n") + "\n")
		}
		skip(to)
		fmt.Fprintf(&out, "@@ -%s +%s @@\n%s", span(first, oldLine), span(second, newLine), body.String())
	}
}

func span(from, to int) string {
	if from == to {
		from-- // as diff counts what is not there
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from, to-from)
}

// compare pairs the lines of two texts by their longest common subsequence.
func compare(a, b []string) []diffLine {
	var out []diffLine
	add := func(sign byte, list []string) {
		for _, l := range list {
			out = append(out, diffLine{sign, l})
		}
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	add(' ', a[:head])
	same := a[len(a)-tail:]
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			add(' ', a[i:i+1])
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			add('-', a[i:i+1])
			i++
		default:
			add('+', b[j:j+1])
			j++
		}
	}
	add('-', a[i:])
	add('+', b[j:])
	add(' ', same)
	return out
}

func lines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}
