package inline

import "strings"

// python proves a program in Python, whose names are those of its builtins, of the modules that it imports, and its own.
func (v *prover) python(program string) {
	if !plainCoding(program) {
		v.unproven("# coding") // other encodings read comments otherwise
		return
	}
	v.pythonImports()
	v.inside(v.pythonImports)
	v.defined = map[string]bool{}
	for i, t := range v.whole {
		if t.kind == name && i > 0 && (v.whole[i-1].kind == name && (v.whole[i-1].text == "def" || v.whole[i-1].text == "class") || v.whole[i-1].is(".") && i+1 < len(v.whole) && v.whole[i+1].is("=")) {
			v.defined[t.text] = true
		}
	}
	v.searchPath(program)
	v.consts = v.pythonConstants()
	v.pythonNames()
	v.inside(v.pythonNames)
	for _, f := range append(v.proof.Writes, v.proof.Replaces...) {
		if !strings.HasSuffix(f, ".json") && !strings.HasSuffix(f, ".txt") && !strings.HasSuffix(f, ".md") && v.loadedAt > firstWrite(program) {
			v.unproven(f) // which the program may load then
		}
	}
}

// searchPath looks for changes of sys.path, from which other modules would be loaded than those that are listed.
func (v *prover) searchPath(program string) {
	bare := strings.Contains(program, "from sys import")
	for i, t := range v.whole {
		if t.kind != name || t.text != "path" || i+1 >= len(v.whole) || !bare && (i == 0 || !v.whole[i-1].is(".")) {
			continue
		}
		next := v.whole[i+1]
		changes := next.is("=") || next.is("+=")
		if next.is(".") && i+2 < len(v.whole) {
			switch v.whole[i+2].text {
			case "insert", "append", "extend", "clear", "remove", "pop", "reverse", "sort":
				changes = true
			}
		}
		if changes {
			v.unproven("sys.path")
			return
		}
	}
}

// firstWrite is where a program may first write a file.
func firstWrite(program string) int {
	first := len(program)
	for _, what := range []string{"open", "write", "save", "to_", "mkdir", "touch"} {
		if i := strings.Index(program, what); i >= 0 {
			first = min(first, i)
		}
	}
	return first
}

// plainCoding says whether the first lines name no encoding but those in which a comment is what it looks like.
func plainCoding(program string) bool {
	lines := strings.SplitN(program, "\n", 3)
	for _, rest := range lines[:min(2, len(lines))] {
		for {
			_, after, ok := strings.Cut(rest, "coding")
			if !ok {
				break
			}
			rest = after
			if after == "" || after[0] != ':' && after[0] != '=' {
				continue
			}
			name := strings.TrimLeft(after[1:], " \t")
			if end := strings.IndexFunc(name, func(r rune) bool { return r != '-' && r != '.' && (r > 'z' || !letter(byte(r))) }); end >= 0 {
				name = name[:end]
			}
			switch strings.ToLower(name) {
			case "", "utf-8", "utf8", "ascii", "us-ascii", "latin-1":
			default:
				return false
			}
		}
	}
	return true
}

// dotted reads a dotted name, and returns the index after it.
func (v *prover) dotted(i int) (string, int) {
	s := v.at(i).text
	for i++; v.at(i).is(".") && v.at(i+1).kind == name; i += 2 {
		s += "." + v.at(i+1).text
	}
	return s, i
}

