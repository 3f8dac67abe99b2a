package install

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"deskbell/backend/human"
)

// A State is how a client's settings stand.
type State struct {
	Client    string `json:"client"`
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Command   string `json:"command,omitempty"`
	Problem   string `json:"problem,omitempty"` // why the client may not ask, though it is installed

	// Said is Problem, for other languages.
	Said human.Sentence `json:"-"`
}

// Look says whether the hook is in, and whether it is as Install puts it in: under its event, asked about every call, with this
// command and whatever limit. What a client keeps about trust counts, too.
func Look(client string, at Place, c Command) (State, error) {
	s := State{Client: client}
	_, err := plan(client, at, func(t target, was content) ([]byte, error) {
		s.Path = t.path(at)
		if s.Installed, s.Command = len(was.ours) > 0, was.command; !s.Installed {
			return was.text, nil
		}
		c.Limit = limitOf(was.command)
		if t.entries == nil {
			if c.Limit = pluginLimitOf(was.text); !bytes.Equal(was.text, pluginFor(c)) {
				s.Said = human.Sayf("the plug-in is not the one of this version, or was changed; install it again")
			}
			return was.text, nil
		}
		s.Said = wrongEntries(was.ours, t.entries(c, runtime.GOOS))
		if s.Said.Text == "" {
			s.Said = switchedOff(client, was.text)
		}
		if s.Said.Text == "" {
			s.Said = untrusted(client, at, s.Path)
		}
		return was.text, nil
	})
	s.Problem = s.Said.Text
	if t, ok := targets[client]; ok {
		s.Path = t.path(at)
	}
	return s, err
}

// limitOf is the limit in a command; 0 without.
func limitOf(command string) time.Duration {
	_, rest, _ := strings.Cut(command, "--limit ")
	word, _, _ := strings.Cut(strings.Trim(rest, `"' `), " ")
	seconds, err := strconv.ParseFloat(strings.Trim(word, `"'`), 64)
	if err != nil || seconds <= 0 || seconds > 1e6 {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

func pluginLimitOf(text []byte) time.Duration {
	_, rest, _ := bytes.Cut(text, []byte("\nconst limit = "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return limitOf("--limit " + string(line))
}

// wrongEntries says how the entries in a file differ from those that Install puts in; empty where they do not.
func wrongEntries(ours, want []entry) human.Sentence {
	for _, w := range want {
		var there *entry
		for i := range ours {
			if ours[i].event == w.event {
				there = &ours[i]
			}
		}
		if there == nil {
			for _, o := range ours {
				if !hasEvent(want, o.event) {
					return human.Sayf("its entry is under %s instead of %s, so that no call is asked about; install it again", o.event, w.event)
				}
			}
			return human.Sayf("its entry under %s is missing; install it again", w.event)
		}
		if there.value == nil {
			return human.Sayf("its entry under %s has other hooks or comments in it, so that it cannot be compared; install it again", w.event)
		}
		if problem := wrongEntry(*there, w); problem.Text != "" {
			return problem
		}
	}
	for _, o := range ours {
		if !hasEvent(want, o.event) {
			return human.Sayf("there is another entry of it under %s, which it does not answer; install it again", o.event)
		}
	}
	return human.Sentence{}
}

func hasEvent(entries []entry, event string) bool {
	for _, e := range entries {
		if e.event == event {
			return true
		}
	}
	return false
}

func wrongEntry(there, want entry) human.Sentence {
	var a, b map[string]any
	if json.Unmarshal(there.value, &a) != nil || json.Unmarshal(want.value, &b) != nil || reflect.DeepEqual(a, b) {
		return human.Sentence{}
	}
	if a["matcher"] != b["matcher"] {
		return human.Sayf("its matcher under %s is %s instead of %s, so that not every call is asked about; install it again", there.event, text(a["matcher"]), text(b["matcher"]))
	}
	if x, y := commandOf(there.value), commandOf(want.value); x != y {
		return human.Sayf("its command under %s is not that of this Deskbell and its data folder: %s; install it again", there.event, x)
	}
	return human.Sayf("its entry under %s was changed; install it again", there.event)
}

func text(v any) string {
	if v == nil {
		return "none"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(raw)
}

func commandOf(value json.RawMessage) string {
	root, err := parse(value)
	if err != nil {
		return ""
	}
	command, _ := mine(value, root)
	return command
}

// switchedOff says by which setting a client runs no hooks; empty without.
func switchedOff(client string, settings []byte) human.Sentence {
	root, err := parse(settings)
	if err != nil {
		return human.Sentence{}
	}
	is := func(in node, name, value string) bool {
		i := in.member(settings, name)
		return i >= 0 && string(bytes.TrimSpace(settings[in.values[i].start:in.values[i].end])) == value
	}
	switch client {
	case "claude-code":
		if is(root, "disableAllHooks", "true") {
			return human.Sayf("disableAllHooks is set, so that Claude Code runs no hook")
		}
	case "copilot", "qwen":
		if is(root, "disableAllHooks", "true") {
			return human.Sayf("disableAllHooks is set, so that the client runs no hook")
		}
	case "gemini":
		config, err := child(settings, root, "hooksConfig", '{')
		if err == nil && config != nil && (is(*config, "enabled", "false") || disables(settings, *config)) {
			return human.Sayf("hooksConfig switches the hook off")
		}
	}
	return human.Sentence{}
}

func disables(settings []byte, config node) bool {
	i := config.member(settings, "disabled")
	return i >= 0 && bytes.Contains(settings[config.values[i].start:config.values[i].end], []byte(`"deskbell"`))
}

// untrusted says why a client does not run hooks of a file yet; empty where nothing says so.
func untrusted(client string, at Place, file string) human.Sentence {
	switch {
	case client == "codex":
		config := filepath.Join(filepath.Dir(targets[client].path(Place{Home: at.Home, Env: at.Env})), "config.toml")
		var said struct {
			Hooks struct {
				State map[string]struct {
					Enabled *bool  `toml:"enabled"`
					Hash    string `toml:"trusted_hash"`
				} `toml:"state"`
			} `toml:"hooks"`
		}
		raw, err := os.ReadFile(config)
		if err == nil {
			err = toml.Unmarshal(raw, &said)
		}
		for key, state := range said.Hooks.State {
			if err == nil && strings.Contains(key, file) && state.Hash != "" {
				if state.Enabled != nil && !*state.Enabled {
					return human.Sayf("Codex has the hook switched off; open /hooks in Codex")
				}
				return human.Sentence{}
			}
		}
		return human.Sayf("Codex does not trust the hook yet; open /hooks in Codex and trust it")
	case client == "gemini" && at.Dir != "":
		raw, err := os.ReadFile(filepath.Join(filepath.Dir(targets[client].path(Place{Home: at.Home, Env: at.Env})), "trustedFolders.json"))
		var folders map[string]string
		if err == nil {
			err = json.Unmarshal(raw, &folders)
		}
		for folder, trust := range folders {
			if err == nil && (folder == at.Dir && trust == "TRUST_FOLDER" || strings.HasPrefix(at.Dir+string(filepath.Separator), folder+string(filepath.Separator)) && trust != "DO_NOT_TRUST") {
				return human.Sentence{}
			}
		}
		return human.Sayf("Gemini CLI does not trust this folder yet, and runs a project's hooks only in folders that it trusts")
	}
	return human.Sentence{}
}
