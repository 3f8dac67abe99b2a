// Command gotest runs `go test` with its arguments, prints a line for each package, the whole output of what failed
// and the names of what was skipped, and counts. It fails when go test does, and when not one test ran: a wrong -run
// pattern or a forgotten build tag must not pass for success.
//
// In CI, whose machines are shared, a test that failed is run once more, by itself; one that passes then is counted as
// flaky and named. A data race, a panic, a time limit and whatever else is no test's own failure stay failures.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
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
	packages                map[string]bool     // all that were named
	output                  map[string][]event  // by package, until it passes
	groups                  map[name]bool       // tests that have subtests: those are counted in their place
	good                    map[name]bool       // tests whose output nobody needs
	tests                   map[string]int      // counted so far, by package
	again                   map[string][]string // top-level tests that failed and may be tried again, by package
	final                   bool                // something failed that is not to be tried again
	passed, failed, skipped int
}

func main() {
	os.Exit(run(os.Args[1:], os.Getenv("CI") != ""))
}

// run returns the exit code.
func run(args []string, ci bool) int {
	r, err := goTest(args)
	flaky := 0
	if err != nil && ci && !r.final && len(r.again) > 0 {
		if flaky = r.retry(args); flaky > 0 {
			r.passed, r.failed, err = r.passed+r.failed, 0, nil
		}
	}
	fmt.Printf("Go tests: %d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	if flaky > 0 {
		fmt.Printf("%d flaky\n", flaky)
	}
	switch {
	case err != nil:
		return 1
	case r.passed == 0:
		fmt.Println("gotest: no test ran")
		return 1
	}
	return 0
}

// retry runs the tests that failed once more, and returns how many they are; 0 when one failed again.
func (r *report) retry(args []string) int {
	flags := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return strings.HasPrefix(arg, "./") || r.packages[arg]
	})
	flaky := 0
	for _, pkg := range slices.Sorted(maps.Keys(r.again)) {
		names := r.again[pkg]
		fmt.Printf("again  %s %s\n", pkg, strings.Join(names, " "))
		// Of a flag that is given twice, the last counts.
		r, err := goTest(append(slices.Clone(flags), "-count", "1", "-run", "^("+strings.Join(names, "|")+")$", pkg))
		if err != nil || r.passed == 0 {
			return 0
		}
		for _, test := range names {
			fmt.Printf("flaky  %s %s\n", pkg, test)
		}
		flaky += len(names)
	}
	return flaky
}

// goTest runs go test and prints what it says.
func goTest(args []string) (*report, error) {
	r := &report{packages: map[string]bool{}, output: map[string][]event{}, groups: map[name]bool{}, good: map[name]bool{}, tests: map[string]int{}, again: map[string][]string{}}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	// Before it exits, the race detector waits a second for what other goroutines may still do. Tests that start hundreds
	// of processes spend minutes there.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=20 "+os.Getenv("GORACE"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		return r, err
	}
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
	return r, cmd.Wait()
}

// fatal finds what is no test's own failure in the output of a package.
var fatal = regexp.MustCompile(`^(WARNING: DATA RACE|panic: |fatal error: |signal: |testing: race detected)`)

func (r *report) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Print(string(line))
		return
	}
	r.packages[e.Package] = true
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
	if e.Action == "fail" && !strings.Contains(e.Test, "/") {
		r.again[e.Package] = append(r.again[e.Package], e.Test)
	}
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
		r.final = r.final || r.again[e.Package] == nil // it did not build, or ended before its tests did
		for _, o := range r.output[e.Package] {
			r.final = r.final || fatal.MatchString(strings.TrimSpace(o.Output))
			if !r.good[name{o.Package, o.Test}] {
				fmt.Print(o.Output)
			}
		}
	case r.tests[e.Package] > 0:
		fmt.Printf("ok  %s  %.1f s, %d tests\n", e.Package, e.Elapsed, r.tests[e.Package])
	}
	delete(r.output, e.Package)
}
