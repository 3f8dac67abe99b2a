// Package inline proves of short programs, such as those that are given to python3 -c or node -e, that they do no more than
// compute, read files, and print.
//
// It works by what a program can reach. In the languages it knows, all that acts is reached from names that are there when
// the program begins, and from modules that it loads. Both are listed in known/*.txt; what these files do not list is not
// proved. A name that the program defines itself can hold only what it reached in this way, so it needs no list. Reading the
// text is the smaller part: where the lexer is not sure how the language would read it, nothing is proved either.
//
// A proof says nothing about how long a program runs, and trusts the interpreter and the modules that are listed.
package inline

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

// A Proof is what a program was shown to do.
type Proof struct {
	Unproven string   // the first part that may do more; empty when there is none
	Reads    []string // files that are read, as far as the program spells their paths out
	Computed bool     // it reads a file whose path it computes
	Writes   []string // files that are made or added to, each spelled out
	Replaces []string // files whose content is replaced, likewise
	Queries  []string // SQL that a database in a file runs
	Fetches  []string // addresses that are read, each spelled out
	Loads    []string // modules of the project, as the program calls them; what it does with them was not looked at
	Imports  []string // modules of which nothing is known, of which only the version or the place is used
	Unread   bool     // not even how the language reads it is sure
}

// Known says whether programs in a language can be proved.
func Known(language string) bool {
	switch language {
	case "python", "javascript", "ruby", "perl", "awk", "php", "lua", "go":
		return true
	}
	return false
}

// MaxProgram is the longest program that is looked at, in bytes; a longer one is not proved.
const MaxProgram = 24 << 10

// Prove looks at a program in a language that is Known. It reads each part of the program a bounded number of times. own says
// whether a module is part of the project; it may be nil.
func Prove(language, program string, own func(module string) bool) Proof {
	var p Proof
	if len(program) > MaxProgram {
		p.Unproven = "…"
		return p
	}
	toks, failed := lex(language, program)
	if failed != "" {
		p.Unproven, p.Unread = failed, true
		return p
	}
	v := &prover{table: tableOf(language), toks: toks, proof: &p, alias: map[string]string{}, imported: map[string]bool{}, whole: flat(toks), own: own, steps: new(int)}
	*v.steps = maxSteps
	switch language {
	case "python":
		v.python(program)
	case "javascript":
		v.javascript()
	case "ruby":
		v.ruby()
	case "perl":
		v.perl()
	case "awk":
		v.awk()
	case "php":
		v.php()
	case "lua":
		v.lua()
	case "go":
		v.golang(program)
	}
	p.Unproven = strings.TrimSpace(p.Unproven)
	return p
}

//go:embed known/*.txt
var files embed.FS

// A table is what is known of a language.
type table struct {
	sets    map[string]map[string]bool // the lines that are not about one module, by their first word
	modules map[string]map[string]bool // what of a module may be named: "*" for all, "-x" for what is left out then
	acts    map[string]map[string]bool // what of a module's values acts, by module
}

func tableOf(language string) *table {
	return tables()[language]()
}

var tables = sync.OnceValue(func() map[string]func() *table {
	all := map[string]func() *table{}
	for _, language := range []string{"python", "javascript", "ruby", "perl", "awk", "php", "lua", "go"} {
		all[language] = sync.OnceValue(func() *table { return read(language) })
	}
	return all
})

// read reads a table: lines of "KIND: words", "module NAME...: words" and "acts NAME: words". A line that begins with a space
// continues the one before.
func read(language string) *table {
	text, err := files.ReadFile("known/" + language + ".txt")
	if err != nil {
		panic(err) // it is part of this program
	}
	t := &table{sets: map[string]map[string]bool{}, modules: map[string]map[string]bool{}, acts: map[string]map[string]bool{}}
	for l := range strings.Lines(strings.ReplaceAll(string(text), "\n ", " ")) {
		head, words, ok := strings.Cut(l, ": ")
		if !ok || strings.HasPrefix(l, "#") {
			continue
		}
		names := strings.Fields(head)
		into := t.sets
		switch names[0] {
		case "module":
			into, names = t.modules, names[1:]
		case "acts":
			into, names = t.acts, names[1:]
		}
		for _, n := range names {
			if into[n] == nil {
				into[n] = map[string]bool{}
			}
			for w := range strings.FieldsSeq(words) {
				into[n][w] = true
			}
		}
	}
	return t
}

