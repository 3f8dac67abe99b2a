package inline

import "strings"

// php proves a program in PHP, in which every function must be listed or the program's own, also where a string names it.
func (v *prover) php() {
	v.defined = map[string]bool{}
	for i, t := range v.whole {
		if t.word("function", "class", "interface", "trait", "enum") && i+1 < len(v.whole) && v.whole[i+1].kind == name {
			v.defined[strings.ToLower(v.whole[i+1].text)] = true
		}
	}
	for i := 0; i < len(v.toks) && v.proof.Unproven == ""; i++ {
		switch t := v.toks[i]; {
		case t.kind == name:
			v.phpName(i)
		case t.is("$"):
			if n := v.at(i + 1); n.kind != name || n.space {
				v.unproven("$" + n.text)
			} else if v.at(i + 2).is("(") {
				v.unproven("$" + n.text + "(…)")
			} else if v.at(i-1).kind == name && v.at(i-1).text == "new" || v.at(i-1).is("->") || v.at(i-1).is("::") && v.at(i+2).is("(") {
				v.unproven(v.at(i-1).text + " $" + n.text)
			}
		case t.is("(") && (v.at(i-1).is(")", "]") || v.at(i-1).kind == text || v.at(i-1).is("}") && v.at(v.opening(i-1)-1).is("->")):
			v.unproven(v.at(i-1).text + "(…)")
		case t.is("{") && (v.at(i-1).is("->", "::")), t.is(`\`):
			v.unproven(v.at(i-1).text + t.text)
		}
	}
}

func (v *prover) phpName(i int) {
	t := v.toks[i]
	n := strings.ToLower(t.text)
	switch prev := v.at(i - 1); {
	case prev.is("$"), prev.is("->"), prev.is("?->"), prev.is("::") && v.at(i-2).kind == name:
		return
	case prev.word("function", "class", "fn"), v.sets["keywords"][n]:
		return
	case v.sets["never"][n]:
		v.unproven(t.text)
	case v.at(i+1).is("(") && v.phpUses(n, v.args(i+1)):
	case v.at(i + 1).is("::"):
		if !v.sets["classes"][n] && !v.defined[n] {
			v.unproven(n + "::")
		}
	case prev.word("new", "catch", "extends", "instanceof"):
		if !v.sets["classes"][n] && !v.defined[n] {
			v.unproven("new " + t.text)
		}
	case v.at(i+1).is("(") && !v.sets["names"][n] && !v.defined[n]:
		v.unproven(t.text + "(…)")
	}
}

// phpUses judges a function of a file, or one that calls what it is given, and says whether this is one.
func (v *prover) phpUses(n string, args [][]token) bool {
	switch {
	case v.sets["opens"][n]:
		mode, ok := "r", true
		if len(args) > 1 {
			mode, ok = v.spelled(args[1])
		}
		v.phpFile(n, args, ok && strings.Trim(mode, "rbt") == "")
	case v.sets["reads"][n], v.sets["writes"][n]:
		v.phpFile(n, args, v.sets["reads"][n])
	case v.sets["callbacks"][n]:
		for _, a := range args {
			s, ok := v.spelled(a)
			if s = strings.ToLower(s); ok && (v.sets["names"][s] || v.defined[s]) || a[0].word("fn", "function", "static") {
				return true
			}
		}
		v.unproven(n)
	default:
		return false
	}
	return true
}

// phpFile judges a function of a file: its path has to be spelled out, for PHP opens addresses and more by names as well.
func (v *prover) phpFile(what string, args [][]token, read bool) {
	if len(args) == 0 {
		v.unproven(what)
		return
	}
	s, ok := v.spelled(args[0])
	if scheme, _, is := strings.Cut(s, "://"); is && ok && (!read || s != "php://stdin" && s != "php://input") {
		if !read || scheme != "http" && scheme != "https" || len(args) > 1 {
			v.unproven(s)
			return
		}
	}
	switch {
	case read && strings.Contains(s, "://") && strings.HasPrefix(s, "php:"):
	case read && ok:
		v.proof.Reads = append(v.proof.Reads, s)
	case read && len(args[0]) > 1 && args[0][0].is("$") && args[0][1].text == "argv":
		v.proof.Computed = true
	case !read && ok:
		v.proof.Replaces = append(v.proof.Replaces, s)
	default:
		v.unproven(what)
	}
}

// lua proves a program in Lua. All that acts is reached from names that are there when it begins.
func (v *prover) lua() {
	for i, t := range v.toks {
		if t.kind != name || v.at(i-1).is(".", ":") || v.sets["keywords"][t.text] {
			continue
		}
		whole := t.text
		if v.at(i+1).is(".") && v.at(i+2).kind == name {
			whole += "." + v.at(i+2).text
		}
		members := v.modules[t.text]
		switch {
		case v.sets["never"][t.text]:
			v.unproven(whole)
		case members == nil:
		case whole == t.text:
			v.unproven(whole)
		case v.sets["opens"][whole]:
			v.opens(i, whole, i+3, 1)
		case !members["*"] && !members[v.at(i+2).text] || members["-"+v.at(i+2).text]:
			v.unproven(whole)
		}
	}
}
