package rules_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

const root = "/src/app"

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
		"a shell that is fed":                    {allow("bash"), "echo 'rm -rf src' | bash", human.Ask},
		"a shell that is fed a text":             {allow("docker exec -i web sh"), "docker exec -i web sh <<X\nrm -rf /srv\nX", human.Ask},
		"code that is fed":                       {allow("python3"), "echo 'import os; os.remove(\"a\")' | python3", human.Ask},
		"a database that is fed":                 {allow("psql prod"), "echo 'DROP TABLE users' | psql prod", human.Ask},
		"arguments that are fed":                 {allow("xargs git push origin"), "cat x | xargs git push origin", human.Ask},
		"a function of its name":                 {allow("git push origin topic"), "git() { rm -rf src; }; git push origin topic", human.Ask},
		"an alias of its name":                   {allow("git push origin topic"), "alias git='rm -rf src;'; git push origin topic", human.Ask},
		"a variable that runs":                   {allow("git push origin topic"), "GIT_SSH_COMMAND='rm -rf src' git push origin topic", human.Ask},
		"a search path":                          {allow("git push origin topic"), "PATH=/tmp/x:$PATH git push origin topic", human.Ask},
		"a search path before it":                {allow("git push origin topic"), "export PATH=/tmp/x:$PATH; git push origin topic", human.Ask},
		"a variable in its words":                {allow("git push origin topic"), "x=topic; git push origin $x", human.Allow},
		"in the background":                      {allow("git push origin topic"), "git push origin topic &", human.Allow},
		"a condition":                            {allow("git push origin topic"), "if git push origin topic; then pip install x; fi", human.Ask},
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

