package inline

import "strings"

// ruby proves a program in Ruby. All that acts is reached from constants, which must be listed or its own, from the methods
// that every object has, and from those that turn a name into a call.
func (v *prover) ruby() {
	v.defined = map[string]bool{}
	all := flat(v.toks)
	for i, t := range all {
		if t.kind != name || i+1 >= len(all) {
			continue
		}
		if oneOf(t.text, "class", "module", "def") {
			v.defined[all[i+1].text] = true
		}
		if all[i+1].is("=") && t.text[0] >= 'A' && t.text[0] <= 'Z' {
			v.defined[t.text] = true
		}
		if t.text == "require" && all[i+1].kind == text {
			v.load(all[i+1].text)
		}
	}
	check := func() {
		for i := 0; i < len(v.toks) && v.proof.Unproven == ""; i++ {
			if v.toks[i].kind == name {
				i = v.rubyName(i)
			}
		}
	}
	check()
	v.inside(check)
}

func (v *prover) rubyName(i int) int {
	t := v.toks[i]
	n := strings.TrimPrefix(t.text, ":")
	upper := n != "" && n[0] >= 'A' && n[0] <= 'Z'
	switch {
	case v.at(i+1).is(":") && !v.at(i+1).space && !v.at(i-1).is("?"): // a key
	case strings.HasPrefix(t.text, "$-"), t.word("$:", "$\"", "$LOAD_PATH", "$LOADED_FEATURES"):
		v.unproven(t.text)
	case t.text != n, strings.HasPrefix(t.text, "$"):
		if (v.acting(n) || v.sets["never"][n]) && (v.at(i-1).is("&", "(", ",") || v.at(i-1).kind == name) {
			v.unproven(t.text) // the name of a method, given to one that may call it
		}
	case v.at(i-1).is(".", "&.") || v.at(i-1).is("::") && !upper:
		v.rubyMethod(i)
	case v.at(i - 1).word("def"):
	case n == "require":
		if m := v.at(i + 1); m.kind != text || !m.lit || !v.sets["libraries"][m.text] {
			v.unproven("require " + m.text)
		}
	case upper:
		return v.constant(i)
	case v.sets["never"][n]:
		v.unproven(n)
	}
	return i
}

// rubyMethod judges the method that is called at i on a value.
func (v *prover) rubyMethod(i int) {
	n := v.toks[i].text
	if v.acting(n) && !v.defined[n] || v.at(i-2).text == "self" && v.sets["never"][n] {
		v.unproven("." + n)
	}
	if args := v.rubyArgs(i + 1); (n == "inject" || n == "reduce") && len(args) > 0 && args[len(args)-1][0].kind == text {
		v.unproven("." + n)
	}
	if next := v.at(i + 1); n == "class" && !next.is("==") && (!next.is(".") || !v.at(i+2).word("name", "to_s", "inspect")) && !v.shown(i) {
		v.unproven(".class")
	}
}

// shown says whether i stands in a statement that begins with what prints, and is not asked for more.
func (v *prover) shown(i int) bool {
	if next := v.at(i + 1); next.is(".", "::", "&.") {
		return false
	}
	if len(v.toks) < len(v.whole) && i == len(v.toks)-1 {
		return true // all there is in the code of a string
	}
	for j := i; j >= 0; j-- {
		if t := v.at(j - 1); t.kind == line || t.is("{", "|") {
			return v.at(j).word("p", "puts", "print", "pp")
		}
	}
	return false
}

// constant judges a constant and the first method that is called on it.
func (v *prover) constant(i int) int {
	whole, j := v.toks[i].text, i
	for v.at(j+1).is("::") && v.at(j+2).kind == name && v.at(j + 2).text[0] <= 'Z' {
		whole += "::" + v.at(j+2).text
		j += 2
	}
	first, _, _ := strings.Cut(whole, "::")
	if v.defined[first] && v.modules[first] == nil && !v.sets["cores"][first] || v.sets["names"][whole] {
		return j
	}
	members := v.modules[whole]
	m := v.at(j + 2).text
	switch {
	case members == nil:
		v.unproven(whole)
	case v.at(j + 1).is("["):
		if !members["[]"] {
			v.unproven(whole + "[…]")
		}
	case !v.at(j+1).is(".", "&.", "::"):
		if !members["value"] {
			v.unproven(whole)
		}
	default:
		return v.rubyCall(j+2, whole+"."+m, members)
	}
	return j
}

// rubyCall judges a method of a listed constant, whose name is at j.
func (v *prover) rubyCall(j int, whole string, members map[string]bool) int {
	m := v.toks[j].text
	args := v.rubyArgs(j + 1)
	first := []token(nil)
	if len(args) > 0 {
		first = args[0]
	}
	switch {
	case v.sets["opens"][whole]:
		v.rubyOpen(whole, args)
	case v.sets["writes"][whole]:
		v.writing(whole, first)
	case v.sets["reads"][whole]:
		for _, a := range args[min(1, len(args)):] {
			if a[0].kind == text || v.setting(a) || len(a) == 1 && a[0].kind == name && a[0].text[0] != ':' {
				v.unproven(whole)
			}
		}
		if s, ok := v.spelled(first); strings.HasPrefix(whole, "IO.") && (!ok || strings.HasPrefix(strings.TrimSpace(s), "|")) {
			v.unproven(whole) // which runs what follows a pipe
		}
		v.reading(first)
	case members["*"] && !v.acting(m) || members[m]:
	default:
		v.unproven(whole)
	}
	return j
}

// setting says whether an argument is a setting that may change how a file is opened.
func (v *prover) setting(a []token) bool {
	return len(a) > 1 && a[1].is(":") && !v.sets["plain"][a[0].text] || a[0].is("*", "**")
}

// rubyOpen judges how a file is opened.
func (v *prover) rubyOpen(whole string, args [][]token) {
	mode := "r"
	if len(args) > 1 && (len(args[1]) < 2 || !args[1][1].is(":")) {
		s, ok := v.spelled(args[1])
		if mode = s; !ok {
			v.unproven(whole)
		}
	}
	for _, a := range args[min(1, len(args)):] {
		if v.setting(a) {
			v.unproven(whole)
		}
	}
	first := []token(nil)
	if len(args) > 0 {
		first = args[0]
	}
	if mode, _, _ = strings.Cut(mode, ":"); strings.Trim(mode, "rbt") == "" {
		v.reading(first)
	} else {
		v.writing(whole, first)
	}
}

// rubyArgs are the arguments of a call, with brackets or without.
func (v *prover) rubyArgs(i int) [][]token {
	if v.at(i).is("(") {
		return v.args(i)
	}
	if t := v.at(i); t.kind == sign || t.kind == line {
		return nil
	}
	depth := 0
	for j := i; ; j++ {
		t := v.at(j)
		switch {
		case t.is("("), t.is("["):
			depth++
		case t.is(")"), t.is("]"):
			depth--
		}
		if depth < 0 || depth == 0 && (t.kind == line || t.is("}", "{") || t.is(".") && v.at(j-1).kind != name || t.word("do", "if", "unless", "and", "or")) || j >= len(v.toks) {
			in := v.over(append([]token{{kind: sign, text: "("}}, v.toks[i:min(j, len(v.toks))]...))
			return in.args(0)
		}
	}
}
