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

// browser tells what was done in pages (H11).
func browser() summarizers.Summarizer {
	return &base{
		about:    about("browser", "Browser", "浏览器", summarizers.FromBrowser),
		finders:  []finder{united(slices.Concat([]finder{findResult}, browserFinders, common))},
		suggests: []finder{suggestPages, suggestNext},
		line:     browserLine,
		text:     browserText,
	}
}

// browserFinders are what is looked for in actions of pages.
var browserFinders = []finder{findValues, findErrors, findMissing, findDone, findDetours}

// of are the findings of some kinds.
func of(found []human.Finding, kinds ...human.FindingKind) []human.Finding {
	var out []human.Finding
	for _, f := range found {
		if slices.Contains(kinds, f.Kind) {
			out = append(out, f)
		}
	}
	return out
}

// browserLine says the most that fits one line: what was read or done, what is missing, what went wrong.
func browserLine(r *reading, found []human.Finding) string {
	have, missing := r.values()
	at := ""
	if site := r.readAt(have); site != "" {
		at = r.say(" at %s", "在 %s ", site)
	}
	asked := r.wanted()
	var parts, read, typed []string
	for _, v := range have {
		if v.pick == nil {
			typed = append(typed, v.field)
		} else {
			read = append(read, v.field)
		}
	}
	switch n := len(read); {
	case n > 0 && len(typed) == 0 && len(missing) > 0 && len(asked) > max(2, len(missing)):
		parts = append(parts, r.say("Read %[1]d of %[2]d values asked for%[3]s", "%[3]s读取了所需 %[2]d 项中的 %[1]d 项", len(asked)-len(missing), len(asked), at))
	case n > maxNamed && len(typed) == 0:
		parts = append(parts, r.say("Read %[1]s%[2]s", "%[2]s读取了 %[1]s", r.count(n, "value", "values", "项内容"), at))
	case n > 0:
		parts = append(parts, r.say("Read %[1]s%[2]s", "%[2]s读取了%[1]s", r.fieldNames(read), at))
	}
	if len(typed) > 0 { // what was not read from a page
		parts = append(parts, r.say("%s filled in by hand", "手工填写了%s", r.fieldNames(typed)))
	}
	if len(missing) > 0 {
		parts = append(parts, r.say("%s not found", "未找到%s", r.fieldNames(missing)))
	}
	outcomes, done := of(found, human.FoundOutcome), of(found, human.FoundDone)
	if i := slices.IndexFunc(found, func(f human.Finding) bool {
		return f.Kind == human.FoundUndone && f.Evidence[0].Kind == human.RefAction
	}); i >= 0 {
		parts = append(parts, within(ended(found[i].Text), len(parts) > 0))
	}
	switch {
	case len(outcomes) > 0 && (outcomes[0].Confidence >= 0.7 || len(parts) == 0):
		parts = append(parts, within(ended(outcomes[0].Text), len(parts) > 0))
	case len(have) > 0:
	case len(done) > 0:
		parts = append(parts, ended(done[len(done)-1].Text)) // what came last is what it came to
	}
	if errors := of(found, human.FoundError); len(errors) > 0 {
		if short := r.inShort(errors[0]); short != "" {
			if len(errors) > 1 {
				short = r.say("%s and more", "%s等", short)
			}
			parts = append(parts, r.say("on the way %s", "途中遇到%s", short))
		}
	}
	switch site := r.mainSite(); {
	case len(parts) > 0:
	case site == "":
		parts = append(parts, r.say("Nothing was done in a page", "没有在网页中操作"))
	default:
		parts = append(parts, r.say("Looked at %s; nothing was changed or picked there", "浏览了 %s，没有更改或选取内容", site))
	}
	line := ""
	for _, p := range parts { // as many as there is room for
		next := p
		if line != "" {
			next = line + r.say("; ", "；") + p
		}
		if line != "" && utf8.RuneCountInString(next) > maxLine {
			break
		}
		line = next
	}
	return line
}

