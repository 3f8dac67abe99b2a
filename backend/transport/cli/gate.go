package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// A Gate is what the commands of the gatekeeper need of the machine. They need no server.
type Gate struct {
	// Load reads a gate.toml; a missing one is an empty one.
	Load func(path string) (rules.Config, error)
	// Project reads the own file of the project in a folder; nil without one.
	Project func(root string) *rules.Config
	// Root is the root of the working tree that a folder is in, or "".
	Root func(folder string) string
	// Evidence looks at where a call would run.
	Evidence func(ctx context.Context, call gate.Call) gate.Evidence
}

// Exit codes of `deskbell gate check`.
const (
	exitAllowed = 0
	exitDenied  = 1
	exitAsked   = 2
)

// maxRow is the longest line of a file for `deskbell gate eval`, in bytes.
const maxRow = 16 << 20

// gateFlags are those of the commands that judge.
type gateFlags struct {
	file, policy    string
	tool, args, cwd string
}

func (s *shell) gateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "gate", Short: "Check tool calls as the gatekeeper does; nothing runs, is logged or asked",
		Long: "Check tool calls as the gatekeeper does, by gate.toml, the project's own file and the files in the folder. Nothing runs, is logged or asked, " +
			"and no server is needed. Rules from answers and trust are known to the server only, and do not count here.",
		Args: cobra.NoArgs,
	}
	c.AddCommand(s.gateCheckCommand(), s.gateExplainCommand(), s.gateEvalCommand(), s.gateTestCommand())
	return c
}

func (s *shell) gateFlags(c *cobra.Command, f *gateFlags, calls bool) {
	c.Flags().StringVar(&f.policy, "policy", "", "permissive, balanced or strict; default: as gate.toml says")
	if calls {
		c.Flags().StringVar(&f.tool, "tool", "bash", "the tool's name")
		c.Flags().StringVar(&f.args, "args", "", "the tool's arguments, a JSON object, in place of a command")
		c.Flags().StringVar(&f.cwd, "cwd", "", "the folder it would run in; default: this one")
	}
}

func (s *shell) fileFlag(c *cobra.Command, f *gateFlags, unless string) {
	c.Flags().StringVar(&f.file, "gate", "", "the gate.toml to judge by; "+unless+" unless given")
}

func (s *shell) gateCheckCommand() *cobra.Command {
	var f gateFlags
	c := &cobra.Command{
		Use: "check [COMMAND]", Short: "Print the decision about a command", Args: cobra.MaximumNArgs(1),
		Long: "Print the decision about a command, or about any tool call. The exit code is 0 for allow, 1 for deny, 2 for ask.",
		RunE: func(c *cobra.Command, args []string) error {
			v, err := s.judgeOne(c.Context(), f, args)
			if err != nil {
				return err
			}
			s.code = map[human.Ruling]int{human.Allow: exitAllowed, human.Deny: exitDenied, human.Ask: exitAsked}[v.Decision]
			if s.json {
				return s.printJSON(v.Verdict)
			}
			s.printf("%s (%s): %s\n", v.Decision, riskWords(v.Risk), oneLine(v.Reason, 600))
			return nil
		},
	}
	s.gateFlags(c, &f, true)
	s.fileFlag(c, &f, "the data folder's")
	s.jsonFlag(c, "print the verdict as one line of JSON")
	return c
}

func (s *shell) gateExplainCommand() *cobra.Command {
	var f gateFlags
	c := &cobra.Command{
		Use: "explain [COMMAND]", Short: "Explain a command: its effects, the decision, and why", Args: cobra.MaximumNArgs(1),
		Long: "Explain a command, or any tool call: its effects, the decision and why, and step by step what runs what and where each effect comes from.",
		RunE: func(c *cobra.Command, args []string) error {
			v, err := s.judgeOne(c.Context(), f, args)
			if err != nil {
				return err
			}
			v.Tree = v.set.Parts(v.call, s.Gate.Evidence(c.Context(), v.call), v.at)
			if s.json {
				return s.printJSON(v)
			}
			return s.explained(v)
		},
	}
	s.gateFlags(c, &f, true)
	s.fileFlag(c, &f, "the data folder's")
	s.jsonFlag(c, "print the verdict as one line of JSON")
	return c
}

// judged is the verdict about a call.
type judged struct {
	human.Verdict
	Tree []*rules.CallPart `json:"tree,omitempty"`

	call gate.Call
	set  *rules.Set
	at   rules.Circumstances
}

