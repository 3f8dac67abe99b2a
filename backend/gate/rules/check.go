package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// Check says what is wrong with a rule that an operator makes; nil for nothing. The error is Invalid.
func Check(r human.GateRule) error {
	made, err := ready(r)
	if err == nil {
		err = checkRule(made)
	}
	if err == nil && r.Until != nil && r.At != nil && !r.Until.After(*r.At) {
		err = errors.New("it ends before it begins")
	}
	if err == nil {
		if f := made.examples(); f != nil {
			err = f
		}
	}
	if err != nil {
		return human.Wrap(human.Invalid, err, "the rule is not valid: %v", err)
	}
	return nil
}

// runners run what follows them, so that ** behind one would stand for any command.
var runners = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields("sh bash zsh dash ksh fish ash csh tcsh pwsh powershell cmd sudo doas su pkexec env xargs nohup timeout nice ionice time command exec eval builtin " +
		"setsid stdbuf chroot unshare nsenter ssh parallel watch script strace ltrace busybox toybox source . trap find fd " +
		"python python2 python3 node deno bun ruby perl php lua Rscript osascript awk gawk npx bunx pnpx uvx pipx dlx docker podman kubectl") {
		m[name] = true
	}
	return m
})

// few are runners whose second word says what they do.
var few = []string{"docker", "podman", "kubectl", "node", "deno", "bun", "python", "python3"}

func checkRule(r *rule) error {
	if !slices.Contains([]human.Ruling{human.Allow, human.Ask, human.Deny}, r.Decision) {
		return fmt.Errorf("it must allow, ask or deny, not %q", r.Decision)
	}
	for _, v := range r.Verbs {
		if !slices.Contains(human.EffectVerbs, v) {
			return fmt.Errorf("there is no kind of effect %q%s", v, near(string(v), human.EffectVerbs))
		}
	}
	for name, text := range map[string]string{"tool": r.Tool, "command": r.Command, "path": r.Path, "id": r.ID, "reason": r.Reason} {
		if len(text) > 4<<10 {
			return fmt.Errorf("its %s is too long", name)
		}
		if strings.ContainsFunc(text, func(c rune) bool { return c < 0x20 || c == 0x7f }) {
			return fmt.Errorf("its %s has characters that are not seen", name)
		}
	}
	if p := path.Clean(r.Path); p == ".." || strings.HasPrefix(p, "../") {
		return fmt.Errorf("its path %q leads out of the project; begin it at the root, or with ~/", r.Path)
	}
	if r.Project != "" && !path.IsAbs(r.Project) && !windowsPath(r.Project) {
		return fmt.Errorf("its project %q is no absolute path", r.Project)
	}
	if r.command != nil && len(r.command.words) > 0 && r.command.words[0].option() && !r.pattern {
		return errors.New("its command begins with an option; begin with the program, or with * for any")
	}
	if r.Decision != human.Allow {
		if r.Tool == "" && r.Command == "" && r.Path == "" && len(r.Verbs) == 0 {
			return errors.New("it says nothing of what it is about: a tool, a command, a path or verbs")
		}
		return nil
	}
	return checkAllow(r)
}

// checkAllow returns an error for rules that would allow nearly anything.
func checkAllow(r *rule) error {
	c := r.command
	switch {
	case c == nil && r.Path == "":
		return checkPathless(r)
	case c == nil && strings.Trim(r.Path, "*/.~") == "":
		return errors.New("its path stands for everything")
	case c == nil:
		return nil
	case len(c.words) == 0 || c.words[0].one:
		return errors.New("its command does not name the program, so it would allow any")
	case r.Tool != "" && !strings.Contains(r.Tool, "*") && !gate.RunsCode(r.Tool):
		return fmt.Errorf("the tool %s is not known to run commands, so its calls have no command", r.Tool)
	}
	// The first word that stands for others must not stand for the command that a runner runs.
	for i, w := range c.words {
		name := programName(w.text)
		if w.one || !runners()[name] {
			continue
		}
		next := i + 1
		for next < len(c.words) && (c.words[next].option() || noProgram(c.words[next])) {
			next++
		}
		if next == len(c.words) && c.rest || next < len(c.words) && c.words[next].one {
			return fmt.Errorf("after %s it would allow any command: write out what it may run", name)
		}
		if !slices.Contains(few, name) {
			continue
		}
		switch c.words[next%len(c.words)].text {
		case "exec", "run", "eval":
			if c.rest || slices.ContainsFunc(c.words[next:], func(w word) bool { return w.one }) {
				return fmt.Errorf("after %s %s it would allow any command: write out what it may run", name, c.words[next].text)
			}
		}
	}
	return nil
}

