package rules

import (
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	for _, x := range []struct {
		pattern, path string
		want, meets   bool
	}{
		{"/a/b", "/a/b", true, true},
		{"/a/b", "/a/bc", false, false},
		{"/a/b", "/a", false, false},
		{"/a/*", "/a/b", true, true},
		{"/a/*", "/a/b/c", false, false},
		{"/a/b*d", "/a/bxd", true, true},
		{"/a/**", "/a", true, true},
		{"/a/**", "/a/b/c", true, true},
		{"/**/x.txt", "/a/b/x.txt", true, true},
		{"/**/x.txt", "/x.txt", true, true},
		{"/a/**/b/**/c", "/a/x/b/y/z/c", true, true},
		{"/a/**/b/**/c", "/a/x/y/z/c", false, false},
		{"/a/b/c.txt", "/a/*/c.txt", false, true},
		{"/a/b/**", "/a/*/c.txt", false, true},
		{"/a/b/c.txt", "/a/b/*.txt", false, true},
		{"/a/b/c.txt", "/a/b/*.go", false, false},
		{"/a/b/c.txt", "/a/**/c.txt", false, true},
		{"/a/b*", "/a/*c", false, true},
		{"/a/b", "/a/?", false, true},
		{"/a/b", "/a/{b,c}", false, true},
	} {
		if got := globPath(split(x.pattern), split(x.path)); got != x.want {
			t.Errorf("%s is of %s: %v", x.path, x.pattern, got)
		}
		if got := meet(split(x.pattern), split(x.path)); got != x.meets {
			t.Errorf("%s can be of %s: %v", x.path, x.pattern, got)
		}
	}
}

func TestCommands(t *testing.T) {
	for text, want := range map[string]string{
		"git push":          "git push",
		" git   push\t*  ":  "git push *",
		"git 'a b' \"*\"":   "git 'a b' '*'",
		`a \* b\ c`:         `a '*' 'b c'`,
		`a "b\"c" 'd\e' **`: `a 'b"c' 'd\e' **`,
		`a ''`:              `a ''`,
		"a 'b'\"c\"d":       "a bcd",
	} {
		c, err := parseCommand(text)
		if err != nil || c.String() != want {
			t.Errorf("%q reads as %q, %v", text, c, err)
		}
		again, err := parseCommand(c.String())
		if err != nil || again.String() != want {
			t.Errorf("%q, spelled, reads as %q, %v", text, again, err)
		}
	}
	for text, x := range map[string]struct{ words, others string }{
		"rm -rf":           {"rm -rf|rm -fr|rm -r -f|rm -rvf|rm -r -f -v|rm -rf x", "rm -r|rm|rm -rf x y|x rm -rf"},
		"rm -rf **":        {"rm -rf x|rm x -rf|rm -r x -f y", "rm -r x|echo -rf"},
		"git push --force": {"git push --force|git push --force=x|git --no-pager push --force|git -C a push --force", "git push|git push --forced|git push x --force"},
		"git push **":      {"git push|git -c a=b push x|/usr/bin/git push|GIT push", "git pull|git x"},
		"npm * --global":   {"npm install --global|npm --global x", "npm --global|npm install"},
		"* --force **":     {"x --force|y z --force", "--force|x -f"},
		"docker rm * *":    {"docker rm a b", "docker rm a|docker rm a b c"},
		"tar -xf a.tar":    {"tar -x -f a.tar|tar -xvf a.tar", "tar -x a.tar"},
	} {
		c, err := parseCommand(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []struct {
			of   string
			want bool
		}{{x.words, true}, {x.others, false}} {
			for one := range strings.SplitSeq(list.of, "|") {
				if got := c.within(strings.Fields(one)); got != list.want {
					t.Errorf("%q is %q: %v", one, text, got)
				}
			}
		}
	}
}
