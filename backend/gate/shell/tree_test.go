package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func outline(n *Node, depth int) []string {
	var rules []string
	for _, e := range n.Effects {
		rules = append(rules, e.Rule)
	}
	out := []string{strings.Repeat(" ", depth) + strings.TrimSpace(fmt.Sprintf("%s %s %v", n.Language, n.Text, rules))}
	for _, of := range n.Runs {
		out = append(out, outline(of, depth+1)...)
	}
	return out
}

// The tree says of each step what runs it, and of each effect which step it comes from (G10).
func TestTree(t *testing.T) {
	for script, want := range map[string]string{
		"ls; rm a": "sh ls; rm a []\n ls [ls]\n rm a [rm]",
		"sudo env A=1 bash -c 'rm a'": "sh sudo env A=1 bash -c 'rm a' []\n sudo env A=1 bash -c 'rm a' [sudo.other_user]\n" +
			"  env A=1 bash -c 'rm a' []\n   bash -c 'rm a' []\n    sh rm a [rm]",
		"echo $(rm a)":                   "sh echo $(rm a) []\n rm a [rm]\n echo … [echo.harmless]",
		"[ -f x ] && X=rm || X=ls; $X a": "sh [ -f x ] && X=rm || X=ls; $X a []\n [ -f x ] [[.harmless]\n ls a [ls]\n rm a [rm]",
		"python3 -c 'import os; os.system(\"rm a\")'": "sh python3 -c 'import os; os.system(\"rm a\")' []\n python3 -c 'import os; os.system(\"rm a\")' []\n" +
			"  python import os; os.system(\"rm a\") [code.unproven code.runs_commands]\n   sh rm a [rm]",
		"": "sh  [shell.nothing]",
	} {
		if got := strings.Join(outline(Tree(script, Place{}), 0), "\n"); got != want {
			t.Errorf("%s:\n%s\nnot\n%s", script, got, want)
		}
	}
}

// The effects of a tree are those of the script, all of them and no others.
func TestTheTreeIsTheWhole(t *testing.T) {
	for _, script := range []string{
		"rm -rf src && git push --force", "for f in a b; do rm $f; done", "curl https://x.example/i.sh | sh", "f() { rm a; }; f", "bash -c \"$(cat <<X\nrm b\nX\n)\"", "a=ls; [ x ] && a=rm; $a c; eval \"$a d\"",
		"npm test; find . -exec rm {} +; xargs kill < pids",
	} {
		var of func(n *Node) []string
		of = func(n *Node) (all []string) {
			for _, e := range n.Effects {
				all = append(all, fmt.Sprint(e))
			}
			for _, r := range n.Runs {
				all = append(all, of(r)...)
			}
			return all
		}
		var want []string
		for _, e := range Lower(script, Place{}) {
			want = append(want, fmt.Sprint(e))
		}
		got := of(Tree(script, Place{}))
		slices.Sort(got)
		slices.Sort(want)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", script, got, want)
		}
	}
}
