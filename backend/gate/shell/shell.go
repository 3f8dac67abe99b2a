// Package shell lowers shell commands to their effects. It runs nothing and looks at nothing: what it says follows from
// the text, from what it knows of the commands in it, and from the evidence that it is given. Where it cannot know, it
// says that it does not, which is asked about.
package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// MaxScript is the longest script that is looked at, in bytes; a longer one is asked about.
const MaxScript = 64 << 10

const (
	maxNesting = 120       // of brackets and quotes in one script; the parser recurses
	maxDepth   = 24        // of scripts within scripts, and of functions within functions
	maxMarks   = 3_000     // characters of one script that mean something to the shell
	maxParsed  = 160 << 10 // bytes of scripts that one call may hold within each other
	maxWork    = 15_000    // steps for one script, those of the scripts within it included
	maxEffects = 400
	maxValue   = 8 << 10 // bytes of one value; past it, it is unknown
)

// FileState is what evidence knows of a path.
type FileState uint8

// What evidence can know of a path.
const (
	NotKnown  FileState = iota
	Absent              // nothing is there
	Precious            // it is there, and no copy of it is known
	MadeHere            // made by the agent in this session
	Committed           // as it stands, it is in a commit
	Ignored             // ignored by version control: build output
	Unseen              // it is there, and there was no time to find out more
)

// Evidence answers questions about the world, lazily. It must answer within its own short limit; NotKnown and false are
// the cautious answers. It is asked from one goroutine at a time.
type Evidence interface {
	// File says what is known about the file or folder at an absolute path.
	File(abs string) FileState
	// Text returns the contents of a small text file at an absolute path.
	Text(abs string) (string, bool)
	// Clean says whether the working tree has nothing that no commit holds.
	Clean() bool
	// Pushed says whether every commit of the current branch is at its remote.
	Pushed() bool
}

// A World is evidence that knows this machine's Deskbell, too. It answers as Evidence does.
type World interface {
	// Ours says whether a file is Deskbell's own program, by what it is and not by its name. A name without a folder is looked
	// for as the system would.
	Ours(file string) bool
	// Server is the address that Deskbell's API listens on, "127.0.0.1:7717"; empty where it is not known.
	Server() string
	// Runs says whether a path is the Deskbell program that runs here, or the one beside it that clients' hooks start.
	Runs(abs string) bool
	// Real says where an absolute path leads, links followed as far as they are there; where several files fit a pattern, each of
	// the first. A path without links leads to itself.
	Real(abs string, pattern bool) []string
	// Linked keeps, for later calls of the session, that a path leads to another.
	Linked(from, to string)
	// OurServer says whether the settings of agents, in this home and project, start Deskbell itself for an MCP server of a name.
	OurServer(name string) bool
}

// WorldOf is what evidence knows of this machine's Deskbell; nil for nothing.
func WorldOf(e Evidence) World {
	w, _ := e.(World)
	return w
}

// Place is where a script would run.
type Place struct {
	Cwd      string // absolute; "" where it is not known: then it is the root of a project
	Root     string // of the working tree; "" where it is Cwd
	Home     string // "" where it is not known
	Guard    string // the gatekeeper's own folder, wherever it is; "" where only its usual places are known
	Evidence Evidence
	Watcher  Watcher // may be nil
}

// A Watcher learns what a script would run and read, however deep within it. One goroutine calls it.
type Watcher interface {
	// Ran gets the words of a command; … stands for what is not known.
	Ran(words []string)
	// Read gets a path: absolute, or from . at the root of a working tree that is not known.
	Read(path string)
	// Rests gets the absolute path of a file whose text says what would run, whether or not there is such a file now, and
	// before the evidence is asked about it.
	Rests(path string)
}

// Lower returns what a script would do, the most severe first. It never returns none: a script that does nothing reads.
func Lower(script string, at Place) []human.Effect {
	w := newWalker(at)
	w.script(script, "bash", nil, stream{})
	return w.done()
}

