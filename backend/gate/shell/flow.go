package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"deskbell/backend/gate/shell/arg"
)

const (
	maxAlternatives = 12 // values that one variable may have, folders that a script may be in; past it, it is unknown
	maxWays         = 48 // ways that one statement is gone through; past it, it is asked about
	maxPasses       = 3  // of a loop; what still changes then is unknown
)

// A state is what commands leave to those after them: where the shell is, and what its names stand for. Where a script may
// have gone several ways, it holds what each of them left.
type state struct {
	dir       string   // the current folder, as far as it is known
	otherDirs []string // where it may be as well
	vars      map[string]variable
	funcs     map[string][]*syntax.Stmt
}

// A variable is what may be known of one. One that is not in the state is as it was when the script began.
type variable struct {
	may   []arg.Word // every value that it may have
	unset bool       // it may have none
	begun bool       // it may be as it was when the script began

	readonly, integer, reference, keyed, upper, lower bool
}

// parameters is the name under which a state holds $1 and so on, as an array. No variable can have it.
const parameters = "@"

func (v variable) ways() int { return len(v.may) + btoi(v.unset) + btoi(v.begun) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (v variable) same(o variable) bool {
	return v.unset == o.unset && v.begun == o.begun && slices.EqualFunc(v.may, o.may, arg.Word.Same)
}

func (s state) clone() state {
	return state{dir: s.dir, otherDirs: slices.Clip(s.otherDirs), vars: maps.Clone(s.vars), funcs: maps.Clone(s.funcs)}
}

// save keeps the state for what may change it and is left again: a subshell, a way through a script.
func (w *walker) save() state {
	w.step((len(w.vars) + len(w.funcs)) / 8)
	if w.spent {
		return w.state
	}
	return w.clone()
}

func (w *walker) restore(s state) { w.state = s }

// merge adds to the state what another way left.
func (w *walker) merge(o state) {
	w.step((len(w.vars) + len(w.funcs) + len(o.vars)) / 8)
	for _, dir := range append([]string{o.dir}, o.otherDirs...) {
		w.mayBeIn(dir)
	}
	for name, theirs := range o.vars {
		ours, ok := w.vars[name]
		if !ok {
			ours = variable{begun: true}
		}
		w.vars[name] = w.either(ours, theirs)
	}
	for name, ours := range w.vars {
		if _, ok := o.vars[name]; !ok {
			w.vars[name] = w.either(ours, variable{begun: true})
		}
	}
	for name, bodies := range o.funcs {
		for _, body := range bodies {
			if !slices.Contains(w.funcs[name], body) {
				w.funcs[name] = append(slices.Clip(w.funcs[name]), body)
				w.divided = true
			}
		}
	}
}

func (w *walker) mayBeIn(dir string) {
	switch {
	case dir == w.dir || slices.Contains(w.otherDirs, dir):
	case len(w.otherDirs) >= maxAlternatives:
	case len(w.otherDirs) == maxAlternatives-1:
		w.otherDirs = append(slices.Clip(w.otherDirs), arg.Unknown)
	default:
		w.otherDirs = append(slices.Clip(w.otherDirs), dir)
	}
}

// either is a variable that is one of two.
func (w *walker) either(a, b variable) variable {
	a.unset, a.begun = a.unset || b.unset, a.begun || b.begun
	a.readonly, a.integer, a.reference = a.readonly || b.readonly, a.integer || b.integer, a.reference || b.reference
	a.keyed = a.keyed || b.keyed
	a.upper, a.lower = a.upper || b.upper, a.lower || b.lower
	a.may = slices.Clip(a.may)
	for _, v := range b.may {
		a.may = addValue(a.may, v)
	}
	w.divided = w.divided || a.ways() > 1
	return a
}

// addValue adds an alternative. Where there are too many, one that is not known stands for the others.
func addValue(list []arg.Word, v arg.Word) []arg.Word {
	for i, x := range list {
		if x.Same(v) {
			if x.Taint|v.Taint != x.Taint {
				list = slices.Clone(list)
				list[i].Taint |= v.Taint
			}
			return list
		}
	}
	if len(list) < maxAlternatives {
		return append(list, v)
	}
	list = slices.Clone(list)
	last := &list[len(list)-1]
	*last = arg.Word{Text: arg.Unknown, Taint: last.Taint | v.Taint, Glob: last.Glob || v.Glob}
	return list
}

// choices are the ways that a statement is gone through: at each point where it matters which of several a value is, the
// one that is tried now.
type choices struct {
	tried []choice
	next  int
}

type choice struct{ now, of int }

// pick chooses one of n, so that each of them is chosen in the end.
func (w *walker) pick(n int) int {
	c := w.choices
	if n < 2 || c == nil {
		return 0
	}
	if c.next == len(c.tried) {
		c.tried = append(c.tried, choice{of: n})
	}
	c.next++
	return c.tried[c.next-1].now
}

// advance goes to the next way, and says whether there is one.
func (c *choices) advance() bool {
	c.next = 0
	for n := len(c.tried); n > 0; n-- {
		if last := &c.tried[n-1]; last.now+1 < last.of {
			last.now++
			c.tried = c.tried[:n]
			return true
		}
	}
	return false
}

// eachWay goes through a statement once for each combination of the values on which it depends. What they leave is merged.
func (w *walker) eachWay(run func() stream) stream {
	if !w.divided {
		return run()
	}
	outer := w.choices
	w.choices = &choices{}
	defer func() { w.choices = outer }()
	before := w.save()
	var after state
	var out stream
	for n := 0; ; n++ {
		o := run()
		if n == 0 {
			out, after = o, w.state
		} else {
			out = stream{text: out.text, known: out.known && o.known && out.text == o.text, taint: out.taint | o.taint, open: out.open || o.open, shell: out.shell || o.shell, remote: out.remote || o.remote}
			way := w.state
			w.state = after
			w.merge(way)
			after = w.state
		}
		if !w.choices.advance() || w.spent {
			break
		}
		if n == maxWays {
			w.opaque("shell.too_much", "thing_does_much")
			break
		}
		w.state = before.clone()
	}
	w.state = after
	return out
}

// maybe goes through what may run or not.
func (w *walker) maybe(run func()) {
	before := w.save()
	w.doubts++
	run()
	w.doubts--
	w.merge(before)
}

// branches goes through what begins in the same state and of which one runs.
func (w *walker) branches(ways ...func()) {
	before := w.save()
	var after state
	w.doubts++
	for i, way := range ways {
		if i > 0 {
			w.state = before.clone()
		}
		way()
		if i > 0 {
			w.merge(after)
		}
		after = w.state
	}
	w.doubts--
}

// A frame is what a loop or a function is left by, before its end.
type frame struct {
	function bool
	exits    []state
	locals   map[string]local
	doubts   int // of the place that it began at
}

// A local variable hides another, which is there again when the function ends.
type local struct {
	old   variable
	there bool
	sure  bool
}

// leaves keeps what a break, a continue or a return leaves behind.
func (w *walker) leaves(function, all bool) {
	for i := len(w.frames) - 1; i >= 0; i-- {
		f := w.frames[i]
		if function && !f.function {
			continue
		}
		if len(f.exits) < maxWays {
			f.exits = append(f.exits, w.save())
		} else {
			w.opaque("shell.too_much", "thing_does_much")
		}
		if !all || f.function {
			return
		}
	}
}

// within goes through the inside of a loop or a function.
func (w *walker) within(f *frame, run func()) {
	w.frames = append(w.frames, f)
	run()
	w.frames = w.frames[:len(w.frames)-1]
	for _, s := range f.exits {
		w.merge(s)
	}
}

// loop goes through a loop's inside until another pass changes nothing any more.
func (w *walker) loop(pass func()) {
	w.loops++
	w.within(&frame{}, func() {
		for n := 0; ; n++ {
			before := w.save()
			w.maybe(pass)
			var changed []string
			for name, v := range w.vars {
				if old, ok := before.vars[name]; !ok || !v.same(old) {
					changed = append(changed, name)
				}
			}
			if len(changed) == 0 || w.spent {
				break
			}
			if n+1 >= maxPasses || w.loops > 2 {
				for _, name := range changed {
					v := w.vars[name]
					var t arg.Taint
					for _, x := range v.may {
						t |= x.Taint
					}
					v.may = addValue(slices.Clip(v.may), arg.Word{Text: arg.Unknown, Taint: t})
					w.vars[name] = v
				}
				w.divided = true
				break
			}
		}
	})
	w.loops--
}

// lookup is the value of a variable, the one that is tried now where it may have several, and whether it is set.
func (w *walker) lookup(name string) (arg.Word, bool) {
	w.ownToken(name)
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		v, ok := w.lookup(parameters)
		switch {
		case !ok || n == 0:
			return arg.Word{Text: arg.Unknown, Taint: v.Taint}, false
		case n <= len(v.List):
			return v.List[n-1], true
		case v.Open:
			return arg.Word{Text: arg.Unknown, Taint: v.Taint}, false
		}
		return arg.Word{}, false
	}
	if v, ok := w.vars[name]; ok {
		x, isSet, begun := w.chosen(name, v)
		if isSet && v.reference && x.Text != name && x.Known() {
			return w.lookup(x.Text)
		}
		if !begun {
			return x, isSet
		}
	}
	switch name {
	case "HOME":
		return arg.Word{Text: w.home}, true
	case "PWD":
		return arg.Word{Text: w.dir}, true
	case "TMPDIR", "TMP", "TEMP":
		return arg.Word{Text: "/tmp"}, true
	case "IFS":
		return arg.Word{Text: " \t\n"}, true
	case "!":
		return arg.Word{Text: arg.Job, Taint: arg.OfJob}, true
	case "?", "$", "#", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "COLUMNS", "LINES":
		return arg.Word{Text: "0" + arg.Unknown}, true
	}
	v := arg.Word{Text: arg.Unknown}
	if secretVar(name) {
		v.Taint = arg.FromSecret
	}
	return v, false
}