// pythonImports gives the names that are imported what they stand for, and takes the imports out.
func (v *prover) pythonImports() {
	for i := 0; i < len(v.toks) && v.proof.Unproven == ""; i++ {
		t := v.toks[i]
		if t.kind != name || v.at(i-1).is(".") {
			continue
		}
		var end int
		switch {
		case t.text == "import" && v.at(i+1).kind == name:
			for j := i + 1; ; j++ {
				var m string
				m, j = v.dotted(j)
				as := strings.Split(m, ".")[0]
				target := as
				if v.at(j).word("as") {
					as, target = v.at(j+1).text, m
					j += 2
				}
				v.importing(as, target, m)
				if end = j; !v.at(j).is(",") || v.at(j+1).kind != name {
					break
				}
			}
		case t.text == "from" && (v.at(i+1).kind == name && v.at(i+1).text != "import" || v.at(i+1).is(".")) && v.fromImport(i) > 0:
			end = v.fromImport(i)
			m, j := "", i+1
			for ; j < len(v.toks) && v.toks[j].text != "import"; j++ {
				m += v.toks[j].text
			}
			for j++; j < end; j++ {
				if v.toks[j].is("*") {
					v.unproven("from " + m + " import *")
				}
				if v.toks[j].kind != name {
					continue
				}
				as := v.toks[j].text
				full := m + "." + as
				if v.at(j+1).word("as") && j+2 < end {
					as = v.toks[j+2].text
					j += 2
				}
				v.importing(as, full, m)
			}
		default:
			continue
		}
		for v.loadedAt = max(v.loadedAt, t.at); i < end && i < len(v.toks); i++ {
			v.toks[i] = token{kind: line, text: "\n"}
		}
	}
}

// fromImport is the end of "from m import ..." at i; 0 where it is none.
func (v *prover) fromImport(i int) int {
	for j := i + 1; j < len(v.toks) && j < i+30; j++ {
		t := v.toks[j]
		if t.word("import") {
			if v.at(j + 1).is("(") {
				return v.closing(j+1) + 1
			}
			for j++; j < len(v.toks) && v.toks[j].kind != line && !v.toks[j].is(";"); j++ {
			}
			return j
		}
		if t.kind != name && !t.is(".") {
			return 0
		}
	}
	return 0
}

func (v *prover) importing(as, target, m string) {
	if other, ok := v.alias[as]; ok && other != target {
		v.unproven("import " + as)
	}
	if v.own != nil && v.own(m) {
		v.proof.Loads = append(v.proof.Loads, m)
		return
	}
	v.alias[as] = target
	switch {
	case v.module(m):
		v.load(m)
		if v.module(target) {
			v.load(target)
		}
	case v.foreign(strings.Split(m, ".")[0]):
		v.unproven(m)
	default:
		v.unknown(m)
	}
}

// pythonConstants are the names that stand for one string all the time: given it once, and otherwise only given to calls or
// asked for what they have.
func (v *prover) pythonConstants() map[string]string {
	whole, values, times, other := v.toks, map[string]string{}, map[string]int{}, map[string]bool{}
	v.toks = v.whole
	for i, t := range v.toks {
		prev, next := v.at(i-1), v.at(i+1)
		switch {
		case t.kind != name || prev.is("."):
		case t.text == "case" && prev.kind == line: // a pattern may bind any name
			v.toks = whole
			return nil
		case next.is("=") && prev.kind == line:
			times[t.text]++
			if s, ok := v.spelled(statement(v.toks[i+2:])); ok {
				values[t.text] = s
			}
		case next.is(".") && !(prev.word("for", "as")) && !prev.is("*", "["), v.argument(i):
		default:
			other[t.text] = true
		}
	}
	v.toks = whole
	for n := range values {
		if times[n] != 1 || other[n] || v.alias[n] != "" {
			delete(values, n)
		}
	}
	return values
}

// argument says whether the name at i is a whole argument of a call.
func (v *prover) argument(i int) bool {
	if next := v.at(i + 1); !next.is(",", ")") {
		return false
	}
	prev := v.at(i - 1)
	if prev.is("=") && v.at(i-2).kind == name && (v.at(i-3).is("(", ",")) {
		prev = v.at(i - 3)
	}
	if !prev.is("(", ",") {
		return false
	}
	j := v.enclosing(i)
	if f := v.at(j - 1); !v.at(j).is("(") || !f.is(")", "]") && (f.kind != name || v.sets["keywords"][f.text]) {
		return false
	}
	return !oneOf(v.at(j-2).text, "def", "class", "function") && !v.at(v.closing(j)+1).is("=>", "{")
}

