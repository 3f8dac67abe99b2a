package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
)

// assignment is what an assignment would give to a name, expanded but not yet given.
type assignment struct {
	name  string
	key   string // of an array's element
	v     arg.Word
	naked bool // it only names
	keyed bool // it has a key
	adds  bool // +=
}

// expand expands an assignment.
func (w *walker) expandAssign(a *syntax.Assign) assignment {
	out := assignment{name: a.Name.Value, naked: a.Naked, adds: a.Append}
	if a.Index != nil {
		w.scan(a.Index)
		out.key, out.keyed = w.index(out.name, a.Index), true
	}
	switch {
	case a.Array != nil:
		var list []arg.Word
		var keys []string
		for _, e := range a.Array.Elems {
			key := ""
			if e.Index != nil {
				w.scan(e.Index)
				key = w.index(out.name, e.Index)
			}
			for _, f := range w.fields(e.Value) {
				f.Quoted = false
				list, keys = append(list, f), append(keys, key)
			}
		}
		out.v = arg.Array(list)
		if slices.ContainsFunc(keys, func(k string) bool { return k != "" }) {
			out.v.Keys = keys
		}
	case a.Value != nil:
		out.v = w.single(a.Value)
	}
	if len(out.v.Text) > maxValue {
		out.v = arg.Word{Text: arg.Unknown, Taint: out.v.Taint}
	}
	return out
}

// textAssign reads an assignment out of a word that was expanded, as declare takes it.
func textAssign(f arg.Word) assignment {
	name, text, ok := strings.Cut(f.Text, "=")
	a := assignment{name: name, naked: !ok, v: arg.Word{Text: text, Taint: f.Taint}}
	a.name, a.adds = strings.CutSuffix(a.name, "+")
	if array, key, ok := strings.Cut(a.name, "["); ok {
		a.name, a.key, a.keyed = array, strings.TrimSuffix(key, "]"), true
	}
	return a
}

// index is an index of an array, as far as it is known.
func (w *walker) index(of string, x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok {
		v := w.single(word)
		if syntax.ValidName(v.Text) && !w.vars[of].keyed { // arithmetic takes a name for what it holds
			if n, ok := w.lookup(v.Text); ok && n.Text != "" {
				v = n
			}
		}
		return v.Text
	}
	e := &environ{w: w}
	if n, err := expand.Arithm(&expand.Config{Env: e}, x); err == nil && !e.unknown {
		return strconv.Itoa(n)
	}
	return arg.Unknown
}

// give does an assignment.
func (w *walker) give(a assignment) {
	v := a.v
	old, isSet := arg.Word{}, false
	if a.adds || a.keyed {
		old, isSet = w.lookup(a.name)
	}
	switch {
	case a.keyed:
		v = w.withElement(a, old, isSet)
	case a.adds && (v.List != nil || old.List != nil):
		list := old.List
		if list == nil && isSet {
			list = []arg.Word{old}
		}
		switch {
		case v.List != nil:
			keys := v.Keys
			v = arg.Array(slices.Concat(list, v.List))
			if old.Keys != nil && keys != nil {
				v.Keys = slices.Concat(old.Keys, keys)
			}
		case len(list) > 0:
			list = slices.Clone(list)
			list[0].Text += v.Text
			list[0].Taint |= v.Taint
			v = arg.Array(list)
		}
	case a.adds:
		v.Text, v.Taint = old.Text+v.Text, v.Taint|old.Taint
	}
	if len(v.Text) > maxValue || len(v.List) > maxValue/8 {
		v = arg.Word{Text: arg.Unknown, Taint: v.Taint}
	}
	w.set(a.name, v)
	w.assigned(a.name, v)
}

// withElement is an array after one of its elements was assigned.
func (w *walker) withElement(a assignment, old arg.Word, isSet bool) arg.Word {
	list, keys := slices.Clone(old.List), slices.Clone(old.Keys)
	if list == nil && isSet {
		list = []arg.Word{{Text: old.Text, Taint: old.Taint}}
	}
	n, err := strconv.Atoi(a.key)
	switch {
	case w.vars[a.name].keyed || keys != nil:
		if keys == nil {
			keys = make([]string, len(list))
		}
		if n = slices.Index(keys, a.key); n < 0 {
			list, keys, n = append(list, arg.Word{}), append(keys, a.key), len(list)
		}
	case err != nil || n < 0 || n > len(list)+64:
		n = w.pick(len(list) + 1) // it could be any
	}
	for len(list) <= n {
		list = append(list, arg.Word{})
	}
	if a.adds {
		a.v.Text, a.v.Taint = list[n].Text+a.v.Text, a.v.Taint|list[n].Taint
	}
	list[n] = arg.Word{Text: a.v.Text, Taint: a.v.Taint}
	out := arg.Array(list)
	out.Keys = keys
	return out
}

