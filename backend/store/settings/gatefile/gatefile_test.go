package gatefile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

const whole = `# how calls are judged
policy = "strict"
timeout = 90
away = "client"
model = true
read_check = 0.05

[trust]
initial = 0.4
increment = 0.02
decrement = 0.1
half_life_days = 7.5

[thresholds]
low_risk_auto_approve = 0.9
paranoid_mode = 0.1

[tools]
delete_file = { always_confirm = true }

[tools.shell_execute]
safe_commands = ["git status", "npm run e2e -- *"]
dangerous_patterns = ["rm -rf", ":", "format"]

[projects]
"/src/app" = "high"
"~/play" = "low"

[[rules]]
id = "tests"
decision = "allow"
command = "go test **"
project = "/src/app"
match = ["go test ./..."]
differ = ["go test ./... && git push"]

[[rules]]
decision = "deny"
path = "secrets/**"
verbs = ["filesystem_read", "filesystem_write"]
until = 2027-01-31
reason = "Customers' data."
`

func TestLoading(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	t.Setenv("USERPROFILE", "/home/ada")
	path := filepath.Join(t.TempDir(), Name)
	c, err := Load(path)
	must(t, err)
	if c.Policy != gate.Balanced || c.Timeout != 5*time.Minute || c.Thresholds.LowRiskAutoApprove != 0.8 {
		t.Errorf("a missing file is %+v", c)
	}
	write(t, path, whole)
	c, err = Load(path)
	must(t, err)
	tool := c.Tools["shell_execute"]
	if c.Policy != gate.Strict || c.Timeout != 90*time.Second || c.Away != rules.AskInClient || !c.Model || c.ReadCheck != 0.05 ||
		c.Trust != (rules.Trust{Initial: 0.4, Increment: 0.02, Decrement: 0.1, HalfLife: 180 * time.Hour}) ||
		c.Thresholds != (rules.Thresholds{LowRiskAutoApprove: 0.9, ParanoidMode: 0.1}) ||
		!c.Tools["delete_file"].AlwaysConfirm || len(tool.SafeCommands) != 2 || len(tool.DangerousPatterns) != 3 ||
		c.Projects["/src/app"] != rules.High || c.Projects["/home/ada/play"] != rules.Low || len(c.Rules) != 2 {
		t.Errorf("it reads as %+v", c)
	}
	if r := c.Rules[1]; r.Decision != human.Deny || r.Path != "secrets/**" || len(r.Verbs) != 2 || r.Until == nil || r.Until.Day() != 1 || r.Reason == "" {
		t.Errorf("the second rule is %+v", r)
	}
}

// Mistakes are named with the file, the line, and what is meant.
func TestMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	for name, x := range map[string]struct{ text, want string }{
		"no TOML":                   {"policy = \n", "line 1"},
		"a key":                     {"polcy = \"strict\"\n", `line 1: there is no key "polcy" at the top; did you mean "policy"?`},
		"the design's own misprint": {"[thresholds]\n\nlow_rust_auto_approve = 0.8\n", `line 3: there is no key "low_rust_auto_approve" in thresholds; did you mean "low_risk_auto_approve"?`},
		"the design's own section":  {"[hitl]\npolicy = \"strict\"\n", "line 1: there is no key \"hitl\" at the top; what would stand in it stands at the top here"},
		"a tool's key":              {"[tools]\ndelete_file = { allways_confirm = true }\n", `line 2: there is no key "allways_confirm" in tools.delete_file; did you mean "always_confirm"?`},
		"a rule's key":              {"[[rules]]\ndecision = \"ask\"\ncommand = \"ls\"\n[[rules]]\nmatches = [\"ls\"]\n", `line 5: there is no key "matches" in rules[2]; did you mean "match"?`},
		"a policy":                  {"timeout = 9\npolicy = \"lax\"\n", `line 2: policy: it must be permissive, balanced or strict, not "lax"`},
		"a kind of value":           {"\ntimeout = \"long\"\n", "line 2: timeout"},
		"a number":                  {"[trust]\ninitial = 1.5\n", "line 2: trust.initial: it must be a number from 0 to 1, not 1.5"},
		"a project":                 {"[projects]\n\"app\" = \"high\"\n", `line 2: projects.app: "app" is not an absolute path`},
		"an importance":             {"[projects]\n\"/app\" = \"huge\"\n", `line 2: projects./app: it must be low, normal or high, not "huge"`},
		"a day":                     {"[[rules]]\ndecision = \"ask\"\ncommand = \"ls\"\nuntil = \"tomorrow\"\n", "line 4: rules[1].until: it must be a day"},
		"a command":                 {"policy = \"strict\"\n[tools.Bash]\nsafe_commands = [\n  \"ls\",\n  \"ls | sh\",\n]\n", `line 5: safe_commands of the tool Bash: "ls | sh": its command "ls | sh": '|' joins commands`},
		"what allows all":           {"[[rules]]\ndecision = \"allow\"\ncommand = \"sudo **\"\n", "line 1: the rule file.1: after sudo it would allow any command"},
		"an example":                {"[[rules]]\nid = \"a\"\ndecision = \"allow\"\ncommand = \"git push *\"\nmatch = [\n \"git push x\",\n \"git pull x\",\n]\n", `line 7: the rule a: it must match "git pull x", and does not`},
		"another example":           {"[[rules]]\nid = \"a\"\ndecision = \"deny\"\ncommand = \"git push **\"\ndiffer = [\"sudo git push\"]\n", `line 5: the rule a: it must not match "sudo git push", and does`},
		"an id twice":               {"[[rules]]\nid = \"a\"\ndecision = \"deny\"\ncommand = \"ls\"\n[[rules]]\nid = \"a\"\ndecision = \"deny\"\ncommand = \"pwd\"\n", `line 5: there are two rules "a"`},
		"a verb":                    {"[[rules]]\ndecision = \"deny\"\nverbs = [\"file_write\"]\n", `there is no kind of effect "file_write"`},
		"rules in a line":           {"rules = [{ decision = \"ask\", comand = \"ls\" }]\n", `line 1: there is no key "comand" in rules[1]; did you mean "command"?`},
	} {
		write(t, path, x.text)
		_, err := Load(path)
		if err == nil || human.KindOf(err) != human.Invalid || !strings.Contains(human.SafeText(err), path) || !strings.Contains(human.SafeText(err), x.want) {
			t.Errorf("%s: %v, which does not say %q", name, err, x.want)
		}
	}
}

