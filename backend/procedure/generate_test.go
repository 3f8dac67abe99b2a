package procedure

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// A work is work as it was meant: steps whose texts have «name» where a value of the person stands, «name:path» and «name:query» where
// it stands in an address, and «~n» for what the server makes up each time.
type work struct {
	r      *rand.Rand
	steps  []meant
	values map[string]func() string // how the values of each name are drawn
	names  []string
	labels map[string]int
	page   string
	tabs   int // that opened
	made   int // what the server made up
}

// A meant step is one with what a person may do with it.
type meant struct {
	human.ProcedureStep
	sometimes bool // not every time: a banner that is there once
	form      bool // it fills a field, so that its neighbors in the form may come first
	typed     bool // it may be typed wrong at first
	calm      bool // nothing is half done before it: a person may look elsewhere
	submits   bool // it may fail at first, with the field before it wrong
	at        string
}

const origin = "https://portal.example"

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// value makes a name whose values are of a sort.
func (w *work) value(sort string) string {
	name := fmt.Sprintf("v%d", len(w.names))
	w.names = append(w.names, name)
	r := w.r
	w.values[name] = map[string]func() string{
		"company": func() string {
			return one(r, "Acme", "North", "Blue", "Miller", "Ünal", "王") + one(r, " ", " & ", "-") + one(r, "Ltd", "East", "West", "Foods", "Söhne", "公司") + one(r, "", "", " 2")
		},
		"small":  func() string { return strconv.Itoa(1 + r.IntN(9)) },
		"number": func() string { return fmt.Sprintf("%d.%02d", 1+r.IntN(900), r.IntN(100)) },
		"date":   func() string { return fmt.Sprintf("2026-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)) },
		"month":  func() string { return fmt.Sprintf("202%d-%02d", 4+r.IntN(3), 1+r.IntN(12)) },
		"words": func() string {
			return one(r, "monthly", "first {draft}", "50% off", "see \"A\"", "a/b", "q&a", "急件", "line\nline") + " " + strconv.Itoa(r.IntN(1000))
		},
		"mail":   func() string { return one(r, "ada", "bob", "eve") + strconv.Itoa(r.IntN(99)) + "@mail.example" },
		"maybe":  func() string { return one(r, "", "Fragile", "Cold", "Gift") },
		"option": func() string { return one(r, "Low", "Normal", "High", "Very high", "高") },
		"check":  func() string { return one(r, "checked", "unchecked") },
		"file": func() string {
			return "/home/ada/" + one(r, "scan", "bill", "账单") + strconv.Itoa(r.IntN(99)) + ".pdf"
		},
	}[sort]
	return name
}

// of is a name of a sort: an old one now and then, as people type the same twice.
func (w *work) of(sort string, again map[string][]string) string {
	if old := again[sort]; len(old) > 0 && w.r.IntN(3) == 0 {
		return one(w.r, old...)
	}
	name := w.value(sort)
	again[sort] = append(again[sort], name)
	return name
}

func (w *work) add(s meant) {
	s.Page, s.at = w.page, w.address()
	w.steps = append(w.steps, s)
}

// address is that of the page after the steps so far.
func (w *work) address() string {
	at := ""
	for _, s := range w.steps {
		for _, c := range s.Then {
			if c.Is == "address" && cmp.Or(c.Page, s.Page) == w.page {
				at = c.Text
			}
		}
	}
	return at
}

func target(role, name, tag string) *human.ProcedureTarget {
	t := &human.ProcedureTarget{Role: role, Name: name, Tag: tag}
	if !strings.Contains(name, "\n") {
		t.Selectors = append(t.Selectors, []string{"aria/" + name + `[role="` + role + `"]`})
	}
	return t
}

// stands says what stands beside an element that shares its name: then that does not find it.
func stands(t *human.ProcedureTarget, beside string) {
	if t.Beside = beside; beside != "" {
		t.Selectors = t.Selectors[1:]
	}
}

// placed gives a target selectors that say where it is, which differ each time for a row of a list.
func placed(t *human.ProcedureTarget, id string) *human.ProcedureTarget {
	t.Selectors = append(t.Selectors, []string{"#" + id}, []string{"main > div:nth-of-type(2) > " + t.Tag})
	return t
}

// goes are the checkpoints of a page that came.
func goes(path, title string) []human.ProcedureCheckpoint {
	then := []human.ProcedureCheckpoint{{Is: "address", Text: origin + path}}
	if title != "" {
		then = append(then, human.ProcedureCheckpoint{Is: "title", Text: title})
	}
	return then
}

func (w *work) server() string { w.made++; return fmt.Sprintf("«~%d»", w.made) }

// label is one that the form does not have, with what stands beside it.
func (w *work) label(labels ...string) (label, beside string) {
	label = one(w.r, labels...)
	w.labels[label]++
	if n := w.labels[label]; n > 1 {
		beside = []string{"", "", "Delivery", "Billing", "Contact", "More", "Rest", "Last"}[min(n, 7)] + strings.Repeat("+", max(0, n-7))
	}
	return label, beside
}

func (w *work) change(text, tag string, labels ...string) {
	label, beside := w.label(labels...)
	t := placed(target("textbox", label, tag), fmt.Sprintf("f%d", len(w.steps)))
	stands(t, beside)
	s := human.ProcedureStep{Do: "change", Title: "Type " + text + " into " + label, Target: t, Text: text, Then: []human.ProcedureCheckpoint{{Is: "value", Target: t, Text: text}}}
	w.add(meant{ProcedureStep: s, form: true, typed: true})
}

// generate makes a work.
func generate(r *rand.Rand) *work {
	w := &work{r: r, values: map[string]func() string{}, labels: map[string]int{}}
	again := map[string][]string{}
	start := human.ProcedureStep{Do: "navigate", Title: "Open the portal", URL: origin + "/", Then: goes("/", "Portal 1")}
	w.add(meant{ProcedureStep: start})
	if r.IntN(3) == 0 {
		w.add(meant{sometimes: true, ProcedureStep: human.ProcedureStep{Do: "click", Title: "Accept cookies", Target: target("button", one(r, "Accept cookies", "Later", "同意"), "button")}})
	}
	parts := []func(*work, map[string][]string){(*work).search, (*work).row, (*work).form, (*work).form, (*work).report, (*work).pages, (*work).deletes, (*work).picks, (*work).tab, (*work).calendar, (*work).listed, (*work).quick, (*work).removes, (*work).several, (*work).noted}
	for range 2 + r.IntN(4) {
		parts[r.IntN(len(parts))](w, again)
	}
	for i := range w.steps {
		w.steps[i].ID = fmt.Sprintf("s%d", i+1)
	}
	return w
}

func (w *work) section() {
	name := one(w.r, "Customers", "Invoices", "Orders {all}", "报表")
	s := human.ProcedureStep{Do: "click", Title: "Click " + name, Target: placed(target("link", name, "a"), "nav-"+strconv.Itoa(len(name)))}
	s.Then = goes("/"+url.PathEscape(strings.ToLower(name)), name)
	w.add(meant{ProcedureStep: s, calm: true})
}

// click adds a click and where it leads.
func (w *work) click(t *human.ProcedureTarget, path, title string, writes, calm bool, more ...human.ProcedureCheckpoint) {
	s := human.ProcedureStep{Do: "click", Title: "Click " + t.Name, Target: t, Writes: writes}
	if path != "" {
		s.Then = goes(path, title)
	}
	s.Then = append(s.Then, more...)
	w.add(meant{ProcedureStep: s, calm: calm, submits: writes})
}

func (w *work) search(again map[string][]string) {
	v := w.of(one(w.r, "company", "small", "mail"), again)
	w.section()
	w.change("«"+v+"»", "input/search", "Search", "Find", "查找")
	heading := human.ProcedureCheckpoint{Is: "element", Target: target("heading", "Results for «"+v+"»", "h1")}
	w.click(placed(target("button", "Go", "button"), "go"), "/search?q=«"+v+":query»&page=1", "", false, false, heading, human.ProcedureCheckpoint{Is: "text", Text: w.server() + " hits in 1 s"})
	if w.r.IntN(2) == 0 {
		w.row(map[string][]string{"company": {v}, "used": {v}})
	}
}

func (w *work) row(again map[string][]string) {
	v := ""
	if used := again["used"]; len(used) > 0 {
		v = used[0]
	} else {
		w.section()
		v = w.of("company", again)
	}
	name := one(w.r, "«"+v+"»", "Open «"+v+"»", "«"+v+"», 1 order")
	t := placed(target(one(w.r, "link", "row", "cell"), name, "a"), "row-"+w.server())
	path := one(w.r, "/customers/"+w.server(), "/customers/«"+v+":path»/orders", "/customers?name=«"+v+":query»#top")
	w.click(t, path, "«"+v+"» - Portal 1", false, true, human.ProcedureCheckpoint{Is: "element", Target: target("heading", "«"+v+"»", "h1")}, human.ProcedureCheckpoint{Is: "text", Text: "Customer since 2019"})
}

func (w *work) form(again map[string][]string) {
	w.section()
	w.click(placed(target("button", one(w.r, "New", "Add an order", "新建"), "button"), "new"), "/new/"+strconv.Itoa(len(w.steps)), "New", false, true)
	last := ""
	for range 1 + w.r.IntN(5) {
		switch w.r.IntN(9) {
		case 0, 1, 2:
			sort := one(w.r, "company", "words", "mail", "number", "small", "date", "month")
			last = w.of(sort, again)
			w.change("«"+last+"»", one(w.r, "input/text", "textarea"), "Customer name", "Name", "Amount", "备注", "Order no. 1", "Due")
		case 3:
			w.change(one(w.r, "EUR", "1", "see {below}"), "input/text", "Currency", "Page", "Name")
		case 4:
			if last != "" {
				w.change("Invoice for «"+last+"» of 1", "input/text", "Subject", "Reference")
			}
		case 5, 6:
			v := w.of("option", again)
			label, beside := w.label("Priority", "Kind", "级别")
			t := placed(target("combobox", label, "select"), fmt.Sprintf("f%d", len(w.steps)))
			stands(t, beside)
			w.add(meant{form: true, ProcedureStep: human.ProcedureStep{Do: "selectOption", Title: "Choose «" + v + "» in " + label, Target: t, Options: []string{"«" + v + "»"}}})
		case 7:
			v := w.value("check")
			label, beside := w.label("Express", "Send a copy")
			t := placed(target("checkbox", label, "input/checkbox"), fmt.Sprintf("f%d", len(w.steps)))
			stands(t, beside)
			w.add(meant{form: true, ProcedureStep: human.ProcedureStep{Do: "check", Title: label, Target: t, Options: []string{"«" + v + "»"}}})
		case 8:
			v := w.value("file")
			label, beside := w.label("Receipt")
			t := target("button", label, "input/file")
			stands(t, beside)
			w.add(meant{form: true, ProcedureStep: human.ProcedureStep{Do: "setInputFiles", Title: "Choose a file", Target: t, Files: []string{"«" + v + "»"}}})
		}
	}
	then := human.ProcedureCheckpoint{Is: "text", Text: "Saved"}
	if last != "" {
		then.Text = one(w.r, "Saved: «"+last+"»", "Saved as no. "+w.server())
	}
	w.click(target("button", one(w.r, "Save", "Send", "保存"), "button"), "/done/"+w.server(), "", true, false, then)
}

func (w *work) report(again map[string][]string) {
	v := w.of("month", again)
	s := human.ProcedureStep{Do: "navigate", Title: "Open the report"}
	path := one(w.r, "/reports/«"+v+":path»?format=pdf&v=1", "/reports?month=«"+v+":query»&format=pdf")
	s.URL, s.Then = origin+path, goes(path, "Report 1")
	w.add(meant{ProcedureStep: s, calm: true})
	w.click(target("button", "Export", "button"), "", "", false, true, human.ProcedureCheckpoint{Is: "download", Text: "report-«" + v + "».pdf"})
}

func (w *work) pages(map[string][]string) {
	for range 1 + w.r.IntN(3) {
		w.click(placed(target("link", "Next", "a"), "next"), "", "", false, true)
	}
}

func (w *work) deletes(again map[string][]string) {
	v := w.of("company", again)
	t := target("button", "Delete", "button")
	t.Beside = "«" + v + "»"
	s := human.ProcedureStep{Do: "click", Title: "Click Delete", Target: t, Writes: true, Dialogs: []human.ProcedureDialog{{Kind: "confirm", Message: "Delete «" + v + "»?", Accept: true}}}
	s.Then = []human.ProcedureCheckpoint{{Is: "gone", Target: target("row", "«"+v+"»", "tr")}}
	w.add(meant{ProcedureStep: s, calm: true})
}

func (w *work) picks(map[string][]string) {
	name := fmt.Sprintf("total_%d", len(w.steps))
	w.add(meant{calm: true, ProcedureStep: human.ProcedureStep{Do: "pick", Title: "Pick the total", Target: target("cell", "Total", "td"), Output: name}})
}

func (w *work) tab(map[string][]string) {
	w.tabs++
	n, opened := strconv.Itoa(w.tabs), fmt.Sprintf("t%d", w.tabs+1)
	w.click(target("link", "Terms "+n, "a"), "", "", false, true, human.ProcedureCheckpoint{Is: "opened", Page: opened}, human.ProcedureCheckpoint{Is: "address", Text: origin + "/terms/" + n, Page: opened})
	w.page = opened
	w.click(target("button", "Agree", "button"), "/agreed/"+n, "", true, false)
}

func (w *work) calendar(again map[string][]string) {
	v := w.of("small", again)
	w.click(target("button", "Choose a day", "button"), "", "", false, true)
	w.click(target("gridcell", "«"+v+"»", "td"), "", "", false, false, human.ProcedureCheckpoint{Is: "value", Target: target("textbox", "Day", "input/text"), Text: "day «" + v + "» of 9"})
}

func (w *work) listed(again map[string][]string) {
	v := w.of("option", again)
	w.click(target("combobox", "Choose a view", "div"), "", "", false, true)
	w.click(target("option", "«"+v+"»", "li"), "", "", false, false)
}

func (w *work) quick(again map[string][]string) {
	v := w.of(one(w.r, "company", "words", "small"), again)
	label, beside := w.label("Jump to", "Filter")
	t := placed(target("searchbox", label, "input/text"), fmt.Sprintf("f%d", len(w.steps)))
	stands(t, beside)
	s := human.ProcedureStep{Do: "change", Title: "Type «" + v + "»", Target: t, Text: "«" + v + "»", Key: "Enter", Then: goes("/jump/«"+v+":path»", "«"+v+"»")}
	w.add(meant{calm: true, ProcedureStep: s})
	w.add(meant{ProcedureStep: human.ProcedureStep{Do: "press", Title: "Press a key", Key: one(w.r, "Escape", "F2", "ArrowDown")}})
}

func (w *work) removes(again map[string][]string) {
	v := w.of(one(w.r, "company", "small"), again)
	w.click(target("button", "Remove «"+v+"» from the list", "button"), "", "", false, true, human.ProcedureCheckpoint{Is: "gone", Target: target("row", "«"+v+"»", "tr")})
}

func (w *work) several(map[string][]string) {
	a, b := w.value("option"), w.value("maybe")
	label, beside := w.label("Tags")
	t := placed(target("listbox", label, "select"), fmt.Sprintf("f%d", len(w.steps)))
	stands(t, beside)
	w.add(meant{form: true, ProcedureStep: human.ProcedureStep{Do: "selectOption", Title: "Choose tags", Target: t, Options: []string{"«" + a + "»", "«" + b + "»"}}})
}

func (w *work) noted(map[string][]string) {
	w.change("«"+w.value("words")+"»", "textarea", "Remark", "附言")
	w.steps[len(w.steps)-1].sometimes = true
}

var place = regexp.MustCompile(`«(~?\w+)(:path|:query)?»`)

// with puts values in the places of a text. What the server makes up stays where made is nil.
func with(text string, values map[string]string, made func(string) string) string {
	return place.ReplaceAllStringFunc(text, func(s string) string {
		m := place.FindStringSubmatch(s)
		v, ok := values[m[1]]
		switch {
		case !ok && made == nil:
			return s
		case !ok:
			v = made(m[1])
		case m[2] == ":path":
			v = url.PathEscape(v)
		case m[2] == ":query":
			v = url.QueryEscape(v)
		}
		return v
	})
}

// does is a step with values.
func does(s human.ProcedureStep, values map[string]string, made func(string) string) human.ProcedureStep {
	fill := func(text string) string { return with(text, values, made) }
	all := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i] = fill(texts[i])
		}
		return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	}
	at := func(t *human.ProcedureTarget) *human.ProcedureTarget {
		if t == nil {
			return nil
		}
		c := *t
		c.Name, c.Beside, c.Selectors = fill(c.Name), fill(c.Beside), slices.Clone(c.Selectors)
		for i := range c.Selectors {
			c.Selectors[i] = all(c.Selectors[i])
		}
		return &c
	}
	s.Title, s.URL, s.Text, s.Options, s.Files, s.Target = fill(s.Title), fill(s.URL), fill(s.Text), all(s.Options), all(s.Files), at(s.Target)
	s.Then, s.Dialogs = slices.Clone(s.Then), slices.Clone(s.Dialogs)
	for i := range s.Then {
		s.Then[i].Text, s.Then[i].Target = fill(s.Then[i].Text), at(s.Then[i].Target)
	}
	for i := range s.Dialogs {
		s.Dialogs[i].Message = fill(s.Dialogs[i].Message)
	}
	return s
}