// chosen is one of a variable's alternatives. For the rest of this way it is the only one.
func (w *walker) chosen(name string, v variable) (x arg.Word, isSet, begun bool) {
	n := v.ways()
	if n > 1 && w.choices == nil {
		for _, one := range v.may {
			x.Taint |= one.Taint
		}
		x.Text = arg.Unknown
		return x, true, false
	}
	i := w.pick(n)
	one := v
	one.may, one.unset, one.begun = nil, false, false
	switch {
	case i < len(v.may):
		one.may = v.may[i : i+1 : i+1]
		x, isSet = v.may[i], true
	case i == len(v.may) && v.unset:
		one.unset = true
	default:
		one.begun, begun = true, true
	}
	if n > 1 {
		w.vars[name] = one
	}
	return x, isSet, begun
}

// set gives a variable a value.
func (w *walker) set(name string, v arg.Word) {
	old, there := w.vars[name]
	if old.reference {
		if to, ok, _ := w.chosen(name, old); ok && to.Known() && to.Text != name {
			w.set(to.Text, v)
			w.assigned(to.Text, v)
			return
		}
	}
	if len(w.vars) > 2000 {
		v = arg.Word{Text: arg.Unknown, Taint: v.Taint}
	}
	v.Quoted = false
	if old.integer {
		w.arithText(v.Text)
		if strings.Trim(v.Text, "0123456789") != "" {
			v = arg.Word{Text: "0" + arg.Unknown, Taint: v.Taint}
		}
	}
	if old.upper {
		v.Text = strings.ToUpper(v.Text)
	}
	if old.lower {
		v.Text = strings.ToLower(v.Text)
	}
	one := old
	one.may, one.unset, one.begun = []arg.Word{v}, false, false
	if there && old.readonly { // which fails, unless it was not run that made it so
		one = w.either(old, one)
	}
	w.vars[name] = one
}

