package builtin

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// desktop tells what was done in programs (H10).
func desktop() summarizers.Summarizer {
	return &base{
		about:    about("desktop", "Desktop", "桌面", summarizers.FromDesktop, summarizers.FromTerminal),
		finders:  []finder{united(slices.Concat([]finder{findValues, findMissing}, desktopFinders, common))},
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
	again := map[string]bool{} // it is told that it was tried again
	for _, d := range s.dialogs {
		if d.by >= 0 && led[d.by] {
			again[deedKey(r.acts[d.by])] = true
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
		// What came of it is told by the file, where folders are watched; that somebody logged in is no news.
		if r.savedSoon(i) || startsWith(n, enLogin, zhLogin) || again[deedKey(a)] || isCloser(a) {
			continue
		}
		app := r.exactly(cmp.Or(appName(a), windowTitle(a)), maxName)
		if by[app] == nil {
			by[app] = &deeds{}
			order = append(order, app)
		}
		d := by[app]
		d.acts = append(d.acts, a)
		if q := r.quote(n); len(d.names) < manyNames && !slices.Contains(d.names, q) {
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
	if len(out) == 0 && len(r.files()) == 0 {
		return r.closedByHand()
	}
	return out
}

// closedByHand tells which windows were closed that had been there before: where nothing else was done, that may be
// what was asked for.
func (r *reading) closedByHand() []human.Finding {
	const soon = 2e9            // nanoseconds after what closed it
	opened := map[string]bool{} // before or afterwards
	for _, a := range r.acts {
		if a.Type == human.OpenApp {
			opened[appName(a)] = true
		}
	}
	var out []human.Finding
	last := -1
	for i, a := range r.acts {
		switch {
		case !onDesktop(a):
		case a.Type == human.CloseWindow && a.Element == nil && windowTitle(a) != "" && !opened[appName(a)] && last >= 0 &&
			r.acts[last].rec == a.rec && a.At-r.acts[last].End <= soon && (isQuit(r.acts[last]) || isCloser(r.acts[last])) && len(out) < fewFiles:
			out = append(out, finding(human.FoundDone, 0.9, r.say("Closed %s", "关闭了%s", r.quote(windowTitle(a))), a.ref(), r.acts[last].ref()))
		case byHand(a):
			last = i
		}
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

// manyNames are all that are looked at of one window: no more of them are told.
const manyNames = 64

// findFilled tells which fields text was typed into, by window: that it was, and not what. One field is a detail of
// something else, and so is a login.
func findFilled(r *reading) []human.Finding {
	type form struct {
		fields []string
		acts   []act
		secret bool
	}
	forms := map[string]*form{}
	var order []string
	for _, a := range r.acts {
		if !onDesktop(a) || a.Type != human.Typing && a.Type != human.Paste || a.Element == nil || isTerminal(a) {
			continue
		}
		key := windowKey(a)
		n := elementName(a.Element)
		if a.Element.Secret || a.Hidden == "password" {
			if f := forms[key]; f != nil {
				f.secret = true
			}
			continue
		}
		if n == "" || searches(n) || a.Element.Role == "document" {
			continue
		}
		if forms[key] == nil {
			forms[key] = &form{}
			order = append(order, key)
		}
		f := forms[key]
		f.acts = append(f.acts, a)
		if q := r.quote(n); len(f.fields) < manyNames && !slices.Contains(f.fields, q) {
			f.fields = append(f.fields, q)
		}
	}
	var out []human.Finding
	for _, key := range order {
		f := forms[key]
		if len(f.fields) < 2 || f.secret {
			continue
		}
		where := cmp.Or(r.quote(windowTitle(f.acts[0])), r.app(f.acts[0]))
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
	for i, a := range r.acts {
		n := button(a)
		if !onDesktop(a) || n == "" || r.screen().in[i] != nil {
			continue // what is set in a dialog is a detail of what the dialog is for
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
		if i := len(s.acts) - 1; i >= 0 && s.acts[i].Element.Role == a.Element.Role && strings.HasSuffix(a.Element.Role, "radio") {
			was := s.acts[i].Element.Name
			s.acts, s.names = s.acts[:i], slices.DeleteFunc(s.names, func(q string) bool { return q == r.quote(was) }) // another choice of the same
		}
		s.acts = append(s.acts, a)
		if q := r.quote(n); len(s.names) < manyNames && !slices.Contains(s.names, q) {
			s.names = append(s.names, q)
		}
	}
	var out []human.Finding
	for _, key := range order {
		s := by[key]
		where := cmp.Or(r.quote(windowTitle(s.acts[0])), r.app(s.acts[0]))
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
		if n := r.app(a); n != "" && !known[n] {
			known[n] = true
			out = append(out, n)
		}
	}
	return out
}

// maxApps are named in the line.
const maxApps = 3

// desktopLine says the most that fits one line: in which programs, what came of it, what went wrong, what is open.
func desktopLine(r *reading, found []human.Finding) string {
	var parts []string
	told := map[human.Ref]bool{}
	for _, x := range r.results {
		for _, ref := range x.by {
			told[ref] = true
		}
		switch {
		case x.verdict == agrees:
			parts = append(parts, r.say("as expected, %s", "符合预期，%s", x.brief))
		case x.verdict != unsaid:
			parts = append(parts, r.say("otherwise than expected: %s", "与预期不符：%s", x.brief))
		case x.brief != "":
			parts = append(parts, x.brief)
		default:
			parts = append(parts, r.say("what was expected is not confirmed", "预期结果未能确认"))
		}
		if len(parts) == 2 {
			break
		}
	}
	n := len(parts)
	for _, g := range r.fates() {
		known := !slices.ContainsFunc(g.files, func(f *file) bool { return !told[f.last().ref()] })
		if !known && len(parts) < n+2 {
			parts = append(parts, r.briefly(g))
		}
	}
	if done := of(found, human.FoundDone); len(parts) == 0 && len(done) > 0 {
		parts = append(parts, r.lower(strings.TrimRight(done[0].Text, ".。")))
	}
	seen := map[string]bool{}
	for _, d := range r.screen().dialogs {
		if t := r.quote(d.title); t != "" && r.screen().trouble(d.title) && !seen[t] && len(seen) < 2 {
			seen[t] = true
			parts = append(parts, r.say("%s came up", "出现了%s", t))
		}
	}
	if errors := of(found, human.FoundError); len(seen) == 0 && len(errors) > 0 {
		parts = append(parts, r.lower(strings.TrimRight(errors[0].Text, ".。")))
	}
	for _, f := range of(found, human.FoundUndone) {
		parts = append(parts, r.lower(strings.TrimRight(f.Text, ".。")))
	}
	where := ""
	if apps := r.apps(); len(apps) > maxApps {
		where = strings.Join(apps[:maxApps], r.say(", ", "、")) + r.say(" and others", "等")
	} else if len(apps) > 0 {
		where = r.list(apps)
	}
	if said := split(r.in.Answer.HumanInput); len(parts) == 0 && len(said) > 0 {
		parts = append(parts, r.exactly(said[0], maxAnswer))
	}
	if len(parts) == 0 {
		if where == "" {
			return r.say("Nothing was done on the desktop: %s", "没有在桌面上操作：%s", r.exactly(cmp.Or(r.in.Operation.Description, string(r.in.Operation.Kind)), maxAnswer))
		}
		return r.say("Looked at %s; no file, form or setting was seen to change", "查看了%s，没有看到文件、表单或设置被更改", where)
	}
	return r.fit(where, parts)
}

// lower is a sentence for the middle of a line.
func (r *reading) lower(s string) string {
	if r.lang == chinese || len(s) < 2 || s[1] < 'a' || s[1] > 'z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// Limits on the account of what was done in each program.
const (
	maxSections = 8
	maxDeeds    = 24 // together, but a few in each
	leastDeeds  = 5
)

// desktopText is a hand-over: what was done in each program in its order, what came of it, what went wrong, what is
// open.
func desktopText(r *reading, found []human.Finding, left map[human.FindingKind]int) string {
	return paragraphs(
		r.account(r.acts),
		r.tookInAll(),
		r.told("", r.untold(found), human.FoundOutcome, human.FoundValue, human.FoundDone),
		r.told(r.say("On the way: ", "过程中："), found, human.FoundError),
		r.told(r.say("Detours: ", "走过的弯路："), found, human.FoundDetour),
		r.told(r.say("What took long: ", "耗时较长："), found, human.FoundSlow),
		r.told(r.say("Open: ", "未完成："), found, human.FoundUndone),
		r.told(r.say("Not known: ", "无法得知："), found, human.FoundUnseen),
		r.told("", found, human.FoundNote),
		r.leftOut(left),
	)
}

// untold leaves out files that an outcome tells of, for the account.
func (r *reading) untold(found []human.Finding) []human.Finding {
	told := map[human.Ref]bool{}
	for _, x := range r.results {
		for _, ref := range x.by {
			told[ref] = ref.Kind == human.RefAction
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(f human.Finding) bool {
		return f.Kind == human.FoundDone && !slices.ContainsFunc(f.Evidence, func(ref human.Ref) bool { return !told[ref] })
	})
}

// account tells, program after program, what was done in each.
func (r *reading) account(acts []act) string {
	type section struct {
		app   string
		deeds []string
	}
	var all []*section
	alike, times := "", 0
	for _, a := range acts {
		if !onDesktop(a) || !telling(a) {
			continue
		}
		app := r.app(a)
		if n := len(all); n == 0 || all[n-1].app != app && app != "" {
			if n == maxSections+1 {
				break
			}
			all = append(all, &section{app: app})
		}
		s := all[len(all)-1]
		if a.Type == human.FileOperation && a.File != nil { // of many, the first two tell what they are
			if same := a.File.Op + folder(a.File.Path); same == alike {
				if times++; times > 2 {
					continue
				}
			} else {
				alike, times = same, 1
			}
		} else {
			alike, times = "", 0
		}
		did := r.deed(a)
		if a.Type == human.OpenApp && app != "" {
			did = r.say("opened it", "打开程序")
		}
		if n := len(s.deeds); did != "" && (n == 0 || s.deeds[n-1] != did) && n <= maxDeeds {
			s.deeds = append(s.deeds, did)
		}
	}
	more := len(all) > maxSections
	all = slices.DeleteFunc(all[:min(len(all), maxSections)], func(s *section) bool { return len(s.deeds) == 0 })
	var lines []string
	for _, s := range all {
		most := max(leastDeeds, maxDeeds/len(all))
		what := strings.Join(s.deeds[:min(len(s.deeds), most)], r.say(", ", "，"))
		if len(s.deeds) > most {
			what += r.say(", and more", "等")
		}
		if s.app == "" {
			lines = append(lines, r.fullStop(what))
			continue
		}
		lines = append(lines, r.fullStop(r.say("%s: %s", "%s：%s", s.app, what)))
	}
	if more {
		lines = append(lines, r.say("After that, work went on in these and other windows.", "之后继续在这些窗口和其他窗口中操作。"))
	}
	return strings.Join(lines, r.say(" ", ""))
}

// tookInAll says how long was recorded; "" where that is not known.
func (r *reading) tookInAll() string {
	if took := r.took(); took != "" && len(r.acts) > 0 {
		return r.say("It took %s in all.", "共用时 %s。", took)
	}
	return ""
}

// told are findings of some kinds as a paragraph, after what it begins with.
func (r *reading) told(begin string, found []human.Finding, kinds ...human.FindingKind) string {
	text := ""
	for _, f := range of(found, kinds...) {
		if last, _ := utf8.DecodeLastRuneInString(text); text != "" && (r.lang != chinese || last < utf8.RuneSelf) {
			text += " "
		}
		text += r.fullStop(f.Text)
	}
	if text == "" {
		return ""
	}
	return begin + text
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