// assign does an assignment of its own, or before a command.
func (w *walker) assign(a *syntax.Assign) {
	if a.Name != nil {
		w.give(w.expandAssign(a))
	}
}

// declare goes through declare, local, export and the like: all words are expanded before the first name is given its value.
func (w *walker) declare(c *syntax.DeclClause) {
	var args []assignment
	var opts []string
	for _, a := range c.Args {
		if a.Name != nil {
			args = append(args, w.expandAssign(a))
			continue
		}
		for _, f := range w.fields(a.Value) {
			if len(f.Text) > 1 && (f.Text[0] == '-' || f.Text[0] == '+') {
				opts = append(opts, f.Text)
			} else {
				w.arithText(f.Text)
				args = append(args, textAssign(f))
			}
		}
	}
	w.declared(c.Variant.Value, opts, args)
}

// declares is declare and the like where they stand behind another command.
func declares(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	var args []assignment
	var opts []string
	for _, f := range c.args {
		if len(f.Text) > 1 && (f.Text[0] == '-' || f.Text[0] == '+') {
			opts = append(opts, f.Text)
		} else {
			w.arithText(f.Text)
			args = append(args, textAssign(f))
		}
	}
	w.declared(c.name, opts, args)
	if len(args) == 0 || slices.Contains(opts, "-p") {
		return printenv(w, c)
	}
	return handled(stream{known: true})
}

func (w *walker) declared(variant string, opts []string, args []assignment) {
	has := func(letter string) bool {
		return slices.ContainsFunc(opts, func(o string) bool { return o[0] == '-' && strings.Contains(o, letter) })
	}
	if has("f") || has("F") {
		return // functions
	}
	inside := slices.ContainsFunc(w.frames, func(f *frame) bool { return f.function })
	if variant == "local" && !inside { // most shells fail
		w.maybe(func() { w.declared("declare", opts, args) })
		return
	}
	for _, a := range args {
		if a.name == "" || strings.Contains(a.name, arg.Unknown) {
			continue
		}
		w.ownToken(a.name)
		switch variant {
		case "local", "declare", "typeset", "nameref":
			if inside && !has("g") {
				w.hide(a.name)
			}
		}
		v, there := w.vars[a.name]
		if !there {
			v = variable{begun: true}
		}
		readonly := variant == "readonly" || has("r")
		v.integer = v.integer || has("i")
		v.keyed = v.keyed || has("A")
		v.reference = v.reference && slices.Contains(opts, "-n") && a.naked
		v.upper, v.lower = v.upper && !has("l") || has("u"), v.lower && !has("u") || has("l")
		w.vars[a.name] = v
		if !a.naked {
			w.give(a)
			if variant == "declare" || variant == "typeset" || variant == "local" {
				w.arithText(a.v.Text) // declare -i evaluates
			}
		}
		v = w.vars[a.name]
		v.readonly = v.readonly || readonly
		v.reference = has("n") || variant == "nameref"
		w.vars[a.name] = v
	}
}

// The builtins that change what names stand for.

func unset(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	o, _ := commands.Parse(c.args, nil, false, false)
	for _, v := range o.Words {
		w.arithText(v.Text)
		if v.Text == "HISTFILE" {
			w.assigned("HISTFILE", arg.Word{})
		}
		_, isVar := w.vars[v.Text]
		if !o.Has("-v") && (o.Has("-f") || !isVar) {
			delete(w.funcs, v.Text)
		}
		if !o.Has("-f") {
			w.unset(v.Text)
		}
	}
	return handled(stream{known: true})
}

// setParams is set: after its options come $1 and so on.
func setParams(w *walker, c *cmd) (stream, bool) {
	args, given := c.args, false
options:
	for len(args) > 0 {
		switch s := args[0].Text; {
		case s == "--" || s == "-":
			args, given = args[1:], true
			break options
		case len(s) > 1 && (s[0] == '-' || s[0] == '+'):
			args = args[1:]
			if s[len(s)-1] == 'o' && len(args) > 0 {
				args = args[1:]
			}
		default:
			given = true
			break options
		}
	}
	if given {
		v := arg.Array(args)
		v.Open = slices.ContainsFunc(args, func(a arg.Word) bool { return !a.Known() && !a.Quoted })
		w.vars[parameters] = variable{may: []arg.Word{v}}
	}
	if len(c.args) == 0 {
		return handled(stream{taint: arg.FromSecret})
	}
	return stream{}, false
}