// draw are values for a demonstration, most of them other than those of was.
func (w *work) draw(was ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range w.names {
		for try := 0; ; try++ {
			v := w.values[name]()
			taken := slices.ContainsFunc(was, func(m map[string]string) bool { return m[name] == v })
			if out[name] = v; !taken || try > 20 || w.r.IntN(20) == 0 {
				break
			}
		}
	}
	return out
}

// show is a demonstration: the work with values, by a person who looks elsewhere, corrects what they typed, and fills fields in another
// order. n is which demonstration it is: persons look at different things.
func (w *work) show(values map[string]string, n int) human.Procedure {
	r, serial := w.r, map[string]string{}
	made := func(name string) string {
		if serial[name] == "" {
			serial[name] = strconv.Itoa(1000 + r.IntN(9000))
		}
		return serial[name]
	}
	steps := slices.Clone(w.steps)
	for i := 0; i+1 < len(steps); i++ {
		if steps[i].form && steps[i+1].form && r.IntN(8) == 0 {
			steps[i], steps[i+1] = steps[i+1], steps[i]
			i++
		}
	}
	p := human.Procedure{Format: 1, Name: "work", Title: "Work", Where: "browser"}
	tabs, open := map[string]string{}, 1
	put := func(s human.ProcedureStep) {
		s.ID = fmt.Sprintf("s%d", len(p.Steps)+1)
		p.Steps = append(p.Steps, s)
	}
	done := func(m meant) human.ProcedureStep {
		s := does(m.ProcedureStep, values, made)
		s.Page = tabs[s.Page]
		for _, c := range s.Then {
			if c.Is == "opened" {
				open++
				tabs[c.Page] = fmt.Sprintf("t%d", open)
			}
		}
		for k := range s.Then {
			s.Then[k].Page = tabs[s.Then[k].Page]
		}
		return s
	}
	for i, m := range steps {
		if m.sometimes && n%2 == 1 {
			continue
		}
		if m.calm && r.IntN(6) == 0 {
			open += w.detour(put, tabs[m.Page], with(m.at, values, made), n, fmt.Sprintf("t%d", open+1))
		}
		s := done(m)
		wrong := s
		wrong.Text = one(r, "Acm", "12", s.Text+"x", "oops", "")
		wrong.Title, wrong.Then = "Type "+wrong.Text, nil
		switch {
		case m.typed && i+1 < len(steps) && steps[i+1].form && r.IntN(10) == 0: // it is seen after the next field
			put(wrong)
			put(done(steps[i+1]))
		case m.typed && r.IntN(10) == 0:
			put(wrong)
		case m.typed && i+1 < len(steps) && steps[i+1].submits && r.IntN(6) == 0: // it is seen when the form does not go
			put(wrong)
			send := done(steps[i+1])
			send.Writes, send.Then = false, []human.ProcedureCheckpoint{{Is: "text", Text: "Please check this"}}
			put(send)
		}
		put(s)
	}
	return p
}

