package gate

import (
	"maps"
	"slices"
	"strings"

	"deskbell/backend/gate/shell"
	"deskbell/backend/human"
)

// Parts are the commands of a call, each with the effects that are its own; see shell.Part. None for tools that run no
// commands. Whole says that the commands are all that the call is: then an effect of the call that is in a part is in no
// other place.
func Parts(call Call, evidence Evidence) (parts []shell.Part, whole bool) {
	f, ok := parseFields(call.Args)
	if !ok || len(call.Args) > MaxArgs {
		return nil, false
	}
	at := place(call, f, evidence)
	var scripts []string
	switch kindOf(call.Tool) {
	case shellTool, argvTool:
		var odd bool
		scripts, odd = scriptsOf(f)
		whole = !odd && len(scripts) == 1
	case windowsTool:
		texts := f.all(commandFields...)
		for _, c := range texts {
			parts = append(parts, windowsPart(c, at))
		}
		whole = len(texts) == 1 && parts[0].Known
	}
	for _, s := range scripts {
		parts = append(parts, shell.Parts(s, at)...)
	}
	for _, p := range parts {
		for i := range p.Effects {
			production(&p.Effects[i])
		}
	}
	return parts, whole
}

// Tree is what a call would run, step by step, one root for each of its commands; see shell.Tree. None for tools that run no
// commands of a Unix shell.
func Tree(call Call, evidence Evidence) (roots []*shell.Node) {
	f, ok := parseFields(call.Args)
	if !ok || len(call.Args) > MaxArgs {
		return nil
	}
	switch kindOf(call.Tool) {
	case shellTool, argvTool:
	default:
		return nil
	}
	scripts, _ := scriptsOf(f)
	for _, s := range scripts {
		root := shell.Tree(s, place(call, f, evidence))
		say(root)
		roots = append(roots, root)
	}
	return roots
}

func say(n *shell.Node) {
	for i := range n.Effects {
		production(&n.Effects[i])
		n.Effects[i].Words = words(n.Effects[i])
	}
	for _, of := range n.Runs {
		say(of)
	}
}

// Traces are what a call would run and read, however deep within it, for rules to be held against.
type Traces struct {
	Runs  [][]string // the words of commands; … stands for what is not known
	Reads []string   // paths: absolute, or from . at the root of a working tree that is not known
}

// traced is evidence about a call whose traces are kept.
type traced struct {
	Evidence
	Traces
}

// A Recorder is evidence that learns of the files whose text says what a call runs, each before it is asked about it.
type Recorder interface{ Rests(path string) }

// Rests implements shell.Watcher.
func (t *traced) Rests(path string) {
	if r, ok := t.Evidence.(Recorder); ok {
		r.Rests(path)
	}
}

// maxReads is how many paths are kept.
const maxReads = 1000

func (t *traced) Ran(words []string) { t.Runs = append(t.Runs, words) }

func (t *traced) Read(path string) {
	if len(t.Reads) < maxReads {
		t.Reads = append(t.Reads, path)
	}
}

// Trace is Look with what the call would run and read.
func Trace(call Call, evidence Evidence) (human.Verdict, Traces) {
	t := &traced{Evidence: evidence}
	v := Look(call, t)
	if kindOf(call.Tool) == windowsTool { // which no walker goes through
		parts, _ := Parts(call, nil)
		for _, p := range parts {
			t.Runs = append(t.Runs, p.Runs...)
		}
	}
	return v, t.Traces
}

// Instead is the call with another command, or another query, in the place of its own.
func Instead(call Call, command string) (Call, bool) {
	f, ok := parseFields(call.Args)
	names := commandFields
	if kindOf(call.Tool) == sqlTool {
		names = queryFields
	}
	for _, n := range names {
		if ok && f.one(n) != "" {
			return withField(call, n, command)
		}
	}
	return call, false
}

// scriptsOf are the commands of a shell tool. odd says that there is more in the call than they.
func scriptsOf(f fields) (scripts []string, odd bool) {
	for _, n := range commandFields {
		for _, v := range f[n] {
			switch v := v.(type) {
			case string:
				if n != "command" && n != "cmd" && f.has("command", "cmd") && !strings.ContainsAny(v, " \n") {
					continue // the name of the shell, beside the command
				}
				scripts = append(scripts, v)
			case []any:
				var words []string
				for _, x := range v {
					s, ok := x.(string)
					if !ok {
						return scripts, true
					}
					words = append(words, s)
				}
				scripts = append(scripts, scriptOf(words))
			default:
				odd = true
			}
		}
	}
	if args := f.all("args", "arguments", "argv"); len(args) > 0 {
		scripts, odd = append(scripts, scriptOf(append(strings.Fields(f.one(commandFields...)), args...))), true
	}
	for _, v := range f["env"] {
		if vars, ok := v.(map[string]any); !ok || len(vars) > 0 {
			odd = true
		}
	}
	return scripts, odd
}

// scriptOf spells exact arguments as a script; a shell that is given one script is that script.
func scriptOf(args []string) string {
	if len(args) == 3 && slices.Contains([]string{"-c", "-lc"}, args[1]) && slices.Contains([]string{"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh"}, args[0]) {
		return args[2]
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// windowsPart is a command of PowerShell or cmd. Its words are known where it is one command, without anything that the
// shell reads.
func windowsPart(c string, at shell.Place) shell.Part {
	part := shell.Part{Effects: shell.Windows(c, at), Dirs: []string{at.Cwd}}
	for one := range strings.FieldsFuncSeq(c, func(r rune) bool { return strings.ContainsRune("|;&\n(){}", r) }) {
		if words := strings.Fields(one); len(words) > 0 {
			part.Runs = append(part.Runs, words)
		}
	}
	if words := strings.Fields(c); len(words) > 0 && !strings.ContainsAny(c, "|;&\n\r(){}$`<>'\"@%^,") {
		part.Words, part.Known = words, true
	}
	return part
}

// SameTool says whether two names stand for one kind of tool, as bash and run_shell_command do, or differ only in how they
// are spelled.
func SameTool(a, b string) bool {
	if k := kindOf(a); k != unknownTool && k == kindOf(b) {
		return true
	}
	return plainName(a) == plainName(b)
}

// RunsCode says whether a tool runs commands or code that its call brings.
func RunsCode(tool string) bool {
	switch kindOf(tool) {
	case shellTool, argvTool, windowsTool, codeTool, sqlTool, typeTool, batchTool, laterTool:
		return true
	}
	return false
}

// Decide is what a policy makes of one effect.
func Decide(e human.Effect, p Policy) human.Ruling { return rule(e, p) }

// Explain gives a verdict its reason and choices anew, after its decision was changed.
func Explain(call Call, v *human.Verdict, evidence Evidence) {
	finish(call, v, evidence)
}

// Texts are the texts in a call's arguments, at the outermost level, in the order of their names.
func Texts(call Call) []string {
	f, ok := parseFields(call.Args)
	if !ok || len(call.Args) > MaxArgs {
		return nil
	}
	return f.all(slices.Sorted(maps.Keys(f))...)
}
