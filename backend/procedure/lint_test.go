package procedure

import (
	"slices"
	"testing"

	"deskbell/backend/human"
)

// sound is a procedure without findings.
func sound() human.Procedure {
	field := &human.ProcedureTarget{Role: "textbox", Name: "Customer name", Selectors: [][]string{{"#customer"}}}
	return human.Procedure{
		Format: 1, Name: "invoice", Title: "Send an invoice", Where: "browser", Does: []string{Reads, Sends},
		Parameters: []human.ProcedureParameter{
			{Name: "customer", Type: "text", Examples: []string{"Acme", "North"}},
			{Name: "kind", Type: "choice", Examples: []string{"A", "B"}, Choices: []string{"A", "B"}},
		},
		Secrets: []human.ProcedureSecret{{Name: "portal", Site: origin}},
		Outputs: []human.ProcedureOutput{{Name: "total", Type: "text"}},
		Steps: []human.ProcedureStep{
			{ID: "s1", Do: "navigate", URL: origin + "/new", Then: []human.ProcedureCheckpoint{{Is: "title", Text: "New"}}},
			{ID: "s2", Do: "change", Target: field, Text: "{customer}", Then: []human.ProcedureCheckpoint{{Is: "value", Target: field, Text: "{customer}"}}},
			{ID: "s3", Do: "change", Target: field, Secret: "portal", Then: []human.ProcedureCheckpoint{{Is: "title", Text: "New"}}},
			{ID: "s4", Do: "selectOption", Target: field, Options: []string{"{kind}"}, Then: []human.ProcedureCheckpoint{{Is: "text", Text: "{{fixed}}"}}},
			{ID: "s5", Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Save"}, Writes: true, Then: []human.ProcedureCheckpoint{{Is: "address", Text: origin + "/{customer}"}}},
			{ID: "s6", Do: "pick", Target: field, Output: "total", Then: []human.ProcedureCheckpoint{{Is: "title", Text: "New"}}},
		},
		Effects: []human.ProcedureEffect{{Is: "file", Path: "/srv/{customer}.pdf"}},
	}
}

func TestLint(t *testing.T) {
	for name, tt := range map[string]struct {
		breaks func(p *human.Procedure)
		rule   string // empty: none
		level  string
		step   string
		strict bool // it is only the strict policy that does not let it run
		lax    bool // the permissive policy lets it run, the standard one does not
	}{
		"all is there":                  {breaks: func(*human.Procedure) {}},
		"no steps":                      {breaks: func(p *human.Procedure) { *p = human.Procedure{Name: "empty"} }, rule: "no_steps", level: LintError},
		"an unknown parameter":          {breaks: func(p *human.Procedure) { p.Steps[1].Then[0].Text = "{custom}" }, rule: "unknown_parameter", level: LintError, step: "s2"},
		"an unknown one in an effect":   {breaks: func(p *human.Procedure) { p.Effects[0].Has = []string{"{custom}"} }, rule: "unknown_parameter", level: LintError},
		"a brace alone":                 {breaks: func(p *human.Procedure) { p.Steps[0].Then[0].Text = "New {" }, rule: "stray_brace", level: LintError, step: "s1"},
		"a parameter that no step uses": {breaks: func(p *human.Procedure) { p.Steps[3].Options = []string{"A"} }, rule: "unused_parameter", level: LintError},
		"two steps of an id":            {breaks: func(p *human.Procedure) { p.Steps[1].ID = "s1" }, rule: "duplicate_name", level: LintError},
		"two secrets of a name":         {breaks: func(p *human.Procedure) { p.Secrets = append(p.Secrets, p.Secrets[0]) }, rule: "duplicate_name", level: LintError},
		"a step without an id":          {breaks: func(p *human.Procedure) { p.Steps[1].ID = "" }, rule: "step_without_id", level: LintError},
		"a step of no kind":             {breaks: func(p *human.Procedure) { p.Steps[0].Do = "jump" }, rule: "unknown_step", level: LintError, step: "s1"},
		"an address that is not there":  {breaks: func(p *human.Procedure) { p.Steps[0].URL = "" }, rule: "incomplete_step", level: LintError, step: "s1"},
		"a click on nothing":            {breaks: func(p *human.Procedure) { p.Steps[4].Target = nil }, rule: "incomplete_step", level: LintError, step: "s5"},
		"a choice of nothing": {breaks: func(p *human.Procedure) {
			p.Steps[3].Do, p.Steps[3].Text, p.Steps[3].Options = "selectOption", "{kind}", nil
		}, rule: "incomplete_step", level: LintError, step: "s4"},
		"a text and a secret":               {breaks: func(p *human.Procedure) { p.Steps[2].Text = "x" }, rule: "text_and_secret", level: LintError, step: "s3"},
		"a checkpoint of nothing":           {breaks: func(p *human.Procedure) { p.Steps[0].Then[0].Text = "" }, rule: "incomplete_checkpoint", level: LintError, step: "s1"},
		"a checkpoint without its field":    {breaks: func(p *human.Procedure) { p.Steps[1].Then[0].Target = nil }, rule: "incomplete_checkpoint", level: LintError, step: "s2"},
		"an undeclared secret":              {breaks: func(p *human.Procedure) { p.Steps[2].Secret = "other" }, rule: "unknown_secret", level: LintError, step: "s3"},
		"an undeclared one in a header":     {breaks: func(p *human.Procedure) { p.Effects[0].Headers = map[string]string{"X": "SECRET:other"} }, rule: "unknown_secret", level: LintError},
		"an output that no step picks":      {breaks: func(p *human.Procedure) { p.Steps = p.Steps[:5] }, rule: "output_without_pick", level: LintError},
		"an undeclared output":              {breaks: func(p *human.Procedure) { p.Outputs = nil }, rule: "unknown_output", level: LintError, step: "s6"},
		"an effect without its place":       {breaks: func(p *human.Procedure) { p.Effects[0].Is = "sql" }, rule: "incomplete_effect", level: LintError},
		"nothing else of what is not fresh": {breaks: func(p *human.Procedure) { p.Effects[0].Only = true }, rule: "only_of_what", level: LintError},
		"nothing else of an answer": {breaks: func(p *human.Procedure) {
			p.Effects[0] = human.ProcedureEffect{Is: "http", URL: "https://a.example/{customer}", Fresh: true, Only: true}
		}, rule: "only_of_what", level: LintError},
		"an output that nothing compares": {breaks: func(p *human.Procedure) { p.Effects[0].Title = "{total}" }, rule: "output_unchecked", level: LintNote},
		"a pattern that is none":          {breaks: func(p *human.Procedure) { p.Parameters[0].Pattern = "(" }, rule: "bad_pattern", level: LintError},
		"a default that is no choice":     {breaks: func(p *human.Procedure) { p.Parameters[1].Default = "C" }, rule: "bad_default", level: LintError},
		"found by where it stands": {breaks: func(p *human.Procedure) {
			p.Steps[1].Target = &human.ProcedureTarget{Selectors: [][]string{{"div > input"}}}
		}, rule: "found_by_path", level: LintWarning, step: "s2"},
		"found by its text": {breaks: func(p *human.Procedure) {
			p.Steps[4].Target = &human.ProcedureTarget{Role: "generic", Name: "Save", Named: "otherwise", Selectors: [][]string{{"text/Save"}}}
		}, rule: "found_by_text", level: LintWarning, step: "s5"},
		"a step without a checkpoint":                   {breaks: func(p *human.Procedure) { p.Steps[0].Then = nil }, rule: "no_checkpoint", level: LintNote, step: "s1", strict: true},
		"one that writes without":                       {breaks: func(p *human.Procedure) { p.Steps[4].Then = nil }, rule: "no_checkpoint", level: LintWarning, step: "s5", strict: true},
		"it writes without an effect":                   {breaks: func(p *human.Procedure) { p.Effects = nil }, rule: "writes_without_effect", level: LintWarning, step: "s5", lax: true},
		"it may leave out what it writes":               {breaks: func(p *human.Procedure) { p.Steps[4].Optional = true }, rule: "optional_writes", level: LintWarning, step: "s5"},
		"an effect that was true before":                {breaks: func(p *human.Procedure) { p.Effects[0].Path = "/srv/all.pdf" }, rule: "effect_not_fresh", level: LintWarning},
		"one that is fresh":                             {breaks: func(p *human.Procedure) { p.Effects[0].Path, p.Effects[0].Fresh = "/srv/all.pdf", true }},
		"a new one by a value that is known afterwards": {breaks: func(p *human.Procedure) { p.Effects[0].Path, p.Effects[0].Fresh = "/srv/{total}.pdf", true }, rule: "fresh_output", level: LintError},
		"a new one with a value that is known afterwards": {breaks: func(p *human.Procedure) {
			p.Effects[0].Path, p.Effects[0].Fresh, p.Effects[0].Has = "/srv/all.pdf", true, []string{"{total}"}
		}},
		"a new row of a page": {breaks: func(p *human.Procedure) {
			p.Effects[0] = human.ProcedureEffect{Is: "row", URL: "https://portal.example/bills", Has: []string{"{total}"}, Fresh: true}
		}, rule: "fresh_row", level: LintError},
		"an output's pattern that is none": {breaks: func(p *human.Procedure) { p.Outputs[0].Pattern = "(" }, rule: "bad_pattern", level: LintError},
		"a secret for no site":             {breaks: func(p *human.Procedure) { p.Secrets[0].Site = "" }, rule: "secret_without_site", level: LintWarning},
		"one example":                      {breaks: func(p *human.Procedure) { p.Parameters[0].Examples = []string{"Acme"} }, rule: "one_example", level: LintNote, strict: true},
		"options that were not seen":       {breaks: func(p *human.Procedure) { p.Parameters[1].Choices = nil }, rule: "options_not_seen", level: LintNote, step: "s4"},
		"two steps write, for one effect":  {breaks: func(p *human.Procedure) { p.Steps[1].Writes = true }, strict: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := sound()
			tt.breaks(&p)
			found := Lint(p)
			found = slices.DeleteFunc(found, func(f LintFinding) bool { return f.Rule == "output_unchecked" && f.Rule != tt.rule }) // of all here
			if tt.rule == "" && len(found) > 0 {
				t.Errorf("%+v", found)
			}
			if tt.rule != "" && !slices.ContainsFunc(found, func(f LintFinding) bool {
				return f.Rule == tt.rule && f.Level == tt.level && f.Step == tt.step && f.Said.Code != ""
			}) {
				t.Errorf("%+v", found)
			}
			for _, f := range found {
				if f.Rule != tt.rule && (f.Level == LintError) != (tt.level == LintError) {
					t.Errorf("also %+v", f)
				}
			}
			bad := tt.level == LintError
			for policy, want := range map[string]bool{Permissive: bad, Standard: bad || tt.lax, "": bad || tt.lax, Strict: bad || tt.lax || tt.strict} {
				if said := Blocked(p, policy); (said != nil) != want {
					t.Errorf("%s: %v", policy, said)
				}
			}
		})
	}
}

