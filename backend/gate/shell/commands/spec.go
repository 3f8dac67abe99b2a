// Package commands holds what is known of programs: entries in text files, each of a few lines, that say what a program reads, writes,
// sends and runs, by its words and options. Their format: docs/development/teaching-a-command.md. Nothing here has an effect, and all of
// it can be used at once by many.
package commands

import (
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A Spec is an entry: what is known of a command.
type Spec struct {
	Name   string
	Values map[string]bool
	Long   bool
	Wrap   int // -1 where it wraps nothing
	Verbs  bool
	Data   bool
	Rules  []Rule
	Action string // where ".." finds the verb: "last" word, "rest" without the first, or anywhere

	closed                          bool
	Before, Variables, Homes, loads []string
}

// A Rule says what a command does where its arguments meet a pattern.
type Rule struct {
	ID       string
	Words    []string
	any      bool // the words may stand anywhere, in order
	End      bool
	Flags    []string
	Without  []string
	has      []string
	hasNot   []string
	Effects  []Effect
	Yes, No  []string
	patterns string

	With, Not []string // of a closed command: options
	Wraps     bool     // it runs a command that follows
	Commands  []string // options whose values are commands

	piped, unpiped bool // whether something must, or must not, come by a pipe
}

// An Effect is what a rule says that a command does, or runs.
type Effect struct {
	Effect human.Effect
	Paths  string
	Runs   string // what is run: command, sh, ...; empty for an effect that runs nothing
	Away   bool
	Guess  bool
}

func (s *Spec) read(text string) error {
	s.Values = map[string]bool{}
	s.Rules = make([]Rule, 0, strings.Count(text, " : ")+strings.Count(text, " ; "))
	last := 0 // the first rule of the last line that has one
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		if s.closedLine(word, rest, last) {
			continue
		}
		switch word {
		case "":
		case "#":
		case "values":
			for v := range strings.FieldsSeq(rest) {
				s.Values[v] = true
			}
		case "long":
			s.Long = true
		case "verbs":
			s.Verbs = true
		case "action":
			s.Action = rest
		case "data":
			s.Data = true
		case "wrap":
			s.Wrap = 0
			if rest != "" {
				s.Wrap = int(rest[0] - '0')
			}
		case "from":
			o := Of(rest)
			if o == nil {
				return fmt.Errorf("%s: from %q, which is not there", s.Name, rest)
			}
			for v := range o.Values {
				s.Values[v] = true
			}
			s.Rules = append(s.Rules, o.Rules...)
			s.Action = o.Action
			s.Long, s.Verbs, s.Data = s.Long || o.Long, s.Verbs || o.Verbs, s.Data || o.Data
		case "yes", "no":
			if len(s.Rules) == 0 {
				return fmt.Errorf("%s: example %q before a rule", s.Name, line)
			}
			last := &s.Rules[len(s.Rules)-1]
			if word == "yes" {
				last.Yes = append(last.Yes, rest)
			} else {
				last.No = append(last.No, rest)
			}
		default:
			i := strings.LastIndex(line, " : ")
			if i < 0 {
				return fmt.Errorf("%s: cannot read %q", s.Name, line)
			}
			effects, err := parseEffects(line[i+3:])
			if err != nil {
				return fmt.Errorf("%s: %q: %w", s.Name, line, err)
			}
			last = len(s.Rules)
			for pattern := range strings.SplitSeq(line[:i], " ; ") {
				r := parsePattern(pattern)
				r.ID = s.Name + r.ID
				r.Effects = effects
				for j := range r.Effects {
					r.Effects[j].Effect.Rule = ""
				}
				s.Rules = append(s.Rules, r)
			}
		}
	}
	return nil
}

// Runs says whether rules tell what the command runs of what it is given; away: on another machine.
func (s *Spec) Runs(away bool) bool {
	return slices.ContainsFunc(s.Rules, func(r Rule) bool {
		return slices.ContainsFunc(r.Effects, func(e Effect) bool {
			return e.Runs != "" && e.Runs != "project" && e.Runs != "outside" && (away && e.Away || !away && !e.Guess)
		})
	})
}

func parsePattern(pattern string) Rule {
	r := Rule{patterns: pattern}
	for t := range strings.FieldsSeq(pattern) {
		switch {
		case t == ".":
		case t == "$":
			r.End = true
		case t == "<":
			r.piped = true
		case t == "!<":
			r.unpiped = true
		case t == "..":
			r.any = true
		case strings.HasPrefix(t, "!?"):
			r.hasNot = append(r.hasNot, t[2:])
		case strings.HasPrefix(t, "?"):
			r.has = append(r.has, t[1:])
			first, _, _ := strings.Cut(t[1:], "|")
			r.ID += ".with_" + strings.TrimLeft(first, "^=")
		case strings.HasPrefix(t, "!"):
			r.Without = append(r.Without, t[1:])
		case strings.HasPrefix(t, "-") && len(t) > 1 || strings.HasPrefix(t, "+") && len(t) > 1:
			r.Flags = append(r.Flags, t)
			first, want, _ := strings.Cut(t, "=")
			first, _, _ = strings.Cut(first, "|")
			want, _, _ = strings.Cut(want, "|")
			r.ID += "." + strings.TrimLeft(first, "-") + want
		default:
			r.Words = append(r.Words, t)
			first, _, _ := strings.Cut(t, "|")
			r.ID += "." + first
		}
	}
	return r
}

