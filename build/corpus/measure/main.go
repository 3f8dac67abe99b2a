// Command measure has the built-in summarizers read the corpus, and prints how well they do:
//
//	go run ./build/corpus/measure             the table of docs/development/measurements.md
//	go run ./build/corpus/measure -all        also what is missed, unlisted or wrong, by case
//	go run ./build/corpus/measure -case NAME  what is reported of one case, and the actions it rests on
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"

	"deskbell/build/corpus"
	"deskbell/summarizers/builtin"
)

func main() {
	dir := flag.String("corpus", "build/corpus/testdata", "the folder of the cases")
	all := flag.Bool("all", false, "what is wrong, too")
	name := flag.String("case", "", "report one case")
	flag.Parse()
	if err := run(*dir, *name, *all); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, name string, wrong bool) error {
	cases, err := corpus.Load(dir)
	if err != nil {
		return err
	}
	if name != "" {
		cases = slices.DeleteFunc(cases, func(c corpus.Case) bool { return c.Name != name })
	}
	if len(cases) == 0 {
		return fmt.Errorf("no such case in %s", dir)
	}
	for _, lang := range corpus.Languages {
		if name != "" {
			if err := show(cases[0], lang); err != nil {
				return err
			}
		}
	}
	var judged []corpus.Judged
	for _, lang := range corpus.Languages {
		of, err := corpus.Measure(context.Background(), cases, corpus.ByName(builtin.All()), lang)
		if err != nil {
			return err
		}
		judged = append(judged, of...)
	}
	for _, j := range judged {
		if name != "" {
			fmt.Printf("\n%s\n\n%s\n\n", j.Report.Line, j.Report.Text)
			for _, f := range j.Report.Findings {
				fmt.Printf("  %-8s %s %v\n", f.Kind, f.Text, f.Evidence)
			}
			for _, f := range j.Report.Suggestions {
				fmt.Printf("  suggests %s %v\n", f.Text, f.Evidence)
			}
		}
		if wrong || name != "" {
			fmt.Print(j.String())
		}
	}
	fmt.Print("\n" + corpus.Table(judged))
	return nil
}

// show prints what a summarizer gets to read of the recordings.
func show(c corpus.Case, lang string) error {
	in, err := c.Input(lang)
	if err != nil {
		return err
	}
	for _, r := range in.Recordings {
		fmt.Printf("\n%s in %s\n", r.ID, lang)
		for _, a := range r.Actions {
			fmt.Printf("  %6.1f %-6s %-13s %s\n", float64(a.At)/1e9, a.ID, a.Type, a.Words)
		}
	}
	for _, s := range in.Checklist {
		fmt.Printf("  [%t] %s\n", s.Done, s.Text)
	}
	return nil
}
