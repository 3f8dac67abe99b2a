package commands

import (
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/human"
)

// Matches says whether a rule is about these arguments. action is the entry's.
func (r *Rule) Matches(o *Options, action string) bool {
	if !r.meets(o.Words, action) {
		return false
	}
	if r.End && len(o.Words) > len(r.Words) || r.piped && !o.Piped || r.unpiped && o.Piped {
		return false
	}
	for _, f := range r.Flags {
		if !o.Any(f) {
			if o.open && r.secret() {
				continue // what is not known could be that option
			}
			return false
		}
	}
	for _, f := range r.Without {
		if o.exact(f) {
			return false
		}
	}
	for _, text := range r.has {
		if !hasText(o.Words, text, r.secret()) {
			return false
		}
	}
	for _, text := range r.hasNot {
		if hasText(o.Words, text, false) {
			return false
		}
	}
	return true
}

// meets says whether a command's words are those of the rule.
func (r *Rule) meets(words []arg.Word, action string) bool {
	if !r.any {
		return begins(words, r.Words)
	}
	switch {
	case r.grave(): // what destroys counts wherever it stands
	case action == "last" && len(words) > 0:
		words = words[len(words)-1:]
	case action == "rest" && len(words) > 0:
		if s := words[0].Text; (s == "alpha" || s == "beta") && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	i := 0
	for _, v := range words {
		if i < len(r.Words) && OneOf(v.Text, r.Words[i]) {
			i++
		}
	}
	return i == len(r.Words)
}

func (r *Rule) grave() bool {
	for _, e := range r.Effects {
		if e.Effect.Risk.Level() >= human.HighRisk.Level() {
			return true
		}
	}
	return false
}

func (r *Rule) secret() bool {
	for _, e := range r.Effects {
		if e.Effect.Verb == human.CredentialAccess {
			return true
		}
	}
	return false
}

// OneOf says whether a text is one of the alternatives "a|b*|*c*".
func OneOf(s, alternatives string) bool {
	if alternatives == "*" {
		return true
	}
	for alternatives != "" {
		var one string
		one, alternatives, _ = strings.Cut(alternatives, "|")
		begin, starred := strings.CutSuffix(one, "*")
		if inner, anywhere := strings.CutPrefix(begin, "*"); s == one || starred && (strings.HasPrefix(s, begin) || anywhere && inner != "" && strings.Contains(s, inner)) {
			return true
		}
	}
	return false
}

// hasText says whether one of the texts stands in a word; one that is not known may hold any, where that is asked.
func hasText(words []arg.Word, alternatives string, may bool) bool {
	for _, one := range strings.Split(alternatives, "|") {
		for _, v := range words {
			switch {
			case may && !v.Known():
				return true
			case len(one) > 1 && one[0] == '=':
				if v.Text == one[1:] {
					return true
				}
			case strings.HasPrefix(one, "^"):
				if strings.HasPrefix(v.Text, one[1:]) {
					return true
				}
			case strings.Contains(v.Text, one):
				return true
			}
		}
	}
	return false
}