func TestDoes(t *testing.T) {
	button := func(role, name string, writes bool) human.ProcedureStep {
		return human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: role, Name: name}, Writes: writes}
	}
	for name, tt := range map[string]struct {
		step human.ProcedureStep
		does []string
		risk human.Risk
	}{
		"a page that comes":            {human.ProcedureStep{Do: "navigate"}, []string{Reads}, human.LowRisk},
		"a form that asks":             {button("button", "Send", false), []string{Reads}, human.LowRisk},
		"a form that is sent":          {button("button", "OK", true), []string{Reads, Sends}, human.MediumRisk},
		"it pays":                      {button("button", "Pay now", true), []string{Reads, Sends, Pays}, human.HighRisk},
		"it pays as far as one knows":  {button("button", "立即付款", false), []string{Reads, Pays}, human.HighRisk},
		"it pays, by a noun":           {button("button", "Confirm payment", true), []string{Reads, Sends, Pays}, human.HighRisk},
		"it pays back":                 {button("button", "Issue refund", true), []string{Reads, Sends, Pays}, human.HighRisk},
		"a noun of something else":     {button("button", "Save payment method", true), []string{Reads, Sends}, human.MediumRisk},
		"a list that is called so":     {button("button", "Payments", false), []string{Reads}, human.LowRisk},
		"it deletes, by a noun":        {button("button", "Confirm deletion", true), []string{Reads, Sends, Deletes}, human.HighRisk},
		"it deletes":                   {button("button", "Delete customer", true), []string{Reads, Sends, Deletes}, human.HighRisk},
		"it deletes, in Chinese":       {button("link", "删除", true), []string{Reads, Sends, Deletes}, human.HighRisk},
		"it leaves a dialog":           {button("button", "Cancel", false), []string{Reads}, human.LowRisk},
		"it cancels something":         {button("button", "Cancel", true), []string{Reads, Sends, Deletes}, human.HighRisk},
		"a link that is called so":     {button("link", "Orders to pay", false), []string{Reads}, human.LowRisk},
		"a word that only begins so":   {button("button", "Payroll, reordered", true), []string{Reads, Sends}, human.MediumRisk},
		"a field that nothing is sent": {human.ProcedureStep{Do: "press", Key: "Enter"}, []string{Reads}, human.LowRisk},
	} {
		p := human.Procedure{Steps: []human.ProcedureStep{tt.step}}
		if does := Does(p); !slices.Equal(does, tt.does) || RiskOf(p) != tt.risk {
			t.Errorf("%s: %v %s", name, does, RiskOf(p))
		}
	}
	if risk := RiskOf(human.Procedure{Does: []string{Reads, Deletes}}); risk != human.HighRisk {
		t.Errorf("declared: %s", risk)
	}
}

