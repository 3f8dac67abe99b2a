package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

const (
	maxIgnored  = 256 << 10 // bytes of the files of patterns from the root to a folder
	maxPatterns = 5000      // in one file
)

// A pattern is a line of a .gitignore, see gitignore(5).
type pattern struct {
	parts    []string // between slashes, ** among them; one alone is of any depth
	not, dir bool
	deep     bool // it counts in folders below, too: it has no slash
}

// patterns are those of one file, of the folder it is in.
type patterns struct {
	base string // with a slash at its end; empty for the root
	list []pattern
	size int       // bytes of its file, and of those above
	up   *patterns // of the folder above; what is nearer decides
}

// parseIgnore reads the patterns of a file. ok is false where one has what is not compared here: an escape, a class with a
// name, two stars beside something else.
func parseIgnore(text string) (list []pattern, ok bool) {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	if strings.ContainsAny(text, "\\\x00") {
		return nil, false
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(strings.TrimSuffix(line, "\r"), " ")
		if line == "" || line[0] == '#' {
			continue
		}
		var p pattern
		line, p.not = strings.CutPrefix(line, "!")
		line, p.dir = strings.CutSuffix(line, "/")
		p.deep = !strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if line == "" {
			continue // it fits nothing
		}
		p.parts = strings.Split(line, "/")
		for _, part := range p.parts {
			if part == "" || !comparable(part) || strings.Contains(part, "**") && (part != "**" || p.deep) {
				return nil, false
			}
		}
		if list = append(list, p); len(list) > maxPatterns {
			return nil, false
		}
	}
	return list, true
}

// comparable says whether globs compares a part of a pattern as git does.
func comparable(part string) bool {
	for {
		_, class, found := strings.Cut(part, "[")
		if !found {
			return true
		}
		class = strings.TrimLeft(class[:min(1, len(class))], "!^") + class[min(1, len(class)):]
		inner, rest, closed := strings.Cut(class, "]")
		if !closed || inner == "" || strings.ContainsAny(inner, "[!^:") {
			return false
		}
		for i := range len(inner) {
			if inner[i] == '-' && (i == 0 || i == len(inner)-1 || inner[i-1] > inner[i+1] || i+2 < len(inner) && inner[i+2] == '-') || inner[i] >= 0x80 {
				return false
			}
		}
		part = rest
	}
}

// globs compares a name with a part of a pattern, which has no ** and is comparable. It takes at most the product of both lengths.
func globs(part, name string) bool {
	i, back, again := 0, -1, 0
	for j := 0; j < len(name) || i < len(part); {
		if i < len(part) {
			if part[i] == '*' {
				back, again = i, j+1
				i++
				continue
			}
			if j < len(name) {
				if n := one(part[i:], name[j]); n > 0 {
					i, j = i+n, j+1
					continue
				}
			}
		}
		if back < 0 || again > len(name) {
			return false
		}
		i, j = back, again
		back = -1
	}
	return true
}

// one is how long the beginning of a part is that fits a character; 0 where it does not.
func one(part string, c byte) int {
	switch part[0] {
	case '?':
		return 1
	case '[':
	default:
		if part[0] == c {
			return 1
		}
		return 0
	}
	end := strings.IndexByte(part, ']')
	class := part[1:end]
	not := class[0] == '!' || class[0] == '^'
	if not {
		class = class[1:]
	}
	fits := false
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			fits = fits || class[i] <= c && c <= class[i+2]
			i += 2
			continue
		}
		fits = fits || class[i] == c
	}
	if fits == not {
		return 0
	}
	return end + 1
}

// fits compares a path below the patterns' folder.
func (p *pattern) fits(path string, dir bool) bool {
	if p.dir && !dir {
		return false
	}
	if p.deep {
		return globs(p.parts[0], path[strings.LastIndexByte(path, '/')+1:])
	}
	names := strings.Split(path, "/")
	i, back, again := 0, -1, 0
	for j := 0; j < len(names) || i < len(p.parts); {
		if i < len(p.parts) {
			if p.parts[i] == "**" {
				if i == len(p.parts)-1 {
					return j < len(names) // all in a folder, and not the folder
				}
				back, again = i, j+1
				i++
				continue
			}
			if j < len(names) && globs(p.parts[i], names[j]) {
				i, j = i+1, j+1
				continue
			}
		}
		if back < 0 || again > len(names) {
			return false
		}
		i, j = back, again
		back = -1
	}
	return true
}

// ignored says whether the patterns leave a path out, whose folder they do not.
func (p *patterns) ignored(path string, dir bool) bool {
	for ; p != nil; p = p.up {
		rel := strings.TrimPrefix(path, p.base)
		for i := len(p.list) - 1; i >= 0; i-- {
			if p.list[i].fits(rel, dir) {
				return !p.list[i].not
			}
		}
	}
	return false
}

// with adds those of a folder's own file. name is the file, base the folder's path with a slash at its end.
func (p *patterns) with(name, base string) (all *patterns, ok bool) {
	text, err := small(name, maxIgnored)
	if errors.Is(err, fs.ErrNotExist) {
		return p, true
	}
	if err != nil {
		return nil, false
	}
	size := len(text)
	if p != nil {
		size += p.size
	}
	list, ok := parseIgnore(text)
	if !ok || len(list) == 0 {
		return p, ok
	}
	return &patterns{base: base, list: list, size: size, up: p}, size <= maxIgnored
}

// exclude are the patterns of a repository that are in none of its folders.
func (r *Repo) exclude() (*patterns, bool) {
	return (*patterns)(nil).with(filepath.Join(r.common, "info", "exclude"), "")
}