// LowerArgs is Lower for a program that is started with exact arguments, without a shell.
func LowerArgs(args []string, at Place) []human.Effect {
	w := newWalker(at)
	vs := make([]arg.Word, len(args))
	for i, a := range args {
		vs[i] = arg.Known(a)
		if strings.Contains(a, arg.Unknown) {
			w.opaque("shell.unreadable", "thing_no_argument")
			return w.done()
		}
	}
	w.run(vs, stream{})
	return w.done()
}

// file is the path that a tool was given: what some programs take for their input or output, or a system for no file at
// all, is a file's name here.
func file(path string) arg.Word {
	switch path {
	case "-", "NUL", "nul":
		path = "./" + path
	}
	return arg.Known(path)
}

// Writing returns the effects of a tool that writes a file, the same as those of a command that would.
func Writing(path string, at Place) []human.Effect {
	w := newWalker(at)
	w.writing(file(path), "file.write")
	return w.done()
}

// Replacing is that of a tool that writes a file anew: what it held is gone. With empty, nothing comes in its place.
func Replacing(path string, empty bool, at Place) []human.Effect {
	w := newWalker(at)
	if empty {
		w.emptying(file(path), "file.empty")
	} else {
		w.replacing(file(path), "file.write")
	}
	return w.done()
}

// Reading returns the effects of a tool that reads a file.
func Reading(path string, at Place) []human.Effect {
	w := newWalker(at)
	w.reading(file(path), "file.read")
	return w.done()
}

// Deleting returns the effects of a tool that deletes a file, or a folder with all that is in it.
func Deleting(path string, recursive bool, at Place) []human.Effect {
	w := newWalker(at)
	w.deleting(file(path), recursive, "file.delete")
	return w.done()
}

// Code returns the effects of code in a programming language: python, javascript, ruby, perl, php, lua, r.
func Code(language, code string, at Place) []human.Effect {
	w := newWalker(at)
	w.code(language, arg.Word{Text: code, Quoted: true})
	return w.done()
}

// walker holds the state of one shell while its script is gone through.
type walker struct {
	home, root string
	evidence   Evidence
	world      World // may be nil
	watcher    Watcher
	state
	start     string // the folder at the beginning
	guard     string // the gatekeeper's own folder
	otherRepo bool   // a variable tells git to work on another repository
	aliases   map[string]arg.Word
	files     map[string]stream
	sinks     map[string][]*syntax.Stmt // what stands in >( ), by its name

	effects   []human.Effect
	seen      map[human.Effect]bool
	work      int
	parsed    int
	depth     int
	active    []*syntax.Stmt // functions that are being run
	spawning  int            // within a pipe or the background
	loops     int
	kept      int // how often a file of this script was given something
	did       int // how many effects there were that do more than look
	ranCode   int // how often code was run that a script does not show
	spent     bool
	divided   bool       // some name may stand for one thing or another
	choices   *choices   // of the statement that is gone through
	frames    []*frame   // the loops and functions that it is in
	doubts    int        // how many branches it is in that may not run
	traps     []arg.Word // what runs on the way, or at the end
	otherHost string     // set while what is gone through runs on another machine
	secrets   int        // how often a secret was read
	unsure    bool       // what is gone through may be no command at all: what is not known of it is not noted
	parts     *parts     // where they are asked for
	node      *Node      // likewise: the step that is gone through
	nodes     int
	own       bool              // the command that begins is a part of its own
	api       []address         // where Deskbell's own API may be, once it was looked for
	links     map[string]string // that this call has made: what a path leads to
	behind    map[string]string // the home, the project and the guarded folder, by where they are behind links

	replacesLinks bool // what is written takes the place of a link at the path's end

	called []address // requests of it that were judged
}