// To sign in is no sending: what it changes is that the pages that are read can be read.
func TestSigningInSendsNothing(t *testing.T) {
	field := func(name, secret string) human.ProcedureStep {
		return human.ProcedureStep{Do: "change", Target: &human.ProcedureTarget{Role: "textbox", Name: name}, Secret: secret}
	}
	press := func(name string) human.ProcedureStep {
		return human.ProcedureStep{Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: name}, Writes: true}
	}
	for name, tt := range map[string]struct {
		steps []human.ProcedureStep
		does  []string
	}{
		"it signs in":                       {[]human.ProcedureStep{field("User", ""), field("Password", "pw"), press("Log in")}, []string{Reads}},
		"a box to stay signed in":           {[]human.ProcedureStep{field("Password", "pw"), {Do: "check"}, press("登录")}, []string{Reads}},
		"it signs in and sends":             {[]human.ProcedureStep{field("Password", "pw"), press("Sign in"), press("Save")}, []string{Reads, Sends}},
		"a secret that confirms":            {[]human.ProcedureStep{field("PIN", "pin"), press("Confirm")}, []string{Reads, Sends}},
		"a secret that pays":                {[]human.ProcedureStep{field("PIN", "pin"), press("Pay")}, []string{Reads, Sends, Pays}},
		"no secret":                         {[]human.ProcedureStep{field("User", ""), press("Sign in")}, []string{Reads, Sends}},
		"a secret of the page before":       {[]human.ProcedureStep{field("PIN", "pin"), press("Confirm"), press("Log in")}, []string{Reads, Sends}},
		"a name that only begins so":        {[]human.ProcedureStep{field("PIN", "pin"), press("Log in and pay out")}, []string{Reads, Sends, Pays}},
		"a button that is called with more": {[]human.ProcedureStep{field("PIN", "pin"), press("Sign in writing")}, []string{Reads, Sends}},
	} {
		if does := Does(human.Procedure{Steps: tt.steps}); !slices.Equal(does, tt.does) {
			t.Errorf("%s: %v", name, does)
		}
	}
}

// An output that an effect has in what it looks at, and not only in its title, is compared with something.
func TestOutputsThatAreCompared(t *testing.T) {
	for _, e := range []human.ProcedureEffect{{Is: "http", URL: "https://shop.example/{total}"}, {Is: "sql", Values: []string{"x", "{total}"}}, {Is: "file", Has: []string{"= {total}"}}} {
		p := sound()
		if p.Effects = []human.ProcedureEffect{e}; slices.ContainsFunc(Lint(p), func(f LintFinding) bool { return f.Rule == "output_unchecked" }) {
			t.Errorf("%+v", e)
		}
	}
}