// detour puts steps that look at something and come back; it returns how many tabs they opened.
func (w *work) detour(put func(human.ProcedureStep), page, at string, n int, opened string) int {
	r := w.r
	names := [][]string{{"Help", "About us", "News 1"}, {"Contact", "Prices", "帮助"}, {"Blog", "Jobs", "Imprint"}}[n%3]
	name := one(r, names...)
	there := origin + "/" + url.PathEscape(strings.ToLower(name))
	click := func(name, to string) human.ProcedureStep {
		return human.ProcedureStep{Do: "click", Page: page, Title: "Click " + name, Target: placed(target("link", name, "a"), "l"+strconv.Itoa(len(name))), Then: []human.ProcedureCheckpoint{{Is: "address", Text: to}, {Is: "title", Text: name}}}
	}
	back := human.ProcedureStep{Do: "back", Page: page, Title: "Go back", Then: []human.ProcedureCheckpoint{{Is: "address", Text: at}}}
	switch r.IntN(6) {
	case 0:
		put(human.ProcedureStep{Do: "scroll", Page: page, Title: "Scroll", ScrollY: 100 + r.IntN(900)})
	case 1:
		put(human.ProcedureStep{Do: "hover", Page: page, Title: "Point at " + name, Target: target("button", name, "button")})
	case 2, 3:
		put(click(name, there))
		put(back)
	case 4:
		put(click(name, there))
		put(click(name+" more", there+"/more"))
		deep := back
		deep.Then = []human.ProcedureCheckpoint{{Is: "address", Text: there}}
		put(deep)
		put(back)
	case 5:
		s := click(name, there)
		s.Then = []human.ProcedureCheckpoint{{Is: "opened", Page: opened}}
		put(s)
		put(human.ProcedureStep{Do: "close", Page: opened, Title: "Close", Then: []human.ProcedureCheckpoint{{Is: "closed", Page: opened}}})
		return 1
	}
	return 0
}