// statement is what comes before the end of a line.
func statement(toks []token) []token {
	for i, t := range toks {
		if t.kind == line || t.is(";") {
			return toks[:i]
		}
	}
	return toks
}

// pythonNames looks at each name and at what is reached from it.
func (v *prover) pythonNames() {
	for i := 0; i < len(v.toks) && v.proof.Unproven == ""; i++ {
		t := v.toks[i]
		switch {
		case t.kind == text && v.imported["pandas"] && v.acts["pandas"][t.text]:
			v.unproven(t.text) // the name of a method, for one that calls it
		case t.kind != name || v.sets["keywords"][t.text]:
		case v.at(i - 1).is("."):
			v.attribute(i)
		case v.keyword(i):
		default:
			if full, ok := v.alias[t.text]; ok {
				i = v.imports(i, full)
			} else {
				v.builtin(i)
			}
		}
	}
}

// keyword says whether a name is that of a parameter in a call, or in a definition.
func (v *prover) keyword(i int) bool {
	if !v.at(i+1).is("=") || !v.at(i-1).is("(", ",") {
		return false
	}
	if n := v.toks[i].text; v.sets["keys"][n] || dunder(n) || v.acting(n) && !v.sets["names"][n] {
		v.unproven(n + "=") // a pattern asks for attributes in this form
	}
	return true
}

func (v *prover) builtin(i int) {
	t := v.toks[i]
	switch {
	case v.sets["opens"][t.text]:
		v.opens(i, t.text, i+1, 1)
	case t.text == "type" && !v.asked(i):
		v.unproven("type")
	case t.text == "getattr" && v.at(i+1).is("(") && v.spelledName(v.args(i+1)):
		args := v.args(i + 1)
		if full, ok := v.alias[args[0][0].text]; ok && len(args[0]) == 1 {
			path := append(strings.Split(full, "."), args[1][0].text)
			if ok, used := v.resolve(path); !ok && (used != 0 || !v.sets["about"][args[1][0].text]) && !v.sets["dunder"][args[1][0].text] {
				v.unproven(strings.Join(path, "."))
			}
			v.toks[i+2] = token{kind: number, text: "0"}
		}
		v.member(args[1][0].text, i)
	case v.sets["never"][t.text] && !v.sets["names"][t.text], dunder(t.text) && !v.sets["dunder"][t.text]:
		v.unproven(t.text)
	}
}

// asked says whether the type of a value is only asked for its name, compared or shown: called, it makes another value.
func (v *prover) asked(i int) bool {
	if !v.at(i + 1).is("(") {
		return v.at(i-1).is(",") && v.at(i+1).is(")") && v.at(i-3).is("(") && oneOf(v.at(i-4).text, "isinstance", "issubclass")
	}
	end, prev := v.closing(i+1), v.at(i-1)
	next := v.at(end + 1)
	return len(v.args(i+1)) > 1 || next.is(".") && (oneOf(v.at(end+2).text, "__name__", "__qualname__")) ||
		next.is("==", "!=") || next.word("is", "in") || prev.kind == name && prev.text == "is" || prev.is("==", "!=") ||
		prev.is("(") && v.sets["shows"][v.at(i-2).text] || prev.is(",") && v.printed(i) || prev.kind == line && len(v.toks) < len(v.whole)
}

// printed says whether i is within the arguments of print.
func (v *prover) printed(i int) bool {
	j := v.enclosing(i)
	return v.at(j).is("(") && v.at(j-1).text == "print" && !v.defined["print"]
}

// spelledName says whether the second argument is a string that is spelled out.
func (v *prover) spelledName(args [][]token) bool {
	return len(args) > 1 && len(args[0]) > 0 && len(args[1]) == 1 && args[1][0].kind == text && args[1][0].lit
}