// Defaults are the effects of verbs of which nothing unusual is said.
var Defaults = map[human.EffectVerb]human.Effect{
	human.FilesystemRead:      {Risk: human.NoRisk, Reversibility: human.Reversible, Blast: human.FileBlast},
	human.FilesystemWrite:     {Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.FileBlast},
	human.FilesystemDelete:    {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.ProjectBlast},
	human.GitRead:             {Risk: human.NoRisk, Reversibility: human.Reversible, Blast: human.ProjectBlast},
	human.GitWrite:            {Risk: human.LowRisk, Reversibility: human.Reversible, Blast: human.ProjectBlast},
	human.GitDiscard:          {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.ProjectBlast},
	human.GitRemoteWrite:      {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.GitHistoryRewrite:   {Risk: human.HighRisk, Reversibility: human.Costly, Blast: human.ProjectBlast},
	human.NetworkRead:         {Risk: human.NoRisk, Reversibility: human.Reversible, Blast: human.MachineBlast},
	human.NetworkWrite:        {Risk: human.MediumRisk, Reversibility: human.Irreversible, Blast: human.SharedBlast},
	human.PackageInstall:      {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.PackageRun:          {Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.ProjectBlast},
	human.LangExec:            {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.ProcessSignal:       {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.ContainerEffect:     {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.ServiceEffect:       {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.DatabaseEffect:      {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.CredentialAccess:    {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast},
	human.PersistenceEffect:   {Risk: human.HighRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.PrivilegeEscalation: {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.SecurityWeakening:   {Risk: human.HighRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.CostEffect:          {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.ObfuscatedEffect:    {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast},
	human.UnknownEffect:       {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
}

// ShortVerbs are shorter names for what is said most.
var ShortVerbs = map[string]human.EffectVerb{
	"read": human.FilesystemRead, "write": human.FilesystemWrite, "delete": human.FilesystemDelete, "net": human.NetworkRead,
	"send": human.NetworkWrite, "install": human.PackageInstall, "run": human.PackageRun, "code": human.LangExec,
	"secret": human.CredentialAccess, "persist": human.PersistenceEffect, "weaken": human.SecurityWeakening, "signal": human.ProcessSignal,
}

func parseEffects(text string) ([]Effect, error) {
	out := make([]Effect, 0, 1+strings.Count(text, ","))
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			return nil, fmt.Errorf("an effect without a verb")
		}
		if words[0] == "runs" {
			s, err := parseRuns(words[1:])
			if err != nil {
				return nil, err
			}
			out = append(out, s)
			continue
		}
		verb := human.EffectVerb(words[0])
		if long, ok := ShortVerbs[words[0]]; ok {
			verb = long
		}
		e, ok := Defaults[verb]
		if !ok {
			return nil, fmt.Errorf("no verb %q", words[0])
		}
		e.Verb, e.Certainty = verb, human.Certain
		s := Effect{Effect: e}
		for _, word := range words[1:] {
			switch word {
			case "none", "low", "medium", "high", "critical":
				s.Effect.Risk = human.Risk(word)
			case "file", "project", "machine", "shared", "production", "public":
				s.Effect.Blast = human.BlastRadius(word)
			case "reversible", "costly", "irreversible":
				s.Effect.Reversibility = human.Reversibility(word)
			case "likely", "possible":
				s.Effect.Certainty = human.Certainty(word)
			case "floor":
				s.Effect.HardLimit = true
			default:
				if !strings.HasPrefix(word, "@") {
					return nil, fmt.Errorf("cannot read %q", word)
				}
				s.Paths = word[1:]
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func parseRuns(words []string) (s Effect, err error) {
	for i, word := range words {
		switch {
		case i == 0:
			s.Runs = word
		case word == "away":
			s.Away = true
		case word == "guess":
			s.Guess = true
		case strings.HasPrefix(word, "@") && s.Paths == "":
			s.Paths = word[1:]
		default:
			return s, fmt.Errorf("cannot read %q", word)
		}
	}
	if s.Runs == "" || s.Paths == "" && s.Runs != "project" {
		return s, fmt.Errorf("it does not say what is run")
	}
	return s, nil
}
