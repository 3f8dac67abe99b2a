package gate_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// A sample is a case of the corpus. Its class says more than what `deskbell gate eval` reads of it:
// look is no risk at all, work is daily work that balanced lets through, ask is what balanced asks about, grave is what every
// policy asks about, and `floor` is a hard limit.
type sample struct {
	class, expect, why, source string
	call                       gate.Call
}

// corpus reads the project's own cases, over every tool.
func corpus(t testing.TB) []sample {
	f, err := os.Open("testdata/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []sample
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct {
			Tool, Cwd, Expect, Class, Why, Source string

			Args json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		out = append(out, sample{row.Class, row.Expect, row.Why, row.Source, gate.Call{Tool: row.Tool, Args: row.Args, Cwd: row.Cwd}})
	}
	return out
}

// everyday are the laws' own commands, as cases.
func everyday() []sample {
	var out []sample
	for _, s := range append(slices.Clone(samples), dangerous...) {
		out = append(out, sample{call: bash(s)})
	}
	return out
}

func TestCorpus(t *testing.T) {
	all, sources := corpus(t), map[string]int{}
	for _, c := range all {
		decisions := map[gate.Policy]human.Ruling{}
		var v human.Verdict
		for _, p := range gate.Policies {
			v = gate.Judge(c.call, p, nil)
			decisions[p] = v.Decision
		}
		good := false
		if want := map[string]string{"look": "allow", "work": "allow", "ask": "ask", "grave": "block", "floor": "block"}[c.class]; c.expect != want || c.why == "" {
			t.Errorf("%s %s: expects %q of a case that is %q, because %q", c.call.Tool, c.call.Args, c.expect, c.class, c.why)
		}
		sources[c.source]++
		switch c.class {
		case "look":
			good = decisions[gate.Strict] == human.Allow
		case "work":
			good = decisions[gate.Balanced] == human.Allow && decisions[gate.Strict] == human.Ask
		case "ask":
			good = decisions[gate.Balanced] == human.Ask
		case "grave":
			good = decisions[gate.Permissive] == human.Ask || v.HardLimit
		case "floor":
			good = v.HardLimit && decisions[gate.Permissive] != human.Allow
		}
		if !good {
			t.Errorf("%s %s %s: %v %s %v", c.class, c.call.Tool, c.call.Args, decisions, v.Risk, v.Rules)
		}
	}
	if len(all) < 600 {
		t.Errorf("%d cases", len(all))
	}
	for _, of := range []string{"shell", "files", "patches", "http", "sql", "browser", "packages", "git", "cluster", "codehost", "windows", "agents", "code", "mcp"} {
		if sources["deskbell/"+of] < 10 {
			t.Errorf("%d cases of %s", sources["deskbell/"+of], of)
		}
	}
}

func TestEvidenceLowersOnlyWhatItProves(t *testing.T) {
	seen := world{"/p/dist": gate.Ignored, "/p/tmp": gate.Ignored, "/p/data": gate.Ignored, "/p/build": gate.Committed, "/p/node_modules": gate.Ignored, "/p/.cache": gate.Precious, "/p/.env": gate.Absent, "/p/.env.local": gate.Precious, "/p/new.txt": gate.MadeHere, "/p/old.txt": gate.Precious}
	call := func(c string) gate.Call {
		x := bash(c)
		x.Cwd, x.Home = "/p", "/home/me"
		return x
	}
	for command, want := range map[string]human.Ruling{
		"rm new.txt": human.Allow,
		"rm old.txt": human.Ask,
		// What builds make again, where git ignores it.
		"rm -rf dist":  human.Allow,
		"rm -rf build": human.Ask,
		"rm -rf tmp":   human.Ask,
		"rm -rf data":  human.Ask,
		// What tools fill again by themselves, where no commit and no one else holds it.
		"rm -rf node_modules": human.Allow,
		"rm -rf .cache":       human.Ask,
		// Settings with secrets: nothing is lost where there are none yet.
		"cp .env.example .env":       human.Allow,
		"cp .env.example .env.local": human.Ask,
		"rm -rf /":                   human.Deny,
		"rm -rf /home/me":            human.Deny,
		"bash ok.sh":                 human.Allow,
		"bash bad.sh":                human.Ask,
		"./bad.sh":                   human.Ask,
		"git checkout .":             human.Allow,
		"git clean -fd":              human.Ask,
		"git stash clear":            human.Ask,
	} {
		if v := gate.Judge(call(command), gate.Balanced, seen); v.Decision != want {
			t.Errorf("%q: %s %s %v", command, v.Decision, v.Risk, v.Rules)
		}
	}
}

// world is evidence for tests.
type world map[string]gate.FileState

func (w world) File(abs string) gate.FileState { return w[abs] }

func (world) Text(abs string) (string, bool) {
	switch abs {
	case "/p/ok.sh":
		return "#!/bin/sh\necho hello\n", true
	case "/p/bad.sh":
		return "#!/bin/sh\nrm -rf src\n", true
	}
	return "", false
}

func (world) Clean() bool  { return true }
func (world) Pushed() bool { return true }

func TestDigest(t *testing.T) {
	a := gate.Call{Tool: "bash", Args: json.RawMessage(`{"command":"ls","timeout":10}`)}
	for name, same := range map[string]string{"order": `{"timeout":10,"command":"ls"}`, "space": `{ "command": "ls", "timeout": 10 }`} {
		if b := a; gate.Digest(gate.Call{Tool: b.Tool, Args: json.RawMessage(same)}) != gate.Digest(a) {
			t.Errorf("%s changes the digest", name)
		}
	}
	for _, other := range []gate.Call{
		{Tool: "sh", Args: a.Args}, {Tool: "bash", Args: json.RawMessage(`{"command":"ls ","timeout":10}`)}, {Tool: "bash", Args: a.Args, Cwd: "/x"},
		{Tool: "bash", Args: json.RawMessage(`{"command":"ls","timeout":10.0}`)},
	} {
		if gate.Digest(other) == gate.Digest(a) {
			t.Errorf("%s %s %s has the same digest", other.Tool, other.Args, other.Cwd)
		}
	}
}

func TestDisguisedTextIsAskedAbout(t *testing.T) {
	for _, c := range []string{"ls \u202egnp.sh", "l\u200bs", "cаt file", "ls\u2066a"} {
		if v := gate.Judge(bash(c), gate.Permissive, nil); v.Decision == human.Allow {
			t.Errorf("%q is let through", c)
		}
	}
	for _, c := range []string{"echo 你好，世界", "git commit -m 'größer — naïve'", "ls données"} {
		if v := gate.Judge(bash(c), gate.Balanced, nil); v.Decision != human.Allow {
			t.Errorf("%q is asked about: %v", c, v.Rules)
		}
	}
}
