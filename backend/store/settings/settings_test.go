package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

func load(t *testing.T, toml string, env []string, flags map[string]string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	if toml != "" {
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(toml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(Options{Dir: dir, Env: func() []string { return env }, Flags: flags})
}

func value(t *testing.T, c *Config, key string) Value {
	t.Helper()
	i := slices.IndexFunc(c.Values(), func(v Value) bool { return v.Key == key })
	if i < 0 {
		t.Fatalf("no setting %s", key)
	}
	return c.Values()[i]
}

func TestDefaultsAreThoseOfTheRequirements(t *testing.T) {
	c, err := load(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Settings()
	if h := (Human{Enabled: true, DefaultTimeout: 300, MaxPendingRequests: 10, AutoSummarize: true, MaxHistory: 100, UndoSeconds: 5}); s.Human != h {
		t.Errorf("human: %+v", s.Human)
	}
	if l := (Limits{MaxDescription: 16384, MaxDetails: 1048576, MaxContext: 1048576, AttachmentsMegabytes: 2000}); s.Limits != l {
		t.Errorf("limits: %+v", s.Limits)
	}
	if s.Server.AllowRemote || Remote(s.Server.Addr) {
		t.Errorf("the default address must be this machine's own: %+v", s.Server)
	}
}

func TestEveryDefaultIsAllowed(t *testing.T) {
	for _, s := range Table {
		var zero Settings
		s.store(&zero, s.Default)
		if _, err := s.parse(strings.Trim(literal(s.Default), `"[]`)); err != nil {
			t.Errorf("%s: its default is refused: %v", s.Key, err)
		}
		if s.Doc == "" {
			t.Errorf("%s has no description", s.Key)
		}
	}
}

func TestLaterLayersOverrideEarlierOnes(t *testing.T) {
	const file = "[human]\nmax_history = 7\n"
	env := []string{"DESKBELL_HUMAN_MAX_HISTORY=8"}
	flags := map[string]string{"human.max_history": "9"}
	for name, tt := range map[string]struct {
		file   string
		env    []string
		flags  map[string]string
		want   int
		source string
		from   string
	}{
		"nothing":             {"", nil, nil, 100, FromDefault, ""},
		"the file":            {file, nil, nil, 7, FromFile, "config.toml:2"},
		"a variable":          {file, env, nil, 8, FromEnv, "DESKBELL_HUMAN_MAX_HISTORY"},
		"a flag":              {file, env, flags, 9, FromFlag, "--set human.max_history"},
		"a flag, no variable": {file, nil, flags, 9, FromFlag, "--set human.max_history"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, tt.file, tt.env, tt.flags)
			if err != nil {
				t.Fatal(err)
			}
			v := value(t, c, "human.max_history")
			if v.Value != tt.want || v.Source != tt.source || !strings.HasSuffix(v.From, tt.from) || c.Settings().Human.MaxHistory != tt.want {
				t.Errorf("got %v from %s %q", v.Value, v.Source, v.From)
			}
		})
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		file  string
		env   []string
		flags map[string]string
		want  []string
	}{
		"a misspelt key":       {file: "[human]\n# why\nmax_pendig_requests = 3\n", want: []string{"config.toml", "line 3", `"human.max_pendig_requests"`, `did you mean "human.max_pending_requests"`}},
		"a misspelt section":   {file: "[humans]\n", want: []string{"line 1", "[humans]", "human, limits, server"}},
		"a list of tables":     {file: "[[human]]\nenabled = true\n", want: []string{"line 1"}},
		"a key of the top":     {file: "enabled = true\n", want: []string{"line 1", `"enabled"`}},
		"a text for a number":  {file: "[human]\ndefault_timeout = \"5m\"\n", want: []string{"line 2", "human.default_timeout", "a whole number from 1 to", "seconds", `"5m"`}},
		"a number too small":   {file: "[human]\nmax_history = 0\n", want: []string{"line 2", "from 1 to"}},
		"a fraction":           {file: "[human]\nmax_history = 1.5\n", want: []string{"line 2", "whole number"}},
		"a word not allowed":   {file: "ui.theme = \"blue\"\n", want: []string{"line 1", "ui.theme", "system, light, dark", `"blue"`}},
		"an inline mistake":    {file: "ui = { theme = \"dark\",  langage = \"en\" }\n", want: []string{"line 1", `"ui.langage"`, `"ui.language"`}},
		"no TOML":              {file: "[human]\nenabled = yes\n", want: []string{"config.toml", "line 2"}},
		"a key twice":          {file: "[human]\nenabled = true\nenabled = false\n", want: []string{"line 3"}},
		"a bad variable":       {env: []string{"DESKBELL_HUMAN_ENABLED=maybe"}, want: []string{"DESKBELL_HUMAN_ENABLED", "true or false", `"maybe"`}},
		"a misspelt variable":  {env: []string{"DESKBELL_HUMAN_ENABLE=true"}, want: []string{"DESKBELL_HUMAN_ENABLE", "not a setting"}},
		"a bad flag":           {flags: map[string]string{"server.addr": "7717"}, want: []string{"--addr", "host:port"}},
		"a port out of range":  {flags: map[string]string{"server.addr": "127.0.0.1:70000"}, want: []string{"--addr", "65535"}},
		"an open door":         {file: "[server]\naddr = \"0.0.0.0:80\"\n", want: []string{"0.0.0.0:80", "server.allow_remote"}},
		"a wildcard host":      {file: "[server]\nallow_hosts = [\"*.example.org\"]\n", want: []string{"line 2", "server.allow_hosts"}},
		"an empty name":        {file: "[operator]\nname = \" \"\n", want: []string{"line 2", "empty"}},
		"traces in the clear":  {file: "[telemetry]\notlp_endpoint = \"http://collector.example:4318\"\n", want: []string{"line 2", "telemetry.otlp_endpoint", "https://"}},
		"a name with a colour": {file: "[operator]\nname = \"a\\u001b[31m\"\n", want: []string{"line 2", "control"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, tt.file, tt.env, tt.flags)
			if human.KindOf(err) != human.Invalid || err == nil {
				t.Fatalf("got %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestOtherVariablesOfOursAreLeftAlone(t *testing.T) {
	if _, err := load(t, "", []string{"DESKBELL_DATA=/x", "DESKBELL_KEY=k", "HUMAN_ENABLE=1"}, nil); err != nil {
		t.Error(err)
	}
}

func TestANamedFileMustExist(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no.toml")
	if _, err := Load(Options{File: missing, Env: func() []string { return nil }}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("--config: %v", err)
	}
	if _, err := Load(Options{Dir: t.TempDir(), Env: func() []string { return []string{"DESKBELL_CONFIG=" + missing} }}); err == nil {
		t.Error("DESKBELL_CONFIG: no error")
	}
}

// A setting can be changed before Deskbell has run for the first time, as its installer does.
func TestAnUpdateMakesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there yet")
	c, err := Load(Options{Dir: dir})
	if err == nil {
		_, err = c.Update(map[string]json.RawMessage{"ui.start_with_session": json.RawMessage("true")})
	}
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("its folder: %v, %v", info, err)
	}
	if again, err := Load(Options{Dir: dir}); err != nil || !again.Settings().UI.StartWithSession {
		t.Errorf("the setting was not kept: %v", err)
	}
}

func TestAnUpdateKeepsTheRestOfTheFile(t *testing.T) {
	for name, tt := range map[string]struct{ before, key, value, after string }{
		"a value in its place": {
			"# mine\n[human]\nenabled = true # yes\nmax_history = 5\n", "human.enabled", "false",
			"# mine\n[human]\nenabled = false # yes\nmax_history = 5\n",
		},
		"a list over lines": {
			"[server]\nallow_hosts = [\n  \"a\", # first\n  \"b\",\n] # end\naddr = \"127.0.0.1:1\"\n", "server.allow_hosts", `["c"]`,
			"[server]\nallow_hosts = [\"c\"] # end\naddr = \"127.0.0.1:1\"\n",
		},
		"a new key in a section there is": {
			"[human]\nenabled = true\n\n[ui]\ntheme = \"dark\"", "human.max_history", "5",
			"[human]\nenabled = true\nmax_history = 5\n\n[ui]\ntheme = \"dark\"",
		},
		"a new key in an empty section": {"[ui] # looks\n", "ui.theme", `"light"`, "[ui] # looks\ntheme = \"light\"\n"},
		"a new section":                 {"[human]\nenabled = true", "ui.theme", `"light"`, "[human]\nenabled = true\n\n[ui]\ntheme = \"light\"\n"},
		"a new file":                    {"", "ui.theme", `"light"`, "[ui]\ntheme = \"light\"\n"},
		"dotted keys":                   {"ui.theme = \"dark\"\n[human]\n", "ui.language", `"en"`, "ui.language = \"en\"\nui.theme = \"dark\"\n[human]\n"},
		"an inline table":               {"ui = { theme = \"dark\", language = \"en\" }\n", "ui.theme", `"light"`, "ui = { theme = \"light\", language = \"en\" }\n"},
		"quotes and backslashes":        {"", "operator.name", `"A \"B\" \\ C"`, "[operator]\nname = \"A \\\"B\\\" \\\\ C\"\n"},
		"windows line ends":             {"[ui]\r\ntheme = \"dark\"\r\n", "ui.theme", `"light"`, "[ui]\r\ntheme = \"light\"\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, tt.before, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Update(map[string]json.RawMessage{tt.key: json.RawMessage(tt.value)}); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(c.File())
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
			again, err := Load(Options{File: c.File(), Env: func() []string { return nil }})
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal([]byte(tt.value), &want); err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(value(t, again, tt.key).Value)
			b, _ := json.Marshal(want)
			now, _ := json.Marshal(value(t, c, tt.key).Value)
			if string(a) != string(b) || string(now) != string(b) {
				t.Errorf("read again %s, now %s, want %s", a, now, b)
			}
		})
	}
}

func TestAnUpdateIsAllOrNothing(t *testing.T) {
	const before = "[human]\nenabled = true\n"
	for name, tt := range map[string]struct {
		changes map[string]string
		env     []string
		kind    human.ErrorKind
		says    string
	}{
		"an unknown key":              {map[string]string{"human.enabled": "false", "human.enable": "true"}, nil, human.Invalid, "human.enabled"},
		"one wrong value":             {map[string]string{"human.enabled": "false", "human.max_history": `"x"`}, nil, human.Invalid, "human.max_history"},
		"half a JSON":                 {map[string]string{"human.enabled": "fal"}, nil, human.Invalid, "human.enabled"},
		"values that do not go along": {map[string]string{"server.addr": `"0.0.0.0:1"`}, nil, human.Invalid, "allow_remote"},
		"what a variable overrides":   {map[string]string{"human.enabled": "false"}, []string{"DESKBELL_HUMAN_ENABLED=true"}, human.Conflict, "DESKBELL_HUMAN_ENABLED"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, before, tt.env, nil)
			if err != nil {
				t.Fatal(err)
			}
			changes := map[string]json.RawMessage{}
			for k, v := range tt.changes {
				changes[k] = json.RawMessage(v)
			}
			_, err = c.Update(changes)
			if err == nil || human.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			if got, _ := os.ReadFile(c.File()); string(got) != before || !c.Settings().Human.Enabled {
				t.Errorf("something was changed: %s", got)
			}
		})
	}
}

