package inline

import "strings"

// javascript proves a program for Node. Any function leads to the compiler by way of its constructor, so here it also counts
// how values are reached and called: a property whose name is computed is never called, nor is what was kept of it.
func (v *prover) javascript() {
	v.defined = v.javascriptFunctions()
	v.consts = v.javascriptConstants()
	v.javascriptImports()
	for i, t := range v.whole { // the names that there are when a program begins stand for what they stood for
		w := v.over(v.whole)
		if t.kind == name && v.sets["names"][t.text] && !w.at(i-1).is(".", "?.") && (w.at(i+1).is("=", "=>") || w.at(i+1).word("of", "in") || w.at(i-1).word("let", "const", "var", "function", "class") || w.parameterOf(i)) {
			v.unproven(t.text + " =")
		}
	}
	check := func() {
		for i := 0; i < len(v.toks) && v.proof.Unproven == ""; i++ {
			switch t := v.toks[i]; t.kind {
			case name:
				i = v.javascriptName(i)
			case text:
				if t.quote == '`' && v.operand(i-1) && (v.at(i-1).text != "raw" || v.at(i-3).text != "String") {
					v.unproven(v.at(i-1).text + "`…`") // calls what stands before it
				}
			case sign:
				v.javascriptSign(i)
			}
		}
	}
	check()
	v.inside(check)
}

// operand says whether a value ends at i.
func (v *prover) operand(i int) bool {
	t := v.at(i)
	return t.kind == name && !v.sets["keywords"][t.text] || t.kind == text || t.is(")", "]")
}

// javascriptFunctions are the names that the program gives to functions and classes of its own.
func (v *prover) javascriptFunctions() map[string]bool {
	all, own := v.whole, map[string]bool{}
	other := map[string]bool{}
	for i, t := range all {
		if t.kind != name {
			continue
		}
		rest := all[i+1:]
		switch {
		case i > 0 && all[i-1].kind == name && (all[i-1].text == "function" || all[i-1].text == "class"), i > 1 && all[i-1].is("*") && all[i-2].text == "function":
			own[t.text] = true
		case len(rest) > 1 && rest[0].is("=") && function(rest[1:]):
			own[t.text] = true
		case len(rest) > 0 && rest[0].is("="), len(rest) > 0 && rest[0].is("=>"):
			other[t.text] = true
		}
	}
	for n := range other {
		delete(own, n)
	}
	for n := range own {
		if !v.fixed(n) {
			delete(own, n)
		}
	}
	return own
}

// function says whether a function's definition begins.
func function(toks []token) bool {
	if len(toks) > 0 && toks[0].kind == name && toks[0].text == "async" {
		toks = toks[1:]
	}
	switch {
	case len(toks) < 2:
		return false
	case toks[0].kind == name && (toks[0].text == "function" || toks[0].text == "class"), toks[0].kind == name && toks[1].is("=>"):
		return true
	case toks[0].is("("):
		in := prover{toks: toks[:min(len(toks), 2000)]}
		end := in.closing(0)
		return end+1 < len(toks) && toks[end+1].is("=>")
	}
	return false
}

func (v *prover) javascriptConstants() map[string]string {
	values := map[string]string{}
	w := v.over(v.whole)
	for i, t := range v.whole {
		if t.kind == name && w.at(i+1).is("=") && w.at(i-1).word("const") && v.fixed(t.text) {
			if s, ok := v.spelled(statement(v.whole[i+2:])); ok && !w.again(i) {
				values[t.text] = s
			}
		}
	}
	return values
}

// again says whether the name that is declared at i is declared once more.
func (v *prover) again(i int) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	for j, t := range v.toks {
		if j != i && t.kind == name && t.text == v.toks[i].text && v.at(j-1).kind == name && v.sets["keywords"][v.at(j-1).text] && v.at(j-1).text != "return" && v.at(j-1).text != "of" && v.at(j-1).text != "in" {
			return true
		}
	}
	return false
}

