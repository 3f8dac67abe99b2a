package builtin

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// desktop tells what was done in programs (H10).
func desktop() summarizers.Summarizer {
	return &base{
		about:    about("desktop", "Desktop", "桌面", summarizers.FromDesktop, summarizers.FromTerminal),
		finders:  slices.Concat([]finder{findResult, findValues, findMissing}, desktopFinders, common),
		suggests: []finder{suggestNext},
		line:     desktopLine,
		text:     desktopText,
	}
}

// desktopFinders are what is looked for in actions on the desktop.
var desktopFinders = []finder{findTroubles, findFiles, findDeeds, findFilled, findSettings, findDesktopDetours, findFilesGone, findLeftOpen}

// findDeeds tells which buttons and menu items were used that do more than lead somewhere else, by program. Where a
// dialog spoke of an error right after, that tells it.
func findDeeds(r *reading) []human.Finding {
	s := r.screen()
	led := map[int]bool{} // to trouble
	for _, d := range s.dialogs {
		if d.by >= 0 && (s.trouble(d.title) || r.trouble(d) != "") {
			led[d.by] = true
		}
	}
	type deeds struct {
		names []string
		acts  []act
	}
	by := map[string]*deeds{}
	var order []string
	for i, a := range r.acts {
		n := button(a)
		if !onDesktop(a) || n == "" || led[i] || !isCommand(a.Element) || !newDeeds.begins(n) || startsWith(n, enDrop, zhDrop) || strings.HasSuffix(n, "…") || strings.HasSuffix(n, "...") {
			continue
		}
		if d := s.in[i]; d != nil && s.trouble(d.title) {
			continue // it answers an error
		}
		// Saving is told by the file, where folders are watched.
		if savesIt(a) && r.savedSoon(i) {
			continue
		}
		app := cmp.Or(appName(a), name(windowTitle(a)))
		if by[app] == nil {
			by[app] = &deeds{}
			order = append(order, app)
		}
		d := by[app]
		d.acts = append(d.acts, a)
		if q := r.quote(n); !slices.Contains(d.names, q) {
			d.names = append(d.names, q)
		}
	}
	var out []human.Finding
	for _, app := range order {
		d := by[app]
		what := r.list(d.names[:min(len(d.names), namedFiles)])
		text := r.say("Clicked %s in %s", "在 %[2]s 中点击了%[1]s", what, app)
		if app == "" {
			text = r.say("Clicked %s", "点击了%s", what)
		}
		out = append(out, finding(human.FoundDone, 0.95, text, refs(d.acts...)...))
	}
	return out
}

// savedSoon says whether a file was written soon after an action.
func (r *reading) savedSoon(i int) bool {
	from := r.acts[i]
	for _, a := range r.acts[i+1 : min(i+20, len(r.acts))] {
		if a.rec != from.rec || a.At-from.End > causeWithin {
			return false
		}
		if a.Type == human.FileOperation {
			return true
		}
	}
	return false
}

func isCommand(e *human.Element) bool {
	if e == nil {
		return false
	}
	switch e.Role {
	case "button", "togglebutton", "menuitem", "link":
		return true
	}
	return false
}

// findFilled tells which fields text was typed into, by window: that it was, and not what.
func findFilled(r *reading) []human.Finding {
	type form struct {
		fields []string
		acts   []act
	}
	forms := map[string]*form{}
	var order []string
	for _, a := range r.acts {
		if !onDesktop(a) || a.Type != human.Typing && a.Type != human.Paste || a.Element == nil || isTerminal(a) {
			continue
		}
		n := elementName(a.Element)
		if a.Element.Secret { // it is told that it is hidden
			continue
		}
		if n == "" || searches(n) || a.Element.Role == "document" {
			continue
		}
		key := windowKey(a)
		if forms[key] == nil {
			forms[key] = &form{}
			order = append(order, key)
		}
		f := forms[key]
		f.acts = append(f.acts, a)
		if q := r.quote(n); !slices.Contains(f.fields, q) {
			f.fields = append(f.fields, q)
		}
	}
	var out []human.Finding
	for _, key := range order {
		f := forms[key]
		where := cmp.Or(r.quote(windowTitle(f.acts[0])), appName(f.acts[0]))
		fields := r.list(f.fields[:min(len(f.fields), namedFiles)])
		text := r.say("Text was typed into %s in %s", "在%[2]s的%[1]s中输入了文字", fields, where)
		if where == "" {
			text = r.say("Text was typed into %s", "在%s中输入了文字", fields)
		}
		out = append(out, finding(human.FoundDone, 1, text, refs(f.acts...)...))
	}
	return out
}

