// Command judge holds summaries of recorded fresh cases against the truth, without recording them again:
//
//	go run ./build/corpus/fresh/judge -dir DIR             what is false or not said, by case
//	go run ./build/corpus/fresh/judge -dir DIR -case NAME  the summary of one case, claim by claim
package main

import (
	"flag"
	"fmt"
	"os"

	"deskbell/build/corpus/fresh"
)

func main() {
	dir := flag.String("dir", "", "the folder of the cases (FRESH_DIR)")
	name := flag.String("case", "", "one case, with every claim")
	flag.Parse()
	if err := run(*dir, *name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, name string) error {
	cases, truths, err := fresh.Load(dir)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for i, c := range cases {
		if name != "" && c.Name != name {
			continue
		}
		claims, err := fresh.Judge(c, truths[i])
		if err != nil {
			return err
		}
		for _, one := range claims {
			counts[one.Lang+" "+one.Verdict]++
			if name != "" || one.Verdict == "false" || one.Verdict == "not said" {
				fmt.Printf("%s %s %-8s %s: %q %s\n", c.Name, one.Lang, one.Verdict, one.Where, one.Text, one.Why)
			}
		}
	}
	fmt.Println(counts)
	return nil
}
