package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// A planFile is a plan, or its tasks, as a person writes it: in TOML, a table [[tasks]] each.
type planFile struct {
	SessionID      string         `toml:"session_id"`
	Message        string         `toml:"message"`
	Why            string         `toml:"why"`
	Timeout        float64        `toml:"timeout_seconds"`
	Priority       *int           `toml:"priority"`
	Confirmations  int            `toml:"confirmations"`
	Operators      []string       `toml:"operators"`
	IdempotencyKey string         `toml:"idempotency_key"`
	Context        map[string]any `toml:"context"`
	// Of presets.
	Name  string `toml:"name"`
	About string `toml:"about"`

	Tasks []taskText `toml:"tasks"`
}

type taskText struct {
	ID              string         `toml:"id"`
	Description     string         `toml:"description"`
	Tool            string         `toml:"tool_name"`
	Type            string         `toml:"type"`
	Priority        int            `toml:"priority"`
	ExpectedOutcome string         `toml:"expected_outcome"`
	Args            map[string]any `toml:"args"`
	ArgsJSON        string         `toml:"args_json"` // of arguments that TOML cannot say, such as null
}

// readPlan reads a plan from a file's text: JSON as the API takes it, a JSON list of tasks, or TOML. was are the tasks as
// they were: arguments that say the same as before stay the same bytes. Errors are Invalid and say where.
func readPlan(text []byte, was []human.Task) (f planFile, s plan.Submission, err error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case isList(trimmed):
		err = strictJSON(text, &s.Tasks)
	case bytes.HasPrefix(trimmed, []byte("{")):
		var sent struct {
			plan.Submission
			Name  string `json:"name"`
			About string `json:"about"`
		}
		err = strictJSON(text, &sent)
		s, f.Name, f.About = sent.Submission, sent.Name, sent.About
	default:
		return readPlanTOML(text, was)
	}
	if err != nil {
		return f, s, err
	}
	return f, s, checkEdited(s.Tasks)
}

// isList says whether a text begins as a list in JSON, and not as a table in TOML, which has a name after its bracket.
func isList(text []byte) bool {
	inner, list := bytes.CutPrefix(text, []byte("["))
	inner = bytes.TrimSpace(inner)
	return list && (len(inner) == 0 || bytes.ContainsAny(inner[:1], "{]"))
}

// strictJSON reads JSON. Its errors are Invalid and say where.
func strictJSON(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	line := func(offset int64) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) > 0:
		return human.Errorf(human.Invalid, "line %d: there is more after the plan", line(d.InputOffset()))
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return human.Errorf(human.Invalid, "the JSON is incomplete: a bracket or a quote is not closed")
	case errors.As(err, &syntax):
		return human.Wrap(human.Invalid, err, "line %d: it is not JSON: %v", line(syntax.Offset), err)
	case errors.As(err, &kind):
		return human.Wrap(human.Invalid, err, "line %d: %s must not be: %s", line(kind.Offset), cmp.Or(strings.TrimPrefix(kind.Field, "Submission."), "a plan"), kind.Value)
	}
	return human.Wrap(human.Invalid, err, "%s; a plan has session_id, message, tasks, context and more, %s", strings.TrimPrefix(err.Error(), "json: "), taskHas)
}

// taskHas are the fields of a task, for messages.
const taskHas = "a task has id, description, tool_name, type, priority, expected_outcome, args"

func readPlanTOML(text []byte, was []human.Task) (f planFile, s plan.Submission, err error) {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return f, s, tomlError(err)
	}
	s = plan.Submission{
		SessionID: f.SessionID, Message: f.Message, Why: f.Why, Timeout: f.Timeout, Priority: f.Priority,
		Confirmations: f.Confirmations, Operators: f.Operators, IdempotencyKey: f.IdempotencyKey,
	}
	if f.Context != nil {
		if s.Context, err = plainJSON(f.Context); err != nil {
			return f, s, human.Wrap(human.Invalid, err, "context has a value that JSON cannot express")
		}
	}
	for i, t := range f.Tasks {
		task := human.Task{ID: t.ID, Description: t.Description, Tool: t.Tool, Type: t.Type, Priority: t.Priority, ExpectedOutcome: t.ExpectedOutcome}
		before := slices.IndexFunc(was, func(o human.Task) bool { return o.ID == t.ID && t.ID != "" })
		var old json.RawMessage
		if before >= 0 {
			old = was[before].Args
		}
		switch {
		case t.Args != nil && t.ArgsJSON != "":
			return f, s, human.Errorf(human.Invalid, "task %d has both args and args_json", i+1)
		case t.ArgsJSON != "":
			args := json.RawMessage(strings.TrimSpace(t.ArgsJSON))
			if !json.Valid(args) || args[0] != '{' {
				return f, s, human.Errorf(human.Invalid, "args_json of task %d is not a JSON object", i+1)
			}
			task.Args = sameArgs(args, old)
		case t.Args != nil:
			args, err := plainJSON(t.Args)
			if err != nil {
				return f, s, human.Wrap(human.Invalid, err, "args of task %d have a value that JSON cannot express", i+1)
			}
			task.Args = sameArgs(args, old)
		}
		s.Tasks = append(s.Tasks, task)
	}
	return f, s, checkEdited(s.Tasks)
}