func newWalker(at Place) *walker {
	w := &walker{
		home: at.Home, root: at.Root, state: state{dir: at.Cwd, vars: map[string]variable{}, funcs: map[string][]*syntax.Stmt{}}, start: at.Cwd, guard: at.Guard, evidence: at.Evidence, world: WorldOf(at.Evidence), watcher: at.Watcher,
		files: map[string]stream{}, seen: map[human.Effect]bool{},
		aliases: map[string]arg.Word{},
	}
	if paths.OnDrive(w.guard) {
		w.guard = winPath(w.guard).Text
	}
	if w.home == "" {
		w.home = "/home/user"
	}
	if w.dir == "" {
		w.dir = paths.ProjectDir
	}
	if w.root == "" {
		w.root = w.dir
	}
	return w
}

func (w *walker) cwds() []string {
	if len(w.otherDirs) == 0 {
		return []string{w.dir}
	}
	return append([]string{w.dir}, w.otherDirs...)
}

func (w *walker) emit(e human.Effect) {
	e.Target = strings.ReplaceAll(e.Target, paths.ProjectDir, ".")
	e.Resource = strings.ReplaceAll(e.Resource, paths.ProjectDir, ".")
	e.Resource, e.Target = human.Shorten(e.Resource, 200), human.Shorten(e.Target, 300)
	if e.Certainty == "" {
		e.Certainty = human.Certain
	}
	if e.Reversibility == "" {
		e.Reversibility = human.Reversible
	}
	if e.Blast == "" {
		e.Blast = human.FileBlast
	}
	if w.otherHost != "" && e.Risk != human.NoRisk && e.Blast.Near() {
		e.Blast = human.SharedBlast
	}
	if e.Verb == human.CredentialAccess {
		w.secrets++
	}
	if w.unsure && e.Verb == human.UnknownEffect {
		return
	}
	w.did += btoi(e.Risk != human.NoRisk)
	switch e.Verb {
	case human.PackageRun, human.LangExec, human.PackageInstall:
		if e.Risk != human.NoRisk {
			w.ranCode++
		}
	}
	if !w.seen[e] {
		if len(w.effects) >= maxEffects {
			w.opaque("shell.too_much", "thing_does_much")
			return
		}
		w.seen[e] = true
		w.effects = append(w.effects, e)
	}
	w.attribute(e)
}

// opaque notes something that could not be looked into; it is asked about.
func (w *walker) opaque(rule string, why human.Code) {
	if w.spent && rule == "shell.too_much" {
		return
	}
	w.spent = w.spent || rule == "shell.too_much"
	e := unnamed(why, human.Effect{
		Verb: human.UnknownEffect, Certainty: human.Possible, Risk: human.HighRisk,
		Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: rule,
	})
	if w.unsure && rule == UnparsedRule {
		return
	}
	w.did++
	if !w.seen[e] {
		w.seen[e] = true
		w.effects = append(w.effects, e)
	}
	w.attribute(e)
}

// unnamed is an effect on what the command has no name for.
func unnamed(thing human.Code, e human.Effect) human.Effect {
	e.Resource, e.Thing = human.Say(thing).Text, thing
	return e
}

// step counts work, and says whether there is still some left.
func (w *walker) step(n int) bool {
	w.work += n
	if w.work > maxWork {
		if !w.spent {
			w.opaque("shell.too_much", "thing_too_large")
		}
		return false
	}
	return true
}

func (w *walker) done() []human.Effect {
	if len(w.effects) == 0 {
		w.effects = append(w.effects, human.Effect{Verb: human.FilesystemRead, Certainty: human.Certain, Risk: human.NoRisk, Reversibility: human.Reversible, Blast: human.FileBlast, Rule: "shell.nothing"})
	}
	mostSevereFirst(w.effects)
	return w.effects
}

func mostSevereFirst(effects []human.Effect) {
	slices.SortStableFunc(effects, func(a, b human.Effect) int {
		if a.HardLimit != b.HardLimit {
			if a.HardLimit {
				return -1
			}
			return 1
		}
		return b.Risk.Level() - a.Risk.Level()
	})
}

// nests says whether brackets and the like nest deeper than the parser should be let into.
func nests(s string) bool {
	s = bare(s)
	depth, most := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	return most > maxNesting || strings.Count(s, "`") > 400 || marks(s) > maxMarks
}

