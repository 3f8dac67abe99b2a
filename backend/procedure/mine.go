package procedure

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// Mine proposes effects from what changed while a procedure was taught: a file that came and stayed, and, where a step writes, the row of
// a table that the person picked afterwards on a page that can be opened again and that has a value they typed. A person
// confirms them. What was downloaded has its checkpoint and is not proposed; nor is what would be true without the run.
func Mine(p human.Procedure, actions []human.Action) []human.ProcedureEffect {
	var out []human.ProcedureEffect
	known := examples(p)
	written := false
	downloaded := map[string]bool{}
	for _, a := range actions {
		for _, t := range a.Transfers {
			downloaded[t.Name] = true
		}
	}
	for i, a := range actions {
		written = written || slices.ContainsFunc(p.Steps, func(s human.ProcedureStep) bool {
			return s.Writes && slices.ContainsFunc(s.From, func(f human.ProcedureSource) bool { return f.Action == a.ID })
		})
		switch {
		case a.Cut:
		case a.Type == human.FileOperation && a.File != nil:
			name := cameToStay(*a.File, actions[i+1:])
			if name == "" || downloaded[path.Base(name)] {
				continue
			}
			parts := strings.Split(name, "/")
			for k := range parts {
				parts[k] = known.within(plainText, escape(parts[k]))
			}
			out = append(out, human.ProcedureEffect{Is: "file", Path: strings.Join(parts, "/"), Fresh: true})
		case a.Type == human.Extract && written && a.Pick != nil && a.Page != nil && opened(a.Page, actions[:i]):
			for _, row := range a.Pick.Rows {
				if has := known.in(row); len(has) > 0 {
					out = append(out, human.ProcedureEffect{Is: "row", URL: known.within(addressText, escape(a.Page.URL)), Has: has})
				}
			}
		}
	}
	return slices.CompactFunc(out, func(a, b human.ProcedureEffect) bool {
		return a.Is == b.Is && a.Path == b.Path && a.URL == b.URL && slices.Equal(a.Has, b.Has)
	})
}

// examples are the values that the parameters of a procedure had in its recordings.
func examples(p human.Procedure) heldValues {
	var out heldValues
	for _, q := range p.Parameters {
		for _, e := range q.Examples {
			if !slices.Equal(q.Choices, []string{"checked", "unchecked"}) {
				out = append(out, &heldValue{ProcedureParameter: human.ProcedureParameter{Name: q.Name}, held: []string{e}, has: []bool{true}})
			}
		}
	}
	return out
}

// in are the parameters whose values are whole cells of a row.
func (vs heldValues) in(row []string) []string {
	var has []string
	for _, cell := range row {
		for _, v := range vs {
			if placed := "{" + v.Name + "}"; v.held[0] != "" && strings.TrimSpace(cell) == v.held[0] && !slices.Contains(has, placed) {
				has = append(has, placed)
			}
		}
	}
	return has
}

// cameToStay is the path of a file that a change brought and that no later one deleted or moved; "" for none. Files that programs keep
// for themselves do not count.
func cameToStay(f human.FileChange, later []human.Action) string {
	name := f.Path
	if f.Op == "renamed" {
		name = f.To
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	passing := strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~") || strings.HasSuffix(base, "~") ||
		slices.Contains([]string{".tmp", ".part", ".crdownload", ".lock", ".swp"}, strings.ToLower(path.Ext(base)))
	if f.Dir || f.Op != "created" && f.Op != "renamed" || passing {
		return ""
	}
	if slices.ContainsFunc(later, func(a human.Action) bool {
		return a.File != nil && a.File.Path == name && (a.File.Op == "deleted" || a.File.Op == "renamed")
	}) {
		return ""
	}
	return strings.ReplaceAll(name, `\`, "/")
}

// opened says whether a page was last come to in a way that can be done again: not by sending a form, nor by a script.
func opened(p *human.WebPage, before []human.Action) bool {
	for _, a := range slices.Backward(before) {
		if a.Navigation != nil && a.Page != nil && a.Page.Target == p.Target {
			return a.Page.URL == p.URL && slices.Contains([]string{"link", "address", "reload", "back_forward"}, a.Navigation.Kind)
		}
	}
	return false
}
