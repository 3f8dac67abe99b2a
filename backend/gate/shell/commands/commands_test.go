package commands

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"deskbell/backend/gate/shell/arg"
)

func TestKnowledgeIsRead(t *testing.T) {
	all := Names()
	if len(all) < 800 {
		t.Errorf("%d commands", len(all))
	}
	for _, name := range all {
		s := Of(name)
		if s == nil || len(s.Rules) == 0 && s.Wrap < 0 && !s.Verbs {
			t.Errorf("%s: its entry says nothing", name)
		}
	}
}

func TestIndex(t *testing.T) {
	for name, texts := range map[string][]string{
		"a name twice":             {"#\n@a b\n. : read\n@c a\n"},
		"a name in two texts":      {"#\n@a\n", "#\n@a\n"},
		"a command before a title": {"@a\n. : read\n"},
		"more than it has room":    {"#\n@" + strings.Join(numbers(slotCount/2+1), " ") + "\n"},
	} {
		if _, err := makeIndex(texts...); err == nil {
			t.Errorf("%s: made", name)
		}
	}
	x, err := makeIndex("# Title\n\n@a bb\nvalues -x\n. : read\n@c\n@dd e", "#\n@f\n# a comment")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"a": "values -x\n. : read", "bb": "values -x\n. : read", "c": "", "dd": "", "e": "", "f": "# a comment"} {
		if _, s := x.slot(name); s == nil || s.body != body {
			t.Errorf("%s: %+v, want %q", name, s, body)
		}
	}
	for _, name := range []string{"", "b", "a bb", "d", "bbb", " ", "values"} {
		if _, s := x.slot(name); s != nil {
			t.Errorf("%q is in %q", name, s.head)
		}
	}
}

// A hook makes the index for one call.
func TestIndexIsMadeOfNothing(t *testing.T) {
	made := testing.AllocsPerRun(10, func() {
		if _, err := makeIndex(cloudText, devText, everydayText, systemText); err != nil {
			t.Fatal(err)
		}
	})
	if made > 5 {
		t.Errorf("it takes %v allocations", made)
	}
}

func numbers(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}

// Every rule can be met by each of its words: a command made of its own pattern is found by it. Of options the first is tried:
// others may be bundles of one-letter ones, of which the rule excludes some.
func TestEveryRuleCanBeMet(t *testing.T) {
	for _, name := range Names() {
		s := Of(name)
		for i := range s.Rules {
			r := &s.Rules[i]
			if len(r.Words) > 0 && s.Wrap >= 0 {
				continue
			}
			most := 1
			for _, alternatives := range slices.Concat(r.Words, r.has) {
				most = max(most, 1+strings.Count(alternatives, "|"))
			}
			for n := range most {
				args := s.meeting(r, n)
				o, _ := Parse(args, s.Values, s.Long, false)
				if o.Piped = r.piped; !r.Matches(&o, s.Action) {
					t.Errorf("%s: %q is not met by %q", name, r.patterns, arg.Texts(args))
				}
			}
		}
	}
}

// meeting are arguments that meet a rule, by the nth of each of its alternatives.
func (s *Spec) meeting(r *Rule, n int) []arg.Word {
	nth := func(alternatives string) string {
		all := strings.Split(alternatives, "|")
		return strings.TrimSuffix(all[n%len(all)], "*")
	}
	var args []arg.Word
	if s.Action != "" && r.any {
		args = append(args, arg.Known("service"))
	}
	for _, w := range r.Words {
		args = append(args, arg.Known(nth(w)))
	}
	for _, h := range r.has {
		text := nth(h)
		if len(text) > 1 {
			text = strings.TrimLeft(text, "^=")
		}
		args = append(args, arg.Known(text))
	}
	for _, f := range r.Flags {
		names, want, valued := cutValue(f)
		flag, _, _ := strings.Cut(names, "|")
		switch {
		case valued && (s.Long || strings.HasPrefix(flag, "--")):
			args = append(args, arg.Known(flag+"="+nth(want)))
		case valued:
			args = append(args, arg.Known(flag), arg.Known(nth(want)))
		case s.Values[flag]:
			args = append(args, arg.Known(flag), arg.Known("x"))
		default:
			args = append(args, arg.Known(flag))
		}
	}
	return args
}