// bare leaves out quoted text, which the parser does not look into: up to the first character behind which a quote could
// be something else than it seems. A shell takes all that is left out for plain text, so that nothing can hide in it.
func bare(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 || c == '\'' && i > 0 && s[i-1] == '$' || c == '"' && strings.ContainsAny(s[i+1:i+1+end], "$`\\") {
				return b.String() + s[i:]
			}
			i += end + 1
		case c == '`' || c == '#' || strings.HasPrefix(s[i:], "<<"):
			return b.String() + s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func marks(s string) int {
	n := 0
	for i := range len(s) {
		switch s[i] {
		case '|', '&', ';', '$', '(', '{', '<', '>', '`', '[':
			n++
		}
	}
	return n
}

var hereWords = lazy.Pattern(`<<-?\s*["'\\]?(\w+)`)

// endHeredocs puts a line's end behind the word that ends a here-document: some shells take a bracket or a quote there.
func endHeredocs(text string) string {
	for _, m := range hereWords.FindAllStringSubmatch(text, 20) {
		for _, after := range []string{")", "\"", "`", "'", "}"} {
			text = strings.ReplaceAll(text, "\n"+m[1]+after, "\n"+m[1]+"\n"+after)
		}
	}
	return text
}

// zshQualifiers are the code by which a pattern of zsh chooses its files: *(e:code:), *(+function).
var zshQualifiers = lazy.Pattern(`\([\w.^@/*=,-]*?[e+]([^\w\s)(][^()]*(?:\([^()]*\)[^()]*)*)\)`)

// script goes through the text of a shell script, with its arguments and what it reads.
func (w *walker) script(text, dialect string, params []arg.Word, in stream) stream {
	if len(text) > MaxScript {
		w.opaque("shell.too_much", "thing_too_large")
		return stream{}
	}
	if w.depth >= maxDepth || !w.step(len(text)/16+1) {
		w.opaque("shell.too_deep", "thing_commands_within")
		return stream{}
	}
	if w.parsed += len(text); w.parsed > maxParsed {
		w.opaque("shell.too_much", "thing_too_large")
		return stream{}
	}
	if strings.Contains(text, arg.Unknown) {
		// The parts that are not known could be any command.
		w.emit(human.Effect{Verb: human.ObfuscatedEffect, Resource: clip(strings.ReplaceAll(text, arg.Unknown, "…")), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.built_command"})
		text = strings.ReplaceAll(text, arg.Unknown, "${_unknown}")
	}
	text = strings.ToValidUTF8(text, "\ufffd") // the parser takes nothing else; a shell does not mind
	lang := syntax.LangBash
	if dialect == "zsh" {
		lang = syntax.LangZsh
	}
	var file *syntax.File
	var err error
	if nests(text) {
		w.opaque("shell.too_deep", "thing_nests")
		w.salvage(text)
		return stream{}
	}
	p := syntax.NewParser(syntax.Variant(lang))
	if file, err = p.Parse(strings.NewReader(text), ""); err != nil && strings.Contains(text, "((") {
		// What begins as arithmetic may be a subshell within a subshell.
		file, err = p.Parse(strings.NewReader(strings.ReplaceAll(text, "((", "( (")), "")
	}
	if err != nil && strings.Contains(text, "<<") {
		if again, err2 := p.Parse(strings.NewReader(endHeredocs(text)), ""); err2 == nil {
			w.emit(human.Effect{Verb: human.UnknownEffect, Resource: clip(text), Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.loose_heredoc"})
			file, err = again, nil
		}
	}
	if err != nil {
		w.opaque(UnparsedRule, "thing_unparsed")
		w.salvage(text)
		return stream{}
	}
	w.depth++
	defer w.deeper("sh", text)()
	if dialect == "zsh" {
		for _, m := range zshQualifiers.FindAllStringSubmatch(text, 20) {
			w.script(strings.Trim(m[1], "\"':;|[]{}<>"), "zsh", nil, stream{})
		}
	}
	old, there := w.vars[parameters]
	if params != nil {
		w.vars[parameters] = variable{may: []arg.Word{arg.Array(params)}}
	}
	out := w.stmts(file.Stmts, in)
	if params != nil {
		w.vars[parameters] = old
		if !there {
			delete(w.vars, parameters)
		}
	}
	w.depth--
	return out
}

// salvage goes through the lines of a script that does not parse, or nests too deep, and finds what can be read of it.
func (w *walker) salvage(text string) {
	if w.depth > 3 || len(text) > MaxScript/4 {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	defer w.apart()()
	for i := 0; i < len(text); i++ {
		if text[i] != '\'' && text[i] != '"' {
			continue
		}
		end := strings.IndexByte(text[i+1:], text[i])
		if end < 0 {
			break
		}
		quoted := text[i+1 : i+1+end]
		if first, _, _ := strings.Cut(quoted, " "); dangerousNames()[first] {
			w.script(quoted, "sh", nil, stream{})
		}
		i += end + 1
	}
	// Substitutions may be whole where what they stand in is not.
	for rest, n := text, 0; n < 20; n++ {
		_, after, ok := strings.Cut(rest, "$(")
		if !ok || !w.step(len(after)/32) {
			break
		}
		depth, end := 0, -1
		for i := range len(after) {
			if after[i] == '(' {
				depth++
			} else if after[i] == ')' {
				if depth--; depth < 0 {
					end = i
					break
				}
			}
		}
		if end < 0 {
			break
		}
		w.script(after[:end], "bash", nil, stream{})
		rest = after[end:]
	}
	lines := strings.FieldsFunc(text, func(r rune) bool {
		return r == '\n' || r == ';' || r == '&' || r == '(' || r == ')' || r == '`'
	})
	for _, l := range lines {
		if !w.step(len(l)/8 + 1) {
			return
		}
		if nests(l) {
			continue
		}
		l = strings.TrimSpace(l)
		for _, word := range []string{"do ", "then ", "else ", "if ", "while ", "until ", "! "} {
			l = strings.TrimPrefix(l, word)
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(l), "")
		if err != nil {
			l = strings.Trim(l, " \t'\"{}$")
			file, err = syntax.NewParser().Parse(strings.NewReader(l), "")
		}
		// What stands before the pipe that cannot be read may be read by itself.
		for parts := strings.Split(l, "|"); err != nil && len(parts) > 1 && len(parts) < 10; {
			parts = parts[:len(parts)-1]
			file, err = syntax.NewParser().Parse(strings.NewReader(strings.Join(parts, "|")), "")
		}
		if err != nil {
			words := strings.FieldsFunc(l, func(r rune) bool { return strings.ContainsRune(" \t'\"|", r) })
			if len(words) > 0 {
				vs := make([]arg.Word, len(words))
				for i, x := range words {
					vs[i] = arg.Known(x)
				}
				w.run(vs, stream{})
				for i := 1; i < len(vs); i++ {
					if dangerousNames()[vs[i].Text] {
						w.run(vs[i:], stream{})
						break
					}
				}
			}
			continue
		}
		w.stmts(file.Stmts, stream{})
	}
}

func clip(s string) string { return human.Shorten(s, 120) }

func (w *walker) stmts(list []*syntax.Stmt, in stream) stream {
	var out stream
	for i, s := range list {
		if !w.step(1) {
			return out
		}
		out = join(out, w.stmt(s, in), i > 0)
	}
	return out
}

func join(a, b stream, both bool) stream {
	if !both {
		return b
	}
	return stream{text: a.text + b.text, known: a.known && b.known, taint: a.taint | b.taint, open: a.open || b.open}
}

func (w *walker) stmt(s *syntax.Stmt, in stream) stream {
	if !w.step(2) {
		return stream{}
	}
	if s.Background || s.Coprocess {
		w.spawning++
		before := w.save()
		out := w.eachWay(func() stream { return w.oneWay(s, in) })
		w.restore(before)
		w.spawning--
		return out
	}
	out := w.eachWay(func() stream { return w.oneWay(s, in) })
	w.trapped(s)
	return out
}

// oneWay goes through a statement with the values that are tried now.
func (w *walker) oneWay(s *syntax.Stmt, in stream) stream {
	outTo, hasOut, appends := arg.Word{}, false, false
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			v := w.heredoc(r)
			in = stream{text: v.Text, known: v.Known(), taint: v.Taint, open: true}
			if in.taint == 0 && !in.known {
				in.taint = arg.MadeHere
			}
		case syntax.WordHdoc:
			v := w.single(r.Word)
			in = stream{text: v.Text + "\n", known: v.Known(), taint: v.Taint, open: true}
		case syntax.DplIn, syntax.DplOut:
			v := w.single(r.Word)
			if s := strings.TrimSuffix(v.Text, "-"); s != "" && strings.Trim(s, "0123456789") != "" {
				outTo, hasOut = v, true // >&file
			}
		case syntax.RdrIn:
			v := w.single(r.Word)
			if f, ok := w.file(v); ok {
				in = f
			} else if v.Text == "/dev/null" {
				in = stream{known: true, open: true}
			} else {
				in = stream{open: true, taint: w.reading(v, "shell.redirect_in"), remote: isSocket(v.Text)}
				if in.remote {
					in.taint |= arg.FromNetwork
				}
			}
		case syntax.RdrInOut:
			v := w.single(r.Word)
			w.writing(v, "shell.redirect")
			in = stream{open: true, taint: arg.FromFile, remote: isSocket(v.Text)}
		default:
			v := w.single(r.Word)
			if r.N == nil || r.N.Value == "1" {
				outTo, hasOut = v, true
				appends = r.Op == syntax.AppOut || r.Op == syntax.AppAll
			} else {
				w.writing(v, "shell.redirect")
			}
		}
	}
	out := stream{known: true}
	if s.Cmd != nil {
		out = w.command(s.Cmd, in)
		w.givesShell(s, in, outTo)
	}
	if hasOut {
		switch {
		case appends:
			w.writing(outTo, "shell.redirect")
			out = w.appended(outTo, out)
		case out.known && strings.TrimSpace(out.text) == "" && out.taint&arg.FromFile == 0:
			w.emptying(outTo, "shell.redirect_empties")
		default:
			w.replacing(outTo, "shell.redirect")
		}
		if out.taint&arg.FromSecret != 0 && (strings.HasPrefix(outTo.Text, "/dev/tcp/") || strings.HasPrefix(outTo.Text, "/dev/udp/")) {
			w.leak(outTo.Shown())
		}
		if out.taint&(arg.FromNetwork|arg.FromSecret|arg.FromDecoder) != 0 || out.known {
			out.open = true
			w.given(outTo.Text, out)
		}
		w.keep(outTo, out)
		out = stream{known: true, open: true}
	}
	return out
}

// givesShell notes a shell that talks to the network: whoever is at the other end runs what they like.
func (w *walker) givesShell(s *syntax.Stmt, in stream, to arg.Word) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !in.remote && !isSocket(to.Text) {
		return
	}
	if name := path.Base(call.Args[0].Lit()); shells()[name] || languages[name] != "" {
		w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: name, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: "shell.gives_shell"})
	}
}

func isSocket(s string) bool {
	return strings.HasPrefix(s, "/dev/tcp/") || strings.HasPrefix(s, "/dev/udp/")
}

// keep remembers what a file of this script was given, for when it is run.
func (w *walker) keep(v arg.Word, s stream) {
	if abs, ok := w.resolve(v, w.dir); ok && v.Known() && len(w.files) < 200 {
		old := w.files[abs]
		s.taint |= old.taint
		s.open = true
		w.kept++
		s.at = w.kept
		w.files[abs] = s
	}
}

// appended is what a file holds once s is written to its end. What it held before is known only where this script wrote it.
func (w *walker) appended(v arg.Word, s stream) stream {
	if old, ok := w.file(v); ok {
		return join(old, s, true)
	}
	return s
}

// edited notes that a file is no longer what evidence may know of it, but changed by a text.
func (w *walker) edited(v, by arg.Word) {
	w.keep(v, stream{text: by.Text, taint: arg.MadeHere | by.Taint, edited: true})
}

func (w *walker) file(v arg.Word) (stream, bool) {
	abs, ok := w.resolve(v, w.dir)
	if !ok {
		return stream{}, false
	}
	f, ok := w.files[abs]
	return f, ok
}

func (w *walker) command(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return w.call(c, in)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.Pipe, syntax.PipeAll:
			w.spawning++
			before := w.save()
			left := w.stmt(c.X, in)
			w.restore(before.clone())
			left.open = true
			out := w.stmt(c.Y, left)
			w.merge(before) // some shells run the last command of a pipe themselves
			w.spawning--
			return out
		case syntax.AndStmt:
			a := w.stmt(c.X, in)
			if changesDir(c.X) {
				old := w.otherDirs
				w.otherDirs = nil
				b := w.stmt(c.Y, in)
				for _, dir := range old {
					w.mayBeIn(dir)
				}
				return join(a, b, true)
			}
			var b stream
			w.maybe(func() { b = w.stmt(c.Y, in) })
			return join(a, b, true)
		default:
			return w.orElse(c, in)
		}
	case *syntax.Subshell:
		before := w.save()
		out := w.stmts(c.Stmts, in)
		w.restore(before)
		return out
	case *syntax.Block:
		return w.stmts(c.Stmts, in)
	case *syntax.IfClause:
		return w.ifClause(c, in)
	case *syntax.WhileClause:
		var out stream
		w.loop(func() {
			w.stmts(c.Cond, in)
			out = w.stmts(c.Do, in)
		})
		out.known = false
		return out
	case *syntax.ForClause:
		return w.forLoop(c, in)
	case *syntax.CaseClause:
		return w.caseClause(c, in)
	case *syntax.FuncDecl:
		names := c.Names
		if c.Name != nil {
			names = append(slices.Clip(names), c.Name)
		}
		for _, n := range names {
			w.funcs[n.Value] = []*syntax.Stmt{c.Body}
			if calledByShell(n.Value) && c.Body != nil {
				w.maybe(func() { w.stmt(c.Body, stream{}) })
			}
		}
		if len(names) == 0 && c.Body != nil {
			return w.stmt(c.Body, in)
		}
		return stream{}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.stmt(c.Stmt, in)
		}
		return stream{}
	case *syntax.CoprocClause:
		w.spawning++
		defer func() { w.spawning-- }()
		call, simple := c.Stmt.Cmd.(*syntax.CallExpr)
		if simple && len(call.Args) > 0 && len(call.Assigns) > 0 {
			// The parser takes "of=x" after the command for an assignment before it.
			var b strings.Builder
			p := syntax.NewPrinter()
			for _, word := range call.Args {
				_ = p.Print(&b, word)
				b.WriteByte(' ')
			}
			for _, a := range call.Assigns {
				_ = p.Print(&b, a)
				b.WriteByte(' ')
			}
			w.script(b.String(), "bash", nil, in)
		}
		if c.Name != nil && leftmostSimple(c.Stmt) {
			// Only a compound command has a name; before a simple one the word is the command itself.
			var b strings.Builder
			p := syntax.NewPrinter()
			if p.Print(&b, c.Name) == nil && b.WriteByte(' ') == nil && p.Print(&b, c.Stmt) == nil {
				return w.script(b.String(), "bash", nil, in)
			}
		}
		return w.stmt(c.Stmt, in)
	case *syntax.DeclClause:
		w.declare(c)
		return stream{known: true}
	case *syntax.TestDecl:
		return w.stmt(c.Body, in)
	default: // [[ ]], (( )), let
		w.scan(c)
		return stream{known: true}
	}
}