// tomlError says in a line or more what is wrong, and where.
func tomlError(err error) error {
	var missing *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &missing):
		var lines []string
		for _, e := range missing.Errors {
			row, _ := e.Position()
			lines = append(lines, fmt.Sprintf("line %d: there is no %s; %s", row, strings.Join(e.Key(), "."), taskHas))
		}
		return human.Errorf(human.Invalid, "%s", strings.Join(lines, "\n"))
	case errors.As(err, &wrong):
		row, column := wrong.Position()
		return human.Wrap(human.Invalid, err, "line %d, column %d: %s (texts need quotes)", row, column, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return human.Wrap(human.Invalid, err, "it is not a plan in TOML: %v", err)
}

// checkEdited says what a server would say, before it is sent.
func checkEdited(tasks []human.Task) error {
	seen := map[string]int{}
	for i, t := range tasks {
		if strings.TrimSpace(t.Description) == "" {
			return human.Errorf(human.Invalid, "task %d has no description", i+1)
		}
		if n := seen[t.ID]; t.ID != "" && n > 0 {
			return human.Errorf(human.Invalid, "tasks %d and %d have the same id %q; leave the id of a new task out", n, i+1, human.OneLine(t.ID, 40))
		}
		seen[t.ID] = i + 1
	}
	if len(tasks) == 0 {
		return human.Errorf(human.Invalid, "there is no task; a task begins with [[tasks]] and has a description")
	}
	return nil
}

// plainJSON is JSON without escapes for HTML.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// sameArgs is old where both say the same, else args.
func sameArgs(args, old json.RawMessage) json.RawMessage {
	a, err := canonical(args)
	if err != nil || len(old) == 0 {
		return args
	}
	if b, err := canonical(old); err == nil && bytes.Equal(a, b) {
		return old
	}
	return args
}

func canonical(raw json.RawMessage) ([]byte, error) {
	v, err := decodeNumbers(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v) // the keys of maps in order
}