func TestSettingThePolicy(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	must(t, SetPolicy(path, gate.Strict))
	for name, text := range map[string]string{
		"none":        "",
		"said":        "# mine\npolicy   =   'balanced' # for now\n\n[trust]\ninitial = 0.4\n",
		"not said":    "# mine\n\n[trust] # x\ninitial = 0.4\n",
		"other first": "timeout = 9\n",
		"line ends":   "timeout = 9\r\npolicy = \"balanced\"\r\n",
	} {
		write(t, path, text)
		must(t, SetPolicy(path, gate.Permissive))
		c, err := Load(path)
		must(t, err)
		data, err := os.ReadFile(path)
		must(t, err)
		rest := strings.NewReplacer("policy = \"permissive\"\n\n", "", "policy = \"permissive\"\n", "", "'balanced'", "", `"balanced"`, "", `"permissive"`, "").Replace(string(data))
		want := strings.NewReplacer("'balanced'", "", `"balanced"`, "").Replace(text)
		if c.Policy != gate.Permissive || rest != want {
			t.Errorf("%s: %q became %q", name, text, data)
		}
	}
	write(t, path, "polcy = 1\n")
	if err := SetPolicy(path, gate.Strict); human.KindOf(err) != human.Conflict {
		t.Errorf("over a mistake: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "polcy = 1\n" {
		t.Errorf("it wrote %q, %v", data, err)
	}
	if err := SetPolicy(path, "lax"); human.KindOf(err) != human.Invalid {
		t.Errorf("another policy: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".gate-*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}

func bash(t testing.TB, command string) gate.Call {
	args, err := json.Marshal(map[string]string{"command": command})
	must(t, err)
	return gate.Call{Tool: "bash", Args: args}
}

// A file that changes counts at once; while it has mistakes nothing that it allowed is allowed, and what it blocked is
// blocked.
func TestReadingAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	f := Open(path)
	first := f.Read()
	if first.Problem != "" || first.Config.Policy != gate.Balanced || f.Read().Rules != first.Rules {
		t.Errorf("no file: %+v", first)
	}
	judge := func(s State, command string) human.Ruling {
		return s.Rules.Judge(bash(t, command), nil, rules.Circumstances{}).Decision
	}
	const text = "policy = \"permissive\"\n[[rules]]\ndecision = \"deny\"\ncommand = \"ls\"\n[tools.bash]\nsafe_commands = [\"git push origin topic\"]\n"
	write(t, path, text)
	s := f.Read()
	if s.Problem != "" || judge(s, "ls") != human.Deny || judge(s, "git push origin topic") != human.Allow {
		t.Errorf("a file: %+v", s)
	}
	write(t, path, text+"x = 1\n")
	s = f.Read()
	if !strings.Contains(s.Problem, "line 7") || s.Config.Policy != gate.Balanced || judge(s, "ls") != human.Deny || judge(s, "git push origin topic") != human.Ask {
		t.Errorf("a mistake: %+v", s)
	}
	if s = Open(path).Read(); s.Problem == "" || s.Config.Policy != gate.Strict {
		t.Errorf("a mistake from the start: %+v", s)
	}
	write(t, path, text)
	if s = f.Read(); s.Problem != "" || judge(s, "git push origin topic") != human.Allow {
		t.Errorf("put right: %+v", s)
	}
	// A file that has not changed for some time is not read again.
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
	s = f.Read()
	if again := f.Read(); again.Rules != s.Rules {
		t.Error("it is read again though it did not change")
	}
	must(t, os.Chtimes(path, old.Add(time.Second), old.Add(time.Second)))
	if again := f.Read(); again.Rules == s.Rules {
		t.Error("it is not read again though it changed")
	}
}

// A project's own file tightens, and never loosens.
func TestProjectsFile(t *testing.T) {
	f := Open(filepath.Join(t.TempDir(), Name))
	root := t.TempDir()
	own := filepath.Join(root, ".deskbell", Name)
	judge := func(command string) human.Verdict {
		call := bash(t, command)
		call.Cwd, call.Root = root, root
		return f.With(root).Judge(call, nil, rules.Circumstances{Project: root})
	}
	if v := judge("mkdir out"); v.Decision != human.Allow {
		t.Errorf("without a file: %+v", v)
	}
	write(t, own, "[[rules]]\ndecision = \"deny\"\ncommand = \"mkdir **\"\nreason = \"Generated.\"\n")
	if v := judge("mkdir out"); v.Decision != human.Deny || !strings.Contains(v.Reason, "Generated") {
		t.Errorf("with a rule: %+v", v)
	}
	for name, text := range map[string]string{
		"a rule that allows":    "[[rules]]\ndecision = \"allow\"\ncommand = \"git push origin topic\"\n",
		"safe commands":         "[tools.bash]\nsafe_commands = [\"git push origin topic\"]\n",
		"a more lenient policy": "policy = \"permissive\"\n",
		"a threshold":           "[thresholds]\nlow_risk_auto_approve = 0.1\n",
		"a threshold of 0":      "[thresholds]\nparanoid_mode = 0\n",
		"trust":                 "[trust]\ninitial = 1.0\n",
		"projects":              "[projects]\n\"/\" = \"low\"\n",
		"no TOML":               "policy = = \n",
		"an unknown key":        "polcy = \"strict\"\n",
		"a long file":           "# " + strings.Repeat("x", maxProject) + "\n",
	} {
		const tightens = "[[rules]]\ndecision = \"deny\"\ncommand = \"ls\"\n"
		write(t, own, text+tightens)
		v := judge("mkdir out")
		if v.Decision != human.Ask || !strings.Contains(v.Because[len(v.Because)-1].Text, "strict") || v.Because[len(v.Because)-1].Rule != "project.file" {
			t.Errorf("%s: %s %+v", name, v.Decision, v.Because)
		}
		if v := judge("git push origin topic"); v.Decision != human.Ask {
			t.Errorf("%s: a push is %+v", name, v)
		}
	}
	// What tightens in a file that also loosens holds.
	write(t, own, "[[rules]]\ndecision = \"allow\"\ncommand = \"git push\"\n[[rules]]\ndecision = \"deny\"\ncommand = \"ls\"\n")
	if v := judge("ls"); v.Decision != human.Deny {
		t.Errorf("what tightens: %+v", v)
	}
}

// A project cannot lead the reader out of its folder, nor make it wait.
func TestProjectsFileIsAFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "gate.toml")
	write(t, outside, "policy = \"strict\"\n")
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, ".deskbell"), 0o700))
	if err := os.Symlink(outside, filepath.Join(root, ".deskbell", Name)); err != nil {
		t.Skip(err)
	}
	if c := Project(root); c == nil || c.Problem == "" || c.Policy != "" {
		t.Errorf("a link that leads out is read as %+v", c)
	}
	root = t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, ".deskbell", Name), 0o700))
	if c := Project(root); c == nil || c.Problem == "" {
		t.Errorf("a folder is read as %+v", c)
	}
	if c := Project(filepath.Join(root, "none")); c != nil {
		t.Errorf("a folder that is not there has %+v", c)
	}
}