// findSettings tells which checkboxes, switches and options were clicked. Whether they are on or off now the recording
// does not know for certain.
func findSettings(r *reading) []human.Finding {
	type setting struct {
		names []string
		acts  []act
	}
	by := map[string]*setting{}
	var order []string
	for _, a := range r.acts {
		n := button(a)
		if !onDesktop(a) || n == "" {
			continue
		}
		switch a.Element.Role {
		case "checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio":
		default:
			continue
		}
		key := windowKey(a)
		if by[key] == nil {
			by[key] = &setting{}
			order = append(order, key)
		}
		s := by[key]
		s.acts = append(s.acts, a)
		if q := r.quote(n); !slices.Contains(s.names, q) {
			s.names = append(s.names, q)
		}
	}
	var out []human.Finding
	for _, key := range order {
		s := by[key]
		where := cmp.Or(r.quote(windowTitle(s.acts[0])), appName(s.acts[0]))
		what := r.list(s.names[:min(len(s.names), namedFiles)])
		text := r.say("Settings clicked in %[2]s: %[1]s", "在%[2]s中点击了设置项%[1]s", what, where)
		if where == "" {
			text = r.say("Settings clicked: %s", "点击了设置项%s", what)
		}
		out = append(out, finding(human.FoundDone, 0.95, text, refs(s.acts...)...))
	}
	return out
}

// apps are the programs that something was done in, in the order in which that was.
func (r *reading) apps() []string {
	var out []string
	known := map[string]bool{}
	for _, a := range r.acts {
		if !onDesktop(a) || !byHand(a) && a.Type != human.OpenApp && a.Type != human.SwitchWindow && a.Type != human.Scroll {
			continue
		}
		if n := appName(a); n != "" && !known[n] {
			known[n] = true
			out = append(out, n)
		}
	}
	return out
}

// maxApps are named in the line.
const maxApps = 3

// desktopLine says the most that fits one line: what came of it, in which programs, what went wrong.
func desktopLine(r *reading, found []human.Finding) string {
	var parts []string
	for _, kinds := range [][]human.FindingKind{{human.FoundOutcome}, {human.FoundDone}, {human.FoundError}, {human.FoundUndone}} {
		list := of(found, kinds...)
		most := 1
		if kinds[0] == human.FoundDone && len(parts) == 0 {
			most = 2
		}
		for _, f := range list[:min(len(list), most)] {
			parts = append(parts, strings.TrimRight(f.Text, ".。"))
		}
	}
	where := ""
	if apps := r.apps(); len(apps) > maxApps {
		where = r.say("In %s and other programs", "在 %s 等程序中", strings.Join(apps[:maxApps], r.say(", ", "、")))
	} else if len(apps) > 0 {
		where = r.say("In %s", "在 %s 中", r.list(apps))
	}
	if len(parts) == 0 {
		if where == "" {
			return r.say("Nothing was done on the desktop: %s", "没有在桌面上操作：%s", r.asked())
		}
		return r.say("%s: looked around; no file, form or setting was seen to change", "%s：浏览查看，没有看到文件、表单或设置被更改", where)
	}
	if where == "" {
		return strings.Join(parts, r.say("; ", "；"))
	}
	return r.say("%s: %s", "%s：%s", where, strings.Join(parts, r.say("; ", "；")))
}

