package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// The sentences that the gatekeeper sends, beside those in Go.
const sentences = "backend/human/sentences.txt"

var (
	skipped  = regexp.MustCompile(`^(\.|node_modules$|testdata$|dist$|bin$|tools$|paraglide$)`)
	messages = regexp.MustCompile(`^frontend/messages/[^/]+/en\.json$`)
	document = regexp.MustCompile(`^(docs/.*|[A-Z]+)\.md$`)

	// Words and phrases that summarizers look for on screens, however they are spelled.
	lists = regexp.MustCompile(`^summarizers/builtin/facts/words_`)

	// What is not prose: code, addresses of links, comments.
	notProse = regexp.MustCompile("(?ms)^```.*?^```|<!--.*?-->|`[^`]*`|\\]\\([^)]*\\)|https?://[^\\s)]+")
	// What is not a message: keys, codes, and names of parameters.
	notMessage = regexp.MustCompile(`(?m)^[a-z]+_\w+ |"[^"\n]*":|\{\w+\}|"(input|local) [^"]*"`)
	// What is not a sentence in Go: verbs of formats, code in quotation marks, flags, commands, values of the API,
	// errors of browsers, both spellings of a word that people write, names of programs.
	notSentence = regexp.MustCompile("`[^`\n]*`|%[-+#0-9.]*[a-zA-Z]|'[a-z]+ [^']*'|--?[a-z][a-z-]+|deskbell(-hook)?( [a-z]+)+|\\b[a-z]+_[a-z_]+\\b|(declined|modified),?( or)? cance(l)led|cance(l)led, timeout|begun, refused|(enum|json):\"[^\"]*\"|ERR_[A-Z_]+|analyze analyse|keeper password manager")
)

// read returns the texts of the tree below root.
func read(root string) ([]text, error) {
	var texts []text
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name != "." && skipped.MatchString(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case document.MatchString(name), messages.MatchString(name), name == sentences:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			not := notProse
			if !document.MatchString(name) {
				not = notMessage
			}
			texts = append(texts, text{name, blank(string(data), not)})
		case strings.HasSuffix(name, ".go"):
			these, err := readGo(path, name)
			if err != nil {
				return err
			}
			texts = append(texts, these...)
		}
		return nil
	})
	return texts, err
}

// blank puts spaces where not matches, and keeps the lines.
func blank(s string, not *regexp.Regexp) string {
	return not.ReplaceAllStringFunc(s, func(part string) string {
		return strings.Repeat("\n", strings.Count(part, "\n")) + " "
	})
}

// readGo returns the comments of a file, and the sentences among the strings of one that is no test.
func readGo(path, name string) ([]text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	comments, said := page{}, page{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "//go:") && !strings.HasPrefix(c.Text, "//nolint") {
				comments.put(files.Position(c.Pos()).Line, c.Text)
			}
		}
	}
	if !strings.HasSuffix(name, "_test.go") && !lists.MatchString(name) {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, is := n.(*ast.ImportSpec); is {
				return false
			}
			if lit, is := n.(*ast.BasicLit); is && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && len(strings.Fields(s)) > 1 {
					said.put(files.Position(lit.Pos()).Line, strings.ReplaceAll(s, "\n", " "))
				}
			}
			return true
		})
	}
	return []text{
		{name, blank(comments.String(), notSentence)},
		{name, blank(said.String(), notSentence)},
	}, nil
}

// A page is built of texts at lines, in the order of the lines.
type page struct {
	b     strings.Builder
	lines int
}

func (p *page) put(line int, s string) {
	for ; p.lines < line-1; p.lines++ {
		p.b.WriteByte('\n')
	}
	p.b.WriteString(s + " ")
	p.lines += strings.Count(s, "\n")
}

func (p *page) String() string { return p.b.String() }
