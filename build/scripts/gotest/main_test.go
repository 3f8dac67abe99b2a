package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// In each module TestSteady passes; `first` says how TestShaky ends when it is run for the first time, `then` afterwards.
func TestWhatIsTriedAgain(t *testing.T) {
	const fails, passes = `t.Error("no")`, ``
	for _, c := range []struct {
		name, first, then string
		ci                bool
		code              int
		flags             []string
	}{
		{"passes", passes, passes, true, 0, nil},
		{"passes at the second try", fails, passes, true, 0, nil},
		{"passes at the second try, in a subtest", `t.Run("sub", func(t *testing.T) { t.Error("no") })`, passes, true, 0, nil},
		{"passes at the second try, at one's desk", fails, passes, false, 1, nil},
		{"fails twice", fails, fails, true, 1, nil},
		{"panics once", `panic("no")`, passes, true, 1, nil},
		{"exits once", `os.Exit(3)`, passes, true, 1, nil},
		{"takes too long once", `select {}`, passes, true, 1, []string{"-timeout", "2s"}},
		{"races once", `done := make(chan int); n := 0; go func() { n++; close(done) }(); n++; <-done`, passes, true, 1, []string{"-race"}},
		{"does not build", `undefined()`, passes, true, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(file, text string) {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "other"), 0o700); err != nil {
				t.Fatal(err)
			}
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
			for _, packages := range [][]string{{"./..."}, {"example", "example/other"}, {"example/other", "example"}} {
				_ = os.Remove("again")
				if code := run(slices.Concat([]string{"-count", "1"}, c.flags, packages), c.ci); code != c.code {
					t.Errorf("%v: the exit code is %d, not %d", packages, code, c.code)
				}
			}
		})
	}
}