// What the documents show can be read, and they tell every key.
func TestDocuments(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	data, err := os.ReadFile("../../../../docs/gatekeeper.md")
	must(t, err)
	doc := string(data)
	blocks := strings.Split(doc, "```toml\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the documents show no gate.toml")
	}
	path := filepath.Join(t.TempDir(), Name)
	for _, b := range blocks {
		text, _, _ := strings.Cut(b, "```")
		write(t, path, text)
		if _, err := Load(path); err != nil {
			t.Errorf("the documents show what cannot be read: %v", err)
		}
	}
	var walk func(s shape)
	walk = func(s shape) {
		for key, next := range s.keys {
			if !strings.Contains(doc, key) {
				t.Errorf("the documents do not tell of %s", key)
			}
			walk(next)
		}
		for _, next := range []*shape{s.any, s.each} {
			if next != nil {
				walk(*next)
			}
		}
	}
	walk(ownShape)
	for _, v := range human.EffectVerbs {
		if !strings.Contains(doc, "`"+string(v)+"`") {
			t.Errorf("the documents do not tell of %s", v)
		}
	}
}

// What a hook pays for gate.toml at each start.
func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), Name)
	write(b, path, whole)
	for b.Loop() {
		if _, err := Load(path); err != nil {
			b.Fatal(err)
		}
	}
}

// What a server pays for each call.
func BenchmarkUnchanged(b *testing.B) {
	f := Open(filepath.Join(b.TempDir(), Name))
	write(b, f.Path(), whole)
	old := time.Now().Add(-time.Hour)
	must(b, os.Chtimes(f.Path(), old, old))
	root := b.TempDir()
	for b.Loop() {
		f.With(root)
	}
}
