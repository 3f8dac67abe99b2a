// Command prose checks the texts of the project: private words that build/words.tsv replaces, misspelled words, links
// of the documents, and cells of tables that are too long to read. Run it from the top of the tree; it prints a line for
// each finding and ends with 1 where there is one.
//
// It reads documents, the window's messages, and of Go files the comments and the sentences among the strings.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/golangci/misspell"
)

func main() {
	findings, err := check(".", os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	if findings > 0 {
		fmt.Fprintf(os.Stderr, "prose: %d findings; the words are in build/words.tsv\n", findings)
		os.Exit(1)
	}
}

const wordList = "build/words.tsv"

// A text is what people read in one file, with everything else blanked, so that lines stay.
type text struct{ file, words string }

type finding struct {
	file    string
	line    int
	message string
}

// check prints what is wrong in the tree below root and says how many findings there are.
func check(root string, out io.Writer) (int, error) {
	words, err := readWords(filepath.Join(root, wordList))
	if err != nil {
		return 0, err
	}
	texts, err := read(root)
	if err != nil {
		return 0, err
	}
	found, err := checkDocuments(root)
	if err != nil {
		return 0, err
	}
	for _, t := range texts {
		found = append(found, words.find(t)...)
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.message, b.message))
	})
	for _, f := range found {
		fmt.Fprintf(out, "%s:%d: %s\n", f.file, f.line, f.message)
	}
	return len(found), nil
}

type words struct {
	any   *regexp.Regexp
	each  []*regexp.Regexp
	say   []string
	spell *misspell.Replacer
}

// readWords reads lines of a word not to use, as a regular expression for whole words, a tab, and what to say instead.
func readWords(file string) (*words, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := &words{spell: misspell.New()}
	w.spell.AddRuleList(misspell.DictAmerican)
	w.spell.Compile()
	var all []string
	for lines, n := bufio.NewScanner(f), 1; lines.Scan(); n++ {
		if lines.Text() == "" || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		not, say, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no tab", file, n)
		}
		not = strings.ReplaceAll(not, " ", `[\s/*|>]+`) // a phrase may continue in the next line
		one, err := regexp.Compile(`(?i)^(?:` + not + `)$`)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		all, w.each, w.say = append(all, not), append(w.each, one), append(w.say, say)
	}
	w.any, err = regexp.Compile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	return w, err
}

func (w *words) find(t text) []finding {
	var found []finding
	for _, at := range w.any.FindAllStringIndex(t.words, -1) {
		word := t.words[at[0]:at[1]]
		i := slices.IndexFunc(w.each, func(r *regexp.Regexp) bool { return r.MatchString(word) })
		found = append(found, finding{
			t.file, 1 + strings.Count(t.words[:at[0]], "\n"),
			fmt.Sprintf("%q: say %s", strings.Join(strings.Fields(word), " "), w.say[i]),
		})
	}
	_, misspelled := w.spell.Replace(t.words)
	for _, m := range misspelled {
		found = append(found, finding{t.file, m.Line, fmt.Sprintf("%q: is spelled %q", m.Original, m.Corrected)})
	}
	return found
}