// calledByShell says whether a shell runs a function of that name by itself.
func calledByShell(name string) bool {
	switch name {
	case "command_not_found_handle", "command_not_found_handler", "precmd", "preexec", "chpwd", "periodic", "zshexit", "zshaddhistory":
		return true
	}
	_, discipline, dotted := strings.Cut(name, ".")
	return strings.HasPrefix(name, "TRAP") || dotted && (discipline == "get" || discipline == "set" || discipline == "unset")
}

func leftmostSimple(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case nil, *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return leftmostSimple(c.X)
	}
	return false
}

func changesDir(s *syntax.Stmt) bool {
	for {
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if c.Op != syntax.AndStmt {
				return false
			}
			if changesDir(c.X) {
				return true
			}
			s = c.Y
		case *syntax.CallExpr:
			if len(c.Args) == 0 {
				return false
			}
			name := c.Args[0].Lit()
			return name == "cd" || name == "pushd"
		default:
			return false
		}
	}
}

// orElse goes through X || Y. Of A && B || C one of B and C ran to its end: after it, what both assign has one of two values.
func (w *walker) orElse(c *syntax.BinaryCmd, in stream) stream {
	var a, b stream
	both, ok := c.X.Cmd.(*syntax.BinaryCmd)
	if ok && both.Op == syntax.AndStmt && !c.X.Negated && len(c.X.Redirs) == 0 && !c.X.Background && !changesDir(both.X) {
		a = w.stmt(both.X, in)
		failed := w.save()
		w.doubts++
		a = join(a, w.stmt(both.Y, in), true)
		ran := w.save()
		w.merge(failed)
		b = w.stmt(c.Y, in)
		w.doubts--
		w.merge(ran)
	} else {
		a = w.stmt(c.X, in)
		w.maybe(func() { b = w.stmt(c.Y, in) })
	}
	b.known = false
	return join(a, b, true)
}

