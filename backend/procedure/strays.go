package procedure

import (
	"net/url"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// markCanceled finds forms that were filled in, sent to a page to check them and canceled there, and then filled in and sent once more with
// the same. The first time is a detour: all of it was done again, and only then it was written.
func markCanceled(steps []*shown) {
	n := 0
	for _, s := range steps {
		n = max(n, s.detour)
	}
	for i := range steps {
		if from := canceled(steps, i); from >= 0 {
			n++
			for _, s := range steps[from : i+1] {
				s.detour, s.back = n, true
			}
		}
	}
}

// canceled is where the form begins that step i cancels; -1 where it cancels none, or where what was sent before may be a part of the work, such
// as the first of two things in a basket: where it led to an address that may name something new, where not the very same was filled in and sent
// right afterwards, and where that was not followed by something else that writes.
func canceled(steps []*shown, i int) (from int) {
	c := steps[i]
	if c.Do != "click" || c.Writes || len(c.Dialogs) > 0 || c.Target == nil || !cancels(c.Target.Name) || c.after == "" {
		return -1
	}
	part, rest := acts(steps[:i]), acts(steps[i+1:])
	from = len(part) - 1
	if from < 0 || c.before == c.after || strings.Contains(c.before, "*") {
		return -1
	}
	for from > 0 && fills(part[from-1].ProcedureStep) && part[from-1].before == c.after {
		from--
	}
	part = part[from:]
	if len(part) > longestDetour || len(rest) <= len(part) {
		return -1
	}
	for k, s := range part {
		last := k == len(part)-1
		if s.Writes && !last || len(s.Dialogs) > 0 || s.Page != c.Page || last && !shows(s) || !sameAgain(s, rest[k]) {
			return -1
		}
	}
	if next := rest[len(part)]; !next.Writes || next.before != c.before {
		return -1
	}
	return slices.Index(steps, part[0])
}

// acts are the steps that do more than look.
func acts(steps []*shown) []*shown {
	return slices.DeleteFunc(slices.Clone(steps), func(s *shown) bool { return looks(s.ProcedureStep) })
}

// sameAgain says whether a step is another one of the same recording done once more.
func sameAgain(a, b *shown) bool {
	return field(a.ProcedureStep) == field(b.ProcedureStep) && a.Page == b.Page && sameWindow(a.Window, b.Window) && a.before == b.before && a.after == b.after &&
		a.Text == b.Text && a.Secret == b.Secret && a.Key == b.Key && a.Writes == b.Writes && len(b.Dialogs) == 0 &&
		slices.Equal(a.Options, b.Options) && slices.Equal(a.Files, b.Files) && slices.Equal(a.Modifiers, b.Modifiers)
}

// shows says whether all that is known to have come of a step is what its page then shows.
func shows(s *shown) bool {
	return s.Output == "" && !slices.ContainsFunc(s.Then, func(c human.ProcedureCheckpoint) bool {
		return c.Is == "download" || c.Is == "opened" || c.Is == "closed"
	})
}

func cancels(name string) bool {
	return slices.Contains(words(name), "cancel") || strings.Contains(name, "取消")
}

// strayed says whether a step belongs to a part in which only pages of a menu were opened that not all recordings have, and which was left by the
// same link, to the same page, by which another recording continued from the page where the part began.
func (m *merger) strayed(s *shown, drafts [][]*shown, at map[*shown]int) bool {
	alone := func(s *shown) bool { return opensOther(s, drafts[s.draft]) && !m.columns[at[s]].all() }
	steps := acts(drafts[s.draft])
	to := slices.Index(steps, s)
	for to >= 0 && to < len(steps) && alone(steps[to]) {
		to++
	}
	if to < 1 || to == len(steps) || !alone(s) {
		return false
	}
	next, direct := steps[to], false
	c := m.columns[at[next]]
	began := func(o *shown) string {
		steps := acts(drafts[o.draft])
		from := slices.Index(steps, o)
		direct = direct || from == 0 || !alone(steps[from-1])
		for from > 0 && alone(steps[from-1]) {
			from--
		}
		return steps[from].before
	}
	start := began(next)
	return c.all() && follows(next) && s.Page == next.Page && start != "" && next.before != start && !slices.ContainsFunc(c.of, func(o *shown) bool {
		return field(o.ProcedureStep) != field(next.ProcedureStep) || o.after != next.after || o.Page != next.Page || began(o) != start
	}) && direct
}

// follows says whether a step only follows a link, or what a menu has for one, to another page.
func follows(s *shown) bool {
	return s.Do == "click" && quiet(s.ProcedureStep) && shows(s) && s.after != s.before && s.Button == 0 && len(s.Modifiers) == 0 &&
		s.Target != nil && slices.Contains([]string{"link", "menuitem", "tab"}, s.Target.Role)
}

// opensOther says whether a step opens a page as such: not one of many things, nor one whose link or address says what to do or what was typed.
// A page that is opened may change what a site shows later, such as for which client.
func opensOther(s *shown, draft []*shown) bool {
	if !follows(s) || len(s.Target.Row) > 0 || hints(s.Target.Name, Pays, false) || hints(s.Target.Name, Sends, false) || hints(s.Target.Name, Deletes, false) {
		return false
	}
	u, err := url.Parse(s.after)
	if err != nil || u.RawQuery != "" || strings.ContainsAny(u.Path+u.Fragment, "0123456789*") {
		return false
	}
	said := strings.ToLower(s.Target.Name + " " + s.Target.Beside + " " + u.Path + u.Fragment)
	return !slices.ContainsFunc(draft, func(o *shown) bool {
		return slices.ContainsFunc(append(slices.Clone(o.Options), o.Text), func(text string) bool { return text != "" && strings.Contains(said, strings.ToLower(text)) })
	})
}
