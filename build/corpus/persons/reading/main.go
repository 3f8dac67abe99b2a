// Command reading reads a folder of recordings of desktops, each with its truth beside it, and prints how much of what was done
// they have, and what their summaries say that is not true:
//
//	go run ./build/corpus/persons/reading FOLDER
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
	"deskbell/build/corpus"
	"deskbell/build/corpus/persons"
	"deskbell/summarizers/builtin"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "reading: name the folder")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "reading:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil {
		return err
	}
	var sum persons.Reading
	choose := corpus.ByName(builtin.All())
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".truth.json")
		truth, err := persons.Load(dir, name)
		if err != nil {
			return err
		}
		c, err := corpus.Read(dir, name)
		if err != nil {
			return err
		}
		list, err := actions.From(func(yield func(human.RecordedEvent, error) bool) {
			for _, e := range slices.Concat(c.Events...) {
				if !yield(e, nil) {
					return
				}
			}
		}, "en")
		if err != nil {
			return err
		}
		r := truth.Read(list)
		in, err := c.Input("en")
		if err != nil {
			return err
		}
		s, err := choose(c)
		if err != nil {
			return err
		}
		report, err := s.Summarize(context.Background(), in, func(human.Progress) {})
		if err != nil {
			return err
		}
		truth.Claims(report, &r)
		fmt.Printf("%s: %d of %d recorded, %d of %d named, line %q\n", name, r.Recorded, r.Acts, r.Named, r.Targets, report.Line)
		for what, all := range map[string][]string{"lost": r.Lost, "misnamed": r.Misnamed, "invented": r.Invented, "FALSE": r.False, "not judged": r.Unjudged} {
			for _, one := range all {
				fmt.Printf("   %-10s %s\n", what, one)
			}
		}
		sum.Add(r)
	}
	fmt.Println()
	fmt.Print(sum.Table(len(files)))
	return nil
}