func judged(t testing.TB, c rules.Config, call gate.Call, at rules.Circumstances) human.Verdict {
	t.Helper()
	s, err := rules.Compile(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Judge(call, nil, at)
}

func because(v human.Verdict, id string) human.Because {
	for _, b := range v.Because {
		if b.Rule == id {
			return b
		}
	}
	return human.Because{}
}

// G5: trust answers for low risk, under strict too, and for nothing graver; without it everything that does more than look
// is asked about.
func TestTrustDecides(t *testing.T) {
	for name, x := range map[string]struct {
		policy  gate.Policy
		trust   float64
		command string
		want    human.Ruling
		says    string
	}{
		"low risk under strict":          {gate.Strict, 0.5, "mkdir out", human.Ask, "trust.filesystem_write"},
		"trusted, low risk under strict": {gate.Strict, 0.81, "mkdir out", human.Allow, "trust.filesystem_write"},
		"not quite trusted":              {gate.Strict, 0.8, "mkdir out", human.Ask, "trust.filesystem_write"},
		"trusted, high risk":             {gate.Balanced, 1, "rm -rf src", human.Ask, "trust.filesystem_delete"},
		"trusted, medium risk":           {gate.Balanced, 1, "git push origin topic", human.Ask, "trust.git_remote_write"},
		"trusted, the floor":             {gate.Permissive, 1, "rm -rf /", human.Deny, ""},
		"not trusted, low risk":          {gate.Permissive, 0.19, "mkdir out", human.Ask, "trust.filesystem_write"},
		"just trusted, low risk":         {gate.Permissive, 0.2, "mkdir out", human.Allow, ""},
		"not trusted, only looks":        {gate.Strict, 0, "git status", human.Allow, ""},
	} {
		c := rules.Defaults()
		c.Policy = x.policy
		at := here()
		at.Trust = func(human.EffectVerb) float64 { return x.trust }
		v := judged(t, c, bash(x.command), at)
		b := because(v, x.says)
		if v.Decision != x.want || x.says != "" && (b.Trust == nil || *b.Trust != x.trust || b.Text == "") {
			t.Errorf("%s: %s, %+v", name, v.Decision, v.Because)
		}
	}
	// Without trust no rule of one's own lets anything through that does more than look.
	c := rules.Defaults()
	c.Rules = []human.GateRule{allow("mkdir out")}
	at := here()
	at.Trust = func(human.EffectVerb) float64 { return 0.1 }
	if v := judged(t, c, bash("mkdir out"), at); v.Decision != human.Ask || !strings.Contains(v.Reason, "Under 0.20") && because(v, "trust.filesystem_write").Text == "" {
		t.Errorf("without trust: %+v", v)
	}
	if v := judged(t, c, bash("nosuchprogram --go"), at); !rules.Settled(v) {
		t.Errorf("a loss of trust may be overridden: %q", v.Rules)
	}
	if v := judged(t, c, bash("nosuchprogram --go"), here()); rules.Settled(v) {
		t.Errorf("nothing of one's own took part, and it is settled: %q", v.Rules)
	}
	// Where nobody says, it is what it begins with.
	c = rules.Defaults()
	c.Trust.Initial = 0.1
	if v := judged(t, c, bash("mkdir out"), here()); v.Decision != human.Ask {
		t.Errorf("without a ledger: %+v", v)
	}
}

func TestImportance(t *testing.T) {
	c := rules.Defaults()
	c.Projects = map[string]rules.Importance{root: rules.High, "/play": rules.Low}
	s, err := rules.Compile(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]gate.Policy{root: gate.Strict, root + "/": gate.Strict, "/play": gate.Permissive, "/other": gate.Balanced, "": gate.Balanced} {
		if got := s.Policy(project); got != want {
			t.Errorf("%q is judged as by %s, not %s", project, got, want)
		}
	}
	if v := s.Judge(bash("mkdir out"), nil, here()); v.Decision != human.Ask || !strings.Contains(because(v, "policy").Text, "important") {
		t.Errorf("an important project: %+v", v.Because)
	}
	c.Policy = gate.Strict
	if s, err = rules.Compile(c, nil); err != nil || s.Policy(root) != gate.Strict {
		t.Errorf("stricter than strict: %v", err)
	}
}

// G6: what the tools' sections say.
func TestTools(t *testing.T) {
	c := rules.Defaults()
	c.Tools = map[string]rules.Tool{
		"delete_file":   {AlwaysConfirm: true},
		"read_file":     {AlwaysConfirm: true},
		"shell_execute": {SafeCommands: []string{"docker run alpine", "npm run e2e -- *"}, DangerousPatterns: []string{"rm -rf", ":", "format", "--yes", "apply auto-approve"}},
		"sql":           {DangerousPatterns: []string{"drop table"}},
	}
	s, err := rules.Compile(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool, args string) gate.Call {
		return gate.Call{Tool: tool, Args: json.RawMessage(args), Cwd: root, Root: root}
	}
	for name, x := range map[string]struct {
		call gate.Call
		want human.Ruling
	}{
		"always confirm":                  {call("read_file", `{"path": "a.txt"}`), human.Ask},
		"always confirm, by another name": {call("ReadFile", `{"path": "a.txt"}`), human.Ask},
		"always confirm, of a server":     {call("mcp__files__read_file", `{"path": "a.txt"}`), human.Ask},
		"another tool":                    {call("list_dir", `{"path": "a"}`), human.Allow},
		"a safe command":                  {bash("docker run alpine"), human.Allow},
		"another command":                 {bash("docker run debian"), human.Ask},
		"a dangerous pattern":             {bash("rm -rf node_modules"), human.Ask},
		"its options apart":               {bash("rm -v -f -r node_modules"), human.Ask},
		"within another command":          {bash("git status && find . -name x -exec rm -rf {} +"), human.Ask},
		"in a name of a script":           {bash("npm run format"), human.Ask},
		"an option":                       {bash("terraform plan --yes"), human.Ask},
		"words apart":                     {bash("echo ok; x apply -auto-approve"), human.Ask},
		"in text":                         {bash(`git commit -m "format the rm -rf of it"`), human.Allow},
		"as a message":                    {bash("git commit -m format"), human.Allow},
		"in what is searched for":         {bash("grep format a.txt"), human.Allow},
		"in what is printed":              {bash("echo rm -rf a"), human.Allow},
		"a pattern of another tool":       {call("sql", `{"query": "DROP  TABLE users"}`), human.Ask},
	} {
		if v := s.Judge(x.call, nil, here()); v.Decision != x.want {
			t.Errorf("%s: %s %s is %s, not %s: %q", name, x.call.Tool, x.call.Args, v.Decision, x.want, v.Rules)
		}
	}
	if v := s.Judge(call("read_file", `{"path": "a.txt"}`), nil, here()); v.Rules[0] != "rule.tools.read_file.always_confirm" || v.Because[0].Rule != v.Rules[0] {
		t.Errorf("the rule is not told: %q %+v", v.Rules, v.Because)
	}
	var listed []string
	for _, r := range s.List() {
		listed = append(listed, r.ID)
		if r.Source != human.RuleFile {
			t.Errorf("%s comes from %q", r.ID, r.Source)
		}
	}
	if len(listed) != 10 {
		t.Errorf("it lists %q", listed)
	}
}

// A deny rule on a path holds for every tool.
func TestPathsOfEveryTool(t *testing.T) {
	s := set(t, human.GateRule{ID: "customers", Decision: human.Deny, Path: "secrets/**", Reason: "Customers' data"})
	read := set(t, human.GateRule{Decision: human.Deny, Path: "secrets/**", Verbs: []human.EffectVerb{human.FilesystemRead}})
	for _, call := range []gate.Call{
		{Tool: "Read", Args: json.RawMessage(`{"file_path": "/src/app/secrets/key.txt"}`)},
		{Tool: "Write", Args: json.RawMessage(`{"file_path": "/src/app/secrets/key.txt", "content": "x"}`)},
		{Tool: "Edit", Args: json.RawMessage(`{"file_path": "secrets/key.txt", "old_string": "a", "new_string": "b"}`)},
		{Tool: "mcp__files__read_text_file", Args: json.RawMessage(`{"path": "secrets/key.txt"}`)},
		bash("cat < secrets/key.txt"), bash("base64 secrets/key.txt"), bash("cp secrets/key.txt x"), bash("cd secrets && cat key.txt"), bash("cat secrets/*"),
		bash("cat */key.txt"), bash("python3 -c 'print(open(\"secrets/key.txt\").read())'"), bash("tar cf x secrets"), bash("git checkout -- secrets/key.txt"), bash("rm -rf ../app/secrets"),
		bash("sort --output=secrets/x a"),
	} {
		call.Cwd, call.Root = root, root
		v := s.Judge(call, nil, here())
		if v.Decision != human.Deny || !strings.Contains(v.Reason, "Customers' data") || v.Rules[0] != "rule.customers" {
			t.Errorf("%s %s is %s: %s", call.Tool, call.Args, v.Decision, v.Reason)
		}
	}
	if v := read.Judge(bash("echo x > secrets/y"), nil, here()); v.Decision == human.Deny {
		t.Errorf("a rule about reading refuses writing: %q", v.Rules)
	}
	if v := read.Judge(bash("wc -l secrets/y"), nil, here()); v.Decision != human.Deny {
		t.Errorf("a rule about reading lets it: %+v", v)
	}
}

// facts are evidence that is given.
type facts map[string]gate.FileState

func (f facts) File(abs string) gate.FileState { return f[abs] }
func (facts) Text(string) (string, bool)       { return "", false }
func (facts) Clean() bool                      { return false }
func (facts) Pushed() bool                     { return false }

// On a busy machine there may be no time left to look at a file. An agent can make a machine busy.
func TestNoTimeToLookAtWhatAProjectRuns(t *testing.T) {
	for _, command := range []string{"npm run ship", "npm test", "npm ci", "make ship", "just ship", "bash go.sh", "./go.sh", ". ./go.sh", "pytest test_x.py", "python3 x.py", "python3 -m x", "go run .", "go run main.go", "node x.js"} {
		if v := set(t).Judge(bash(command), facts{}, here()); v.Decision != human.Ask {
			t.Errorf("%s: %s", command, v.Decision)
		}
	}
}

func TestStandingPermissions(t *testing.T) {
	push := human.GateRule{ID: "r1", Decision: human.Allow, Command: "git push origin topic", Source: human.RuleOperator, By: "ada"}
	day := now.Add(24 * time.Hour)
	for name, x := range map[string]struct {
		change func(*human.GateRule, *rules.Circumstances)
		want   human.Ruling
	}{
		"everywhere":             {func(*human.GateRule, *rules.Circumstances) {}, human.Allow},
		"its project":            {func(r *human.GateRule, _ *rules.Circumstances) { r.Project = root }, human.Allow},
		"another project":        {func(r *human.GateRule, _ *rules.Circumstances) { r.Project = "/src/other" }, human.Ask},
		"its session":            {func(r *human.GateRule, c *rules.Circumstances) { r.Session, c.Session = "s", "s" }, human.Allow},
		"another session":        {func(r *human.GateRule, c *rules.Circumstances) { r.Session, c.Session = "s", "t" }, human.Ask},
		"no session":             {func(r *human.GateRule, _ *rules.Circumstances) { r.Session = "s" }, human.Ask},
		"its agent":              {func(r *human.GateRule, c *rules.Circumstances) { r.Agent, c.Agent = "a", "a" }, human.Allow},
		"another agent":          {func(r *human.GateRule, c *rules.Circumstances) { r.Agent, c.Agent = "a", "b" }, human.Ask},
		"its tool":               {func(r *human.GateRule, _ *rules.Circumstances) { r.Tool = "run_shell_command" }, human.Allow},
		"another tool":           {func(r *human.GateRule, _ *rules.Circumstances) { r.Tool = "powershell" }, human.Ask},
		"not yet over":           {func(r *human.GateRule, _ *rules.Circumstances) { r.Until = &day }, human.Allow},
		"over":                   {func(r *human.GateRule, c *rules.Circumstances) { r.Until, c.Now = &day, day }, human.Ask},
		"no clock":               {func(r *human.GateRule, c *rules.Circumstances) { r.Until, c.Now = &day, time.Time{} }, human.Ask},
		"a rule that is no rule": {func(r *human.GateRule, _ *rules.Circumstances) { r.Command = "**" }, human.Ask},
	} {
		r, at := push, here()
		x.change(&r, &at)
		at.Standing = []human.GateRule{r}
		v := set(t).Judge(bash("git push origin topic"), nil, at)
		if v.Decision != x.want {
			t.Errorf("%s: %s", name, v.Decision)
		}
		if x.want == human.Allow && (v.Rules[0] != "rule.r1" || v.Because[0].Rule != "rule.r1" || !strings.Contains(v.Reason, "ada")) {
			t.Errorf("%s: the rule is not told: %q %+v", name, v.Rules, v.Because)
		}
	}
	// In its project it holds for what runs in it, not for what runs elsewhere.
	at := here()
	lint := push
	lint.Command, lint.Project = "pip install x", root
	at.Standing = []human.GateRule{lint}
	for command, want := range map[string]human.Ruling{"cd sub && pip install x": human.Allow, "cd /tmp/evil && pip install x": human.Ask, "cd $X && pip install x": human.Ask} {
		if v := set(t).Judge(bash(command), nil, at); v.Decision != want {
			t.Errorf("%q: %s", command, v.Decision)
		}
	}
	// What is in no commit, no rule removes.
	at.Standing = []human.GateRule{{ID: "r2", Decision: human.Allow, Command: "rm -rf data", Source: human.RuleOperator}}
	for state, want := range map[gate.FileState]human.Ruling{gate.Committed: human.Allow, gate.Ignored: human.Allow, gate.MadeHere: human.Allow, gate.Precious: human.Ask, gate.NotKnown: human.Ask} {
		if v := set(t).Judge(bash("rm -rf data"), facts{root + "/data": state}, at); v.Decision != want {
			t.Errorf("deleting what is %d: %s", state, v.Decision)
		}
	}
	if v := set(t).Judge(bash("rm -rf data"), nil, at); v.Decision != human.Ask {
		t.Errorf("deleting without evidence: %s", v.Decision)
	}
	// A rule that blocks and cannot be read asks.
	at.Standing = []human.GateRule{{ID: "r3", Decision: human.Deny, Command: "'", Source: human.RuleOperator}}
	if v := set(t).Judge(bash("ls"), nil, at); v.Decision != human.Ask {
		t.Errorf("a rule that cannot be read: %s", v.Decision)
	}
}

// What is offered in place of a call passes the user's own rules.
func TestOffersPassTheRules(t *testing.T) {
	offered := func(s *rules.Set) string {
		for _, c := range s.Judge(bash("git clean -fd"), nil, here()).Choices {
			if c.Action == human.ChooseInstead {
				return c.Command
			}
		}
		return ""
	}
	command := offered(set(t))
	if command == "" {
		t.Fatal("nothing is offered in place of git clean")
	}
	first := strings.Join(strings.Fields(command)[:2], " ")
	if got := offered(set(t, human.GateRule{Decision: human.Deny, Command: first + " -n **"}, human.GateRule{Decision: human.Ask, Command: first + " --dry-run **"})); got == command {
		t.Errorf("%q is offered, which the rules refuse", got)
	}
}

func TestSuggesting(t *testing.T) {
	effect := func(resource string, kept human.Kept) human.Effect {
		return human.Effect{Verb: human.FilesystemDelete, Resource: resource, Target: root + "/" + strings.TrimSuffix(resource, "/"), Risk: human.HighRisk, Words: "Deletes: " + resource, FileCounts: human.FileCounts{Kept: kept}}
	}
	remove := human.Verdict{Effects: []human.Effect{effect("build/", human.KeptIgnored), effect(".cache/", human.KeptIgnored), effect("fixtures old/", human.KeptNowhere)}}
	r, leftOut, ok := rules.Suggest(bash(`rm -rf build/ .cache/ "fixtures old/"`), remove, here())
	if !ok || r.Command != "rm -rf build/ .cache/" || r.Project != root || r.Decision != human.Allow || r.Source != human.RuleOperator || !strings.Contains(human.TextOf(leftOut), "fixtures old/") || !strings.Contains(human.TextOf(leftOut), "no commit") {
		t.Errorf("%+v, %q, %v", r, leftOut, ok)
	}
	for name, x := range map[string]struct {
		call          gate.Call
		command, path string
		says          string
	}{
		"its words":             {bash("git push origin topic"), "git push origin topic", "", ""},
		"words that are quoted": {bash(`git push origin 'a b' "*"`), "git push origin 'a b' '*'", "", ""},
		"the most severe":       {bash("pip install x && kubectl delete pod x"), "kubectl delete pod x", "", "`pip install x` would need a rule of its own"},
		"harmless beside it":    {bash("ls && git push origin topic | cat"), "git push origin topic", "", ""},
		"the floor":             {bash("rm -rf /"), "", "", "is a hard limit"},
		"the floor beside it":   {bash("git push origin topic; rm -rf /"), "git push origin topic", "", "is a hard limit"},
		"not known":             {bash("git push origin $X"), "", "", "known only when it runs"},
		"what is lost":          {bash("git reset --hard"), "", "", "no rule may allow deleting it"},
		"a file":                {gate.Call{Tool: "Write", Args: json.RawMessage(`{"file_path": "/src/app/.env", "content": "x"}`), Cwd: root, Root: root}, "", ".env", ""},
		"a server's tool":       {gate.Call{Tool: "mcp__tickets__close_ticket", Args: json.RawMessage(`{"id": 3}`), Cwd: root, Root: root}, "", "", ""},
		"code":                  {gate.Call{Tool: "python", Args: json.RawMessage(`{"code": "import os; os.remove('a')"}`), Cwd: root, Root: root}, "", "", "more in the call"},
	} {
		v := set(t).Judge(x.call, nil, here())
		r, leftOut, ok := rules.Suggest(x.call, v, here())
		if r.Command != x.command || r.Path != x.path || x.says == "" && len(leftOut) > 0 || !strings.Contains(human.TextOf(leftOut), x.says) {
			t.Errorf("%s: %+v, %q, %v", name, r, leftOut, ok)
		}
		if name == "a server's tool" && (!ok || r.Tool != x.call.Tool) {
			t.Errorf("%s: %+v, %q, %v", name, r, leftOut, ok)
		}
	}
}

func TestProposing(t *testing.T) {
	past := func(command string, n int, change func(int, *rules.PastCall)) []rules.PastCall {
		var out []rules.PastCall
		for i := range n {
			v := set(t).Judge(bash(command), nil, here())
			p := rules.PastCall{Call: bash(command), Project: root, Risk: v.Risk, HardLimit: v.HardLimit, Allowed: true, Read: time.Duration(4+i) * time.Second, Words: 8}
			if change != nil {
				change(i, &p)
			}
			out = append(out, p)
		}
		return out
	}
	const command = "docker run alpine"
	got := rules.Propose(append(past(command, 7, nil), past("pip install x", 9, nil)...), nil)
	if len(got) != 2 || got[1].Rule.Command != command || got[1].Times != 7 || got[1].LeastRead != 4*time.Second || got[1].Rule.Project != root || rules.Check(got[1].Rule) != nil {
		t.Fatalf("%+v", got)
	}
	if again := rules.Propose(past(command, 7, nil), []string{got[1].Key}); len(again) != 0 {
		t.Errorf("what was dismissed is proposed again: %+v", again)
	}
	for name, list := range map[string][]rules.PastCall{
		"too few":      past(command, 4, nil),
		"one refused":  past(command, 9, func(i int, p *rules.PastCall) { p.Allowed = i != 3 }),
		"one not read": past(command, 9, func(i int, p *rules.PastCall) { p.Read -= time.Duration(i%2) * 8 * time.Second }),
		"in bulk":      past(command, 9, func(i int, p *rules.PastCall) { p.Bulk = i == 8 }),
		"high risk":    past("kubectl delete pod x", 9, nil),
		"the floor":    past("rm -rf /", 9, nil),
		"in part":      past("docker run alpine > ~/.bashrc", 9, nil),
		"two projects": append(past(command, 4, nil), past(command, 4, func(_ int, p *rules.PastCall) { p.Project = "/src/other" })...),
	} {
		if got := rules.Propose(list, nil); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestChecking(t *testing.T) {
	early, late := now.Add(-time.Hour), now
	for name, r := range map[string]human.GateRule{
		"no decision":                   {Command: "ls"},
		"nothing":                       {Decision: human.Deny},
		"all":                           {Decision: human.Allow, Tool: "*"},
		"all commands":                  {Decision: human.Allow, Command: "**"},
		"any program":                   {Decision: human.Allow, Command: "* push"},
		"any command of a tool":         {Decision: human.Allow, Tool: "Bash"},
		"any command of a pattern":      {Decision: human.Allow, Tool: "run_*"},
		"any command in a wrapper":      {Decision: human.Allow, Command: "sudo **"},
		"any command behind options":    {Decision: human.Allow, Command: "timeout -k 9 **"},
		"any command of a shell":        {Decision: human.Allow, Command: "bash -c *"},
		"any code":                      {Decision: human.Allow, Command: "python3 -c *"},
		"any package":                   {Decision: human.Allow, Command: "npx **"},
		"any command in a container":    {Decision: human.Allow, Command: "docker exec web **"},
		"any path":                      {Decision: human.Allow, Path: "/**"},
		"what is not known":             {Decision: human.Allow, Verbs: []human.EffectVerb{human.UnknownEffect}},
		"two commands":                  {Decision: human.Ask, Command: "ls; rm"},
		"an open quote":                 {Decision: human.Ask, Command: "ls 'a"},
		"words behind any":              {Decision: human.Ask, Command: "git ** push"},
		"an option first":               {Decision: human.Ask, Command: "--force"},
		"a path out of the project":     {Decision: human.Ask, Path: "a/../../x"},
		"a kind that is none":           {Decision: human.Ask, Verbs: []human.EffectVerb{"write"}},
		"an end before its beginning":   {Decision: human.Ask, Command: "ls", Until: &early, At: &late},
		"a project that is no folder":   {Decision: human.Ask, Command: "ls", Project: "app"},
		"letters that are not seen":     {Decision: human.Ask, Command: "ls", Reason: "a\x1b[2J"},
		"an example that it misses":     {Decision: human.Ask, Command: "ls", Match: []string{"pwd"}},
		"a command for a tool of files": {Decision: human.Allow, Tool: "write_file", Command: "ls"},
	} {
		if err := rules.Check(r); human.KindOf(err) != human.Invalid || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range []human.GateRule{
		allow("ls"), allow("docker exec web ls"), allow("sudo systemctl restart nginx"), allow("npm run e2e -- *"), allow("timeout 9 go test **"), allow("kubectl get **"), allow("docker compose logs *"),
		{Decision: human.Allow, Tool: "mcp__tickets__*"}, {Decision: human.Allow, Path: "build/**", Verbs: []human.EffectVerb{human.FilesystemDelete}},
		{Decision: human.Deny, Command: "* --force **"}, {Decision: human.Deny, Tool: "*"}, {Decision: human.Ask, Verbs: []human.EffectVerb{human.UnknownEffect}},
		{Decision: human.Deny, Tool: "write_file", Path: "gen/**", Match: []string{`{"path": "gen/x.go", "content": ""}`}, Differ: []string{`{"path": "x.go", "content": ""}`}},
	} {
		if err := rules.Check(r); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// No way of running a command gets it past a rule that blocks it.
func TestWrappedIsRefusedToo(t *testing.T) {
	s := set(t, human.GateRule{Decision: human.Deny, Command: "git push **"})
	for _, script := range []string{
		"@", "sudo -u bob @", "env -i A=1 @", "A=1 B=2 @", "nice -n 10 @", "timeout -k 1 9 @", "time -p @", "command -- @", "exec @", "nohup setsid @", "stdbuf -oL @", "bash -c '@'", "sh -euxc '@'",
		"bash --noprofile --norc -c '@'", "eval '@'", "(cd . && @)", "{ true; @; }", "true && @", "false || @", "sleep 1 & @", "! @", "x=$(@)", "echo \"a $(@) b\"", "echo $(( $(@) ))", "[[ -z $(@) ]]",
		"echo ${y:=$(@)}", "b=([0]=$(@))", "diff <(@) /dev/null", "ls > $(@)", "cat <<X\n$(@)\nX", "while :; do @; break; done", "until @; do :; done", "for f in a b; do @; done", "case $(@) in *) ;; esac",
		"g() { @; }; g", "function h { @; }; h a b", "echo '@' | bash", "bash <<< '@'", "bash <<X\n@\nX", "trap '@' ERR EXIT", "xargs -n1 sh -c '@'", "find /etc -name x -exec @ ';'", "find . -exec sh -c '@' ';'",
		"script -qc '@' /dev/null", "GIT_EDITOR='@' git commit", "git -c alias.z='!@' z", "awk 'BEGIN { system(\"@\") }'", "perl -e 'system(\"@\")'", "ruby -e 'system(\"@\")'",
		"node -e 'require(\"child_process\").execSync(\"@\")'", "python3 -c 'import subprocess; subprocess.run(\"@\", shell=True)'", "coproc @", "watch -n 2 '@'", "ssh -p 22 me@box.example '@'",
		"a=git; b=push; $a $b", "alias p='@'; p", "/usr/bin/@", "\\git push", "g''it \"push\"", "git --no-pager -C sub push", "sudo bash -c \"timeout 9 sh -c '@'\"", "parallel @ ::: a", "rg --pre '@' x", "tar --checkpoint-action=exec='@' -cf a b",
	} {
		script = strings.ReplaceAll(script, "@b", "\x00b")
		script = strings.ReplaceAll(strings.ReplaceAll(script, "@", "git push origin main"), "\x00b", "@b")
		if v := s.Judge(bash(script), nil, here()); v.Decision != human.Deny {
			t.Errorf("%q is %s: %+v", script, v.Decision, v.Effects)
		}
	}
	for _, call := range []gate.Call{
		{Tool: "shell", Args: json.RawMessage(`{"command": ["bash", "-lc", "git push origin main"]}`)},
		{Tool: "shell", Args: json.RawMessage(`{"command": ["git", "push"]}`)},
		{Tool: "exec", Args: json.RawMessage(`{"cmd": "git", "args": ["push"]}`)},
		{Tool: "PowerShell", Args: json.RawMessage(`{"command": "cd x; git push"}`)},
		{Tool: "mcp__any__run_it", Args: json.RawMessage(`{"command": "git push"}`)},
		{Tool: "python", Args: json.RawMessage(`{"code": "import os\nos.system('git push')"}`)},
	} {
		if v := s.Judge(call, nil, here()); v.Decision != human.Deny {
			t.Errorf("%s %s is %s: %+v", call.Tool, call.Args, v.Decision, v.Effects)
		}
	}
	// Exact arguments, and the one script of a shell, are the command that they are.
	allowing := set(t, allow("git push origin topic"))
	for _, args := range []string{`{"command": ["git", "push", "origin", "topic"]}`, `{"command": ["bash", "-lc", "git push origin topic"]}`, `{"command": "git push origin topic", "workdir": "sub", "timeout_ms": 1000}`} {
		if v := allowing.Judge(gate.Call{Tool: "shell", Args: json.RawMessage(args), Cwd: root, Root: root}, nil, here()); v.Decision != human.Allow {
			t.Errorf("%s is %s: %+v", args, v.Decision, v.Because)
		}
	}
	for _, args := range []string{`{"command": "git push origin topic", "env": {"PATH": "/tmp/x"}}`, `{"command": "git push origin topic", "args": ["--force"]}`, `{"command": "git push origin topic", "cmd": "git push origin main"}`} {
		if v := allowing.Judge(gate.Call{Tool: "shell", Args: json.RawMessage(args), Cwd: root, Root: root}, nil, here()); v.Decision != human.Ask {
			t.Errorf("%s is %s", args, v.Decision)
		}
	}
}
