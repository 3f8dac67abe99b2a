package commands

import (
	"strconv"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
)

// Options are the arguments of a command, told apart.
type Options struct {
	Flags map[string]arg.Word // each option with its last value, under every spelling it may be asked for
	again []option            // values of options that were given before
	Words []arg.Word          // what is no option
	Piped bool                // something comes by a pipe
	open  bool                // some argument is not known, and could be an option
	After []arg.Word          // what follows --
}

type option struct {
	name string
	v    arg.Word
}

func (o *Options) put(name string, v arg.Word) {
	if old := o.Flags[name]; old.Text != "" {
		o.again = append(o.again, option{name, old})
	}
	o.Flags[name] = v
}

// values are those of options "a|b", in no order.
func (o *Options) values(alternatives string) (all []arg.Word) {
	for name := range strings.SplitSeq(alternatives, "|") {
		name, v := o.given(name)
		for _, x := range o.again {
			if x.name == name {
				all = append(all, x.v)
			}
		}
		if v.Text != "" {
			all = append(all, v)
		}
	}
	return all
}

// given is an option as it was written, and its value: GNU and git take any beginning of a long one that is enough to tell it by.
func (o *Options) given(name string) (string, arg.Word) {
	if v, ok := o.Flags[name]; ok {
		return name, v
	}
	if strings.HasPrefix(name, "--") && len(name) > 5 {
		for given, v := range o.Flags {
			if len(given) >= 4 && strings.HasPrefix(name, given) && strings.HasPrefix(given, "--") {
				return given, v
			}
		}
	}
	return "", arg.Word{}
}

// Has says whether one of the options is there.
func (o *Options) Has(names ...string) bool {
	for _, n := range names {
		if _, ok := o.Flags[n]; ok {
			return true
		}
	}
	return false
}

// Any says whether one of the options "a|b" is there, and of a wanted value where one is named.
func (o *Options) Any(alternatives string) bool {
	alternatives, want, valued := cutValue(alternatives)
	for _, n := range strings.Split(alternatives, "|") {
		name, v := o.given(n)
		if name != "" && (!valued || !v.Known() || OneOf(v.Text, want)) {
			return true
		}
	}
	return false
}

// cutValue parts "-o|--output=json|yaml", where the value is asked of each of the names.
func cutValue(s string) (names, want string, ok bool) {
	i := strings.Index(s, "=")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// Parse tells options from words. values are those that take a value; long says that -name is one option. stop ends at the first word, as
// wrappers do: rest is that word and what follows.
func Parse(args []arg.Word, values map[string]bool, long, stop bool) (o Options, rest []arg.Word) {
	o.Flags = make(map[string]arg.Word, len(args))
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.Text
		switch {
		case s == "--":
			o.After = args[i+1:]
			if stop {
				return o, args[i+1:]
			}
			o.Words = append(o.Words, args[i+1:]...)
			return o, nil
		case len(s) > 2 && s[:2] == "--":
			name, val, eq := strings.Cut(s, "=")
			v := arg.Word{Text: val, Taint: a.Taint, Quoted: true}
			if !eq && (values[name] || (values["all"] || longText()[name]) && i+1 < len(args) && !strings.HasPrefix(args[i+1].Text, "-")) && i+1 < len(args) {
				i++
				v = args[i]
			}
			o.put(name, v)
		case len(s) > 1 && (s[0] == '-' || s[0] == '+') && s != "-":
			if long || s[0] == '+' {
				name, val, eq := strings.Cut(s, "=")
				v := arg.Word{Text: val, Taint: a.Taint, Quoted: true}
				if !eq && values[name] && i+1 < len(args) {
					i++
					v = args[i]
				}
				o.put(name, v)
				if s[0] == '+' {
					o.Words = append(o.Words, a) // to most, a word like any other
				} else {
					o.Flags["-"+name] = v
				}
				continue
			}
			if values[s] && len(s) > 2 { // a long option with one dash
				if i+1 < len(args) {
					i++
					o.put(s, args[i])
				}
				continue
			}
			if _, ok := o.Flags[s]; !ok {
				o.Flags[s] = arg.Word{}
			}
			if name, val, eq := strings.Cut(s, "="); eq && len(name) > 2 {
				o.put(name, arg.Word{Text: val, Taint: a.Taint, Quoted: true})
			}
			for j := 1; j < len(s); j++ {
				name := "-" + string(s[j])
				if !values[name] {
					if _, ok := o.Flags[name]; !ok {
						o.Flags[name] = arg.Word{}
					}
					if s[j] == '=' {
						break
					}
					continue
				}
				v := arg.Word{Text: strings.TrimPrefix(s[j+1:], "="), Taint: a.Taint, Quoted: true}
				if j+1 == len(s) && i+1 < len(args) {
					i++
					v = args[i]
				}
				o.put(name, v)
				break
			}
		default:
			if stop {
				return o, args[i:]
			}
			if strings.HasPrefix(s, arg.Unknown) && !a.Quoted {
				o.open = true
			}
			o.Words = append(o.Words, a)
		}
	}
	return o, nil
}

// exact is any without abbreviations, for what makes a command harmless.
func (o *Options) exact(alternatives string) bool {
	names, want, valued := cutValue(alternatives)
	for _, n := range strings.Split(names, "|") {
		v, ok := o.Flags[n]
		if !ok {
			continue
		}
		if !valued {
			if v.Text == "false" || v.Text == "none" {
				continue // --dry-run=none
			}
			return true
		}
		for _, x := range strings.Split(want, "|") {
			if v.Text == x {
				return true
			}
		}
	}
	return false
}

// Selected are the words or the values of options that a selector names.
func (o *Options) Selected(selector string) []arg.Word {
	switch selector {
	case "all":
		return o.Words
	case "first":
		return o.Words[:min(1, len(o.Words))]
	case "last":
		return o.Words[max(0, len(o.Words)-1):]
	case "rest":
		return o.Words[min(1, len(o.Words)):]
	}
	if n, err := strconv.Atoi(selector); err == nil {
		return o.Words[min(n-1, len(o.Words)):min(n, len(o.Words))]
	}
	return o.values(selector)
}

// longText are long options whose value is a text for people.
var longText = lazy.Set("--message --title --body --grep --author --reason --description --search --comment --notes --subject")
