// Package install puts Deskbell's hook into the settings of coding agents, and takes it out again. It changes the text of
// a settings file and not its meaning: comments, order and white space of everything else stay as they are.
package install

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"deskbell/backend/human"
	"deskbell/backend/transport/hook"
)

// Limit is how long a client waits for the hook, where nothing else is chosen. It bounds how long an operator can be
// waited for.
const Limit = time.Hour

// A Place is whose settings are meant.
type Place struct {
	Home   string              // the user's
	Dir    string              // a project's root; empty: the user's own settings, for every project
	Env    func(string) string // clients' own variables for where their settings are
	System string              // as in runtime.GOOS, which it is where it is empty
}

// A Command is what a client starts.
type Command struct {
	Program []string // the path of deskbell-hook, or of deskbell and the word hook
	Data    string   // the data folder, where it is not the usual one
	Limit   time.Duration
}

// args are the program and its arguments.
func (c Command) args(client string) []string {
	args := append(append([]string{}, c.Program...), client)
	if c.Data != "" {
		args = append(args, "--data", c.Data)
	}
	return append(args, "--limit", strconv.FormatFloat(c.limit().Seconds(), 'f', -1, 64))
}

func (c Command) limit() time.Duration {
	if c.Limit <= 0 {
		return Limit
	}
	return c.Limit
}