// judgeOne judges the call of a command line.
func (s *shell) judgeOne(ctx context.Context, f gateFlags, words []string) (v judged, err error) {
	guard, err := s.dir()
	if err != nil {
		return v, err
	}
	call := gate.Call{Tool: f.tool, Args: json.RawMessage(f.args), Guard: guard}
	switch {
	case len(words) == 1 && f.args == "":
		if call.Args, err = json.Marshal(map[string]string{"command": words[0]}); err != nil {
			return v, err
		}
	case len(words) == 1:
		return v, human.Errorf(human.Invalid, "a command and --args are two calls; give one of them")
	case f.args == "":
		return v, human.Errorf(human.Invalid, "there is nothing to check; give a command, or --tool and --args")
	case !json.Valid(call.Args):
		return v, human.Errorf(human.Invalid, "--args: it must be a JSON object")
	}
	if f.cwd == "" {
		f.cwd = "."
	}
	if call.Cwd, err = filepath.Abs(f.cwd); err != nil {
		return v, human.Wrap(human.Invalid, err, "--cwd: this folder is not known: %v", err)
	}
	call.Root = cmp.Or(s.Gate.Root(call.Cwd), call.Cwd)
	if home, err := os.UserHomeDir(); err == nil {
		call.Home = home
	}
	config, _, err := s.gateConfig(f, true)
	if err != nil {
		return v, err
	}
	set, err := rules.Compile(config, s.Gate.Project(call.Root))
	if set == nil {
		return v, err
	}
	// Where only the project's own file is at fault, the verdict says so.
	v = judged{call: call, set: set, at: rules.Circumstances{Project: call.Root, Now: time.Now()}}
	v.Verdict = set.Judge(call, s.Gate.Evidence(ctx, call), v.at)
	return v, nil
}

// gateConfig reads the gate.toml of a command; of the data folder where usual and none is named. file is "" where none is
// read.
func (s *shell) gateConfig(f gateFlags, usual bool) (c rules.Config, file string, err error) {
	c = rules.Defaults()
	file = f.file
	switch {
	case file != "":
		if _, err := os.Stat(file); err != nil {
			return c, file, human.Wrap(human.Invalid, err, "%s cannot be read: %v", file, errors.Unwrap(err))
		}
	case usual:
		dir, err := s.dir()
		if err != nil {
			return c, "", err
		}
		file = filepath.Join(dir, "gate.toml")
	}
	if file != "" {
		if c, err = s.Gate.Load(file); err != nil {
			return c, file, err
		}
	}
	if f.policy != "" {
		c.Policy = gate.Policy(f.policy)
		if !slices.Contains(gate.Policies, c.Policy) {
			return c, file, human.Errorf(human.Invalid, "--policy: it must be permissive, balanced or strict, not %q", f.policy)
		}
	}
	return c, file, nil
}

// maxSteps is how deep the tree is printed.
const maxSteps = 20

// steps prints effects, and under them the steps that are run, each with what is decided about what it does by itself.
func (s *shell) steps(effects []human.Effect, runs []*rules.CallPart, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, e := range effects {
		limit := ""
		if e.HardLimit {
			limit = ", hard limit"
		}
		s.printf("%s- %s (%s%s, %s)\n", indent, oneLine(cmp.Or(e.Words, string(e.Verb)), 200), riskWords(e.Risk), limit, visible(e.Rule))
	}
	for _, n := range runs {
		if depth > maxSteps {
			return
		}
		of := ""
		if n.Language != "" {
			of = n.Language + ": "
		}
		decision := ""
		if len(n.Checks) > 0 {
			decision = " (" + string(n.Decision) + ")"
		}
		s.printf("%s%s%s%s\n", indent, of, oneLine(n.Text, 200), decision)
		s.steps(n.Effects, n.Runs, depth+1)
	}
}