// loaded is the module of require("m") or import("m") at i, and the index after it.
func (v *prover) loaded(i int) (string, int) {
	if v.at(i).word("await") {
		i++
	}
	if t := v.at(i); t.kind != name || t.text != "require" && t.text != "import" || !v.at(i+1).is("(") || v.at(i+2).kind != text || !v.at(i+2).lit || !v.at(i+3).is(")") || v.at(i-1).is(".") {
		return "", i
	}
	return strings.TrimPrefix(v.at(i+2).text, "node:"), i + 4
}

// javascriptImports gives names what they stand for: const m = require("m"), const {a, b: c} = require("m"), and imports.
func (v *prover) javascriptImports() {
	for i := range v.toks {
		t := v.at(i)
		if t.kind != name {
			continue
		}
		switch {
		case v.at(i+1).is("=") && !v.at(i-1).is("."):
			if m, j := v.loaded(i + 2); m != "" {
				for v.at(j).is(".") && v.at(j+1).kind == name {
					m += "." + v.at(j+1).text
					j += 2
				}
				if !v.at(j).is("(", "[") && !data(m) && !project(m) {
					v.rename(t.text, m)
				}
			}
		case v.declared(i) && v.at(i+1).is("{"):
			end := v.closing(i + 1)
			if m, j := v.loaded(end + 2); m != "" && v.at(end+1).is("=") && !data(m) && !project(m) {
				for v.at(j).is(".") && v.at(j+1).kind == name {
					m += "." + v.at(j+1).text
					j += 2
				}
				v.members(i+2, end, m, ":")
			}
		case t.text == "import" && v.at(i+1).is("."):
			v.unproven("import.")
		case t.text == "import" && !v.at(i+1).is("("):
			v.importStatement(i)
		}
	}
}

// rename gives a name to a module or what is in it, which may not change.
func (v *prover) rename(n, m string) {
	if was, ok := v.alias[n]; ok && was != m {
		v.unproven(n)
	}
	v.alias[n] = m
}

// members gives the names between two indices what they stand for in a module: a, b: c or b as c.
func (v *prover) members(from, end int, m, as string) {
	for j := from; j < end && j < len(v.toks); j++ {
		if v.toks[j].kind != name {
			continue
		}
		key, local := v.toks[j].text, v.toks[j].text
		if v.at(j+1).text == as && v.at(j+2).kind == name {
			local = v.at(j + 2).text
			j += 2
		}
		v.rename(local, m+"."+key)
		if ok, _ := v.resolve(strings.Split(m+"."+key, ".")); !ok && !v.module(m+"."+key) && !v.sets["reads"][m+"."+key] && !v.sets["writes"][m+"."+key] {
			v.unproven(m + "." + key)
		}
	}
}

func (v *prover) importStatement(i int) {
	j := i + 1
	for ; j < len(v.toks) && v.toks[j].kind != text && j < i+60; j++ {
	}
	if v.at(j).kind != text {
		v.unproven("import")
		return
	}
	m := strings.TrimPrefix(v.at(j).text, "node:")
	switch {
	case project(m):
		v.proof.Loads = append(v.proof.Loads, m)
	case v.sets["library"][m] || strings.Contains(m, ":"):
		v.unproven(m)
	case !v.module(m) && !data(m):
		v.unknown(m)
	}
	for k := i + 1; k < j && !project(m); k++ {
		switch t := v.toks[k]; {
		case t.is("{"):
			v.members(k+1, v.closing(k), m, "as")
			k = v.closing(k)
		case t.is("*"):
			v.rename(v.at(k+2).text, m)
			k += 2
		case t.kind == name && t.text != "from":
			v.rename(t.text, m)
		}
	}
	for k := i; k <= j; k++ {
		v.toks[k] = token{kind: line, text: "\n"}
	}
}

// project says whether a module is a file of the project's own.
func project(m string) bool {
	return (strings.HasPrefix(m, "./") || strings.HasPrefix(m, "../")) && !strings.Contains(m, "node_modules") && !data(m)
}