// checkPathless is checkAllow for a rule with neither command nor path.
func checkPathless(r *rule) error {
	if len(r.Verbs) > 0 {
		if slices.ContainsFunc(r.Verbs, func(v human.EffectVerb) bool {
			return v == human.UnknownEffect || v == human.ObfuscatedEffect || v == human.LangExec
		}) {
			return errors.New("what is not known, or is code, is allowed by its command only: name that too")
		}
		return nil
	}
	switch {
	case len(strings.Trim(r.Tool, "*")) < 3:
		return errors.New("it would allow everything: name a tool, a command or a path")
	case gate.RunsCode(r.Tool) || strings.Contains(r.Tool, "*") && slices.ContainsFunc(runningTools, func(t string) bool { return human.Glob(r.Tool, t) }):
		return fmt.Errorf("the tool %s runs any command or code: name the command", r.Tool)
	}
	return nil
}

// noProgram says whether a word behind a runner is hardly what it runs: a number, a time, a variable.
func noProgram(w word) bool {
	return !w.one && (strings.Trim(w.text, "0123456789.smhd") == "" || strings.Contains(w.text, "="))
}

// Names of tools that run commands, for patterns of names to be held against.
var runningTools = []string{"Bash", "bash", "shell", "Shell", "run_shell_command", "exec_command", "local_shell", "execute_command", "terminal", "PowerShell"}

func windowsPath(s string) bool { return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') }

// near says which of the names that there are is meant, perhaps.
func near[T ~string](name string, all []T) string {
	for _, a := range all {
		if a, b := strings.ToLower(string(a)), strings.ToLower(name); b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || sorted(a) == sorted(b)) {
			return fmt.Sprintf("; did you mean %q?", a)
		}
	}
	return ""
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

// examples holds a rule to its own examples; nil where it passes them.
func (r *rule) examples() *Fault {
	for i, x := range r.Match {
		if !r.matches(exampleCall(r, x)) {
			return &Fault{List: "match", Index: i, Example: x, Msg: fmt.Sprintf("it must match %q, and does not%s", x, r.hint())}
		}
	}
	for i, x := range r.Differ {
		if r.matches(exampleCall(r, x)) {
			return &Fault{List: "differ", Index: i, Example: x, Msg: fmt.Sprintf("it must not match %q, and does", x)}
		}
	}
	return nil
}

func (r *rule) hint() string {
	if r.Decision == human.Allow && r.command != nil && r.command.wild() && len(r.Verbs) == 0 {
		return "; a command with * or ** covers high risk, and commands within the command, only where verbs name it"
	}
	return ""
}

// exampleCall is the call that an example stands for: a command, or the arguments of the rule's tool as a JSON object.
func exampleCall(r *rule, example string) gate.Call {
	call := gate.Call{Tool: r.Tool, Root: r.Project, Cwd: r.Project}
	if call.Root == "" {
		call.Root, call.Cwd = "/project", "/project"
	}
	call.Tool = strings.ReplaceAll(call.Tool, "*", "x")
	if strings.HasPrefix(example, "{") && json.Valid([]byte(example)) && r.Tool != "" {
		call.Args = json.RawMessage(example)
		return call
	}
	if call.Tool == "" || !gate.RunsCode(call.Tool) {
		call.Tool = "bash"
	}
	args, err := json.Marshal(map[string]string{"command": example})
	if err != nil {
		args = []byte(`{}`) // a string is always JSON
	}
	call.Args = args
	return call
}
