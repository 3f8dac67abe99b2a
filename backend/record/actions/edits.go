package actions

import (
	"maps"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// Apply marks what the operator cut, hides what they masked, and puts their own words in place of ours. The
// list given stays as it is. Words are made anew, in lang, where something in them was hidden.
func Apply(list []human.Action, edits human.Edits, lang string) []human.Action {
	cuts, masked := set(edits.Cuts), set(edits.MaskedTexts)
	out := slices.Clone(list)
	for i := range out {
		a := &out[i]
		a.Cut = cuts[a.ID]
		if masked[a.ID] {
			mask(a)
			a.Words = Words(*a, lang)
		}
		if e := a.Element; e != nil && len(e.Shows)+len(e.Says) > 0 && len(cuts)+len(masked)+len(edits.Masks) > 0 {
			bare := *e
			bare.Shows, bare.Says = nil, nil // a fingerprint of what is hidden would tell a short text, and a page may say it again
			a.Element = &bare
		}
		if words := edits.Words[a.ID]; words != "" {
			a.Words = clean(words, 400)
		}
	}
	return out
}

func set(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// mask takes out all that came from the screen or the keyboard.
func mask(a *human.Action) {
	a.Masked = true
	a.Text, a.Value, a.SecretID = "", "", 0
	a.Element, a.Target = nameless(a.Element), nameless(a.Target)
	switch a.Type {
	case human.Typing, human.Copy, human.Paste, human.ValueChange:
		a.Count, a.Hidden = 0, "operator"
	case human.Note:
		a.Hidden = "operator"
	case human.FileOperation:
		if a.File != nil {
			a.File = &human.FileChange{Op: a.File.Op, Dir: a.File.Dir}
		}
	}
	a.Values = nil
	if c := a.Command; c != nil {
		a.Command = &human.ShellCommand{Exit: c.Exit, Screen: c.Screen}
		a.Hidden = "operator"
	}
	maskPage(a)
	if a.Window != nil {
		w := *a.Window
		w.Title = ""
		a.Window = &w
	}
}

func nameless(e *human.Element) *human.Element {
	if e == nil {
		return nil
	}
	out := *e
	if out.Name != "" {
		out.Name, out.Hidden = "", "operator"
	}
	out.Named, out.Beside, out.Form, out.Shows, out.Says = "", "", nil, nil, nil
	out.Selectors = nil // most of them have names in them
	out.Ancestry = slices.Clone(e.Ancestry)
	for i := range out.Ancestry {
		out.Ancestry[i].Name = ""
	}
	return &out
}

// ForAgent is what an agent gets: without what was removed, with the number of characters in place of a text
// unless the operator shares it, and without pictures unless they share those. A picture of an action that
// was removed is in no other action, either.
func ForAgent(list []human.Action, edits human.Edits, lang string) []human.Action {
	out := leaving(list, edits, lang)
	for i := range out {
		if e := out[i].Element; e != nil { // what stands around it in a page is for teaching alone
			bare := *e
			if bare.Form, bare.Shows, bare.Says = nil, nil, nil; len(e.Ancestry) > 0 && e.Ancestry[0].Role == "row" {
				bare.Ancestry = nil
			}
			out[i].Element = &bare
		}
		bareAnswers(&out[i]) // where pages send things is more of them than the actions show, as the requests themselves are
	}
	return out
}

func leaving(list []human.Action, edits human.Edits, lang string) []human.Action {
	applied := Apply(list, edits, lang)
	cut, gone := map[string]bool{}, map[string]bool{}
	for _, a := range applied {
		if a.Cut {
			cut[a.Before], cut[a.After], gone[a.ID] = true, true, true
		}
	}
	var typed []string
	if !edits.ShareText {
		typed = typedTexts(applied)
	}
	out := applied[:0] // a list of our own, and long recordings have long ones
	for _, a := range applied {
		if a.Cut {
			continue
		}
		if gone[a.CausedBy] {
			a.CausedBy = ""
		}
		if c := a.Command; c != nil && !edits.ShareText && c.Output != "" {
			bare := *c
			bare.Output = lastWords(c)
			a.Command = &bare
		}
		if !edits.ShareText && unshare(&a, typed) && edits.Words[a.ID] == "" {
			a.Words = Words(a, lang)
		}
		if !edits.ShareText && a.Type != human.Note && (a.Text != "" || a.Value != "") {
			if e := a.Element; e != nil && (reveals(e.Name+"\n"+e.Beside, a.Text) || reveals(e.Name+"\n"+e.Beside, a.Value)) {
				a.Element = nameless(e) // some fields are called by what stands in them
			}
			a.Element = findable(a.Element, a.Text, a.Value)
			if w := a.Window; w != nil && (a.Type == human.Typing || a.Type == human.ValueChange) && (reveals(w.Title, a.Text) || reveals(w.Title, a.Value)) {
				bare := *w
				bare.Title = ""
				a.Window = &bare
			}
			a.Text, a.Value = "", ""
			if edits.Words[a.ID] == "" {
				a.Words = Words(a, lang)
			}
		}
		shared := edits.Shares(a.ID)
		if !shared || cut[a.Before] {
			a.Before = ""
		}
		if !shared || cut[a.After] {
			a.After = ""
		}
		out = append(out, a)
	}
	return out
}

// lastWords is the last line of what a command that failed printed: mostly why.
func lastWords(c *human.ShellCommand) string {
	if c.Exit == nil || *c.Exit == 0 {
		return ""
	}
	text := strings.TrimSpace(c.Output)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// reveals says whether a name has a text in it that is long enough to be no chance.
func reveals(name, text string) bool {
	text = strings.TrimSpace(text)
	return len(text) > 2 && strings.Contains(name, text)
}

// Left is what leaves for people: without what was removed and with what was masked hidden, but with the text
// that was typed and the pictures.
func Left(list []human.Action, edits human.Edits, lang string) []human.Action {
	edits.ShareText, edits.SharePictures = true, true
	return leaving(list, edits, lang)
}

// Pictures are the ids of all pictures of these actions.
func Pictures(list []human.Action) []string {
	ids := map[string]bool{}
	for _, a := range list {
		ids[a.Before], ids[a.After] = true, true
	}
	delete(ids, "")
	return slices.Sorted(maps.Keys(ids))
}

// maskPage removes what came from a page or reveals which it was.
func maskPage(a *human.Action) {
	if p := a.Page; p != nil {
		a.Page = &human.WebPage{Target: p.Target, Opener: p.Opener, Frame: p.Frame, W: p.W, H: p.H, ScreenX: p.ScreenX, ScreenY: p.ScreenY, Scale: p.Scale}
	}
	if d := a.Dialog; d != nil {
		a.Dialog = &human.Dialog{Kind: d.Kind, Accepted: d.Accepted}
	}
	if p := a.Pick; p != nil {
		a.Pick = &human.Pick{Field: p.Field, Take: p.Take}
		a.Before, a.After = "", "" // they show little else
	}
	bareAnswers(a)
	if len(a.Transfers) > 0 {
		bare := make([]human.Transfer, len(a.Transfers))
		for i, t := range a.Transfers {
			bare[i] = human.Transfer{State: t.State}
		}
		a.Transfers = bare
	}
}

// bareAnswers removes where the answers came from.
func bareAnswers(a *human.Action) {
	a.Answers = slices.Clone(a.Answers)
	for i := range a.Answers {
		a.Answers[i].URL = ""
	}
}

// typedTexts are what was typed, as far as it is long enough to be known again.
func typedTexts(list []human.Action) (texts []string) {
	for _, a := range list {
		if a.Type == human.Typing || a.Type == human.Paste {
			for _, text := range []string{a.Value, a.Text} {
				if text = strings.TrimSpace(text); len(text) > 2 && !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
		}
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	return texts[:min(len(texts), 500)]
}

// unshare takes out what was typed into a page other than as text: an answer to a prompt, a date, what a message repeats of it. It
// says whether there was anything.
func unshare(a *human.Action, typed []string) bool {
	switch {
	case a.Type == human.PageSaid && a.Dialog != nil:
		said := a.Dialog.Message
		for _, text := range typed {
			said = strings.ReplaceAll(said, text, "…")
		}
		if said == a.Dialog.Message {
			return false
		}
		bare := *a.Dialog
		bare.Message = said
		a.Dialog = &bare
		return true
	case a.Dialog != nil && a.Dialog.Input != "":
		bare := *a.Dialog
		bare.Input = ""
		a.Dialog = &bare
		return true
	case a.Type == human.Choose && len(a.Values) > 0 && typedInto(a.Element):
		a.Element = findable(a.Element, a.Values...)
		a.Values = nil
		return true
	}
	return false
}

// typedInto says whether the choices of a field are what a person writes, and not those it offers.
func typedInto(e *human.Element) bool {
	if e == nil {
		return true
	}
	switch e.Tag {
	case "select", "input/range", "input/color", "input/checkbox", "input/radio":
		return false
	}
	switch e.Role {
	case "listbox", "option", "slider", "radio", "radiogroup", "checkbox", "switch":
		return false
	}
	return true
}

// findable leaves out the ways to find an element that say what stands in it.
func findable(e *human.Element, texts ...string) *human.Element {
	if e == nil || len(e.Selectors) == 0 {
		return e
	}
	telling := func(selector []string) bool {
		for _, s := range selector {
			if slices.ContainsFunc(texts, func(text string) bool { return reveals(s, text) }) {
				return true
			}
		}
		return false
	}
	if !slices.ContainsFunc(e.Selectors, telling) {
		return e
	}
	out := *e
	out.Selectors = slices.DeleteFunc(slices.Clone(e.Selectors), telling)
	return &out
}

// Picks are the picks that count: the last of each field, in the order in which the fields were first picked.
// Removed ones are left out; a masked one is there without its text.
func Picks(list []human.Action) []human.Action {
	var out []human.Action
	place := map[string]int{}
	for _, a := range list {
		if a.Type != human.Extract || a.Pick == nil || a.Cut {
			continue
		}
		if i, known := place[a.Pick.Field]; known {
			out[i] = a
			continue
		}
		place[a.Pick.Field] = len(out)
		out = append(out, a)
	}
	return out
}