// data says whether a module is a file of data.
func data(m string) bool { return strings.HasSuffix(m, ".json") }

// loads judges a module that is loaded between i and j, and returns the index of the last part of what is reached from it.
func (v *prover) loads(m string, i, j int) int {
	switch {
	case data(m):
		v.proof.Reads = append(v.proof.Reads, m)
		return j - 1
	case project(m):
		v.proof.Loads = append(v.proof.Loads, m)
		return j - 1
	case v.sets["spaces"][m] && v.toks[i].text == "import" && v.at(j).is(".") && v.at(j+1).text == "then" && v.at(j+2).is("(") && v.at(j+3).text == m && v.at(j+4).is("=>"):
		return j - 1 // the name stands for this module in any case
	case v.module(m) && (v.assigned(m, i) || v.at(i-1).kind == line && v.at(j).kind == line):
		return j - 1
	case v.module(m):
		return v.reached(i, j-1, []string{m})
	}
	v.unknown(m)
	v.used(m, i, j)
	return j - 1
}

// javascriptName judges the name at i and what is reached from it, and returns the index of its last part.
func (v *prover) javascriptName(i int) int {
	t := v.toks[i]
	if v.at(i-1).is(".", "?.") {
		v.property(t.text, i)
		return i
	}
	if m, j := v.loaded(i); m != "" {
		return v.loads(m, i, j)
	}
	if t.text == "require" && v.at(i+1).is(".") && v.at(i+2).text == "resolve" {
		return i + 2
	}
	if (v.at(i+1).is(":") && (v.at(i-1).is("{", ","))) && !v.sets["hooks"][t.text] {
		return i // a key
	}
	if full, ok := v.alias[t.text]; ok {
		return v.reached(i, i, strings.Split(full, "."))
	}
	switch {
	case v.sets["keywords"][t.text]:
		if p := v.at(i - 1); p.kind == name && (v.declared(i-1) || oneOf(p.text, "function", "class")) && t.text != "extends" {
			v.unproven(p.text + " " + t.text)
		}
		if of := v.at(i + 1); t.text == "extends" && (of.kind != name || !v.defined[of.text] && !v.sets["names"][of.text] || !v.at(i+2).is("{")) {
			v.unproven("extends " + of.text)
		}
	case v.sets["spaces"][t.text]:
		if v.at(i+1).is(".") && v.at(i+2).kind == name {
			return v.reached(i, i, []string{t.text})
		}
		if !v.sets["names"][t.text] && !v.local(t.text) && v.at(i-1).text != "typeof" {
			v.unproven(t.text)
		}
	default:
		v.global(i)
	}
	return i
}

// global judges a name that the program may not have made itself, at i.
func (v *prover) global(i int) {
	t := v.toks[i]
	switch {
	case t.text == "fetch" && v.at(i+1).is("("):
		v.fetching("fetch", v.args(i+1))
	case t.text == "this":
		if v.at(i+1).is("[") || !v.inClass(i) {
			v.unproven("this")
		}
	case t.text == "import":
		v.unproven("import" + v.at(i+1).text)
	case v.at(i-1).word("typeof") && (v.at(i+1).kind == line || v.at(i+1).kind == name || v.at(i+1).is(")", ",", "==", "=", "!=")), v.sets["hooks"][t.text] && v.at(i+1).is("(") && v.at(v.closing(i+1)+1).is("{"): // a method of its own
	case v.sets["never"][t.text], v.sets["hooks"][t.text]:
		v.unproven(t.text)
	case (oneOf(t.text, "setTimeout", "setInterval", "setImmediate", "queueMicrotask")) && v.at(i+1).is("("):
		if args := v.args(i + 1); len(args) == 0 || !v.callback(args[0]) && !v.settles(args[0][0].text) {
			v.unproven(t.text)
		}
	case v.at(i+1).is("(") && !v.sets["keywords"][t.text]:
		if end := v.closing(i + 1); !v.defined[t.text] && !v.sets["names"][t.text] && !v.at(end+1).is("{") && (t.text != "async" || !v.at(end+1).is("=>")) && !v.settles(t.text) {
			v.unproven(t.text + "(…)")
		}
	case v.at(i-1).word("new") && !v.defined[t.text] && !v.sets["names"][t.text]:
		v.unproven("new " + t.text)
	}
}