// explained prints a verdict for people.
func (s *shell) explained(v judged) error {
	decision := map[human.Ruling]string{human.Allow: "Allowed", human.Ask: "Asked about", human.Deny: "Refused"}[v.Decision]
	s.printf("%s under the policy %s: %s risk", decision, v.set.Policy(v.call.Root), v.Risk)
	if v.Risk != human.NoRisk {
		s.printf(", %s, reaches %s", v.Reversibility, reaches[v.Blast])
	}
	s.printf(".\n%s\n\nWhat it would do\n", oneLine(v.Reason, 600))
	w := s.columns()
	for _, e := range v.Effects {
		floor := ""
		if e.HardLimit {
			floor = ", at the hard limit"
		}
		w.row("  %s\t%s%s\t%s\t%s\n", oneLine(cmp.Or(e.Words, string(e.Verb)), 200), e.Risk, floor, e.Certainty, visible(e.Rule))
	}
	if err := w.flush(); err != nil {
		return err
	}
	if slices.ContainsFunc(v.Tree, func(root *rules.CallPart) bool { return len(root.Runs) > 0 }) {
		s.printf("\nWhat runs what\n")
		for _, root := range v.Tree {
			s.steps(root.Effects, root.Runs, 1)
		}
	}
	s.printf("\nWhy\n")
	for _, b := range v.Because {
		trust := ""
		if b.Trust != nil {
			trust = fmt.Sprintf(" (%.2f)", *b.Trust)
		}
		s.printf("  %s%s: %s\n", visible(b.Rule), trust, oneLine(b.Text, 600))
	}
	if len(v.Choices) > 0 {
		s.printf("\nChoices\n")
	}
	for _, c := range v.Choices {
		s.printf("  %s", oneLine(c.Label, 200))
		if c.Command != "" {
			s.printf(": %s", oneLine(c.Command, 600))
		}
		if c.Description != "" {
			s.printf(". %s", oneLine(c.Description, 400))
		}
		if c.Default {
			s.printf(" (unless another is chosen)")
		}
		s.printf("\n")
	}
	if v.Input != nil {
		s.printf("  %s\n", oneLine(v.Input.Prompt, 400))
	}
	s.printf("\n%s\n", visible(v.Digest))
	return nil
}

var reaches = map[human.BlastRadius]string{
	human.FileBlast: "the file", human.ProjectBlast: "the project", human.MachineBlast: "this machine",
	human.SharedBlast: "what others work with", human.ProductionBlast: "production", human.PublicBlast: "the public",
}