func dunder(s string) bool { return strings.HasPrefix(s, "__") }

// opens judges a call that opens a file: its path and, at the place told, its mode.
func (v *prover) opens(i int, what string, bracket, mode int) {
	if !v.at(bracket).is("(") {
		v.unproven(what)
		return
	}
	args := v.args(bracket)
	m, known := "r", true
	var path []token
	if mode > 0 && len(args) > 0 {
		path = args[0]
	}
	if len(args) > mode && !v.named(args[mode]) {
		m, known = v.spelled(args[mode])
	}
	for _, a := range args {
		switch {
		case len(a) > 0 && (a[0].is("*") || a[0].is("**")):
			known = false
		case v.named(a) && a[0].text == "mode":
			m, known = v.spelled(a[2:])
		case v.named(a) && a[0].text == "file":
			path = a[2:]
		case v.named(a) && a[0].text == "opener":
			known = false
		}
	}
	switch {
	case !known:
		v.unproven(what + "(…)")
	case (strings.HasPrefix(m, "r") || m == "U" || what == "io.lines") && !strings.Contains(m, "+"):
		v.reading(path)
	default:
		v.writing(what+"(…, "+m+")", path)
	}
}

// named says whether an argument is given by its name.
func (v *prover) named(a []token) bool { return len(a) > 1 && a[0].kind == name && a[1].is("=") }

// imports judges what is reached from a name that was imported, and returns the index of its last part.
func (v *prover) imports(i int, full string) int {
	path := strings.Split(full, ".")
	j := i
	for v.at(j+1).is(".") && v.at(j+2).kind == name {
		path = append(path, v.at(j+2).text)
		j += 2
	}
	whole := strings.Join(path, ".")
	if v.at(j+1).is("=") && v.at(i-1).kind == line && j == i {
		v.unproven(whole + " =") // then it is no longer what was imported
		return j
	}
	if v.at(j+1).is("(") && v.listedCall(j, whole, v.args(j+1)) {
		return j
	}
	ok, used := v.resolve(path)
	if !ok && v.shows(i) && i == j {
		return j
	}
	if !ok {
		last := path[len(path)-1]
		if used == 0 && v.sets["about"][last] && len(path) > 1 {
			return j
		}
		v.unproven(whole)
		return j
	}
	for _, m := range path[used:] {
		v.member(m, j)
	}
	return j
}

// listedCall judges a call of a function of which more is known than that it may be called, and says whether this is one.
func (v *prover) listedCall(j int, whole string, args [][]token) bool {
	first := []token(nil)
	if len(args) > 0 {
		first = args[0]
	}
	path, spelled := v.spelled(first)
	switch {
	case v.sets["opens"][whole]:
		v.opens(j, whole, j+1, 1)
	case v.sets["writes"][whole]:
		v.writing(whole, first)
	case v.sets["fetches"][whole]:
		v.fetching(whole, args)
	case v.sets["reads"][whole]:
		if !spelled && v.sets["urls"][whole] {
			v.unproven(whole)
		}
		v.reading(first)
	case whole == "importlib.util.find_spec":
		if !spelled || strings.Contains(path, ".") {
			v.unproven(whole) // loads what the name is in
		}
	case whole == "functools.wraps" && len(args) != 1:
		v.unproven(whole)
	case whole == "operator.attrgetter":
		for _, a := range args {
			s, ok := v.spelled(a)
			if !ok {
				v.unproven(whole)
			}
			for m := range strings.SplitSeq(s, ".") {
				v.member(m, j)
			}
		}
	case v.sets["queries"][whole]:
		if path == ":memory:" && spelled && !v.connected {
			v.memory = true
			break
		}
		v.connected = true
		v.reading(first)
	default:
		return false
	}
	return true
}