// unset takes a variable or an array's element away.
func (w *walker) unset(name string) {
	if array, _, ok := strings.Cut(name, "["); ok {
		if v, ok := w.vars[array]; ok {
			v.may = addValue(slices.Clip(v.may), arg.Word{Text: arg.Unknown})
			w.vars[array] = v
			w.divided = true
		}
		return
	}
	if old, ok := w.vars[name]; ok && old.readonly {
		return
	}
	for i := len(w.frames) - 1; i >= 0; i-- { // bash shows what a local variable of a caller hides
		if l, ok := w.frames[i].locals[name]; ok {
			v := variable{unset: true}
			if l.there {
				v = w.either(v, l.old)
			} else {
				v = w.either(v, variable{begun: true})
			}
			w.vars[name] = v
			return
		}
	}
	w.vars[name] = variable{unset: true}
}

// hide makes a variable local to the function that is run.
func (w *walker) hide(name string) {
	for i := len(w.frames) - 1; i >= 0; i-- {
		f := w.frames[i]
		if !f.function {
			continue
		}
		if _, ok := f.locals[name]; ok {
			return
		}
		if f.locals == nil {
			f.locals = map[string]local{}
		}
		old, there := w.vars[name]
		f.locals[name] = local{old: old, there: there, sure: w.doubts == f.doubts}
		fresh := variable{unset: true, readonly: old.readonly}
		if there { // some shells begin with the value that is hidden
			fresh = w.either(fresh, old)
		} else {
			fresh = w.either(fresh, variable{begun: true})
		}
		w.vars[name] = fresh
		return
	}
}

// shows puts back what a function's local variables hid.
func (w *walker) shows(f *frame) {
	for name, l := range f.locals {
		old := l.old
		if !l.there {
			old = variable{begun: true}
		}
		if !l.sure {
			old = w.either(old, w.vars[name])
		}
		w.vars[name] = old
	}
}
