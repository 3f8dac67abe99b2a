package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const (
	listed  = "2999-12-31\texample TestShaky\tits clock is fast"
	outdate = "2001-12-31\texample TestShaky\tits clock is fast"
	other   = "2999-12-31\texample TestSteady\tits clock is fast"
	unwhy   = "2999-12-31\texample TestShaky\t"
)

// In each module TestSteady passes; `first` says how TestShaky ends when it is run for the first time, `then` afterwards;
// `list` is what build/flaky.txt holds.
func TestWhatIsTriedAgain(t *testing.T) {
	const fails, passes = `t.Error("no")`, ``
	for _, c := range []struct {
		name, list, first, then string
		ci                      bool
		code                    int
		flags                   []string
	}{
		{"passes", "", passes, passes, true, 0, nil},
		{"passes at the second try", "", fails, passes, true, 1, nil},
		{"passes at the second try, and is on the list", "# why\n\n" + other + "\n" + listed + "\n", fails, passes, true, 0, nil},
		{"passes at the second try, and another is on the list", other, fails, passes, true, 1, nil},
		{"passes at the second try, and was on the list for a time", outdate, fails, passes, true, 1, nil},
		{"passes at the second try, in a subtest", listed, `t.Run("sub", func(t *testing.T) { t.Error("no") })`, passes, true, 0, nil},
		{"passes at the second try, at one's desk", listed, fails, passes, false, 1, nil},
		{"is on a list without a reason", unwhy, passes, passes, true, 1, nil},
		{"fails twice", listed, fails, fails, true, 1, nil},
		{"panics once", listed, `panic("no")`, passes, true, 1, nil},
		{"exits once", listed, `os.Exit(3)`, passes, true, 1, nil},
		{"takes too long once", listed, `select {}`, passes, true, 1, []string{"-timeout", "2s"}},
		{"races once", listed, `done := make(chan int); n := 0; go func() { n++; close(done) }(); n++; <-done`, passes, true, 1, []string{"-race"}},
		{"does not build", listed, `undefined()`, passes, true, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(file, text string) {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, folder := range []string{"other", "build"} {
				if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			write(flakyFile, c.list)
			write("other/other_test.go", "package other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n")
			write("go.mod", "module example\n\ngo 1.24\n")
			write("shaky_test.go", `package example

import (
	"os"
	"testing"
)

func TestSteady(t *testing.T) {}

func TestShaky(t *testing.T) {
	if _, err := os.Stat("again"); err == nil {
		`+c.then+`
		return
	}
	if err := os.WriteFile("again", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	`+c.first+`
}
`)
			t.Chdir(dir)
			forms := [][]string{{"./..."}}
			if c.code == 0 { // however packages are named, a test is found again
				forms = append(forms, []string{"example", "example/other"}, []string{"example/other", "example"})
			}
			for _, packages := range forms {
				_ = os.Remove("again")
				if code := run(slices.Concat([]string{"-count", "1"}, c.flags, packages), c.ci); code != c.code {
					t.Errorf("%v: the exit code is %d, not %d", packages, code, c.code)
				}
			}
		})
	}
}