// attribute judges an attribute of a value.
func (v *prover) attribute(i int) {
	m := v.toks[i].text
	if v.at(i + 1).is("(") {
		args := v.args(i + 1)
		switch {
		case m == "open":
			v.pathOpens(i)
			return
		case v.sets["writers"][m] && v.acting(m):
			if s, ok := v.receiver(i); ok {
				if v.sets["adds"][m] {
					v.proof.Writes = append(v.proof.Writes, s)
				} else {
					v.proof.Replaces = append(v.proof.Replaces, s)
				}
				return
			}
		case v.sets["savers"][m] && v.acting(m):
			v.saves(m, args)
			return
		case (m == "execute" || m == "executemany" || m == "executescript") && v.imported["sqlite3"] && len(args) > 0:
			if s, ok := v.spelled(args[0]); ok && v.memory && !v.connected && !strings.Contains(strings.ToLower(s), "attach") && !strings.Contains(strings.ToLower(s), "vacuum") {
				return
			} else if ok {
				v.proof.Queries = append(v.proof.Queries, s)
				return
			}
		case m == "replace" && len(args) > 1 && len(args[0]) == 1 && args[0][0].kind == text:
			return // of a text
		}
	}
	v.member(m, i)
}

// saves judges a method that writes what it has to the file that it is given, or returns it where it is given none.
func (v *prover) saves(m string, args [][]token) {
	place := func(a []token) bool {
		return strings.Contains(a[0].text, "buf") || strings.Contains(a[0].text, "path") || strings.Contains(a[0].text, "writer")
	}
	for n, a := range args {
		switch {
		case a[0].is("*", "**"), n > 0 && (!v.named(a) || place(a)):
			v.unproven("." + m)
		case n == 0 && (!v.named(a) || place(a)):
			v.writing(m, a)
		}
	}
}

// member judges an attribute by its name.
func (v *prover) member(m string, i int) {
	switch {
	case m == "__class__" && (!v.at(i+1).is(".") || v.at(i+2).text != "__name__"), (m == "__init__" || m == "__new__") && (!v.at(i-2).is(")") || v.at(v.opening(i-2)-1).text != "super"), m == "open" && !v.at(i+1).is("("):
		v.unproven("." + m)
	case dunder(m):
		if !v.sets["dunder"][m] {
			v.unproven(m)
		}
	case v.acting(m), strings.HasPrefix(m, "_") && !v.defined[m] && !v.sets["dunder"][m]:
		v.unproven("." + m)
	}
}

// receiver is the path of Path("...") or of a name that stands for one, before the dot at i-1.
func (v *prover) receiver(i int) (string, bool) {
	if v.at(i-2).kind == name && !v.at(i-3).is(".") {
		return v.spelled(v.toks[i-2 : i-1])
	}
	if v.at(i - 2).is(")") {
		from := v.opening(i-2) - 1
		if from >= 2 && v.at(from-1).is(".") {
			from -= 2
		}
		if from >= 0 {
			return v.spelled(v.toks[from : i-1])
		}
	}
	return "", false
}

func (v *prover) pathOpens(i int) {
	args := v.args(i + 1)
	m, known := "r", true
	for n, a := range args {
		switch {
		case n == 0 && !v.named(a):
			m, known = v.spelled(a)
		case v.named(a) && a[0].text == "mode":
			m, known = v.spelled(a[2:])
		case len(a) > 0 && (a[0].is("*") || a[0].is("**")):
			known = false
		}
	}
	s, ok := v.receiver(i)
	switch {
	case known && strings.HasPrefix(m, "r") && !strings.Contains(m, "+") && ok:
		v.proof.Reads = append(v.proof.Reads, s)
	case known && strings.HasPrefix(m, "r") && !strings.Contains(m, "+"):
		v.proof.Computed = true
	case known && ok:
		v.proof.Replaces = append(v.proof.Replaces, s)
	default:
		v.unproven(".open(…)")
	}
}