func TestAnUpdateDoesNotWriteOverSomebodysMistake(t *testing.T) {
	c, err := load(t, "[human]\n", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.File(), []byte("[human]\nenabeld = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Update(map[string]json.RawMessage{"ui.theme": json.RawMessage(`"dark"`)}); human.KindOf(err) != human.Conflict || err == nil {
		t.Errorf("got %v", err)
	}
}

func TestOnlySomeChangesNeedARestart(t *testing.T) {
	c, err := load(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{"ui.theme": false, "server.addr": true} {
		v, _ := json.Marshal(value(t, c, key).Value)
		restart, err := c.Update(map[string]json.RawMessage{key: v})
		if err != nil || restart != want {
			t.Errorf("%s: restart %v, %v", key, restart, err)
		}
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("[human]\nenabled = true # x\n", "x")
	f.Add("ui = { theme = \"dark\" }\n", "\"\\\n\x00")
	f.Add("a.b = 1\n[[c]]\n", "é")
	f.Fuzz(func(t *testing.T, doc, name string) {
		if checkName(name) != nil {
			return
		}
		if _, _, err := decode([]byte(doc)); err != nil {
			return
		}
		after := edit([]byte(doc), "operator.name", name)
		values, _, err := decode(after)
		if err != nil {
			return // such a document fails before it is written
		}
		if values["operator.name"] != name {
			t.Fatalf("%q became %q: %v", doc, after, values)
		}
	})
}

func TestEverySettingIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, atOnce, _ := strings.Cut(string(page), "these count at once: ")
	atOnce, _, _ = strings.Cut(atOnce, ". ")
	for _, s := range Table {
		shown := "`" + literal(s.Default) + "`"
		if s.Key == "operator.name" {
			shown = "your account's name"
		}
		if !strings.Contains(string(page), "| `"+s.Key+"` | "+shown+" | ") || !strings.Contains(string(page), "| "+s.Doc+" |") {
			t.Errorf("docs/configuration.md does not have %s with its default %s and its meaning", s.Key, shown)
		}
		group, _, _ := strings.Cut(s.Key, ".")
		if listed := strings.Contains(atOnce, "`"+s.Key+"`") || strings.Contains(atOnce, "`"+group+".*`"); listed == s.Restart {
			t.Errorf("docs/configuration.md says that %s counts at once: %v", s.Key, listed)
		}
		if s.Flag != "" && !strings.Contains(string(page), "`--"+s.Flag+"`") {
			t.Errorf("docs/configuration.md does not have the flag --%s", s.Flag)
		}
	}
}