// line is the command for a shell. Where the program is missing, crashes or is killed, it ends with what blocks the call:
// most clients let a call run when its hook fails.
func (c Command) line(client, system string) string {
	args := c.args(client)
	if system == "windows" && client != "claude-code" { // which has a shell like everywhere else
		for i, a := range args {
			if strings.ContainsAny(a, " &()^;,") {
				args[i] = `"` + a + `"`
			}
		}
		return strings.Join(args, " ")
	}
	for i, a := range args {
		if system == "windows" {
			a = strings.ReplaceAll(a, `\`, "/")
		}
		args[i] = quote(a)
	}
	return strings.Join(args, " ") + ` || sh -c 'echo "` + noAnswer + ` The call was not run; tell your user." >&2; exit 2'`
}

const noAnswer = "Deskbell blocked this call: its hook did not answer."

func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+=:,@%", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// A target is where a client's hooks are set.
type target struct {
	path    func(Place) string
	entries func(c Command, system string) []entry
	needs   []entry // members that its file must have
	note    string  // for the user, after an installation
}

// An entry is an element of one of the lists below hooks, a member of the file itself, or a setting.
type entry struct {
	event string
	value json.RawMessage // compact; nil: it is there with comments, or with other hooks
	set   *setting        // in place of an event
}

// at is the containers that an entry is in, from the outermost.
func (e entry) at() []string {
	if e.set != nil {
		return e.set.at
	}
	return []string{"hooks", e.event}
}

func (e entry) same(o entry) bool { return e.event == o.event && e.set == o.set }

func compact(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // texts and numbers always can be
	}
	return bytes.TrimSpace(b.Bytes())
}

type handler struct {
	Name      string  `json:"name,omitempty"`
	Type      string  `json:"type,omitempty"`
	Command   string  `json:"command"`
	Matcher   string  `json:"matcher,omitempty"`
	Timeout   float64 `json:"timeout"`
	OnFailure string  `json:"onFailure,omitempty"`
	Closed    bool    `json:"failClosed,omitempty"`
	Status    string  `json:"statusMessage,omitempty"`
}

type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

func under(p Place, variable, usual, project, file string) string {
	if p.Dir != "" {
		return filepath.Join(p.Dir, project, file)
	}
	if variable != "" {
		if dir := p.Env(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, file)
		}
	}
	return filepath.Join(p.Home, usual, file)
}

var targets = map[string]target{
	"claude-code": {
		path: func(p Place) string {
			file := "settings.json"
			if p.Dir != "" {
				file = "settings.local.json" // the one for this machine alone: it names a path of it
			}
			return under(p, "CLAUDE_CONFIG_DIR", ".claude", ".claude", file)
		},
		entries: func(c Command, system string) []entry {
			return []entry{{event: "PreToolUse", value: compact(group{Matcher: "*", Hooks: []handler{{
				Type: "command", Command: c.line("claude-code", system), Timeout: c.limit().Seconds(), OnFailure: "block",
			}}})}}
		},
		note: "Sessions of Claude Code that run already take it up by themselves; /hooks shows it.",
	},
	"codex": {
		path: func(p Place) string { return under(p, "CODEX_HOME", ".codex", ".codex", "hooks.json") },
		entries: func(c Command, system string) []entry {
			return []entry{{event: "PreToolUse", value: compact(group{Hooks: []handler{{
				Type: "command", Command: c.line("codex", system), Timeout: c.limit().Seconds(), Status: "Asking Deskbell",
			}}})}}
		},
		note: "Codex runs no hook that its user has not looked at: start codex, open /hooks and trust this one. Until then it asks no operator. What it types into a program that runs it asks no hook about; unified_exec_tty = false below [features] in its config.toml leaves it nothing to type into.",
	},
	"gemini": {
		path: func(p Place) string {
			if home := p.Env("GEMINI_CLI_HOME"); p.Dir == "" && filepath.IsAbs(home) {
				p.Home = home
			}
			return under(p, "", ".gemini", ".gemini", "settings.json")
		},
		entries: func(c Command, system string) []entry {
			return []entry{{event: "BeforeTool", value: compact(group{Hooks: []handler{{
				Name: "deskbell", Type: "command", Command: c.line("gemini", system), Timeout: float64(c.limit().Milliseconds()),
			}}})}}
		},
		note: "Gemini CLI runs a project's hooks only in folders that it trusts. Start it anew.",
	},
	"cursor": {
		path: func(p Place) string { return under(p, "", ".cursor", ".cursor", "hooks.json") },
		entries: func(c Command, system string) []entry {
			h := handler{Command: c.line("cursor", system), Timeout: c.limit().Seconds(), Closed: true}
			rest := h
			rest.Matcher = "^(?!Shell$|MCP)" // the others ring for those
			return []entry{{event: "beforeShellExecution", value: compact(h)}, {event: "beforeMCPExecution", value: compact(h)}, {event: "preToolUse", value: compact(rest)}}
		},
		needs: []entry{{event: "version", value: json.RawMessage("1")}},
		note:  "Cursor takes it up by itself; Settings > Hooks shows it.",
	},
	"copilot": {
		path: func(p Place) string {
			if p.Dir != "" {
				return filepath.Join(p.Dir, ".github", "hooks", "deskbell.json")
			}
			return filepath.Join(copilotHome(p), "hooks", "deskbell.json")
		},
		entries: func(c Command, system string) []entry {
			return []entry{{event: "PreToolUse", value: compact(handler{
				Type: "command", Command: c.line("copilot", system), Timeout: c.limit().Seconds(),
			})}}
		},
		needs: []entry{{event: "version", value: json.RawMessage("1")}},
		note:  "Start Copilot CLI again.",
	},
	"qwen": {
		path: func(p Place) string {
			if p.Dir != "" {
				return filepath.Join(p.Dir, ".qwen", "settings.json")
			}
			return filepath.Join(qwenHome(p), "settings.json")
		},
		entries: func(c Command, system string) []entry {
			return []entry{{event: "PreToolUse", value: compact(group{Matcher: "*", Hooks: []handler{{
				Name: "deskbell", Type: "command", Command: c.line("qwen", system), Timeout: float64(c.limit().Milliseconds()), // seconds, where it is less than 1000
			}}})}}
		},
		note: "Qwen Code runs a project's hooks only in folders that it trusts. Start it again.",
	},
	"opencode": {
		path: func(p Place) string {
			if p.Dir == "" {
				if dir := p.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
					return filepath.Join(dir, "opencode", "plugins", pluginFile)
				}
			}
			return under(p, "OPENCODE_CONFIG_DIR", filepath.Join(".config", "opencode"), ".opencode", filepath.Join("plugins", pluginFile))
		},
		note: "Start opencode anew.",
	},
}

const pluginFile = "deskbell.js"

//go:embed deskbell.js
var plugin string

const (
	pluginMark    = "// Written by `deskbell hook install opencode`"
	pluginCommand = `["deskbell-hook", "opencode"]`
	pluginLimit   = "const limit = 600"
)

// pluginFor is the plug-in with the command that it is to start.
func pluginFor(c Command) []byte {
	text := strings.Replace(plugin, pluginCommand, string(compact(c.args("opencode"))), 1)
	return []byte(strings.Replace(text, pluginLimit, "const limit = "+strconv.FormatFloat(c.limit().Seconds(), 'f', -1, 64), 1))
}

// A Plan is a change of one settings file that nobody has made yet.
type Plan struct {
	Client string
	Path   string
	Backup string // where what was there before is kept; empty where nothing was
	Note   string // for the user, once it is made

	before, after []byte // nil: no file
	backup        []byte // nil: none
	keep          []byte // what the backup is to hold; nil: it is left as it is
	drop          bool   // the backup
}

// Changes says whether there is anything to do.
func (p Plan) Changes() bool {
	return !bytes.Equal(p.before, p.after) || (p.before == nil) != (p.after == nil)
}

// Diff is the change for people, as a unified diff.
func (p Plan) Diff() string {
	name := func(text []byte) string {
		if text == nil {
			return os.DevNull
		}
		return p.Path
	}
	return udiff.Unified(name(p.before), name(p.after), string(p.before), string(p.after))
}

// Install plans to put the hook in; one that is there is brought up to date. Errors are of package human and name the file.
func Install(client string, at Place, c Command) (Plan, error) {
	return plan(client, at, func(t target, was content) ([]byte, error) {
		if t.entries == nil {
			return pluginFor(c), nil
		}
		return insert(was.without, append(append([]entry{}, t.needs...), t.entries(c, runtime.GOOS)...))
	})
}

// Uninstall plans to take it out again.
func Uninstall(client string, at Place) (Plan, error) {
	p, err := plan(client, at, func(_ target, was content) ([]byte, error) { return was.without, nil })
	p.keep, p.Note = nil, ""
	p.drop = p.Backup != "" && bytes.Equal(p.after, p.backup)
	return p, err
}

// content is what a settings file holds.
type content struct {
	text     []byte     // nil: no file
	settings []*setting // those of this file that count as ours
	hooks    bool       // hooks do
	ours     []entry
	command  string
	without  []byte // the same without ours; nil: no file
}

func plan(client string, at Place, change func(target, content) ([]byte, error)) (Plan, error) {
	t, ok := targets[client]
	if !ok {
		_, err := hook.Find(client)
		return Plan{}, err
	}
	p := Plan{Client: client, Path: t.path(at), Note: t.note}
	in := func(err error) (Plan, error) {
		var ours *human.Error
		if errors.As(err, &ours) {
			return Plan{}, human.Wrap(ours.Kind, err, "%s cannot be changed: %s", p.Path, ours.Msg)
		}
		return Plan{}, human.Wrap(human.Unavailable, err, "%s cannot be changed: %v", p.Path, err)
	}
	was := content{hooks: true}
	var err error
	if was.text, err = read(p.Path); err != nil {
		return in(err)
	}
	backup, err := read(p.Path + backupEnding)
	if err != nil {
		return in(err)
	}
	if t.entries == nil {
		err = was.plugin()
	} else {
		err = was.split(backup, append(append([]entry{}, t.needs...), t.entries(Command{}, runtime.GOOS)...))
	}
	if err != nil {
		return in(err)
	}
	p.before, p.keep, p.backup = was.text, was.without, backup
	if connected(client, at, p.Path, was.text) {
		p.keep = nil // the backup is of before that
	}
	if p.after, err = change(t, was); err != nil {
		return in(err)
	}
	if p.keep != nil || backup != nil {
		p.Backup = p.Path + backupEnding
	}
	return p, nil
}

const backupEnding = ".before-deskbell"

// read returns a file's text; nil where there is none.
func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return append([]byte{}, text...), readable(text)
}

func (c *content) plugin() error {
	if c.text == nil {
		return nil
	}
	if !bytes.HasPrefix(c.text, []byte(pluginMark)) {
		return human.Errorf(human.Conflict, "it is not Deskbell's; move it away first")
	}
	_, rest, _ := bytes.Cut(c.text, []byte("\nconst command = "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	c.ours, c.command = []entry{{}}, string(line)
	return nil
}

// split finds what is ours in a settings file. all is what could be, in the order in which it is put in.
func (c *content) split(backup []byte, all []entry) error {
	c.without = c.text
	if len(bytes.TrimSpace(c.text)) == 0 {
		return nil
	}
	for {
		found, err := c.takeOne()
		if err != nil || !found {
			if err != nil || len(c.ours) == 0 {
				return err
			}
			break
		}
	}
	// No one has changed the file since: then what was there before is known to the byte.
	var put []entry
	for _, e := range all {
		if e.event == "version" {
			put = append(put, e)
			continue
		}
		for _, ours := range c.ours {
			if ours.same(e) {
				put = append(put, ours)
			}
		}
	}
	last := slices.Clone(put) // the hooks, where they were put in again by themselves
	slices.SortStableFunc(last, func(a, b entry) int { return cmp.Compare(min(len(a.event), 1), min(len(b.event), 1)) })
	for _, put := range [][]entry{put, last} {
		for _, was := range [][]byte{backup, nil} {
			if again, err := insert(was, put); err == nil && bytes.Equal(again, c.text) {
				c.without = was
				return nil
			}
		}
	}
	return c.prune(backup)
}

// takeOne takes one entry of ours out of c.without.
func (c *content) takeOne() (found bool, err error) {
	root, err := parse(c.without)
	if err != nil {
		return false, err
	}
	for _, set := range c.settings {
		in, i := set.find(c.without, root)
		if i < 0 {
			continue
		}
		c.ours = append(c.ours, entry{set: set, value: compacted(c.without, in.values[i])})
		c.without = remove(c.without, in, i)
		return true, nil
	}
	if !c.hooks {
		return false, nil
	}
	hooks, err := child(c.without, root, "hooks", '{')
	if err != nil || hooks == nil {
		return false, err
	}
	for i, list := range hooks.values {
		var event string
		if err := json.Unmarshal(c.without[hooks.keys[i].start:hooks.keys[i].end], &event); err != nil || list.kind != '[' {
			continue // settings that are no event
		}
		for j, n := range list.values {
			command, whole := mine(c.without, n)
			if command == "" {
				continue
			}
			if c.command == "" {
				c.command = command
			}
			if whole {
				c.ours = append(c.ours, entry{event: event, value: compacted(c.without, n)})
				c.without = remove(c.without, list, j)
				return true, nil
			}
			inner, _ := child(c.without, n, "hooks", '[')
			for k, h := range inner.values {
				if command, _ := mine(c.without, h); command != "" {
					c.ours = append(c.ours, entry{event: event})
					c.without = remove(c.without, *inner, k)
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// compacted is a value without white space; nil where it has comments, so that it cannot be as we wrote it.
func compacted(text []byte, n node) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, text[n.start:n.end]); err != nil {
		return nil
	}
	return b.Bytes()
}

// mine is the command of a handler of ours, or of a group that has one; whole says that it has no others.
func mine(text []byte, n node) (command string, whole bool) {
	if n.kind != '{' {
		return "", false
	}
	if i := n.member(text, "command"); i >= 0 {
		var s string
		if json.Unmarshal(text[n.values[i].start:n.values[i].end], &s) == nil && isOurs(s) {
			return s, true
		}
		return "", false
	}
	list, err := child(text, n, "hooks", '[')
	if err != nil || list == nil {
		return "", false
	}
	for _, h := range list.values {
		if s, ours := mine(text, h); ours {
			command = s
		}
	}
	return command, command != "" && len(list.values) == 1
}

// isOurs tells a command that starts our program.
func isOurs(command string) bool {
	program, _, _ := strings.Cut(command, "||")
	if strings.Contains(program, "deskbell-hook") || strings.Contains(command, noAnswer) {
		return true
	}
	for _, name := range hook.Names() {
		if strings.Contains(program, " hook "+name) && strings.Contains(program, "deskbell") {
			return true
		}
	}
	return false
}

// prune removes what is empty now and was not there before.
func (c *content) prune(backup []byte) error {
	had := func(path []string) bool {
		n, err := parse(backup)
		for _, name := range path {
			i := n.member(backup, name)
			if err != nil || i < 0 {
				return false
			}
			n = n.values[i]
		}
		return true
	}
	for _, e := range c.ours {
		for path := e.at(); len(path) > 0 && !had(path); path = path[:len(path)-1] {
			in, err := parse(c.without)
			if err != nil {
				return err
			}
			last := len(path) - 1
			for _, name := range path[:last] {
				if i := in.member(c.without, name); i >= 0 {
					in = in.values[i]
				} else {
					in = node{}
				}
			}
			i := in.member(c.without, path[last])
			if i < 0 {
				continue
			}
			if n := in.values[i]; len(n.values) > 0 || n.kind != '[' && n.kind != '{' {
				break
			}
			c.without = remove(c.without, in, i)
		}
	}
	return nil
}

// child is a member of an object; nil where it has none, an error where it is of another kind.
func child(text []byte, in node, name string, kind byte) (*node, error) {
	if in.kind != '{' {
		return nil, human.Errorf(human.Invalid, "it is not a JSON object")
	}
	i := in.member(text, name)
	if i < 0 {
		return nil, nil
	}
	if n := in.values[i]; n.kind == kind {
		return &n, nil
	}
	return nil, human.Errorf(human.Invalid, "%q is not what this client reads there", name)
}

// insert puts entries in: those of events behind the others of their event, others where the file has none of that name.
func insert(text []byte, entries []entry) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))) == 0 {
		text = append(append([]byte{}, text...), "{\n}\n"...)
	}
	for _, e := range entries {
		if e.value == nil {
			return nil, human.Errorf(human.Invalid, "the hook in it was changed")
		}
		root, err := parse(text)
		if err != nil {
			return nil, err
		}
		if e.event == "version" {
			if root.kind == '{' && root.member(text, e.event) < 0 {
				text = styleOf(text, root).add(text, root, e.event, e.value)
			}
			continue
		}
		name := ""
		if e.set != nil {
			name = e.set.name
		}
		if text, err = place(text, root, e.at(), name, e.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// place puts a member of a name below a path, or an element into the list there where the name is empty, with the containers
// that are missing.
func place(text []byte, in node, path []string, name string, value json.RawMessage) ([]byte, error) {
	s := styleOf(text, in)
	for i, step := range path {
		kind := byte('{')
		if i == len(path)-1 && name == "" {
			kind = '['
		}
		next, err := child(text, in, step, kind)
		if err != nil {
			return nil, err
		}
		if next != nil {
			in = *next
			continue
		}
		if name == "" {
			value = compact([]json.RawMessage{value})
		} else {
			value = compact(map[string]json.RawMessage{name: value})
		}
		for j := len(path) - 1; j > i; j-- {
			value = compact(map[string]json.RawMessage{path[j]: value})
		}
		return s.add(text, in, step, value), nil
	}
	if in.kind != '{' && in.kind != '[' {
		return nil, human.Errorf(human.Invalid, "it is not a JSON object")
	}
	return s.add(text, in, name, value), nil
}