// within makes a sentence one that does not begin the line.
func within(text string, follows bool) string {
	if follows && len(text) > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z' {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// readAt is the site that all values were picked from; "" where there are several.
func (r *reading) readAt(have []value) string {
	site := ""
	for _, v := range have {
		if v.pick == nil || v.pick.Page == nil {
			continue
		}
		h := r.host(v.pick.Page.URL)
		if site != "" && h != site {
			return ""
		}
		site = h
	}
	return site
}

// maxNamed values are named in the line, more are counted.
const maxNamed = 3

// ended is a sentence that others follow.
func ended(text string) string { return strings.TrimRight(text, ".。") }

// inShort is what an error was, for the line: a status, a code, a message.
func (r *reading) inShort(f human.Finding) string {
	for _, ref := range f.Evidence {
		i := r.index(ref.Recording, ref.ID)
		if ref.Kind != human.RefAction || i < 0 {
			continue
		}
		a := r.acts[i]
		switch n := a.Navigation; {
		case n != nil && n.Failed != "":
			return name(n.Failed)
		case n != nil && n.Status >= 400:
			return r.say("status %d", "状态码 %d", n.Status)
		case a.Dialog != nil && a.Dialog.Message == "":
			return r.say("a dialog", "一个对话框")
		case a.Dialog != nil && a.Dialog.Kind != "alert" && !a.Dialog.Accepted:
			return r.say("%s, answered with Cancel", "%s（选择了取消）", r.quoteShort(a.Dialog.Message))
		case a.Dialog != nil:
			return r.quoteShort(a.Dialog.Message)
		case a.Page != nil && r.errorTitle(a.Page.Title):
			return r.quoteShort(title(a.Page))
		case a.Type == human.Download:
			return r.say("a download that was not completed", "未完成的下载")
		}
	}
	return ""
}

// quoteShort is quote for what has little room.
func (r *reading) quoteShort(s string) string {
	out, _, whole := shorten(s, maxShort, true)
	if out == "" {
		return ""
	}
	return quoted(out, whole)
}

// maxShort characters of a message go into the line.
const maxShort = 40

// mainSite is the site that most pages were of.
func (r *reading) mainSite() string {
	count, best := map[string]int{}, ""
	for _, v := range r.pages().visits {
		h := r.host(v.page.URL)
		if h == "" {
			continue
		}
		if count[h]++; best == "" || count[h] > count[best] {
			best = h
		}
	}
	return best
}

// browserText is the longer account: where it was done, what came of it, what went wrong, what is open.
func browserText(r *reading, found []human.Finding, left map[human.FindingKind]int) string {
	return paragraphs(
		r.where(),
		r.sentences("", found, human.FoundOutcome, human.FoundDone),
		r.listed(r.say("Values: ", "取得的内容："), found, human.FoundValue),
		r.sentences("", found, human.FoundError, human.FoundDetour, human.FoundSlow),
		r.listed(r.say("Still open: ", "尚未完成："), found, human.FoundUndone),
		r.sentences("", found, human.FoundUnseen),
		r.sentences("", found, human.FoundNote),
		r.leftOut(left),
	)
}

// sentences are findings of some kinds as a paragraph, after what it begins with.
func (r *reading) sentences(begin string, found []human.Finding, kinds ...human.FindingKind) string {
	var b strings.Builder
	for _, f := range of(found, kinds...) {
		if b.Len() == 0 {
			b.WriteString(begin)
		} else if r.lang != chinese {
			b.WriteByte(' ')
		}
		b.WriteString(f.Text)
		if c, _ := utf8.DecodeLastRuneInString(f.Text); !strings.ContainsRune(".。!！?？…", c) {
			b.WriteString(r.say(".", "。"))
		}
	}
	return b.String()
}

// listed are findings of one kind in one sentence.
func (r *reading) listed(begin string, found []human.Finding, kind human.FindingKind) string {
	var parts []string
	for _, f := range of(found, kind) {
		parts = append(parts, ended(f.Text))
	}
	if len(parts) == 0 {
		return ""
	}
	return begin + strings.Join(parts, r.say("; ", "；")) + r.say(".", "。")
}

// leftOut says of which kinds there was more than the report has room for.
func (r *reading) leftOut(left map[human.FindingKind]int) string {
	names := map[human.FindingKind]string{
		human.FoundOutcome: r.say("outcomes", "结果"), human.FoundValue: r.say("values", "数据"), human.FoundError: r.say("errors", "错误"),
		human.FoundUndone: r.say("open points", "未完成项"), human.FoundDone: r.say("changes", "改动"), human.FoundDetour: r.say("detours", "弯路"),
		human.FoundSlow: r.say("waits", "耗时项"), human.FoundUnseen: r.say("blind spots", "无法确认的部分"), human.FoundNote: r.say("notes", "备注"),
	}
	var parts []string
	for _, kind := range weight {
		if left[kind] > 0 {
			parts = append(parts, names[kind])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return r.say("The recording has more %s than are listed here.", "录制中还有更多%s，这里没有一一列出。", r.list(parts))
}

// where says on which pages the work was done, and how long it took.
func (r *reading) where() string {
	const hosts, titles = 4, 6
	type site struct {
		host   string
		titles []string
		more   bool
	}
	var sites []*site
	known := map[string]*site{}
	more := false
	for _, v := range r.pages().visits {
		h := r.host(v.page.URL)
		if h == "" {
			continue
		}
		s := known[h]
		if s == nil {
			s = &site{host: h}
			known[h] = s
			if len(sites) == hosts {
				more = true
				continue
			}
			sites = append(sites, s)
		}
		switch t := r.quote(title(&v.page)); {
		case t == "" || slices.Contains(s.titles, t):
		case len(s.titles) == titles:
			s.more = true
		default:
			s.titles = append(s.titles, t)
		}
	}
	if len(sites) == 0 {
		return ""
	}
	var parts []string
	for _, s := range sites {
		pages := strings.Join(s.titles, r.say(", ", "、"))
		if s.more {
			pages += r.say(" and others", "等")
		}
		if pages == "" {
			parts = append(parts, s.host)
			continue
		}
		parts = append(parts, r.say("%s (%s)", "%s（%s）", s.host, pages))
	}
	took := ""
	var elapsed int64
	for i := range r.in.Recordings {
		elapsed += r.in.Recordings[i].Elapsed
	}
	if elapsed > 0 {
		took = r.duration(time.Duration(elapsed))
	}
	places := r.list(parts)
	if more {
		places += r.say(" and other sites", "等网站")
	}
	if took == "" {
		return r.say("Worked on %s.", "操作过的页面：%s。", places)
	}
	return r.say("Worked for %[2]s on %[1]s.", "操作过的页面：%[1]s，用时 %[2]s。", places, took)
}

// suggestPages are what the agent could do next about what was seen in pages.
func suggestPages(r *reading) []human.Finding {
	w := r.pages()
	var out []human.Finding
	have, missing := r.values()
	suggest := func(sure float64, text string, evidence ...human.Ref) {
		out = append(out, human.Finding{Kind: human.FoundNote, Text: text, Evidence: evidence, Confidence: sure})
	}
	denied, gone, failed := -1, -1, -1
	for _, v := range w.visits {
		if v.came < 0 || r.acts[v.came].Navigation == nil {
			continue
		}
		switch n := r.acts[v.came].Navigation; {
		case n.Failed != "" && networkError(n.Failed) != "ERR_ABORTED", n.Status >= 500:
			failed = v.came
		case n.Status == 403 && denied < 0:
			denied = v.came
		case (n.Status == 404 || n.Status == 410) && gone < 0:
			gone = v.came
		}
	}
	request := human.Ref{Kind: human.RefRequest, ID: extract}
	// behind is what led to a page, as a person would name it: the link, else the site.
	behind := func(i int, evidence *[]human.Ref) string {
		if c, ok := r.cause(r.acts[i]); ok && elementName(c.Element) != "" {
			*evidence = append(*evidence, c.ref())
			return r.quote(elementName(c.Element))
		}
		return cmp.Or(r.host(r.acts[i].Page.URL), r.say("a page", "某个页面"))
	}
	switch {
	case len(missing) > 0 && denied >= 0:
		evidence := []human.Ref{request, r.acts[denied].ref()}
		what := behind(denied, &evidence)
		suggest(0.6, r.say("%s may stand behind %s, which was refused with status 403: ask somebody who may open it", "%s可能在%s里，那里返回了状态码 403：请让有权限的人再取一次", r.fieldNames(missing), what), evidence...)
	case denied >= 0:
		evidence := []human.Ref{r.acts[denied].ref()}
		what := behind(denied, &evidence)
		suggest(0.6, r.say("If %s is needed, have access to it granted: it was refused with status 403", "如果需要%s，请先申请权限：那里返回了状态码 403", what), evidence...)
	case len(missing) > 0:
		suggest(0.6, r.say("Ask again for %s, saying on which page it is to be found", "重新请求%s，并说明在哪个页面可以找到", r.fieldNames(missing)), request)
	}
	if gone >= 0 {
		evidence := []human.Ref{r.acts[gone].ref()}
		what := behind(gone, &evidence)
		suggest(0.5, r.say("Do not rely on %s: it leads to status %d", "不要再使用%s：它指向的页面返回状态码 %d", what, r.acts[gone].Navigation.Status), evidence...)
	}
	if failed >= 0 {
		v := w.in[failed]
		later := false // it was there afterwards
		for n := v.next; n != nil && !later; n = n.next {
			_, bad := r.refused(n)
			later = !bad && r.host(n.page.URL) == r.host(v.page.URL) && kindOf(r.acts[max(n.came, 0)]) != "back_forward"
		}
		if !later {
			suggest(0.6, r.say("Check whether %s can be reached before asking again", "再次请求前，先确认能否访问 %s", cmp.Or(r.host(v.page.URL), r.say("the page", "该页面"))), r.acts[failed].ref())
		}
	}
	for _, v := range have {
		if v.picked != "" && v.given {
			suggest(0.7, r.say("Use the corrected value of %s rather than what the page shows", "%s请以更正后的值为准，而不是页面上的值", r.exactly(v.field, maxField)), human.Ref{Kind: human.RefField, ID: v.field})
			break
		}
	}
	return out
}

// fieldNames names a few fields.
func (r *reading) fieldNames(names []string) string {
	short := make([]string, 0, maxNamed)
	for _, n := range names[:min(len(names), maxNamed)] {
		short = append(short, r.exactly(n, maxField))
	}
	if len(names) > len(short) {
		return r.say("%s and others", "%s等", strings.Join(short, r.say(", ", "、")))
	}
	return r.list(short)
}
