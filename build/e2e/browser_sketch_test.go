//go:build window

package e2e

import (
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// sketch writes actions as lines to compare: what was done to which element, in which frame and tab, what stood
// there then, and what led to it. The clock, coordinates and ids are not in it.
func sketch(all []human.Action, port string) []string {
	did, _ := sketches(all, port)
	return did
}

// sketches has what the pages said apart: it comes when they like.
func sketches(all []human.Action, port string) (did, said []string) {
	names := map[string]string{}
	for _, a := range all {
		what := act(a)
		line := what
		if a.Page != nil {
			if len(a.Page.Frame) > 0 {
				line += " in frame " + strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Page.Frame), " ", "."), "[]")
			}
			if a.Page.Target != "t1" {
				line += " in " + a.Page.Target
			}
		}
		if cause, ok := names[a.CausedBy]; ok {
			line += " <- " + cause
		} else if a.CausedBy != "" {
			line += " <- unknown " + a.CausedBy
		}
		names[a.ID] = what
		line = strings.ReplaceAll(line, "http://a.localhost:"+port, "")
		line = strings.ReplaceAll(line, ":"+port, "")
		if a.Type == human.PageSaid {
			said = append(said, strings.TrimPrefix(line, "message "))
		} else {
			did = append(did, line)
		}
	}
	return did, said
}

// act is what was done, and to what.
func act(a human.Action) string {
	var b strings.Builder
	b.WriteString(string(a.Type))
	put := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	if len(a.Modifiers) > 0 || a.Key != "" {
		keys := slices.Clone(a.Modifiers)
		if a.Key != "" {
			keys = append(keys, a.Key)
		}
		put("%s", strings.Join(keys, "+"))
	}
	if a.Button > 1 {
		put("button %d", a.Button)
	}
	if a.Element != nil {
		put("%s", named(*a.Element))
	}
	if a.Target != nil {
		put("to %s", named(*a.Target))
	}
	switch a.Type {
	case human.Typing, human.Paste, human.Copy:
		switch {
		case a.Hidden != "":
			put("= hidden (%s), %d", a.Hidden, a.Count)
		case a.Value != "":
			put("= %q", a.Value)
		case a.Text != "":
			put("= %q", a.Text)
		}
	case human.Shortcut:
		if a.Count > 1 {
			put("%d times", a.Count)
		}
	case human.Scroll:
		put("to %d,%d", a.ToX, a.ToY)
	case human.OpenPage, human.Navigate:
		if a.Navigation != nil {
			put("%s", a.Navigation.Kind)
			if a.Navigation.Status >= 300 {
				put("%d", a.Navigation.Status)
			}
		}
		if a.Page != nil {
			url := a.Page.URL
			if len(a.Page.Frame) > 0 {
				url = a.Page.FrameURL
			}
			put("%s", url)
		}
	}
	if len(a.Values) > 0 {
		put("= %s", strings.Join(a.Values, ", "))
	}
	if d := a.Dialog; d != nil && a.Type == human.PageSaid {
		put("%q", d.Message)
	} else if d != nil {
		put("%s %q accepted %t", d.Kind, d.Message, d.Accepted)
		if d.Input != "" {
			put("%q", d.Input)
		}
	}
	for _, f := range a.Transfers {
		put("%s", strings.TrimSpace(fmt.Sprintf("%s %d %s", f.Name, f.Size, f.State)))
	}
	if a.Gap != nil {
		put("%s", a.Gap.Reason)
	}
	if p := a.Pick; p != nil {
		put("%s %s %q", p.Take, p.Field, p.Text)
	}
	return strings.TrimSpace(b.String())
}

func named(e human.Element) string {
	if e.Name == "" {
		return e.Role
	}
	return fmt.Sprintf("%s %q", e.Role, e.Name)
}
