package procedure

import (
	"regexp"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A LintFinding is what Lint says about a procedure.
type LintFinding struct {
	Rule  string         `json:"rule" doc:"Names the rule, for programs."`
	Level string         `json:"level" enum:"error,warning,note" doc:"error: the procedure cannot be run. warning: what it was taught by leaves something open. note: worth knowing."`
	Step  string         `json:"step,omitempty" doc:"The step's id; absent: the whole procedure."`
	Said  human.Sentence `json:"said"`
}

// The levels of findings.
const (
	LintError   = "error"
	LintWarning = "warning"
	LintNote    = "note"
)

// Policies of procedures.
const (
	Permissive = "permissive"
	Standard   = "standard"
	Strict     = "strict"
)

// A linter gathers findings.
type linter struct {
	p     human.Procedure
	found []LintFinding
	used  map[string]bool // parameters and outputs
	after bool            // in texts that are looked at after the steps, and may hold outputs
}

// gives says whether a text that is picked has a name.
func (l *linter) gives(name string) bool {
	return slices.ContainsFunc(l.p.Outputs, func(o human.ProcedureOutput) bool { return o.Name == name && o.Type == "text" })
}

func (l *linter) say(rule, level, step string, said human.Sentence) {
	l.found = append(l.found, LintFinding{rule, level, step, said})
}

// Lint says what makes a procedure invalid, and what the recordings it came from leave open. The findings are in the order of the
// procedure's parts.
func Lint(p human.Procedure) []LintFinding {
	l := &linter{p: p, used: map[string]bool{}}
	l.names()
	if len(p.Steps) == 0 {
		l.say("no_steps", LintError, "", human.Sayf("it has no steps: add one"))
	}
	for _, s := range p.Steps {
		l.step(s)
	}
	for _, e := range p.Effects {
		l.effect(e)
	}
	for _, q := range p.Parameters {
		l.parameter(q)
	}
	for _, o := range p.Outputs {
		if _, err := wholly(o.Pattern); err != nil {
			l.say("bad_pattern", LintError, "", human.Sayf("the pattern of the output %s is no regular expression: correct it", o.Name))
		}
		if !slices.ContainsFunc(p.Steps, func(s human.ProcedureStep) bool { return s.Output == o.Name }) {
			l.say("output_without_pick", LintError, "", human.Sayf("no step gives the output %s: add a pick, or delete the output", o.Name))
		}
		if !slices.ContainsFunc(p.Effects, func(e human.ProcedureEffect) bool { return slices.Contains(inEffect(e), o.Name) }) {
			l.say("output_unchecked", LintNote, "", human.Sayf("the output %s is what the page says: no effect compares it with anything outside of the page", o.Name))
		}
	}
	for _, s := range p.Secrets {
		if s.Site == "" {
			l.say("secret_without_site", LintWarning, "", human.Sayf("the secret %s has no site, so that it is typed nowhere: name the site it is for", s.Name))
		}
	}
	return l.found
}

// inEffect are the names that an effect has in what it looks at.
func inEffect(e human.ProcedureEffect) (names []string) {
	e.Title = ""
	effectTexts(e, func(_ textKind, text string) string {
		names = append(names, Placeholders(text)...)
		return text
	})
	return names
}

// names finds what has the same name.
func (l *linter) names() {
	var ids, parameters, secrets, outputs []string
	for _, s := range l.p.Steps {
		ids = append(ids, s.ID)
	}
	for _, q := range l.p.Parameters {
		parameters = append(parameters, q.Name)
	}
	for _, s := range l.p.Secrets {
		secrets = append(secrets, s.Name)
	}
	for _, o := range l.p.Outputs {
		outputs = append(outputs, o.Name)
	}
	for _, names := range [][]string{ids, parameters, secrets, outputs} {
		slices.Sort(names)
		for i := 1; i < len(names); i++ {
			if names[i] == names[i-1] {
				l.say("duplicate_name", LintError, "", human.Sayf("two have the id or name %s: give one of them another", names[i]))
			}
		}
	}
	if slices.Contains(ids, "") {
		l.say("step_without_id", LintError, "", human.Sayf("a step has no id: give it one"))
	}
}

// text looks at a text that may hold parameters.
func (l *linter) text(step, text string) {
	if _, stray := splitParts(text); stray {
		l.say("stray_brace", LintError, step, human.Sayf("in %q a brace stands alone: write it twice where it is meant as one", text))
	}
	for _, name := range Placeholders(text) {
		l.used[name] = true
		known := l.after && l.gives(name) || slices.ContainsFunc(l.p.Parameters, func(q human.ProcedureParameter) bool { return q.Name == name })
		if !known {
			l.say("unknown_parameter", LintError, step, human.Sayf("there is no parameter %s: declare it, or write the brace twice where it is meant as one", name))
		}
	}
}

func (l *linter) step(s human.ProcedureStep) {
	stepTexts(s, func(_ textKind, text string) string { l.text(s.ID, text); return text })
	lacking, known := lacks(s)
	if l.p.Where == "desktop" {
		l.deskStep(s)
		lacking, known = "", true
	}
	switch {
	case !known:
		l.say("unknown_step", LintError, s.ID, human.Sayf("there is no step of the kind %q: choose another", s.Do))
	case lacking != "":
		l.say("incomplete_step", LintError, s.ID, human.Sayf("a step of the kind %s needs the field %s: add it", s.Do, lacking))
	case s.Text != "" && s.Secret != "":
		l.say("text_and_secret", LintError, s.ID, human.Sayf("it has a text and a secret: delete one of them"))
	}
	if s.Secret != "" && !slices.ContainsFunc(l.p.Secrets, func(d human.ProcedureSecret) bool { return d.Name == s.Secret }) {
		l.say("unknown_secret", LintError, s.ID, human.Sayf("there is no secret %s: declare it with the site it is for", s.Secret))
	}
	if s.Do == "pick" && s.Output != "" && !slices.ContainsFunc(l.p.Outputs, func(o human.ProcedureOutput) bool { return o.Name == s.Output }) {
		l.say("unknown_output", LintError, s.ID, human.Sayf("there is no output %s: declare it", s.Output))
	}
	for _, c := range s.Then {
		if !complete(c) {
			l.say("incomplete_checkpoint", LintError, s.ID, human.Sayf("a checkpoint of the sort %s lacks what it looks for: add it, or delete the checkpoint", c.Is))
		}
	}
	for _, t := range []*human.ProcedureTarget{s.Target, s.To} {
		switch foundBy(t) {
		case "path":
			l.say("found_by_path", LintWarning, s.ID, human.Sayf("its element is found only by where it stands: another one may stand there next time"))
		case "text":
			l.say("found_by_text", LintWarning, s.ID, human.Sayf("its element is found only by its text: it is not found once that changes"))
		}
	}
	switch {
	case len(s.Then) == 0 && s.Writes:
		l.say("no_checkpoint", LintWarning, s.ID, human.Sayf("it writes, and nothing says what must hold after it: add a checkpoint"))
	case len(s.Then) == 0:
		l.say("no_checkpoint", LintNote, s.ID, human.Sayf("nothing says what must hold after it: add a checkpoint"))
	}
	if s.Writes && len(l.p.Effects) == 0 {
		l.say("writes_without_effect", LintWarning, s.ID, human.Sayf("it writes, and no effect says what must be true afterwards: only the page says whether it worked"))
	}
	if s.Writes && s.Optional {
		l.say("optional_writes", LintWarning, s.ID, human.Sayf("it writes, and is left out where its element is not there: a run may succeed without it"))
	}
	if s.Do == "selectOption" && slices.ContainsFunc(s.Options, func(o string) bool { return len(Placeholders(o)) > 0 && l.open(o) }) {
		l.say("options_not_seen", LintNote, s.ID, human.Sayf("only the options that were chosen are known: list all of them as choices"))
	}
}

// open says whether an option is a parameter without choices.
func (l *linter) open(option string) bool {
	return slices.ContainsFunc(l.p.Parameters, func(q human.ProcedureParameter) bool { return option == "{"+q.Name+"}" && len(q.Choices) == 0 })
}

// lacks is the field that a step does not have and its kind needs; "" for none. known says that there is such a kind.
func lacks(s human.ProcedureStep) (lacking string, known bool) {
	field := ""
	switch s.Do {
	case "navigate":
		return needs(s.URL != "", "url"), true
	case "press":
		return needs(s.Key != "", "key"), true
	case "switchPage":
		return needs(s.Page != "", "page"), true
	case "back", "forward", "reload", "scroll", "close":
		return "", true
	case "click", "doubleClick", "tripleClick", "hover", "change":
	case "selectOption", "check", "media":
		field = needs(len(s.Options) > 0, "options")
	case "setInputFiles":
		field = needs(len(s.Files) > 0, "files")
	case "drag":
		field = needs(s.To != nil, "to")
	case "pick":
		field = needs(s.Output != "", "output")
	default:
		return "", false
	}
	if s.Target == nil || s.Target.Name == "" && len(s.Target.Selectors) == 0 {
		field = "target"
	}
	return field, true
}

func needs(has bool, name string) string {
	if has {
		return ""
	}
	return name
}

func complete(c human.ProcedureCheckpoint) bool {
	switch c.Is {
	case "address", "title", "text", "line", "download":
		return c.Text != ""
	case "element", "gone", "value":
		return c.Target != nil && (c.Target.Name != "" || len(c.Target.Selectors) > 0 || takesText(c.Target.Role) && c.Target.Tag == "")
	case "opened", "closed":
		return c.Page != "" || c.Window != nil && c.Text != ""
	}
	return false
}

// foundBy is path or text where a target is found by nothing else.
func foundBy(t *human.ProcedureTarget) string {
	if t == nil || t.Role != "" && t.Name != "" && t.Named == "" {
		return ""
	}
	isText := func(s []string) bool { return strings.HasPrefix(s[len(s)-1], "text/") }
	if slices.ContainsFunc(t.Selectors, func(s []string) bool { return len(s) > 0 && !isPath(s) && !isText(s) }) {
		return ""
	}
	if t.Name != "" || slices.ContainsFunc(t.Selectors, func(s []string) bool { return len(s) > 0 && isText(s) }) {
		return "text"
	}
	return needs(len(t.Selectors) == 0, "path")
}

func (l *linter) effect(e human.ProcedureEffect) {
	parameters := false
	effectTexts(e, func(of textKind, text string) string {
		l.after = of == plainText
		l.text("", text)
		l.after = false
		parameters = parameters || len(Placeholders(text)) > 0
		return text
	})
	if before := e; e.Fresh {
		before.Has = nil
		for _, name := range inEffect(before) {
			if l.gives(name) {
				l.say("fresh_output", LintError, "", human.Sayf("an effect that has to be new is looked at before the run, too, when the output %s is not known: name it in has alone", name))
			}
		}
	}
	if e.Is == "row" && l.p.Where == "desktop" {
		l.say("row_on_desktop", LintError, "", human.Sayf("a row of a page is looked at in a browser, which a procedure of the desktop has not: choose another effect"))
	}
	if e.Is == "row" && e.Fresh {
		l.say("fresh_row", LintError, "", human.Sayf("a row of a page is looked at after the steps alone: take fresh away, and name in has what only the new row has, such as an output"))
	}
	if e.Only && (!e.Fresh || e.Is == "http" || e.Is == "row") {
		l.say("only_of_what", LintError, "", human.Sayf("that nothing else has changed is known of files, rows of a database and mail that are fresh alone: take only away, or make it one of them"))
	}
	whole := map[string]bool{"file": e.Path != "", "http": e.URL != "", "sql": e.Path != "" && e.Query != "", "mail": e.Path != "" && (len(e.Has) > 0 || e.Only), "row": e.URL != "" && len(e.Has) > 0}
	if !whole[e.Is] {
		l.say("incomplete_effect", LintError, "", human.Sayf("an effect of the sort %s lacks where or what it looks for: add it, or delete the effect", e.Is))
	}
	for _, value := range e.Headers {
		if name, secret := strings.CutPrefix(value, "SECRET:"); secret && !slices.ContainsFunc(l.p.Secrets, func(s human.ProcedureSecret) bool { return s.Name == name }) {
			l.say("unknown_secret", LintError, "", human.Sayf("there is no secret %s: declare it with the site it is for", name))
		}
	}
	if !e.Fresh && !parameters {
		l.say("effect_not_fresh", LintWarning, "", human.Sayf("an effect of the sort %s has no parameter and may have been true before the run: make it fresh, or name a value in it", e.Is))
	}
}

func (l *linter) parameter(q human.ProcedureParameter) {
	if !l.used[q.Name] {
		l.say("unused_parameter", LintError, "", human.Sayf("no step uses the parameter %s: delete it, or use it", q.Name))
	}
	if _, err := regexp.Compile(q.Pattern); err != nil {
		l.say("bad_pattern", LintError, "", human.Sayf("the pattern of the parameter %s is no regular expression: correct it", q.Name))
	} else if q.Default != "" && checkValue(q, q.Default) != nil {
		l.say("bad_default", LintError, "", human.Sayf("the default of the parameter %s is not as the parameter says: change one of them", q.Name))
	}
	if len(q.Examples) < 2 {
		l.say("one_example", LintNote, "", human.Sayf("the parameter %s was seen with one value at most: show it with another one", q.Name))
	}
}

// Blocked says why a policy does not let a procedure run; nil where it does. permissive: no errors. standard, which is also that of a
// policy without a name: also, what sends, pays or deletes has an effect. strict: also, it has an effect for each step that writes, a
// checkpoint for each step, and two examples for each parameter.
func Blocked(p human.Procedure, policy string) *human.Sentence {
	found := Lint(p)
	because := func(s human.Sentence) *human.Sentence { return &s }
	rule := func(names ...string) *human.Sentence {
		if i := slices.IndexFunc(found, func(f LintFinding) bool { return slices.Contains(names, f.Rule) }); i >= 0 {
			return &found[i].Said
		}
		return nil
	}
	if i := slices.IndexFunc(found, func(f LintFinding) bool { return f.Level == LintError }); i >= 0 {
		return &found[i].Said
	}
	writes := 0
	for i, s := range p.Steps {
		if s.Writes && !signsIn(p.Steps, i) {
			writes++
		}
	}
	switch {
	case policy == Permissive:
		return nil
	case len(p.Effects) == 0 && RiskOf(p) != human.LowRisk:
		return because(human.Sayf("it sends, pays or deletes, and no effect says what must be true afterwards: add one, or choose the permissive policy"))
	case policy != Strict:
		return nil
	case len(p.Effects) < writes:
		return because(human.Sayf("%d steps write, and there are %d effects: the strict policy needs one for each", writes, len(p.Effects)))
	}
	return rule("no_checkpoint", "one_example")
}