// settles says whether a name is nothing but what a promise gives its function to end it.
func (v *prover) settles(n string) bool {
	if n != "resolve" && n != "reject" {
		return false
	}
	if !v.spend(len(v.whole)) {
		return false
	}
	for i, t := range v.whole {
		if t.kind != name || t.text != n || i > 0 && v.whole[i-1].is(".") || i+1 < len(v.whole) && v.whole[i+1].is("(") {
			continue
		}
		of := i - 1
		if n == "reject" && of > 1 && v.whole[of].is(",") {
			of -= 2
		}
		if of < 2 || !v.whole[of].is("(") || !v.whole[of-1].is("(") || v.whole[of-2].text != "Promise" {
			w := v.over(v.whole)
			if !w.argument(i) {
				return false
			}
		}
	}
	return true
}

// fixed says whether a name is nowhere given another value: it is only called, asked for what it has, or given to a call.
func (v *prover) fixed(n string) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	w := v.over(v.whole)
	for i, t := range v.whole {
		if t.kind != name || t.text != n || w.at(i-1).is(".", "?.") {
			continue
		}
		next, prev := w.at(i+1), w.at(i-1)
		declared := prev.word("function", "class", "const", "let", "var", "new", "extends", "instanceof", "typeof") || prev.is("*")
		called := next.is("(", ".", "?.")
		if called && next.is("(") && (w.at(w.closing(i+1) + 1).is("=>")) {
			called = n == "async"
		}
		if !declared && !called && !w.argument(i) {
			return false
		}
	}
	return true
}

// parameterOf says whether the name at i stands in the brackets of a function's parameters, of a catch or of a pattern.
func (v *prover) parameterOf(i int) bool {
	prev, next := v.at(i-1), v.at(i+1)
	if !prev.is("(", ",", "[", "{", ":") || !next.is(")", ",", "]", "}", "=") {
		return false
	}
	j := v.enclosing(i)
	if j < 0 {
		return false
	}
	t, after, of := v.at(j), v.at(v.closing(j)+1), v.at(j-1)
	return t.is("(") && after.is("=>", "{") || !t.is("(") && (after.is("=") || after.word("of")) || of.word("catch", "function")
}

// used judges what becomes of a module of which nothing is known, that is loaded between i and j.
func (v *prover) used(m string, i, j int) {
	about := v.at(j).is(".") && v.sets["about"][v.at(j+1).text]
	alone := v.at(i-1).kind == line && v.at(j).kind == line
	if v.sets["library"][m] || strings.HasPrefix(m, "/") || strings.Contains(m, "..") || strings.Trim(m, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@/._-") != "" || !about && !alone && (!v.assigned(m, i) || v.at(j).kind == sign && !v.at(j).is(",", ")")) {
		v.unproven(m)
	}
}

// assigned says whether a module that is loaded at i becomes what a name stands for.
func (v *prover) assigned(m string, i int) bool {
	if v.at(i - 1).word("await") {
		i--
	}
	return v.at(i-1).is("=") && (v.alias[v.at(i-2).text] == m || v.at(i-2).is("}") && v.declared(v.opening(i-2)-1))
}

// declared says whether a declaration begins at i.
func (v *prover) declared(i int) bool {
	t := v.at(i)
	return t.word("const", "let", "var")
}

// inClass says whether i is in the body of a class, where this is one of its objects.
func (v *prover) inClass(i int) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	for j, t := range v.toks[:i] {
		if t.kind != name || t.text != "class" || v.at(j-1).is(".") {
			continue
		}
		for k := j + 1; k < i && k < j+5; k++ {
			if v.toks[k].is("{") && v.closing(k) > i {
				return true
			}
		}
	}
	return len(v.toks) < len(v.whole) && len(v.toks) > 0 && v.within(v.toks[0].at)
}

