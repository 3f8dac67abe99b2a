package builtin

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// browser tells what was done in pages (H11).
func browser() summarizers.Summarizer {
	return &base{
		about:    about("browser", "Browser", "浏览器", summarizers.FromBrowser),
		finders:  slices.Concat(browserFinders, common),
		suggests: []finder{suggestPages},
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

// browserLine says the most that fits one line: what was read, what was done, what is missing, what went wrong.
func browserLine(r *reading, found []human.Finding) string {
	have, missing := r.values()
	asked := r.wanted()
	var parts []string
	names := func(list []string) string {
		short := make([]string, 0, 3)
		for _, n := range list[:min(len(list), 3)] {
			short = append(short, clean(n, maxField))
		}
		if len(list) > len(short) {
			return strings.Join(short, r.say(", ", "、")) + r.say(" and others", "等")
		}
		return r.list(short)
	}
	var fields []string
	for _, v := range have {
		fields = append(fields, v.field)
	}
	site := r.mainSite()
	switch {
	case len(fields) > 0 && len(asked) > 0 && len(missing) > 0:
		parts = append(parts, r.say("Got %d of %d values asked for (%s)", "取得所需 %[2]d 项中的 %[1]d 项（%[3]s）", len(asked)-len(missing), len(asked), names(fields)))
	case len(fields) > 0:
		parts = append(parts, r.say("Got %s", "取得%s", names(fields)))
	}
	if len(parts) > 0 && site != "" {
		parts[0] += r.say(" from %s", "，来自 %s", site)
	}
	if len(missing) > 0 {
		parts = append(parts, r.say("%s not found", "未找到%s", names(missing)))
	}
	if done := of(found, human.FoundOutcome, human.FoundDone); len(done) > 0 && len(fields) == 0 {
		parts = append(parts, strings.TrimRight(done[len(done)-1].Text, ".。"))
	}
	if errors := of(found, human.FoundError); len(errors) > 0 {
		parts = append(parts, strings.TrimRight(errors[0].Text, ".。"))
	}
	if len(parts) == 0 {
		if site == "" {
			return r.say("Nothing was done in a page: %s", "没有在网页中操作：%s", r.asked())
		}
		return r.say("Looked at %s; nothing was changed or picked there", "浏览了 %s，没有更改或选取内容", site)
	}
	return strings.Join(parts, r.say("; ", "；"))
}

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
		r.sentences(r.say("Read: ", "取得的内容："), found, human.FoundValue),
		r.sentences(r.say("On the way: ", "过程中："), found, human.FoundError, human.FoundDetour, human.FoundSlow),
		r.sentences(r.say("Open: ", "未完成或无法确认："), found, human.FoundUndone, human.FoundUnseen),
		r.sentences("", found, human.FoundNote),
		r.leftOut(left),
	)
}

// sentences joins findings of some kinds to a paragraph.
func (r *reading) sentences(begin string, found []human.Finding, kinds ...human.FindingKind) string {
	var b strings.Builder
	for _, f := range of(found, kinds...) {
		if b.Len() == 0 {
			b.WriteString(begin)
		} else if r.lang != chinese {
			b.WriteByte(' ')
		}
		b.WriteString(f.Text)
		if !strings.HasSuffix(f.Text, ".") && !strings.HasSuffix(f.Text, "。") && !strings.HasSuffix(f.Text, "！") && !strings.HasSuffix(f.Text, "!") {
			b.WriteString(r.say(".", "。"))
		}
	}
	return b.String()
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
		parts = append(parts, r.say("%s (%s)", " %s（%s）", s.host, pages))
	}
	took := ""
	var elapsed int64
	for i := range r.in.Recordings {
		elapsed += r.in.Recordings[i].Elapsed
	}
	if elapsed > 0 {
		took = r.duration(time.Duration(elapsed))
	}
	places := strings.TrimSpace(r.list(parts))
	if more {
		places += r.say(" and other sites", "等网站")
	}
	if took == "" {
		return r.say("Worked on %s.", "操作的页面：%s。", places)
	}
	return r.say("Worked for %[2]s on %[1]s.", "操作的页面：%[1]s，用时 %[2]s。", places, took)
}

// suggestPages are what the agent could do next about what was seen in pages.
func suggestPages(r *reading) []human.Finding {
	w := r.pages()
	var out []human.Finding
	have, missing := r.values()
	suggest := func(sure float64, text string, evidence ...human.Ref) {
		out = append(out, human.Finding{Kind: human.FoundNote, Text: text, Evidence: evidence, Confidence: sure})
	}
	denied, failed := -1, -1
	for _, v := range w.visits {
		if v.came < 0 || r.acts[v.came].Navigation == nil {
			continue
		}
		switch n := r.acts[v.came].Navigation; {
		case n.Failed != "" && networkError(n.Failed) != "ERR_ABORTED":
			failed = v.came
		case n.Status == 403 && denied < 0:
			denied = v.came
		case n.Status >= 500:
			failed = v.came
		}
	}
	request := human.Ref{Kind: human.RefRequest, ID: extract}
	switch {
	case len(missing) > 0 && denied >= 0:
		suggest(0.6, r.say("Ask somebody with access to %s for %s, if that is where it is shown", "如果%[2]s在%[1]s上，请由有权限的人再取一次",
			cmp.Or(r.pageName(&w.in[denied].page), r.say("that page", "该页面")), r.fieldNames(missing)), r.acts[denied].ref(), request)
	case denied >= 0:
		suggest(0.6, r.say("Have access granted to %s if it is needed", "如需使用%s，请先申请权限", cmp.Or(r.pageAt(&w.in[denied].page), r.say("that page", "该页面"))), r.acts[denied].ref())
	case len(missing) > 0:
		suggest(0.6, r.say("Ask again for %s, saying on which page it is to be found", "重新请求%s，并说明在哪个页面可以找到", r.fieldNames(missing)), request)
	}
	if failed >= 0 {
		v := w.in[failed]
		later := false // it was there afterwards
		for n := v.next; n != nil && !later; n = n.next {
			_, bad := r.refused(n)
			later = !bad && r.host(n.page.URL) == r.host(v.page.URL)
			if n.next != nil && n.next == v {
				break
			}
		}
		if !later {
			suggest(0.6, r.say("Check whether %s can be reached before asking again", "再次请求前，先确认能否访问 %s", cmp.Or(r.host(v.page.URL), r.say("the page", "该页面"))), r.acts[failed].ref())
		}
	}
	for _, v := range have {
		if v.picked != "" && v.given {
			suggest(0.7, r.say("Use the corrected value of %s rather than what the page shows", "%s请以更正后的值为准，而不是页面上的值", clean(v.field, maxField)), human.Ref{Kind: human.RefField, ID: v.field})
			break
		}
	}
	return out
}

func (r *reading) fieldNames(names []string) string {
	short := make([]string, 0, 3)
	for _, n := range names[:min(len(names), 3)] {
		short = append(short, clean(n, maxField))
	}
	if len(names) > len(short) {
		return strings.Join(short, r.say(", ", "、")) + r.say(" and others", "等")
	}
	return r.list(short)
}
