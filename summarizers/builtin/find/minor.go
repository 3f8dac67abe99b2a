package find

import (
	"slices"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// Minor is the confidence of claims that are made where nothing of more weight is known.
const Minor = 0.5

// minor tells what was clicked and typed in pages and windows where nothing of more weight is known.
func (r *Result) minor(found []Claim) []Claim {
	if slices.ContainsFunc(found, func(c Claim) bool {
		return !c.Doubt && c.Kind != human.FoundUnseen && c.Kind != human.FoundSlow && c.Evidence[0].Kind != human.RefStep
	}) {
		return nil
	}
	var clicked, typed inOrder[string, group]
	where := map[*group]int{}
	for i, a := range r.Actions {
		key := facts.WindowKey(a)
		if v := r.Pages().In[i]; v != nil {
			key = string(a.Rec.ID) + "\x00" + v.Page.Target + v.Page.URL
		}
		n := facts.ElementName(a.Element)
		var g *group
		switch {
		case a.Hidden != "":
			delete(typed.by, key) // a sign-in is no news
			typed.all = slices.DeleteFunc(typed.all, func(g *group) bool { return where[g] >= 0 && facts.WindowKey(g.acts[0]) == facts.WindowKey(a) })
			continue
		case n == "" || r.Inert(i) || facts.OpensMenu(a) || a.Element.Secret:
			continue
		case a.Type == human.Click || a.Type == human.DoubleClick:
			if facts.StepWords.Begins(n) || facts.IsCloser(a) {
				continue
			}
			g = clicked.of(key)
		case a.Type == human.Typing || a.Type == human.Paste:
			if facts.IsSearch(a.Element) {
				continue
			}
			g = typed.of(key)
		default:
			continue
		}
		if len(g.acts) < maxRefs-1 {
			g.add(a, n)
			where[g] = i
		}
	}
	var out []Claim
	tell := func(all []*group, keyPage, key, keyIn string) {
		for _, g := range all[:min(len(all), enough)] {
			c := g.told(Minor, key, keyIn, g.window())
			if a := r.Actions[where[g]]; a.Page != nil {
				c.Text = say(keyPage, g.some(), textOr(r.PageName(r.Page(where[g], &c.Evidence)), "a-page"))
			}
			c.Effect = facts.Used
			out = append(out, c)
		}
	}
	tell(typed.all, "typed-into-fields-in", "typed-into-fields", "typed-into-fields-in")
	tell(clicked.all, "clicked-on", "clicked", "clicked-in")
	return out
}