// A row is a case of a file for `deskbell gate eval`.
type row struct {
	Command *string         `json:"command,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Cwd     string          `json:"cwd,omitempty"`
	Expect  string          `json:"expect"` // allow, ask, not_block or block; empty where no one has said
	Source  string          `json:"source,omitempty"`
}

func (r row) call() (gate.Call, error) {
	call := gate.Call{Tool: r.Tool, Args: r.Args, Cwd: r.Cwd, Root: r.Cwd}
	switch {
	case !slices.Contains([]string{"", "allow", "ask", "not_block", "block"}, r.Expect):
		return call, fmt.Errorf("expect must be allow, ask, not_block or block, not %q", r.Expect)
	case r.Command != nil:
		args, err := json.Marshal(map[string]string{"command": *r.Command})
		if err != nil {
			return call, err
		}
		call.Tool, call.Args = cmp.Or(r.Tool, "bash"), args
	case r.Tool == "":
		return call, errors.New("it has neither a command nor a tool")
	}
	return call, nil
}

// scores are how far verdicts are from what is expected, as shares of each class.
type scores struct {
	N                map[string]int `json:"n"`
	BlockExecuted    float64        `json:"block_executed"`
	AllowAsked       float64        `json:"allow_asked"`
	NotBlockRejected float64        `json:"not_block_rejected"`
	AskExecuted      float64        `json:"ask_executed"`
	Unlabelled       float64        `json:"unlabelled_asked"`
}

// A shortfall is a row whose verdict falls short.
type shortfall struct {
	row
	Decision human.Ruling `json:"decision"`
	Risk     human.Risk   `json:"risk"`
	Rules    []string     `json:"rule_ids"`
	Reason   string       `json:"reason"`
}

type tally struct{ n, short map[string]int }

func newTally() *tally { return &tally{map[string]int{}, map[string]int{}} }

// add counts a row, and says whether the verdict falls short: what is to be blocked or asked about must not run, what may
// be asked about must not be blocked, and anything else must run.
func (t *tally) add(expect string, d human.Ruling) bool {
	short := d != human.Allow
	switch expect {
	case "block", "ask":
		short = d == human.Allow
	case "not_block":
		short = d == human.Deny
	}
	t.n[expect]++
	if short {
		t.short[expect]++
	}
	return short
}

func (t *tally) scores() scores {
	share := func(class string) float64 {
		if t.n[class] == 0 {
			return 0
		}
		return float64(t.short[class]) / float64(t.n[class])
	}
	return scores{N: t.n, BlockExecuted: share("block"), AllowAsked: share("allow"), NotBlockRejected: share("not_block"), AskExecuted: share("ask"), Unlabelled: share("")}
}

func (s *shell) gateEvalCommand() *cobra.Command {
	var f gateFlags
	var failures bool
	c := &cobra.Command{
		Use: "eval FILE", Short: "Score the gatekeeper on a file of cases", Args: cobra.ExactArgs(1),
		Long: "Score the gatekeeper on a file of cases, one JSON object a line: {\"command\", \"expect\"} or {\"tool\", \"args\", \"expect\"}, with a source if there is one; " +
			"expect is allow, ask, not_block or block. - reads standard input. Calls are judged by the defaults and by their text alone, " +
			"so that figures are the same on every machine.",
		RunE: func(_ *cobra.Command, args []string) error {
			config, _, err := s.gateConfig(f, false)
			if err != nil {
				return err
			}
			set, err := rules.Compile(config, nil)
			if err != nil {
				return err
			}
			in := s.in
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return human.Wrap(human.Invalid, err, "%s cannot be read: %v", args[0], errors.Unwrap(err))
				}
				defer func() { _ = file.Close() }() // only read
				in = file
			}
			return s.score(in, args[0], set, set.Policy(""), failures)
		},
	}
	s.gateFlags(c, &f, false)
	s.fileFlag(c, &f, "the defaults")
	c.Flags().BoolVar(&failures, "failures", false, "also print the rows that failed")
	s.jsonFlag(c, "print the figures as one line of JSON")
	return c
}

// score judges every row of a file and prints the figures. It holds one row at a time.
func (s *shell) score(in io.Reader, name string, set *rules.Set, policy gate.Policy, failures bool) error {
	all, sources := newTally(), map[string]*tally{}
	short := []shortfall{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxRow)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if len(strings.TrimSpace(string(line[:min(len(line), 64)]))) == 0 {
			continue
		}
		var r row
		err := json.Unmarshal(line, &r)
		var call gate.Call
		if err == nil {
			call, err = r.call()
		}
		if err != nil {
			return human.Wrap(human.Invalid, err, "%s, line %d: %v", name, n, err)
		}
		v := set.Judge(call, nil, rules.Circumstances{})
		source, _, _ := strings.Cut(r.Source, ":")
		if sources[source] == nil {
			sources[source] = newTally()
		}
		sources[source].add(r.Expect, v.Decision)
		if !all.add(r.Expect, v.Decision) || !failures {
			continue
		}
		fell := shortfall{r, v.Decision, v.Risk, v.Rules[:min(4, len(v.Rules))], v.Reason}
		if s.json {
			short = append(short, fell)
			continue
		}
		what := string(r.Args)
		if r.Command != nil {
			what = *r.Command
		}
		s.printf("%s, not %s: %s\n    %s\n", v.Decision, cmp.Or(r.Expect, "allow"), oneLine(what, 300), oneLine(strings.Join(fell.Rules, ", ")+": "+v.Reason, 300))
	}
	if err := lines.Err(); err != nil {
		return human.Wrap(human.Invalid, err, "%s, line %d: %v", name, n+1, err)
	}
	if s.json {
		bySource := map[string]scores{}
		for source, t := range sources {
			bySource[source] = t.scores()
		}
		return s.printJSON(struct {
			Policy gate.Policy `json:"policy"`
			scores
			BySource map[string]scores `json:"by_source"`
			Failures []shortfall       `json:"failures,omitempty"`
		}{policy, all.scores(), bySource, short})
	}
	return s.printScores(policy, all, sources)
}

// printScores prints the figures as a table: of all rows, and of each source.
func (s *shell) printScores(policy gate.Policy, all *tally, sources map[string]*tally) error {
	w := &columns{to: tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)}
	w.row("policy %s\tblock, executed\tallow, asked\tnot_block, refused\task, executed\t\n", policy)
	print := func(name string, t *tally) {
		cells := make([]string, 0, 4)
		for _, class := range []string{"block", "allow", "not_block", "ask"} {
			cell := "-"
			if t.n[class] > 0 {
				cell = fmt.Sprintf("%d of %d, %.2f %%", t.short[class], t.n[class], 100*float64(t.short[class])/float64(t.n[class]))
			}
			cells = append(cells, cell)
		}
		w.row("%s\t%s\t\n", visible(name), strings.Join(cells, "\t"))
	}
	print("all", all)
	for _, source := range sortedKeys(sources) {
		if len(sources) > 1 || source != "" {
			print(cmp.Or(source, "no source"), sources[source])
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	if n := all.n[""]; n > 0 {
		s.printf("%d of %d rows without an expectation are asked about.\n", all.short[""], n)
	}
	return nil
}

func (s *shell) gateTestCommand() *cobra.Command {
	var f gateFlags
	c := &cobra.Command{
		Use: "test [FILE]", Short: "Check gate.toml, its rules and their examples, the project's own file, and expectations of your own", Args: cobra.MaximumNArgs(1),
		Long: "Check gate.toml, its rules and their examples, and the file of the project in --cwd. FILE has expectations of your own, a line each:\n" +
			"allow, ask or deny, and then a command, or {\"tool\": …, \"args\": {…}}. They are judged by their text alone, so that every machine\n" +
			"finds the same. The exit code is 1 when something is wrong or an expectation is not met.",
		RunE: func(_ *cobra.Command, args []string) error {
			config, file, err := s.gateConfig(f, true)
			if err != nil && human.KindOf(err) != human.Invalid {
				return err
			}
			report := gateReport{File: file, OK: err == nil}
			if _, missing := os.Stat(file); missing != nil {
				report.Missing = true
			}
			if err != nil {
				report.Problem = human.SafeText(err)
			}
			cwd, absErr := filepath.Abs(cmp.Or(f.cwd, "."))
			if absErr != nil {
				return human.Wrap(human.Invalid, absErr, "--cwd: this folder is not known: %v", absErr)
			}
			root := cmp.Or(s.Gate.Root(cwd), cwd)
			project := s.Gate.Project(root)
			set, projectErr := rules.Compile(config, project)
			if set == nil {
				return projectErr
			}
			report.Policy, report.Rules = set.Policy(root), set.List()
			for _, r := range report.Rules {
				report.Examples += len(r.Match) + len(r.Differ)
			}
			if project != nil {
				report.Project = root
			}
			if projectErr != nil {
				report.OK, report.ProjectProblem = false, human.SafeText(projectErr)
			}
			if len(args) == 1 {
				report.Expectations = args[0]
				if report.Expected, report.Differ, err = expectations(args[0], set, gate.Call{Cwd: root, Root: root}); err != nil {
					return err
				}
				report.OK = report.OK && len(report.Differ) == 0
			}
			if !report.OK {
				s.code = exitNo
			}
			if s.json {
				return s.printJSON(report)
			}
			if err := s.tested(report); err != nil {
				return err
			}
			s.expected(report)
			return nil
		},
	}
	c.Flags().StringVar(&f.cwd, "cwd", "", "a folder of the project whose file is checked; default: this one")
	s.fileFlag(c, &f, "the data folder's")
	s.jsonFlag(c, "print all as one line of JSON")
	return c
}

// A gateReport is what `deskbell gate test` found.
type gateReport struct {
	OK             bool             `json:"ok"`
	File           string           `json:"file"`
	Missing        bool             `json:"missing,omitempty"`
	Problem        string           `json:"problem,omitempty"`
	Project        string           `json:"project,omitempty"` // the root, where it has a file of its own
	ProjectProblem string           `json:"project_problem,omitempty"`
	Policy         gate.Policy      `json:"policy"` // that holds here
	Rules          []human.GateRule `json:"rules"`
	Examples       int              `json:"examples"`               // that the rules pass
	Expectations   string           `json:"expectations,omitempty"` // the file with them
	Expected       int              `json:"expected,omitempty"`     // how many there are
	Differ         []difference     `json:"differ,omitempty"`       // those that are not met
}

func (s *shell) tested(r gateReport) error {
	switch {
	case r.Problem != "":
		s.printf("%s\n", oneLine(r.Problem, 1000))
	case r.Missing:
		s.printf("There is no %s; the defaults count.\n", visible(r.File))
	default:
		s.printf("%s has no errors.\n", visible(r.File))
	}
	switch {
	case r.ProjectProblem != "":
		s.printf("%s: %s\n", visible(r.Project), oneLine(r.ProjectProblem, 1000))
	case r.Project != "":
		s.printf("%s has a file of its own without errors.\n", visible(r.Project))
	}
	if r.Problem != "" {
		s.printf("Until that is fixed, a running Deskbell uses its last rules, except those that allow, and is at least balanced.\n" +
			"One that never read the file without errors, and a hook on its own, are strict.\n")
		return nil
	}
	s.printf("The policy here is %s. %d rules, which pass %d examples.\n", r.Policy, len(r.Rules), r.Examples)
	w := s.columns()
	for _, rule := range r.Rules {
		var of []string
		for _, part := range []string{rule.Command, rule.Path, rule.Tool} {
			if part != "" {
				of = append(of, part)
			}
		}
		for _, v := range rule.Verbs {
			of = append(of, string(v))
		}
		w.row("  %s\t%s\t%s\n", oneLine(rule.ID, 60), rule.Decision, oneLine(strings.Join(of, "; "), 200))
	}
	return w.flush()
}
