package commands

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/shell/arg"
)

// closedLine reads what only closed commands have; from is the first rule of the line above. Of a closed command what no rule is
// about is a hard limit, and a rule's words are those of the command itself. Its lines:
//
//	before -a --bb          options that may stand before its subcommand
//	with -a --bb            options that the rules of the line above allow
//	not -a --bb             options that they do not: a hard limit
//	runs --bb               the option's value, or without one what follows the options, is a command of its own
//	variables A B           variables of the environment that no call may set
//	homes A B               those by which the program finds its folder
//	loads A_* B             those that say what a server of it loads, runs and trusts
func (s *Spec) closedLine(word, rest string, from int) bool {
	switch word {
	case "closed":
		s.closed = true
		return true
	case "before":
		s.Before = strings.Fields(rest)
	case "variables":
		s.Variables = append(s.Variables, strings.Fields(rest)...)
	case "homes":
		s.Homes = strings.Fields(rest)
	case "loads":
		s.loads = strings.Fields(rest)
	case "with", "not", "runs":
		for i := from; i < len(s.Rules) && s.closed; i++ {
			switch r := &s.Rules[i]; word {
			case "with":
				r.With = append(r.With, strings.Fields(rest)...)
			case "not":
				r.Not = append(r.Not, strings.Fields(rest)...)
			default:
				r.Wraps, r.Commands = rest == "", strings.Fields(rest)
			}
		}
	default:
		return false
	}
	return s.closed
}

// Limit says whether a rule is a hard limit.
func (r *Rule) Limit() bool {
	return slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Effect.HardLimit })
}

// Loaded says whether a variable chooses what a server loads, runs or trusts.
func (s *Spec) Loaded(name string) bool {
	return slices.ContainsFunc(s.loads, func(pattern string) bool { is, err := path.Match(pattern, name); return is && err == nil })
}

// Arguments are a closed command's: its words, and its options wherever they stand.
type Arguments struct {
	Options
	Spec  *Spec
	All   map[string][]arg.Word
	Early bool // an option stands before a word that may name the subcommand
}

// Arguments takes them apart as the program does: the words before any unknown option name the subcommand.
func (s *Spec) Arguments(args []arg.Word) Arguments {
	a := Arguments{Options: Options{Flags: map[string]arg.Word{}}, Spec: s, All: map[string][]arg.Word{}}
	open := false // an option stood where a subcommand may follow
	give := func(name string, v arg.Word) { a.Flags[name] = v; a.All[name] = append(a.All[name], v) }
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case text == "--":
			a.Words = append(a.Words, args[i+1:]...)
			return a
		case len(text) < 2 || text[0] != '-':
			a.Words = append(a.Words, args[i])
			a.Early = a.Early || open
			if s.wrapsAt(a.Words) && len(a.Words) > 1 {
				a.Words = append(a.Words, args[i+1:]...)
				return a
			}
			continue
		}
		name, val, has := strings.Cut(text, "=")
		if text[1] != '-' && len(name) > 2 { // bundled, or with its value behind it
			name, val, has = text[:2], text[2:], true
			for j := 1; j < len(text) && !s.Values["-"+string(text[j])]; j++ {
				give("-"+string(text[j]), arg.Word{})
			}
		}
		v := arg.Word{Text: val, Quoted: true, Taint: args[i].Taint}
		if !has && s.Values[name] && i+1 < len(args) {
			i++
			v = args[i]
		}
		give(name, v)
		open = open || !slices.Contains(s.Before, name) && !s.complete(a.Words)
	}
	return a
}

// wrapsAt says whether words are those of a command that takes all that follows for another command.
func (s *Spec) wrapsAt(words []arg.Word) bool {
	return slices.ContainsFunc(s.Rules, func(r Rule) bool {
		return r.Wraps && len(words) > len(r.Words) && begins(words, r.Words)
	})
}

// complete says whether words name a command that has no other below it. An option that stands before takes the next word
// for its value where the program does not expect it there, so that another command runs than it seems.
func (s *Spec) complete(words []arg.Word) bool {
	return !slices.ContainsFunc(s.Rules, func(r Rule) bool { return len(r.Words) > len(words) && begins(words, r.Words[:len(words)]) })
}

// begins says whether words begin as those of a rule.
func begins(words []arg.Word, want []string) bool {
	if len(words) < len(want) {
		return false
	}
	for i, one := range want {
		if !OneOf(words[i].Text, one) {
			return false
		}
	}
	return true
}

// Meets says whether a rule of a closed command is about these arguments.
func (a *Arguments) Meets(r *Rule) bool {
	if !begins(a.Words, r.Words) || r.End && len(a.Words) > len(r.Words) {
		return false
	}
	has := func(alternatives string) bool {
		return slices.ContainsFunc(strings.Split(alternatives, "|"), func(name string) bool { _, ok := a.Flags[name]; return ok })
	}
	return !slices.ContainsFunc(r.Flags, func(f string) bool { return !has(f) }) && !slices.ContainsFunc(r.Without, has)
}

// Route is the rule of a request; of an empty method, any of the path.
func (s *Spec) Route(method, target string) *Rule {
	target, _, _ = strings.Cut(target, "?")
	target, _, _ = strings.Cut(target, "#")
	plain, err := url.PathUnescape(target)
	if err != nil || !strings.HasPrefix(plain, "/") || strings.ContainsAny(plain, arg.Unknown+"{}[]\\") {
		return nil
	}
	plain = path.Clean(plain)
	for i := range s.Rules {
		r := &s.Rules[i]
		if method != "" && !OneOf(strings.ToUpper(method), r.Words[0]) {
			continue
		}
		for one := range strings.SplitSeq(r.Words[1], "|") {
			if ok, err := path.Match(one, plain); ok && err == nil {
				return r
			}
		}
	}
	return nil
}
