package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A cell of more characters than this is a section.
const longestCell = 250

var (
	code    = regexp.MustCompile("(?ms)^```.*?^```|<!--.*?-->")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	cells   = regexp.MustCompile(`(?:^|[^\\])\|`)
)

// checkDocuments looks at README.md, CHANGELOG.md and docs: links that lead nowhere, documents that no link leads to, and
// cells of tables that are too long to read.
func checkDocuments(root string) ([]finding, error) {
	var found []finding
	linked := map[string]bool{"README.md": true}
	var names []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			name, err := filepath.Rel(root, f)
			if err != nil {
				return nil, err
			}
			names = append(names, filepath.ToSlash(name))
		}
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		prose := blank(string(data), code)
		for _, at := range link.FindAllStringSubmatchIndex(prose, -1) {
			line, to := 1+strings.Count(prose[:at[0]], "\n"), prose[at[2]:at[3]]
			target, wrong := follow(root, name, to)
			linked[target] = true
			if wrong != "" {
				found = append(found, finding{name, line, wrong})
			}
		}
		for i, line := range strings.Split(prose, "\n") {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			for _, cell := range cells.Split(line, -1) {
				if n := utf8.RuneCountInString(strings.TrimSpace(cell)); n > longestCell {
					found = append(found, finding{name, i + 1, fmt.Sprintf("a cell of %d characters: make it a section", n)})
				}
			}
		}
	}
	for _, name := range names {
		// Prompts are examples of a format, not documents.
		if !linked[name] && !strings.Contains(name, "/examples/prompt") {
			found = append(found, finding{name, 1, "no document links here: add it to docs/README.md"})
		}
	}
	return found, nil
}

// follow returns the file that a link in the document from leads to, and what is wrong with it.
func follow(root, from, to string) (target, wrong string) {
	u, err := url.Parse(to)
	if err != nil {
		return "", err.Error()
	}
	if u.Scheme != "" {
		return "", ""
	}
	target = from
	if u.Path != "" {
		target = filepath.ToSlash(filepath.Join(filepath.Dir(from), filepath.FromSlash(u.Path)))
	}
	info, err := os.Stat(filepath.Join(root, target))
	if err != nil {
		return target, fmt.Sprintf("a link to %s, which is not there", to)
	}
	if u.Fragment == "" || info.IsDir() {
		return target, ""
	}
	data, err := os.ReadFile(filepath.Join(root, target))
	if err != nil {
		return target, err.Error()
	}
	for _, h := range heading.FindAllStringSubmatch(blank(string(data), code), -1) {
		if anchor(h[1]) == u.Fragment {
			return target, ""
		}
	}
	return target, fmt.Sprintf("a link to %s, where no heading is called that", to)
}

// anchor is a heading's name in a link, as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(heading, ""))
}