type prover struct {
	*table
	toks              []token
	proof             *Proof
	alias             map[string]string // names of modules and of what is in them, as the program calls them
	imported          map[string]bool   // modules
	consts            map[string]string
	defined           map[string]bool
	own               func(module string) bool
	steps             *int    // what is left of those that one program may take
	loadedAt          int     // where the last module is loaded
	memory, connected bool    // to a database in memory, or in a file
	whole             []token // with the code within strings
}

// maxSteps bounds what one program takes to look at, in tokens that are gone over.
const maxSteps = 500_000

// spend says whether a number of steps may still be taken. Where they may not, nothing is proved.
func (v *prover) spend(steps int) bool {
	if v.steps == nil {
		return true
	}
	if *v.steps -= steps; *v.steps < 0 {
		v.unproven("…")
		return false
	}
	return true
}

// over is the same prover for other tokens.
func (v *prover) over(toks []token) *prover {
	w := *v
	w.toks = toks
	return &w
}

func (v *prover) unproven(what string) {
	if v.proof.Unproven == "" {
		v.proof.Unproven = what
	}
}

// at is a token, or the end of a line where there is none.
func (v *prover) at(i int) token {
	if i < 0 || i >= len(v.toks) {
		return token{kind: line, text: "\n"}
	}
	return v.toks[i]
}

// inside goes through the code within strings as through the rest.
func (v *prover) inside(check func()) {
	whole := v.toks
	for _, t := range whole {
		if len(t.inner) > 0 {
			v.toks = t.inner
			check()
			v.inside(check)
		}
	}
	v.toks = whole
}

// shows says whether the name at i is all that is given to a function that only shows what it is given.
func (v *prover) shows(i int) bool {
	f := v.at(i - 2).text
	if !v.at(i-1).is("(") || !v.at(i+1).is(")") || !v.sets["shows"][f] || v.defined[f] || v.at(i-3).is(".") && v.alias[v.at(i-4).text] != "inspect" {
		return false
	}
	if !v.spend(len(v.whole)) {
		return false
	}
	for j, t := range v.whole {
		if t.kind == name && t.text == f && (j+1 == len(v.whole) || !v.whole[j+1].is("(")) {
			return false // the name may stand for something else
		}
	}
	return true
}

// flat is all tokens, those within strings as well.
func flat(toks []token) []token {
	var all []token
	for _, t := range toks {
		all = append(all, t)
		all = append(all, flat(t.inner)...)
	}
	return all
}

// closing is the index of the bracket that closes the one at i.
func (v *prover) closing(i int) int {
	depth := 0
	for ; i < len(v.toks) && v.spend(1); i++ {
		if v.toks[i].kind == sign {
			switch v.toks[i].text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				if depth--; depth == 0 {
					return i
				}
			}
		}
	}
	return len(v.toks)
}

// opening is the index of the bracket that the one at i closes; -1 where there is none.
func (v *prover) opening(i int) int {
	depth := 0
	for ; i >= 0 && v.spend(1); i-- {
		if v.toks[i].kind == sign {
			switch v.toks[i].text {
			case ")", "]", "}":
				depth++
			case "(", "[", "{":
				if depth--; depth == 0 {
					return i
				}
			}
		}
	}
	return -1
}

// enclosing is the index of the bracket within which i stands; -1 where there is none.
func (v *prover) enclosing(i int) int {
	depth := 0
	for j := i - 1; j >= 0 && v.spend(1); j-- {
		switch t := v.toks[j]; {
		case t.is(")", "]", "}"):
			depth++
		case t.is("(", "[", "{"):
			if depth--; depth < 0 {
				return j
			}
		}
	}
	return -1
}

// args are the arguments of the call whose bracket is at i, without ends of lines.
func (v *prover) args(i int) [][]token {
	end, depth := v.closing(i), 0
	if i+1 > end || end > len(v.toks) {
		return nil
	}
	var all [][]token
	var one []token
	for _, t := range v.toks[i+1 : end] {
		if t.kind == sign {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			case ",":
				if depth == 0 {
					if one == nil {
						one = []token{{kind: line}}
					}
					all, one = append(all, one), nil
					continue
				}
			}
		}
		if t.kind != line {
			one = append(one, t)
		}
	}
	if len(one) > 0 {
		all = append(all, one)
	}
	return all
}

