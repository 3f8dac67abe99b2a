// Command gotest runs `go test` with its arguments, prints a line for each package, the whole output of what failed
// and the names of what was skipped, and counts. It fails when go test does, and when not one test ran: a wrong -run
// pattern or a forgotten build tag must not pass for success.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// An event is one line of `go test -json` (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

type name struct{ pkg, test string }

// A report collects what one run of go test says.
type report struct {
	output                  map[string][]event // by package, until it passes
	groups                  map[name]bool      // tests that have subtests: those are counted in their place
	good                    map[name]bool      // tests whose output nobody needs
	tests                   map[string]int     // counted so far, by package
	passed, failed, skipped int
}

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
	r := report{output: map[string][]event{}, groups: map[name]bool{}, good: map[name]bool{}, tests: map[string]int{}}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	fmt.Printf("Go tests: %d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	switch {
	case err != nil:
		os.Exit(1)
	case r.passed == 0:
		fmt.Println("gotest: no test ran")
		os.Exit(1)
	}
}

func (r *report) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Print(string(line))
		return
	}
	switch e.Action {
	case "build-output":
		fmt.Print(e.Output)
	case "run":
		if i := strings.LastIndex(e.Test, "/"); i > 0 {
			r.groups[name{e.Package, e.Test[:i]}] = true
		}
	case "output":
		r.output[e.Package] = append(r.output[e.Package], e)
	case "pass", "fail", "skip":
		if e.Test != "" {
			r.test(e)
		} else {
			r.pkg(e)
		}
	}
}

func (r *report) test(e event) {
	r.good[name{e.Package, e.Test}] = e.Action != "fail"
	if e.Action == "skip" {
		fmt.Printf("skipped  %s %s\n", e.Package, e.Test)
	}
	if r.groups[name{e.Package, e.Test}] {
		return
	}
	r.tests[e.Package]++
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
	case "skip":
		r.skipped++
	}
}

func (r *report) pkg(e event) {
	switch {
	case e.Action == "fail":
		for _, o := range r.output[e.Package] {
			if !r.good[name{o.Package, o.Test}] {
				fmt.Print(o.Output)
			}
		}
	case r.tests[e.Package] > 0:
		fmt.Printf("ok  %s  %.1f s, %d tests\n", e.Package, e.Elapsed, r.tests[e.Package])
	}
	delete(r.output, e.Package)
}