func shift(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	n := 1
	if len(c.args) > 0 {
		var err error
		if n, err = strconv.Atoi(c.args[0].Text); err != nil {
			n = -1
		}
	}
	if v, ok := w.lookup(parameters); ok {
		switch {
		case n < 0:
			n = w.pick(len(v.List) + 1)
		case n > len(v.List):
			n = 0
		}
		rest := arg.Array(v.List[n:])
		rest.Open = v.Open
		w.vars[parameters] = variable{may: []arg.Word{rest}}
	}
	return handled(stream{known: true})
}

func reads(w *walker, c *cmd) (stream, bool) {
	values := lazy.Words("-p -t -n -N -d -u -i -a")
	if c.name != "read" {
		values = lazy.Words("-d -n -O -s -u -C -c")
	}
	o, _ := commands.Parse(c.args, values, false, false)
	w.harmless(c)
	if v, ok := o.Flags["-C"]; ok {
		w.maybe(func() { w.script(v.Text+" 0 "+quoteAll([]arg.Word{{Text: c.in.text}}), "bash", nil, stream{}) })
	}
	names := o.Words
	if v, ok := o.Flags["-a"]; ok {
		names = append([]arg.Word{v}, names...)
	}
	lines := strings.Split(strings.TrimSuffix(c.in.text, "\n"), "\n")
	if !c.in.known || len(lines) > maxAlternatives {
		lines = nil
	}
	if c.name != "read" || o.Has("-a") {
		var all arg.Word
		all.Text, all.Taint = arg.Unknown, c.in.taint
		switch {
		case lines == nil:
		case c.name == "read":
			var list []arg.Word
			for _, f := range strings.Fields(lines[w.anyLine(len(lines))]) {
				list = append(list, arg.Word{Text: f, Taint: c.in.taint})
			}
			all = arg.Array(list)
		default:
			var list []arg.Word
			for _, l := range lines {
				list = append(list, arg.Word{Text: l, Taint: c.in.taint})
			}
			all = arg.Array(list)
		}
		if len(names) == 0 {
			names = []arg.Word{arg.Known("MAPFILE")}
		}
		w.give(assignment{name: names[0].Text, v: all})
		return handled(stream{known: true})
	}
	if len(names) == 0 {
		names = []arg.Word{arg.Known("REPLY")}
	}
	line := arg.Unknown
	if lines != nil {
		if line = lines[w.anyLine(len(lines))]; o.Has("-d", "-n", "-N") {
			line = arg.Unknown
		}
	}
	var fields []string
	if line != arg.Unknown {
		fields = expand.ReadFields(&expand.Config{Env: &environ{w: w}}, line, len(names), o.Has("-r"))
	}
	for i, v := range names {
		w.arithText(v.Text)
		a := textAssign(arg.Word{Text: v.Text})
		a.naked, a.v = false, arg.Word{Text: arg.Unknown, Taint: c.in.taint}
		switch {
		case line == arg.Unknown:
		case i < len(fields):
			a.v.Text = fields[i]
		default:
			a.v.Text = ""
		}
		w.give(a)
	}
	return handled(stream{known: true})
}

// anyLine is the line that is read: the first, and in a loop any of them.
func (w *walker) anyLine(n int) int {
	if w.loops == 0 {
		return 0
	}
	return w.pick(n)
}

func getopts(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	if len(c.args) > 1 {
		w.set(c.args[1].Text, arg.Word{Text: arg.Unknown})
		w.set("OPTARG", arg.Word{Text: arg.Unknown})
	}
	return handled(stream{known: true})
}

// jumps is break, continue and return: what they leave goes on behind the loop or the function.
func jumps(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	w.leaves(c.name == "return", len(c.args) > 0)
	return handled(stream{known: true})
}

func trap(w *walker, c *cmd) (stream, bool) {
	o, rest := commands.Parse(c.args, nil, false, true)
	w.harmless(c)
	if o.Has("-l", "-p") || len(rest) < 2 || rest[0].Text == "-" || rest[0].Text == "" {
		return handled(stream{})
	}
	v := rest[0]
	if v.Taint == arg.OfJob { // trap "kill $pid" EXIT
		v.Text = strings.ReplaceAll(v.Text, arg.Job, "$!")
	}
	w.maybe(func() { w.script(v.Text, "bash", nil, stream{}) })
	if len(w.traps) >= maxAlternatives {
		w.opaque("shell.too_much", "thing_does_much")
	} else if !slices.ContainsFunc(w.traps, v.Same) {
		w.traps = append(w.traps, v)
	}
	return handled(stream{})
}