// spelled is the text that an argument spells out: a string, a name that stands for one, or Path of one.
func (v *prover) spelled(arg []token) (string, bool) {
	switch {
	case len(arg) == 1 && arg[0].kind == text && arg[0].lit:
		return arg[0].text, true
	case len(arg) == 1 && arg[0].kind == name:
		s, ok := v.consts[arg[0].text]
		return s, ok
	case len(arg) == 4 && arg[0].kind == name && v.alias[arg[0].text] == "pathlib.Path" && arg[1].is("(") && v.only(arg[0].text):
		return v.spelled(arg[2:3])
	case len(arg) == 6 && v.alias[arg[0].text] == "pathlib" && arg[2].text == "Path" && arg[3].is("("):
		return v.spelled(arg[4:5])
	}
	return "", false
}

// only says whether a name is nothing but called, or asked for what it has.
func (v *prover) only(n string) bool {
	if !v.spend(len(v.whole)) {
		return false
	}
	for i, t := range v.whole {
		if t.kind == name && t.text == n && (i == 0 || !v.whole[i-1].is(".")) && (i+1 == len(v.whole) || !v.whole[i+1].is("(") && !v.whole[i+1].is(".")) && (i == 0 || v.whole[i-1].text != "import" && v.whole[i-1].text != ",") {
			return false
		}
		if t.kind == name && t.text == n && i > 0 && (v.whole[i-1].text == "def" || v.whole[i-1].text == "class") {
			return false
		}
	}
	return true
}

func (v *prover) reading(arg []token) {
	if s, ok := v.spelled(arg); ok {
		v.proof.Reads = append(v.proof.Reads, s)
	} else {
		v.proof.Computed = true
	}
}

// writing takes a file for written where its path is spelled out.
func (v *prover) writing(what string, arg []token) {
	s, ok := v.spelled(arg)
	switch {
	case !ok:
		v.unproven(what)
	case strings.ContainsAny(what, "+a") && strings.Contains(what, "(…, ") && !strings.Contains(what, "w") || strings.HasSuffix(what, ">>)") || v.sets["adds"][what]:
		v.proof.Writes = append(v.proof.Writes, s)
	default:
		v.proof.Replaces = append(v.proof.Replaces, s)
	}
}

// fetching takes an address for read where all that is sent is spelled out.
func (v *prover) fetching(what string, args [][]token) {
	if len(args) == 0 {
		v.unproven(what)
		return
	}
	s, ok := v.spelled(args[0])
	for _, a := range args[1:] {
		ok = ok && len(a) == 3 && a[0].text == "timeout" && a[2].kind == number
	}
	if ok && (strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")) {
		v.proof.Fetches = append(v.proof.Fetches, s)
	} else {
		v.unproven(what)
	}
}

// resolve says whether a dotted name of a module may be used, and how many of its parts the module accounts for.
func (v *prover) resolve(path []string) (ok bool, used int) {
	for n := len(path); n > 0; n-- {
		members, is := v.modules[strings.Join(path[:n], ".")]
		if !is {
			continue
		}
		if n == len(path) {
			return false, n // a module as a value
		}
		m := path[n]
		if members[m] && m != "*" {
			return true, n + 1
		}
		if !members["*"] || members["-"+m] || strings.HasPrefix(m, "_") && !v.sets["about"][m] || v.foreign(m) && m != path[n-1] {
			return false, n + 1
		}
		// All that is in it, down to the first call.
		for _, m := range path[n+1:] {
			if strings.HasPrefix(m, "_") && !v.sets["dunder"][m] {
				return false, n
			}
		}
		return true, n + 1
	}
	return false, 0
}

// foreign says whether a name is that of a module, which may be found in another one that uses it.
func (v *prover) foreign(m string) bool { return v.sets["library"][m] }

// module says whether anything is known of a module.
func (v *prover) module(m string) bool {
	if _, ok := v.modules[m]; ok {
		return true
	}
	for known := range v.modules {
		if strings.HasPrefix(known, m+".") {
			return true
		}
	}
	return false
}

// load makes the values of a module ones that the program may hold.
func (v *prover) load(m string) {
	v.imported[m] = true
}

// acting says whether an attribute of that name is of a kind that does something, on any value that the program may hold.
func (v *prover) acting(m string) bool {
	if v.acts["any"][m] {
		return true
	}
	for module := range v.imported {
		if v.acts[module][m] {
			return true
		}
	}
	return false
}

func (v *prover) unknown(m string) {
	if !slices.Contains(v.proof.Imports, m) {
		v.proof.Imports = append(v.proof.Imports, m)
	}
}
