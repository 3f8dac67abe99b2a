// Command gotest runs `go test` with its arguments, prints a line for each package, the whole output of what failed
// and the names of what was skipped, and counts. It fails when go test does, and when not one test ran: a wrong -run
// pattern or a forgotten build tag must not pass for success.
//
// In CI, whose machines are shared, a test that failed is run once more, by itself, and named as flaky where it then passes.
// That still fails the run, unless the test is on the list in build/flaky.txt. A data race, a panic, a time limit and
// whatever else is no test's own failure stay failures.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
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
	known, err := readFlaky(flakyFile, time.Now())
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		return 1
	}
	r, err := goTest(args)
	if err != nil && ci && !r.final && len(r.again) > 0 && r.retry(args, known) {
		r.passed, r.failed, err = r.passed+r.failed, 0, nil
	}
	fmt.Printf("Go tests: %d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	switch {
	case err != nil:
		return 1
	case r.passed == 0:
		fmt.Println("gotest: no test ran")
		return 1
	}
	return 0
}

// flakyFile lists the tests that may need a second try, one a line: the last day on which they may (2006-01-02), the name
// as it is printed here (or by Playwright), and the reason, with tabs between them. `#` begins a comment.
const flakyFile = "build/flaky.txt"

// readFlaky returns the names on the list whose day has not passed. A list that does not exist is empty.
func readFlaky(path string, now time.Time) (map[string]bool, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known := map[string]bool{}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "\t")
		last, err := time.Parse(time.DateOnly, parts[0])
		if err != nil || len(parts) != 3 || parts[1] == "" || parts[2] == "" {
			return nil, fmt.Errorf("%s:%d is not a date, a test and a reason with tabs between them", path, i+1)
		}
		if now.Before(last.AddDate(0, 0, 1)) {
			known[parts[1]] = true
		}
	}
	return known, nil
}

// retry runs the tests that failed once more, names those that pass, and says whether each of them did and is known to be
// flaky.
func (r *report) retry(args []string, known map[string]bool) bool {
	flags := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return strings.HasPrefix(arg, "./") || r.packages[arg]
	})
	excused := true
	for _, pkg := range slices.Sorted(maps.Keys(r.again)) {
		names := r.again[pkg]
		fmt.Printf("again  %s %s\n", pkg, strings.Join(names, " "))
		// Of a flag that is given twice, the last counts.
		again, err := goTest(append(slices.Clone(flags), "-count", "1", "-run", "^("+strings.Join(names, "|")+")$", pkg))
		excused = excused && err == nil && again.passed > 0
		for _, test := range names {
			switch id := pkg + " " + test; {
			case !again.good[name{pkg, test}]:
			case known[id]:
				fmt.Printf("flaky  %s, as %s says\n", id, flakyFile)
			default:
				excused = false
				fmt.Printf("flaky  %s: fix it, or put it on the list in %s\n", id, flakyFile)
			}
		}
	}
	return excused
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