// within says whether a place in the program is in the body of a class, as the code of a string is.
func (v *prover) within(at int) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	outer := v.over(v.whole)
	for i, t := range v.whole {
		if t.at > at {
			return i > 0 && v.whole[i-1].at > 0 && outer.inClass(i) && len(outer.toks) > 0
		}
	}
	return false
}

// local says whether the program has a variable of that name.
func (v *prover) local(n string) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	all := v.whole
	for i, t := range all {
		if t.kind == name && t.text == n && (i+1 < len(all) && (all[i+1].is("=>") || all[i+1].is("=")) || i > 0 && all[i-1].kind == name && (all[i-1].text == "const" || all[i-1].text == "let" || all[i-1].text == "var")) {
			return true
		}
	}
	return false
}

// reached judges what is reached from a module, whose name ends at j.
func (v *prover) reached(i, j int, path []string) int {
	from := j
	for (v.at(j+1).is(".", "?.")) && v.at(j+2).kind == name {
		path = append(path, v.at(j+2).text)
		j += 2
	}
	whole := strings.Join(path, ".")
	if v.at(j+1).is("(") && v.usesFile(whole, v.args(j+1)) {
		return j
	}
	ok, used := v.resolve(path)
	switch {
	case ok:
		for _, m := range path[used:] {
			v.property(m, j)
		}
		if whole == "Array.from" && v.at(j+1).is("(") {
			if args := v.args(j + 1); len(args) > 1 && !v.callback(args[1]) {
				v.unproven(whole)
			}
		}
	case v.sets["reads"][whole]:
		v.proof.Computed = true
	case v.module(whole) && v.at(j+1).is("[") && v.at(j+2).kind == text && v.at(j+2).lit:
		v.unproven(whole + "[" + v.at(j+2).text + "]")
	case len(path) > 1 && v.module(path[0]) && v.sets["plain"][path[1]] && v.local(v.toks[i].text):
		for _, m := range path[1:] {
			v.property(m, j)
		}
	case from == j && v.at(j+1).is("=") && v.requires(v.toks[i].text), from == j && v.local(v.toks[i].text) && !v.at(j+1).is("[", "(") && !v.requires(v.toks[i].text):
	case len(path) > 1 && used == 0 && v.sets["about"][path[len(path)-1]]:
	default:
		v.unproven(whole)
	}
	return j
}

// usesFile judges a function of a file, and says whether this is one.
func (v *prover) usesFile(whole string, args [][]token) bool {
	first := []token(nil)
	if len(args) > 0 {
		first = args[0]
	}
	switch {
	case v.sets["writes"][whole]:
		v.writing(whole, first)
		return true
	case !v.sets["reads"][whole]:
		return false
	}
	for _, a := range args[min(1, len(args)):] {
		if len(a) != 1 && !function(a) && !a[0].is("{") || len(a) == 1 && a[0].kind == name && !v.defined[a[0].text] {
			v.unproven(whole)
		}
		for _, t := range a {
			if t.kind == name && strings.HasPrefix(t.text, "flag") || t.is("[") && a[0].is("{") || t.is("...") {
				v.unproven(whole)
			}
		}
	}
	v.reading(first)
	return true
}

// requires says whether a name was given a module by the program itself.
func (v *prover) requires(n string) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	for i := range v.toks {
		if v.toks[i].kind == name && v.toks[i].text == n && v.at(i+1).is("=") {
			if m, _ := v.loaded(i + 2); m != "" {
				return true
			}
		}
	}
	return false
}