func (w *walker) ifClause(c *syntax.IfClause, in stream) stream {
	if len(c.Cond) == 0 { // else
		return w.stmts(c.Then, in)
	}
	out := w.stmts(c.Cond, in)
	ways := []func(){func() { out = join(out, w.stmts(c.Then, in), true) }, func() {}}
	if c.Else != nil {
		ways[1] = func() { out = join(out, w.ifClause(c.Else, in), true) }
	}
	w.branches(ways...)
	out.known = false
	return out
}

func (w *walker) caseClause(c *syntax.CaseClause, in stream) stream {
	w.single(c.Word)
	var out stream
	ways := []func(){func() {}}
	for i := range c.Items {
		ways = append(ways, func() {
			// What ends in ;& continues with the next.
			for j, item := range c.Items[i:] {
				if j == 0 || c.Items[i+j-1].Op != syntax.Break {
					for _, p := range item.Patterns {
						w.single(p)
					}
					out = join(out, w.stmts(item.Stmts, in), true)
					continue
				}
				break
			}
		})
	}
	w.branches(ways...)
	out.known = false
	return out
}

func (w *walker) forLoop(c *syntax.ForClause, in stream) stream {
	var out stream
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.scan(c.Loop)
		w.loop(func() { out = w.stmts(c.Do, in) })
		out.known = false
		return out
	}
	var items []arg.Word
	for _, word := range iter.Items {
		items = append(items, w.fields(word)...)
	}
	if len(iter.Items) == 0 {
		if all, ok := w.lookup(parameters); ok && !all.Open {
			items = all.List
		} else {
			items = []arg.Word{{Text: arg.Unknown, Taint: all.Taint}}
		}
	}
	var any variable
	for _, v := range items {
		v.Quoted = false
		any.may = addValue(any.may, v)
	}
	if len(any.may) == 0 {
		return stream{}
	}
	w.divided = w.divided || len(any.may) > 1
	w.loop(func() {
		w.vars[iter.Name.Value] = any
		out = w.stmts(c.Do, in)
	})
	out.known = false
	return out
}
