package box

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

const writesMuch = `mkdir -p new/deep empty; echo 1 > new/deep/a; echo 1 > new/b; rm -r gone; rm -r was; echo 1 > was; rm turned; mkdir turned; echo 1 > turned/in
	echo 1 > .git/index; mkdir -p .git/objects/aa; echo 1 > .git/objects/aa/bb; mkdir .git/hooks; echo 1 > .git/hooks/pre-commit; ln -s /etc/passwd out; chmod 700 sub`

// Every part of a result can be kept without the rest, and brings the folders that it needs.
func TestAPartOfAResultIsKept(t *testing.T) {
	all := []string{".git/", ".git/hooks/pre-commit", "empty", "gone/x", "gone/y", "new/b", "new/deep/a", "out", "sub", "turned/in", "was"}
	for _, tt := range []struct {
		keep, there, gone []string
	}{
		{[]string{"new/b"}, []string{"new/b", "gone/x", "was/in", "turned"}, []string{"new/deep", "out", ".git/index", "empty"}},
		{[]string{"new/deep/a"}, []string{"new/deep/a"}, []string{"new/b"}},
		{[]string{"gone/x"}, []string{"gone/y"}, []string{"gone/x"}},
		{[]string{"gone/x", "gone/y"}, nil, []string{"gone"}},
		{[]string{"was", "empty"}, []string{"was", "empty"}, []string{"was/in", "new"}},
		{[]string{"turned/in"}, []string{"turned/in"}, []string{"new"}},
		{[]string{".git/"}, []string{".git/index", ".git/objects/aa/bb"}, []string{".git/hooks"}},
		{[]string{".git/hooks/pre-commit"}, []string{".git/hooks/pre-commit"}, []string{".git/index"}},
		{all, []string{"new/b", "new/deep/a", "was", "turned/in", ".git/index", ".git/hooks/pre-commit", "out", "empty"}, []string{"gone", "was/in"}},
	} {
		t.Run(strings.Join(tt.keep, " "), func(t *testing.T) {
			root := project(t, "gone/x", "x", "gone/y", "y", "was/in", "in", "turned", "file", "sub/s", "s")
			b := boxed(t, root, writesMuch)
			runs(t, b)
			c := changes(t, b)
			var paths []string
			for _, o := range c.Choices() {
				paths = append(paths, o.Path)
			}
			slices.Sort(paths)
			if !slices.Equal(paths, all) {
				t.Fatalf("the choices are %q", paths)
			}
			some, err := c.Chosen(tt.keep)
			if err == nil {
				err = b.Seal(some)
			}
			if err == nil {
				err = b.Keep(some)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range tt.there {
				if _, err := os.Lstat(filepath.Join(root, path)); err != nil {
					t.Error(err)
				}
			}
			for _, path := range tt.gone {
				if _, err := os.Lstat(filepath.Join(root, path)); err == nil {
					t.Errorf("%s is there", path)
				}
			}
		})
	}
}

func TestOnlyWhatWasWrittenIsChosen(t *testing.T) {
	c := Changes{Files: []Change{{Path: "a", How: Added, After: 0o644}}}
	for _, path := range []string{"", "b", "../a", "a/", ".git/"} {
		if some, err := c.Chosen([]string{path}); human.KindOf(err) != human.Invalid || len(some.Files) > 0 {
			t.Errorf("%q: %v, %v", path, some, err)
		}
	}
}

// The copy is where other programs of the same user can write, too: what they wrote after it was shown is not kept.
func TestNothingIsKeptThatWasNotShown(t *testing.T) {
	for name, meanwhile := range map[string]string{
		"a file with a diff": "echo evil > a", "one without": "printf 'evil\\0' > big", "a link": "rm link; ln -s b link", "a file in a link's place": "rm link; echo > link",
		"a link in a file's place": "rm a; ln -s b a", "one that is gone": "rm a",
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t, "a", "a", "b", "b")
			b := boxed(t, root, "echo 1 > a; printf '1\\0' > big; ln -s a link")
			runs(t, b)
			c := changes(t, b)
			for _, f := range c.Files {
				b.Diff(f)
			}
			if err := b.Seal(c); err != nil {
				t.Fatal(err)
			}
			before := whole(t, root)
			cmd := exec.Command("sh", "-c", meanwhile)
			cmd.Dir = b.tree()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if err := b.Keep(c); err == nil {
				t.Error("it is kept")
			}
			if after := whole(t, root); after != before {
				t.Errorf("%s\nis now\n%s", before, after)
			}
		})
	}
}