func decodeNumbers(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// writeTasks writes tasks as a person edits them. What stands in them is text of agents: it is quoted so that no character
// is in the file that does not print.
func writeTasks(b *strings.Builder, tasks []human.Task, margin string, about func(i int) []string) {
	for i, t := range tasks {
		b.WriteString("\n")
		for _, line := range about(i) {
			b.WriteString("# " + line + "\n")
		}
		b.WriteString(margin + "[[tasks]]\n")
		line := func(key, value string) {
			for n, l := range strings.Split(key+" = "+value, "\n") {
				if n == 0 || margin != "" {
					l = margin + l
				}
				b.WriteString(l + "\n")
			}
		}
		for _, field := range []struct{ key, text string }{
			{"id", t.ID}, {"description", t.Description}, {"tool_name", t.Tool}, {"type", t.Type},
		} {
			if field.text != "" {
				line(field.key, quoteTOML(field.text))
			}
		}
		if t.Priority != 0 {
			line("priority", strconv.Itoa(t.Priority))
		}
		if t.ExpectedOutcome != "" {
			line("expected_outcome", quoteTOML(t.ExpectedOutcome))
		}
		if len(t.Args) == 0 {
			continue
		}
		args, ok := tomlArgs(t.Args)
		for _, key := range sortedKeys(args) {
			line("args."+keyTOML(key), args[key])
		}
		switch {
		case !ok:
			var pretty bytes.Buffer
			_ = json.Indent(&pretty, t.Args, "", "  ") // the server has checked it
			line("args_json", quoteTOML(pretty.String()))
		case len(args) == 0:
			line("args", "{}")
		}
	}
}

// tomlArgs are arguments, a value each, as TOML; false where TOML cannot say them without loss.
func tomlArgs(raw json.RawMessage) (map[string]string, bool) {
	v, err := decodeNumbers(raw)
	object, is := v.(map[string]any)
	if err != nil || !is {
		return nil, false
	}
	args := map[string]string{}
	for key, value := range object {
		text, ok := valueTOML(value)
		if !ok {
			return nil, false
		}
		args[key] = text
	}
	return args, true
}

func valueTOML(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return quoteTOML(v), true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil && v != "-0" {
			return v.String(), true
		}
		f, err := v.Float64()
		back, wrong := json.Marshal(f)
		return v.String(), err == nil && wrong == nil && string(back) == v.String() && strings.Contains(v.String(), ".")
	case []any:
		var parts []string
		for _, one := range v {
			text, ok := valueTOML(one)
			if !ok {
				return "", false
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, ok := valueTOML(v[key])
			if !ok {
				return "", false
			}
			parts = append(parts, keyTOML(key)+" = "+text)
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	}
	return "", false // null
}

func keyTOML(key string) string {
	if key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return key
	}
	return basicTOML(key)
}

// quoteTOML writes a text as a person changes it most easily: several lines as they are, backslashes and quotes as they
// are; with escapes where it has what does not print.
func quoteTOML(text string) string {
	prints := !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !printable(r) })
	lines, quotes := strings.Contains(text, "\n"), strings.ContainsAny(text, `"\`)
	switch {
	case prints && lines && !strings.Contains(text, "'''") && !strings.HasSuffix(text, "'"):
		return "'''\n" + text + "'''" // the first line break is not part of it
	case prints && !lines && quotes && !strings.Contains(text, "'"):
		return "'" + text + "'"
	}
	return basicTOML(text)
}

func basicTOML(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case printable(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// A sheet is a text that a person edits, in a file that stays until it is dropped.
type sheet struct {
	file string
	text string // as it was last written or read, without notes
}

// newSheet writes a text to a file of its own, which only this user can read.
func newSheet(text string) (*sheet, error) {
	dir, err := os.MkdirTemp("", "deskbell-plan-")
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "there is no place for a file to edit: %v", err)
	}
	s := &sheet{file: filepath.Join(dir, "plan.toml")}
	return s, s.write(text, "")
}

// wrongMark begins the lines of a note, which are taken out again.
const wrongMark = "#! "

func (s *sheet) write(text, note string) error {
	s.text = text
	all := text
	if note != "" {
		all = wrongMark + strings.ReplaceAll(note, "\n", "\n"+wrongMark) + "\n" + text
	}
	if err := os.WriteFile(s.file, []byte(all), 0o600); err != nil {
		return human.Wrap(human.Internal, err, "the file to edit cannot be written: %v", err)
	}
	return nil
}

// read reads it again, without the note.
func (s *sheet) read() (text string, err error) {
	data, err := os.ReadFile(s.file)
	if err != nil {
		return "", human.Wrap(human.Internal, err, "%s cannot be read: %v", s.file, errors.Unwrap(err))
	}
	text = string(data)
	for strings.HasPrefix(text, wrongMark) {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text, nil
}

func (s *sheet) drop() { _ = os.RemoveAll(filepath.Dir(s.file)) } // the system tidies up after it

// edit has a person change a text in their editor, again and again until accept takes what they wrote: an Invalid error of
// its own is put above the text, which is otherwise as they left it. It returns false where they changed nothing, and an
// error where the editor failed or a text that is wrong was left as it was; the file is then still there.
func (s *shell) edit(ctx context.Context, sh *sheet, accept func(text string) error) (changed bool, err error) {
	before := sh.text
	for {
		if err := s.editor(ctx, sh.file); err != nil {
			return false, err
		}
		text, err := sh.read()
		if err != nil {
			return false, err
		}
		if text == before {
			return false, nil
		}
		wrong := accept(text)
		if wrong == nil {
			return true, sh.write(text, "") // without the note
		}
		if human.KindOf(wrong) != human.Invalid {
			return false, wrong
		}
		if text == sh.text {
			return false, wrong // seen, and given up
		}
		note := "This has an error, and nothing was sent. Correct it, or leave it as it is to stop.\n" + visible(human.SafeText(wrong))
		if err := sh.write(text, note+"\nLines are counted from below this note."); err != nil {
			return false, err
		}
		s.note("%s", visible(human.SafeText(wrong)))
	}
}

// editor opens a file in the user's editor and waits until it is closed.
func (s *shell) editor(ctx context.Context, file string) error {
	command := os.Getenv("VISUAL")
	if command == "" {
		command = os.Getenv("EDITOR")
	}
	if command == "" {
		command = "vi"
		if runtime.GOOS == "windows" {
			command = "notepad"
		} else if _, err := exec.LookPath("nano"); err == nil {
			command = "nano"
		}
	}
	var c *exec.Cmd
	if runtime.GOOS == "windows" {
		words := []string{command}
		if _, err := exec.LookPath(command); err != nil { // it has arguments
			words = strings.Fields(command)
		}
		c = exec.CommandContext(ctx, words[0], append(words[1:], file)...) //nolint:gosec // the user's own editor
	} else {
		// By a shell, as Git does it: an editor may come with arguments and quotes.
		c = exec.CommandContext(ctx, "sh", "-c", command+` "$@"`, command, file) //nolint:gosec // the user's own editor
	}
	if in, ok := s.in.(*os.File); ok {
		c.Stdin = in
	}
	c.Stdout, c.Stderr = s.out, s.err
	if s.json {
		c.Stdout = s.err
	}
	// Ctrl-C is the editor's while it is open. (Ignoring it would have the editor ignore it, too.)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := c.Run(); err != nil {
		return human.Wrap(human.Unavailable, err, "the editor %s failed (%v); set VISUAL or EDITOR to another", command, err)
	}
	return nil
}