// Limits on the account of what was done in each program.
const (
	maxSections = 8
	maxDeeds    = 6
)

// desktopText is a hand-over: what was done in each program in its order, what came of it, what went wrong, what is
// open.
func desktopText(r *reading, found []human.Finding, left map[human.FindingKind]int) string {
	return paragraphs(
		r.account(),
		r.told("", found, human.FoundOutcome, human.FoundValue, human.FoundDone),
		r.told(r.say("On the way: ", "过程中："), found, human.FoundError),
		r.told(r.say("Detours: ", "走过的弯路："), found, human.FoundDetour),
		r.told(r.say("What took long: ", "耗时较长："), found, human.FoundSlow),
		r.told(r.say("Open: ", "未完成："), found, human.FoundUndone),
		r.told(r.say("Not known: ", "无法得知："), found, human.FoundUnseen),
		r.told("", found, human.FoundNote),
		r.leftOut(left),
	)
}

// account tells, program after program, what was done in each.
func (r *reading) account() string {
	type section struct {
		app   string
		deeds []string
		more  bool
	}
	var all []*section
	for _, a := range r.acts {
		if !onDesktop(a) || !telling(a) {
			continue
		}
		app := appName(a)
		if n := len(all); n == 0 || all[n-1].app != app && app != "" {
			all = append(all, &section{app: app})
		}
		s := all[len(all)-1]
		did := r.deed(a)
		switch n := len(s.deeds); {
		case did == "" || n > 0 && s.deeds[n-1] == did:
		case n == maxDeeds:
			s.more = true
		default:
			s.deeds = append(s.deeds, did)
		}
	}
	all = slices.DeleteFunc(all, func(s *section) bool { return len(s.deeds) == 0 })
	var lines []string
	for _, s := range all[:min(len(all), maxSections)] {
		what := strings.Join(s.deeds, r.say(", ", "，"))
		if s.more {
			what += r.say(" and more", "等")
		}
		if s.app == "" {
			lines = append(lines, r.say("%s.", "%s。", what))
			continue
		}
		lines = append(lines, r.say("%s: %s.", "%s：%s。", s.app, what))
	}
	if len(all) > maxSections {
		lines = append(lines, r.say("After that, work went on in these and other windows.", "之后继续在这些窗口和其他窗口中操作。"))
	}
	if took := r.took(); took != "" && len(lines) > 0 {
		lines = append(lines, r.say("It took %s in all.", "共用时 %s。", took))
	}
	return strings.Join(lines, r.say(" ", ""))
}

// told are findings of some kinds as a paragraph, after what it begins with.
func (r *reading) told(begin string, found []human.Finding, kinds ...human.FindingKind) string {
	var parts []string
	for _, f := range of(found, kinds...) {
		parts = append(parts, r.fullStop(f.Text))
	}
	if len(parts) == 0 {
		return ""
	}
	return begin + strings.Join(parts, r.say(" ", ""))
}

// took is how long was recorded, pauses left out; "" where that is not known.
func (r *reading) took() string {
	var elapsed int64
	for i := range r.in.Recordings {
		elapsed += r.in.Recordings[i].Elapsed
	}
	if elapsed <= 0 {
		return ""
	}
	return r.duration(time.Duration(elapsed))
}

// telling says whether an action belongs into an account: not a click on nothing that has a name, nor a key that only
// moves.
func telling(a act) bool {
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick, human.Drag:
		return elementName(a.Element) != "" && a.Element.Role != "menu" && a.Element.Role != "scrollbar"
	case human.Typing, human.OpenApp, human.FileOperation, human.Paste, human.Copy:
		return true
	case human.SwitchWindow:
		return a.Element != nil
	case human.CloseWindow:
		return true
	case human.Shortcut:
		return len(a.Modifiers) > 0 || len(a.Key) > 1 && a.Key[0] == 'F'
	}
	return false
}
