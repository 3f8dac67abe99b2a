package inline

import "strings"

// perl proves a program in Perl, in which every bare word is a function, a key or a module, so that each must be listed.
func (v *prover) perl() {
	v.defined = map[string]bool{}
	for i, t := range v.toks {
		if t.word("sub") && v.at(i+1).kind == name {
			v.defined[v.at(i+1).text] = true
		}
	}
	check := func() {
		for i := 0; i < len(v.toks) && v.proof.Unproven == ""; i++ {
			switch t := v.toks[i]; t.kind {
			case name:
				i = v.perlName(i)
			case sign:
				v.perlSign(i)
			}
		}
	}
	check()
	v.inside(check)
}

// changed says whether the variable at i is given a value, or to a function that changes lists.
func (v *prover) changed(i int) bool {
	next := v.at(i + 1)
	if next.is("[") {
		next = v.at(v.closing(i+1) + 1)
	}
	for j := i - 2; j >= i-4; j-- {
		if t := v.at(j); t.word("push", "unshift", "splice", "for", "foreach", "map", "local", "my") || t.is(`\`) {
			return true
		}
	}
	return next.is("=", ",") || next.is(")") && v.at(v.closing(i)+1).is("=") || next.kind == sign && strings.HasSuffix(next.text, "=") && next.text != "=="
}

// perlOperand says whether a value ends at i.
func (v *prover) perlOperand(i int) bool {
	t := v.at(i)
	return t.kind == number || t.kind == text || t.is(")", "]", "}") || t.kind == name && (v.sigil(i) || !v.sets["names"][t.text])
}

// sigil says whether a name is that of a variable.
func (v *prover) sigil(i int) bool {
	p := v.at(i - 1)
	return p.kind == sign && (p.text == "$" || p.text == "@" || p.text == "%" && !v.perlOperand(i-2)) && !v.toks[i].space
}

func (v *prover) perlSign(i int) {
	switch t := v.toks[i]; t.text {
	case "&":
		if next := v.at(i + 1); !v.perlOperand(i-1) && (!v.at(i-1).is(`\`) || !v.defined[next.text]) || !next.space && next.kind != number && !v.at(i-1).is(`\`) {
			v.unproven("&" + v.at(i+1).text)
		}
	case "*":
		if !v.perlOperand(i - 1) {
			v.unproven("*" + v.at(i+1).text)
		}
	case "->":
		switch n := v.at(i + 1); {
		case n.is("("), n.is("$"), n.is("&"), n.is("%"):
			v.unproven("->" + n.text)
		}
	case "(":
		if v.at(i-1).is("}") && v.perlCalled(i-1) || v.at(i-1).is("]") {
			v.unproven(v.at(i-1).text + "(…)")
		}
	case "${", "@{":
		v.unproven(t.text)
	}
}

// perlCalled says whether the braces that end at i are an index or a name, so that a bracket after them calls.
func (v *prover) perlCalled(i int) bool {
	o := v.opening(i)
	return o > 0 && (v.at(o-1).is("->", "&", "]", "}") || v.at(o-1).kind == name && v.sigil(o-1))
}

func (v *prover) perlName(i int) int {
	t := v.toks[i]
	if v.sigil(i) {
		if t.text == "ARGV" && v.changed(i) {
			v.unproven("@ARGV") // <> opens what is in it as open does
		}
		for v.at(i+1).is("::") && v.at(i+2).kind == name {
			i += 2
		}
		return i
	}
	if v.at(i - 1).is("->") {
		v.perlMethod(i)
		return i
	}
	whole, j := t.text, i
	for v.at(j+1).is("::") && v.at(j+2).kind == name {
		whole += "::" + v.at(j+2).text
		j += 2
	}
	switch {
	case v.at(j + 1).is("=>"), v.at(i-1).is("{") && v.at(j+1).is("}") && i == j && v.perlKey(i-1):
		return j
	case whole == "use" || whole == "no":
		return v.perlUse(i)
	case whole == "open":
		v.perlOpen(i)
	case (whole == "do" || whole == "eval") && !v.at(i+1).is("{"):
		v.unproven(whole + " " + v.at(i+1).text)
	case whole == "package" && v.at(i+1).kind == name, whole == "sub" && v.at(i+1).kind == name:
		return i + 1
	case v.sets["names"][whole], v.sets["handles"][whole], v.defined[whole]:
	case len(whole) == 1 && v.at(i-1).is("-"): // looks at a file
	case v.at(i+1).is(":") && v.at(i-1).kind == line, v.at(i-1).word("next", "last", "redo"): // a label
	case v.handle(whole):
	case v.exported(whole), v.modules[whole] != nil && v.at(j+1).is("->"):
	default:
		v.unproven(whole)
	}
	return j
}

// perlMethod judges the method whose name is at i.
func (v *prover) perlMethod(i int) {
	m, of := v.toks[i].text, v.at(i-2)
	if !v.sets["methods"][m] || m == "new" && (of.kind != name || v.sigil(i-2)) || of.kind == text {
		v.unproven("->" + m)
	}
}

// exported says whether a function is one of a listed module.
func (v *prover) exported(whole string) bool {
	cut := strings.LastIndex(whole, "::")
	if cut < 0 {
		return v.imported[whole]
	}
	m := v.modules[whole[:cut]]
	return m != nil && (m[whole[cut+2:]] || m["*"])
}

// perlKey says whether a brace begins the index of a hash.
func (v *prover) perlKey(i int) bool {
	p := v.at(i - 1)
	return p.is("->", "]", "}") || p.kind == name && v.sigil(i-1) || p.kind == number
}

// handle says whether the program opens a file by that name.
func (v *prover) handle(n string) bool {
	if strings.ToUpper(n) != n || !v.spend(len(v.whole)) {
		return false
	}
	for i, t := range v.toks {
		if t.word("open", "opendir") && (v.at(i+1).text == n || v.at(i+2).text == n) {
			return true
		}
	}
	return false
}

// perlUse judges a module that is loaded, and makes what it exports known.
func (v *prover) perlUse(i int) int {
	if v.at(i+1).kind == number {
		return i + 1
	}
	m, j := v.at(i+1).text, i+1
	for v.at(j+1).is("::") && v.at(j+2).kind == name {
		m += "::" + v.at(j+2).text
		j += 2
	}
	members := v.modules[m]
	if members == nil {
		if len(m) > 1 && m[0] == 'v' && strings.Trim(m[1:], "0123456789") == "" {
			return j
		}
		v.unproven("use " + m)
		return j
	}
	for f := range members {
		v.imported[f] = true
	}
	for j+1 < len(v.toks) && !v.at(j+1).is(";") {
		if j++; v.toks[j].kind == name && v.toks[j].text != "qw" && v.toks[j].text != "split" && v.toks[j].text != "q" {
			v.unproven("use " + m + " " + v.toks[j].text)
		}
		if v.toks[j].kind == text {
			for f := range strings.FieldsFuncSeq(v.toks[j].text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
				if !members[f] && !strings.HasPrefix(f, ":") && !members["*"] && m != "constant" && m != "lib" {
					v.unproven(m + "::" + f)
				}
			}
		}
	}
	return j
}

// perlOpen judges how a file is opened: only with a mode of its own that the program spells out.
func (v *prover) perlOpen(i int) {
	var args [][]token
	if v.at(i + 1).is("(") {
		args = v.args(i + 1)
	} else {
		args = v.over(append([]token{{kind: sign, text: "("}}, v.perlStatement(i+1)...)).args(0)
	}
	if len(args) < 3 || len(args[1]) != 1 || !args[1][0].lit || args[1][0].kind != text {
		v.unproven("open(…)")
		return
	}
	mode, _, _ := strings.Cut(strings.TrimSpace(args[1][0].text), ":")
	switch strings.TrimSpace(mode) {
	case "<":
		v.reading(args[2])
	case ">", ">>":
		v.writing("open(…, "+mode+")", args[2])
	default:
		v.unproven("open(…, " + mode + ")")
	}
}

func (v *prover) perlStatement(i int) []token {
	for j := i; j < len(v.toks); j++ {
		t := v.toks[j]
		if t.is(";", "||") || t.word("or", "and", "if") && !v.sigil(j) {
			return v.toks[i:j]
		}
	}
	return v.toks[i:]
}