// trapped goes through the traps again behind a statement: what they run may have changed by it.
func (w *walker) trapped(s *syntax.Stmt) {
	if len(w.traps) == 0 {
		return
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 && c.Args[0].Lit() == "trap" {
			return
		}
	case *syntax.DeclClause, *syntax.FuncDecl, *syntax.ArithmCmd, *syntax.LetClause:
	default:
		return // its parts did
	}
	traps := w.traps
	w.traps = nil
	defer w.apart()()
	for _, v := range traps {
		if first, _, _ := strings.Cut(strings.TrimSpace(v.Text), " "); strings.Contains(v.Text, "$") || len(w.funcs[first]) > 0 {
			before := w.save()
			w.script(v.Text, "bash", nil, stream{})
			w.merge(before)
		}
	}
	w.traps = traps
}

// environ is what the shell's own expansions see of the state. Only what is fully known may be made of it.
type environ struct {
	w       *walker
	taint   arg.Taint
	unknown bool
}

// Get is the variable of a name.
func (e *environ) Get(name string) expand.Variable {
	if name == "#" {
		if v, ok := e.w.lookup(parameters); ok && !v.Open {
			return expand.Variable{Set: true, Kind: expand.String, Str: strconv.Itoa(len(v.List))}
		}
	}
	if name == "*" {
		name = parameters
	}
	v, isSet := e.w.lookup(name)
	e.taint |= v.Taint
	if !v.Known() || v.Open {
		e.unknown = true
	}
	if !isSet {
		return expand.Variable{}
	}
	if v.List == nil {
		return expand.Variable{Set: true, Kind: expand.String, Str: v.Text}
	}
	if v.Keys != nil {
		out := expand.Variable{Set: true, Kind: expand.Associative, Map: map[string]string{}}
		for i, k := range v.Keys {
			out.Map[k] = v.List[i].Text
		}
		if !e.w.vars[name].keyed {
			e.unknown = true // indexes of a sparse array
		}
		return out
	}
	return expand.Variable{Set: true, Kind: expand.Indexed, List: arg.Texts(v.List)}
}

// Each is all variables, in no order.
func (e *environ) Each(func(string, expand.Variable) bool) { e.unknown = true }

// isList says whether an expansion makes a word of each element.
func isList(p *syntax.ParamExp) bool {
	if p.Length || p.Width || p.IsSet || p.Param == nil || p.Excl {
		return false
	}
	if word, ok := p.Index.(*syntax.Word); ok {
		return word.Lit() == "@"
	}
	return p.Param.Value == "@"
}

// elements are the words that such an expansion makes.
func (w *walker) elements(p *syntax.ParamExp) []arg.Word {
	if p.Slice == nil && p.Repl == nil && p.Exp == nil {
		v, isSet := w.lookup(p.Param.Value)
		switch {
		case v.List != nil:
			return v.List
		case isSet || !v.Known():
			return []arg.Word{v}
		}
		return nil
	}
	e := &environ{w: w}
	list, err := expand.Fields(&expand.Config{Env: e}, &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}})
	if err != nil || e.unknown {
		v := w.param(p)
		return []arg.Word{{Text: arg.Unknown, Taint: e.taint | v.Taint}}
	}
	out := make([]arg.Word, len(list))
	for i, s := range list {
		out[i] = arg.Word{Text: s, Taint: e.taint}
	}
	return out
}

// computed is what the shell makes of an expansion, where all that it rests on is known.
func (w *walker) computed(p *syntax.ParamExp) (arg.Word, bool) {
	if runsWithin(p) {
		return arg.Word{}, false
	}
	e := &environ{w: w}
	s, err := expand.Literal(&expand.Config{Env: e}, &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}})
	if err != nil || e.unknown || strings.Contains(s, arg.Unknown) {
		return arg.Word{Text: arg.Unknown, Taint: e.taint}, false
	}
	return arg.Word{Text: s, Taint: e.taint}, true
}

// runsWithin says whether an expansion has a command within it, or assigns.
func runsWithin(p *syntax.ParamExp) bool {
	found := false
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			found = true
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull || n.Exp.Op == syntax.OtherParamOps) {
				found = true
			}
		}
		return !found
	})
	return found
}

// element is one of an array's elements, by an index that may not be known.
func (w *walker) element(v arg.Word, key string) arg.Word {
	if i := slices.Index(v.Keys, key); i >= 0 {
		return v.List[i]
	}
	if n, err := strconv.Atoi(key); err == nil && v.Keys == nil {
		if n < 0 {
			n += len(v.List)
		}
		if n < 0 || n >= len(v.List) {
			return arg.Word{}
		}
		return v.List[n]
	}
	if len(v.List) == 0 {
		return arg.Word{}
	}
	return v.List[w.pick(len(v.List))]
}
