package gate

import (
	"bytes"
	"encoding/json"
	"strings"

	"deskbell/backend/human"
)

// ShellCommand is what a call gives a shell to run, where that is all that it does: one text, in one field. ok is false for any
// other call.
func ShellCommand(call Call) (command string, ok bool) {
	name, text := shellField(call)
	return text, name != ""
}

// shellField is the field of such a call, by its plain name, and the text in it.
func shellField(call Call) (name, text string) {
	raw := bytes.TrimSpace(call.Args)
	if kindOf(call.Tool) != shellTool || len(raw) > MaxArgs {
		return "", ""
	}
	f, ok := parseFields(raw)
	if !ok {
		return "", ""
	}
	for _, n := range commandFields {
		for _, v := range f[n] {
			s, is := v.(string)
			if !is || name != "" {
				return "", "" // exact arguments, or two commands
			}
			name, text = n, s
		}
	}
	if strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0) {
		return "", ""
	}
	return name, text
}

// WithCommand is a call's arguments with another command, and with more fields; ok is false where ShellCommand's is.
func WithCommand(call Call, command string, more map[string]any) (args json.RawMessage, ok bool) {
	name, _ := shellField(call)
	if name == "" {
		return nil, false
	}
	var all map[string]json.RawMessage // whose numbers stay as they were written
	if json.Unmarshal(call.Args, &all) != nil {
		return nil, false
	}
	set := func(key string, v any) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // texts and numbers always can be
		all[key] = bytes.TrimSpace(b.Bytes())
	}
	for key := range all {
		if plainName(key) == name {
			set(key, command)
		}
	}
	for key, v := range more {
		set(key, v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(all) != nil {
		return nil, false
	}
	return bytes.TrimSpace(b.Bytes()), true
}

// BoxChoice is the answer that runs a call in a box.
func BoxChoice() human.Choice { return choice(human.ChooseBox, "choice_box") }