// expected is what a run with values has to do, as lines: all steps but those that are not always there.
func (w *work) expected(values map[string]string) []string {
	var out []string
	for _, m := range w.steps {
		if m.sometimes {
			continue
		}
		s := does(m.ProcedureStep, values, nil)
		var then []human.ProcedureCheckpoint
		for _, c := range s.Then {
			if c.Is == "address" {
				c.Text = place.ReplaceAllString(c.Text, "*")
			}
			if !place.MatchString(c.Text) {
				then = append(then, c)
			}
		}
		s.Then = then
		out = append(out, line(s))
	}
	return out
}

// line says all of a step that counts.
func line(s human.ProcedureStep) string {
	at := func(t *human.ProcedureTarget) string {
		if t == nil {
			return ""
		}
		return fmt.Sprintf("%s %q beside %q %s", t.Role, t.Name, t.Beside, t.Tag)
	}
	var then []string
	for _, c := range s.Then {
		then = append(then, fmt.Sprintf("%s %q %s %s", c.Is, c.Text, at(c.Target), c.Page))
	}
	slices.Sort(then)
	return fmt.Sprintf("%s %s %s url %q text %q %q %q %s %v writes %v title %q then %s", s.Do, s.Page, at(s.Target), s.URL, s.Text, s.Options, s.Files, s.Key, s.Dialogs, s.Writes, s.Title, strings.Join(then, ", "))
}
