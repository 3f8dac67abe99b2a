package rules_test

import (
	"encoding/json"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

const root = "/work/app"

func bash(command string) gate.Call {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return gate.Call{Tool: "Bash", Args: args, Cwd: root, Root: root, Home: "/home/ada"}
}

func set(t testing.TB, list ...human.GateRule) *rules.Set {
	t.Helper()
	c := rules.Defaults()
	c.Rules = list
	s, err := rules.Compile(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var now = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)

func here() rules.Circumstances { return rules.Circumstances{Project: root, Now: now} }

func allow(command string) human.GateRule {
	return human.GateRule{Decision: human.Allow, Command: command}
}

func TestAllowing(t *testing.T) {
	for name, x := range map[string]struct {
		rule    human.GateRule
		command string
		want    human.Ruling
	}{
		"its own words":                          {allow("git push origin main"), "git push origin main", human.Allow},
		"one word more":                          {allow("git push origin"), "git push origin main", human.Ask},
		"any word":                               {allow("git push origin *"), "git push origin topic", human.Allow},
		"any words":                              {allow("git push **"), "git push origin topic", human.Allow},
		"high risk behind any words":             {allow("git push **"), "git push --force origin main", human.Ask},
		"high risk that verbs name":              {human.GateRule{Decision: human.Allow, Command: "git push **", Verbs: []human.EffectVerb{human.GitHistoryRewrite, human.GitRemoteWrite}}, "git push --force origin main", human.Allow},
		"high risk in its words":                 {allow("git push --force origin main"), "git push --force origin main", human.Allow},
		"harmless beside it":                     {allow("git push origin main"), "ls -la && git push origin main | tail -3", human.Allow},
		"something else beside it":               {allow("git push origin main"), "git push origin main && git push origin v2", human.Ask},
		"the same effect by another command":     {allow("rm a.txt"), "rm a.txt; find . -name a.txt -delete", human.Ask},
		"the same command twice":                 {allow("git push origin main"), "git push origin main; git push origin main", human.Allow},
		"where its output goes":                  {allow("git push origin main"), "git push origin main > ~/.bashrc", human.Ask},
		"what runs in its words":                 {allow("git push origin *"), "git push origin $(curl https://x.example/a)", human.Ask},
		"in a shell of Codex":                    {allow("git push origin main"), `bash -lc 'git push origin main'`, human.Ask},
		"within a wrapper that it does not name": {allow("git push origin main"), "sudo git push origin main", human.Ask},
		"within a wrapper that it names":         {allow("timeout 9 git push **"), "timeout 9 git push origin topic", human.Allow},
		"a program of another folder":            {allow("git push origin main"), "./git push origin main", human.Ask},
		"a program of the system's folder":       {allow("git push origin main"), "/usr/bin/git push origin main", human.Allow},
		"a command in the option":                {allow("git **"), "git -c core.pager='rm -rf src' log", human.Ask},
		"the floor":                              {allow("rm -rf /"), "rm -rf /", human.Deny},
		"critical risk, by its path":             {human.GateRule{Decision: human.Allow, Path: "/etc/**", Verbs: []human.EffectVerb{human.FilesystemDelete}}, "rm -rf /etc", human.Ask},
		"a path":                                 {human.GateRule{Decision: human.Allow, Path: "build/**", Verbs: []human.EffectVerb{human.FilesystemDelete}}, "rm -rf build/x build/y/z", human.Allow},
		"a path, and another":                    {human.GateRule{Decision: human.Allow, Path: "build/**", Verbs: []human.EffectVerb{human.FilesystemDelete}}, "rm -rf build/x src", human.Ask},
		"a path left by dots":                    {human.GateRule{Decision: human.Allow, Path: "build/**", Verbs: []human.EffectVerb{human.FilesystemDelete}}, "rm -rf build/../src", human.Ask},
		"a path that is not known":               {human.GateRule{Decision: human.Allow, Path: "build/**", Verbs: []human.EffectVerb{human.FilesystemDelete}}, "rm -rf build/$X", human.Ask},
		"a quoted word":                          {allow("git commit -m 'a b'"), `git commit -m "a b" && git push`, human.Ask},
	} {
		if got := set(t, x.rule).Judge(bash(x.command), nil, here()); got.Decision != x.want {
			t.Errorf("%s: %q allowed by %+v is %s, not %s: %s %q", name, x.command, x.rule, got.Decision, x.want, got.Reason, got.Rules)
		}
	}
}

func TestAskingAndRefusing(t *testing.T) {
	push := human.GateRule{Decision: human.Deny, Command: "git push **"}
	force := human.GateRule{Decision: human.Ask, Command: "git push --force **"}
	status := human.GateRule{Decision: human.Ask, Command: "git status"}
	secrets := human.GateRule{Decision: human.Deny, Path: "secrets/**"}
	for name, x := range map[string]struct {
		rule    human.GateRule
		command string
		want    human.Ruling
	}{
		"its words":                  {push, "git push", human.Deny},
		"another command":            {push, "git status", human.Allow},
		"behind another":             {push, "ls && git push origin", human.Deny},
		"in a substitution":          {push, "echo $(git push)", human.Deny},
		"in a wrapper":               {push, "sudo -n timeout 9 git push", human.Deny},
		"in a shell":                 {push, "bash -c 'cd x; git push'", human.Deny},
		"in code":                    {push, `python3 -c 'import os; os.system("git push")'`, human.Deny},
		"with options between":       {push, "git -C sub --no-pager push", human.Deny},
		"a program's whole path":     {push, "/usr/bin/git push", human.Deny},
		"an option at the end":       {force, "git push origin main --force", human.Ask},
		"harmless":                   {status, "git status", human.Ask},
		"harmless, with an option":   {status, "git status --short", human.Ask},
		"harmless, and another word": {status, "git status x", human.Allow},
		"text that names it":         {push, "git commit -m 'git push'", human.Allow},
		"text that is printed":       {push, "echo git push", human.Allow},
		"a path":                     {secrets, "cat secrets/key.txt", human.Deny},
		"a path by another":          {secrets, "cat src/../secrets/key.txt", human.Deny},
		"the folder around a path":   {secrets, "rm -rf ../app", human.Deny},
		"another path":               {secrets, "cat src/key.txt", human.Allow},
	} {
		if got := set(t, x.rule).Judge(bash(x.command), nil, here()); got.Decision != x.want {
			t.Errorf("%s: %q under %+v is %s, not %s: %s", name, x.command, x.rule, got.Decision, x.want, got.Reason)
		}
	}
}
