package corpus

import (
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// Expect is what a case's summary must say, may say and must not say.
type Expect struct {
	// Story is what the person did, in a sentence, for who reads the expectations.
	Story string `json:"story"`
	// Must are the findings that a colleague would not leave out.
	Must []Point `json:"must"`
	// May are true things that need not be said.
	May []Point `json:"may"`
	// Never are texts that are in no part of a report: what did not happen, and what must not leave.
	Never Texts `json:"never"`
	// Line are texts that the report's line has, all of them.
	Line Texts `json:"line"`
}

// Texts are texts by language.
type Texts struct {
	En []string `json:"en,omitempty"`
	Zh []string `json:"zh,omitempty"`
}

func (t Texts) in(lang string) []string {
	if lang == "en" {
		return t.En
	}
	return t.Zh
}

// A Point is one thing to be found. Alternatives are separated by | in each of its texts.
type Point struct {
	Kind string `json:"kind"` // of the finding: "error", "outcome|done"
	Texts
	// Evidence is what one of the finding's references has to be; absent: anything that resolves. "step 2",
	// "field plan", "request expected_outcome", "answer decision", "message 0", "picture", "command c2", where
	// numbers are those of human.Ref; or an action's type, such as "file", with a text that stands in what the
	// action is about: "file K-0417.pdf", "pick plan_name", "click Export".
	Evidence string `json:"evidence,omitempty"`
}

// meets says whether a finding is the one that the point is about.
func (p Point) meets(in summarizers.Input, f human.Finding) bool {
	if !slices.Contains(strings.Split(p.Kind, "|"), string(f.Kind)) || !hasAll(f.Text, p.in(in.Language)) {
		return false
	}
	if p.Evidence == "" {
		return true
	}
	for want := range strings.SplitSeq(p.Evidence, "|") {
		for _, ref := range f.Evidence {
			if is(in, ref, want) {
				return true
			}
		}
	}
	return false
}

// hasAll says whether a text has all of the texts in it, whatever their case.
func hasAll(text string, all []string) bool {
	for _, want := range all {
		if !hasOne(text, strings.Split(want, "|")) {
			return false
		}
	}
	return true
}

func hasOne(text string, any []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(any, func(one string) bool { return strings.Contains(text, strings.ToLower(one)) })
}

// is says whether a reference is what an expectation calls want.
func is(in summarizers.Input, ref human.Ref, want string) bool {
	kind, name, named := strings.Cut(strings.TrimSpace(want), " ")
	if ref.Kind != human.RefAction {
		return kind == string(ref.Kind) && (!named || name == ref.ID)
	}
	a, found := action(in, ref)
	if !found || kind != string(a.Type) && kind != string(human.RefAction) {
		return false
	}
	return !named || hasOne(about(a), []string{name})
}

// action finds the action that a reference names.
func action(in summarizers.Input, ref human.Ref) (human.Action, bool) {
	for _, r := range in.Recordings {
		if r.ID != ref.Recording {
			continue
		}
		if i := slices.IndexFunc(r.Actions, func(a human.Action) bool { return a.ID == ref.ID }); i >= 0 {
			return r.Actions[i], true
		}
	}
	return human.Action{}, false
}

// about is all that an action says of what it was done with.
func about(a human.Action) string {
	parts := []string{a.Words, a.Key}
	if a.File != nil {
		parts = append(parts, a.File.Op, a.File.Path, a.File.To)
	}
	if a.Element != nil {
		parts = append(parts, a.Element.Name)
	}
	if a.App != nil {
		parts = append(parts, a.App.Name)
	}
	if a.Window != nil {
		parts = append(parts, a.Window.Title)
	}
	if a.Page != nil {
		parts = append(parts, a.Page.URL, a.Page.Title)
	}
	if a.Dialog != nil {
		parts = append(parts, a.Dialog.Message)
	}
	if a.Pick != nil {
		parts = append(parts, a.Pick.Field)
	}
	if a.Navigation != nil {
		parts = append(parts, a.Navigation.Failed, strconv.Itoa(a.Navigation.Status))
	}
	if a.Gap != nil {
		parts = append(parts, a.Gap.Reason)
	}
	for _, t := range a.Transfers {
		parts = append(parts, t.Name)
	}
	return strings.Join(parts, "\n")
}

// resolves says whether a reference points at something that an operator can open: an action with words, a
// picture, a step, a message, a part of the answer or request that is there. It goes its own way, beside
// summarizers.Input.Resolve, which has to agree.
func resolves(in summarizers.Input, ref human.Ref) bool {
	index := func(n int) bool {
		i, err := strconv.Atoi(ref.ID)
		return err == nil && i >= 0 && i < n
	}
	details := names(in.Operation.Details)
	switch ref.Kind {
	case human.RefAction:
		a, found := action(in, ref)
		return found && a.Words != "" && !a.Cut
	case human.RefPicture:
		return slices.ContainsFunc(in.Recordings, func(r summarizers.Recorded) bool {
			return r.ID == ref.Recording && slices.ContainsFunc(r.Actions, func(a human.Action) bool { return ref.ID != "" && (a.Before == ref.ID || a.After == ref.ID) })
		})
	case human.RefCommand:
		return slices.ContainsFunc(in.Recordings, func(r summarizers.Recorded) bool {
			return r.ID == ref.Recording && slices.ContainsFunc(r.Commands, func(c summarizers.Command) bool { return c.ID == ref.ID })
		})
	case human.RefField:
		_, filled := in.Answer.Fields[ref.ID]
		return filled || asked(in.Operation.Details, ref.ID)
	case human.RefStep:
		return index(len(in.Checklist))
	case human.RefMessage:
		return index(len(in.Operation.Messages))
	case human.RefAnswer:
		a := in.Answer
		return map[string]string{"human_input": a.HumanInput, "execution_result": a.ExecutionResult, "decision": string(a.Decision)}[ref.ID] != ""
	case human.RefRequest:
		return ref.ID == "description" && in.Operation.Description != "" || slices.Contains(details, ref.ID)
	}
	return false
}
