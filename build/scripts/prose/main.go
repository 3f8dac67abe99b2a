// Command prose checks the texts of the project: private words that build/words.tsv replaces, misspelled words, links
// of the documents, and cells of tables that are too long to read. Run it from the top of the tree; it prints a line for
// each finding and ends with 1 where there is one.
//
// A text is checked in units: a document, a file of the window's messages, and of each Go package the comments, and the
// sentences among its strings. Units that still have findings are listed in build/words-todo.txt; the list only shrinks.
package main

import (
	"bufio"
	"cmp"
	"flag"
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
	shrink := flag.Bool("shrink", false, "remove from the list the units that have no finding any more")
	flag.Parse()
	findings, err := check(".", *shrink, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	if findings > 0 {
		fmt.Fprintf(os.Stderr, "prose: %d findings; the words are in build/words.tsv\n", findings)
		os.Exit(1)
	}
}

const (
	wordList = "build/words.tsv"
	todoList = "build/words-todo.txt"
)

// A text is a part of a unit: what people read in one file, with everything else blanked, so that lines stay.
type text struct {
	unit, file string
	words      string
}

type finding struct {
	file    string
	line    int
	message string
}

// check prints what is wrong in the tree below root and says how many findings there are.
func check(root string, shrink bool, out io.Writer) (int, error) {
	words, err := readWords(filepath.Join(root, wordList))
	if err != nil {
		return 0, err
	}
	listed, err := os.ReadFile(filepath.Join(root, todoList))
	if err != nil {
		return 0, err
	}
	todo := strings.Split(string(listed), "\n")
	texts, err := read(root)
	if err != nil {
		return 0, err
	}
	units := map[string]int{}
	var found []finding
	for _, t := range texts {
		these := words.find(t)
		units[t.unit] += len(these)
		if !slices.Contains(todo, t.unit) {
			found = append(found, these...)
		}
	}
	documents, err := checkDocuments(root)
	if err != nil {
		return 0, err
	}
	for _, f := range documents {
		units[f.file]++
		if !slices.Contains(todo, f.file) {
			found = append(found, f)
		}
	}
	done := func(line string) bool { return line != "" && line[0] != '#' && units[line] == 0 }
	if shrink {
		todo = slices.DeleteFunc(todo, done)
		if err := os.WriteFile(filepath.Join(root, todoList), []byte(strings.Join(todo, "\n")), 0o644); err != nil {
			return 0, err
		}
	}
	for i, line := range todo {
		if done(line) {
			found = append(found, finding{todoList, i + 1, line + " has no finding any more: go run ./build/scripts/prose -shrink"})
		}
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