// property judges a property by its name, at i.
func (v *prover) property(m string, i int) {
	next := v.at(i + 1)
	switch {
	case v.acts["any"][m], v.sets["never"][m] && !v.sets["names"][m], strings.HasPrefix(m, "__"):
		v.unproven("." + m)
	case next.is("=") && (v.sets["methods"][m] || v.sets["hooks"][m] || m == "path"), next.kind == text && next.quote == '`' && m != "raw":
		v.unproven("." + m + " =")
	case next.is("(") && !v.sets["methods"][m] && !v.defines(m) && v.toks[i].text == m && v.at(i-1).kind == sign:
		v.unproven("." + m + "(…)")
	case v.sets["callbacks"][m] && v.at(i+1).is("("):
		if args := v.args(i + 1); len(args) > 0 && len(args[0]) > 0 && !v.callback(args[0]) {
			v.unproven("." + m + "(" + args[0][0].text + "…)")
		}
	}
}

// defines says whether the program defines a method of that name, and gives nothing else that name.
func (v *prover) defines(m string) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	w, found := v.over(v.whole), false
	for i, t := range v.whole {
		if t.kind != name || t.text != m {
			continue
		}
		method := w.at(i+1).is("(") && w.at(w.closing(i+1)+1).is("{") && !w.at(i-1).is(".")
		given := w.at(i+1).is(":") && function(v.whole[min(i+2, len(v.whole)):]) || w.at(i+1).is("=") && w.at(i-1).is(".") && function(v.whole[min(i+2, len(v.whole)):])
		switch {
		case method, given:
			found = true
		case w.at(i-1).is(".") && (w.at(i+1).is("(", ".")), w.at(i - 1).is("?."):
		default:
			return false
		}
	}
	return found
}

// callback says whether an argument is a function that the program defines, or one that is listed.
func (v *prover) callback(arg []token) bool {
	t := arg[0]
	if t.kind == pattern || t.kind == text || function(arg) {
		return true
	}
	if t.kind != name {
		return false
	}
	_, alias := v.alias[t.text]
	return v.defined[t.text] || v.sets["names"][t.text] || v.sets["spaces"][t.text] || alias || v.sets["keywords"][t.text] || t.text == "require"
}

// javascriptSign judges calls and properties by what stands before them.
func (v *prover) javascriptSign(i int) {
	switch t := v.toks[i]; {
	case t.text == "(" && (v.at(i-1).is("]", "?.")) && v.indexed(i-1):
		v.unproven("[…](…)")
	case t.text == "(" && v.at(i-1).is(")"):
		if o := v.opening(i - 1); o < 0 || !function(v.toks[o+1:]) || v.operand(o-1) {
			v.unproven(")(…)")
		}
	case t.text == "[" && (v.at(i-1).is("{", ",")) && (v.at(v.closing(i)+1).is(":", "(")):
		v.unproven("[…]:") // a key that is computed may be that of what a language calls by itself
	case t.text == "[" && (v.operand(i-1) || v.at(i-1).is("?.")):
		end := v.closing(i)
		in := v.toks[i+1 : min(end, len(v.toks))]
		switch {
		case len(in) == 1 && in[0].kind == text && in[0].lit:
			v.property(in[0].text, end)
		case len(in) == 1 && in[0].kind == number, len(in) == 3 && in[1].kind == sign && in[2].kind == number && strings.Contains("+-*", in[1].text):
		default:
			root := i - 1
			if v.at(root).kind == name && v.at(root-1).kind == name && v.at(root-1).text == "new" || (v.at(end+1).is("[", "?.")) && v.computed(end+1) {
				v.unproven("[" + in0(in) + "…]")
			}
		}
	}
}

func in0(in []token) string {
	if len(in) == 0 {
		return ""
	}
	return in[0].text
}

// computed says whether the index that begins at i, or after it, is computed.
func (v *prover) computed(i int) bool {
	if v.at(i).is("?.") {
		i++
	}
	return v.at(i).is("[") && (v.at(i+1).kind != number && v.at(i+1).kind != text || !v.at(i+2).is("]"))
}

// indexed says whether the bracket that closes at i is that of an index.
func (v *prover) indexed(i int) bool {
	if v.at(i).is("?.") {
		i--
	}
	if !v.at(i).is("]") {
		return true
	}
	o := v.opening(i)
	return o > 0 && (v.operand(o-1) || v.at(o-1).is("?."))
}
