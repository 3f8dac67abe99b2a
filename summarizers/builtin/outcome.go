package builtin

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deskbell/backend/human"
)

// What the agent expects to come of the work may stand under any of these names.
var expectations = []string{"expected_outcome", "expected_result", "expected_results", "expected"}

// Limits on what is read of an expectation.
const (
	maxClauses   = 5
	maxWitnesses = 5000 // different texts, the last ones: earlier ones would not count against them
)

// A witness is something seen or said that may tell whether what was expected has come about.
type witness struct {
	text  string
	ref   human.Ref
	kind  witnessKind
	field string // it is the value of
	at    int    // in reading.acts, so that what came last counts; what was said afterwards comes after all of them
	claim
}

type witnessKind int

const (
	seenTitle   witnessKind = iota // of a window or dialog
	seenPage                       // the title of a page
	seenElement                    // what an element says
	seenMessage                    // a message of a page
	seenField                      // a value
	saidNote                       // a note on the way
	saidAnswer                     // the operator's words
)

// expected are the texts of what the agent expects, with the name they have in details.
func (r *reading) expected() (texts []string, name string) {
	var details map[string]json.RawMessage
	if len(r.in.Operation.Details) == 0 || json.Unmarshal(r.in.Operation.Details, &details) != nil {
		return nil, ""
	}
	for _, name := range expectations {
		var one string
		if json.Unmarshal(details[name], &one) == nil && strings.TrimSpace(one) != "" {
			return sentences(one), name
		}
		var many []any
		if json.Unmarshal(details[name], &many) == nil {
			for _, x := range many {
				if s, ok := x.(string); ok && strings.TrimSpace(s) != "" {
					texts = append(texts, sentences(s)...)
				}
			}
			if len(texts) > 0 {
				return texts, name
			}
		}
	}
	return nil, ""
}

// sentences takes an expectation apart into what can hold each for itself.
func sentences(text string) []string {
	var out []string
	from := 0
	r := []rune(text)
	cut := func(to, next int) {
		if s := strings.TrimSpace(string(r[from:to])); s != "" {
			out = append(out, s)
		}
		from = next
	}
	for i, c := range r {
		switch c {
		case '。', '；', '\n', '！', ';', '!':
			cut(i, i+1)
		case '.':
			if stops(r, i) {
				cut(i, i+1)
			}
		}
	}
	cut(len(r), len(r))
	var parts []string
	for _, s := range out {
		parts = append(parts, joints(s)...)
	}
	return parts[:min(len(parts), maxClauses)]
}

// joints parts what is joined by and, where both sides can stand alone.
func joints(s string) []string {
	for _, and := range []string{", and ", " and ", "，并且", "，而且", "，同时", "，并", "，", "并且", ", "} {
		before, after, found := strings.Cut(s, and)
		if !found {
			continue
		}
		a, b := claims(before), claims(after)
		if a.stands() && b.stands() {
			return append([]string{strings.TrimSpace(before)}, joints(strings.TrimSpace(after))...)
		}
	}
	return []string{s}
}

// stands says whether a claim says something by itself.
func (c claim) stands() bool {
	verb, noun := false, len(c.paths) > 0
	for w := range c.words {
		if w[0] == '!' {
			verb = true
		} else {
			noun = true
		}
	}
	return verb && noun
}

// findOutcome holds what was expected against what was seen and said.
func findOutcome(r *reading) []human.Finding {
	texts, called := r.expected()
	if len(texts) == 0 {
		return nil
	}
	request := human.Ref{Kind: human.RefRequest, ID: called}
	witnesses := r.witnesses()
	var out []human.Finding
	for _, text := range texts {
		e := claims(text)
		if len(e.words) == 0 && len(e.paths) == 0 {
			continue
		}
		out = append(out, r.outcome(text, e, witnesses, request))
	}
	return out
}

// A result is how an expectation came out, for the line and for suggestions.
type result struct {
	verdict
	brief string // what was seen
	by    []human.Ref
}

// judgedAs keeps how an expectation came out, and makes its finding.
func (r *reading) judgedAs(v verdict, brief string, confidence float64, text string, evidence ...human.Ref) human.Finding {
	r.results = append(r.results, result{v, brief, evidence})
	return finding(human.FoundOutcome, confidence, text, evidence...)
}

// met says whether all that was expected was seen or said to have come about.
func (r *reading) met() bool {
	return len(r.results) > 0 && !slices.ContainsFunc(r.results, func(x result) bool { return x.verdict != agrees })
}

// outcome judges one expectation.
func (r *reading) outcome(text string, e claim, witnesses []witness, request human.Ref) human.Finding {
	quoted := r.quote(text)
	said := r.judge(text, e, witnesses)
	if said.w == nil || said.w.kind < seenField {
		if w, v := fieldSays(text, witnesses); w != nil {
			said = judged{w, v}
		}
	}
	if said.w == nil {
		if a, ok := r.dragged(text); ok {
			return r.judgedAs(agrees, r.deed(a), 0.8, r.say("As expected (%s): %s", "符合预期（%s）：%s", quoted, r.deed(a)), a.ref(), request)
		}
	}
	if d := r.unwanted(e); d != nil {
		seen := r.say("dialog %s came up", "出现了对话框%s", r.quote(d.title))
		return r.judgedAs(differs, seen, 0.85, r.say("Expected %s, but %s", "与预期（%s）不符：%s", quoted, seen), r.acts[d.opened].ref(), request)
	}
	if len(e.paths) > 0 {
		if f, ok := r.fileOutcome(text, e, said, request); ok {
			return f
		}
	}
	if said.w == nil {
		if f := r.fileLike(text, e); f != nil {
			return r.judgedAs(unsaid, r.fileBrief(f), 0.7, r.say("Of the expected outcome (%s), there is this: %s; the rest cannot be told from the recording", "与预期结果（%s）有关的有：%s；其余部分无法从录制中得知", quoted, r.lastFate(f)),
				f.last().ref(), request)
		}
		if len(r.in.Recordings) == 0 {
			return r.judgedAs(unsaid, "", 0.6, r.say("The answer does not confirm what was expected: %s", "答复内容不足以确认预期结果%s", quoted), request)
		}
		return r.judgedAs(unsaid, "", 0.6, r.say("The recording does not confirm what was expected: %s", "录制内容不足以确认预期结果%s", quoted), request)
	}
	seen, brief := r.seen(said.w), "“"+clean(said.w.text, maxBrief)+"”"
	switch said.verdict {
	case agrees:
		return r.judgedAs(agrees, brief, said.w.sure(), r.say("As expected (%s): %s", "符合预期（%s）：%s", quoted, seen), said.w.ref, request)
	case otherNumber:
		return r.judgedAs(otherNumber, brief, 0.7, r.say("Expected %s, but with another number: %s", "数字与预期（%s）不一致：%s", quoted, seen), said.w.ref, request)
	}
	return r.judgedAs(differs, brief, 0.8, r.say("Expected %s, but %s", "与预期（%s）不符：%s", quoted, seen), said.w.ref, request)
}

// sure is how far what a witness says can be relied on.
func (w *witness) sure() float64 {
	switch w.kind {
	case seenElement:
		return 0.75
	case seenField, saidAnswer, saidNote:
		return 0.9
	}
	return 0.85
}

// seen says who says what.
func (r *reading) seen(w *witness) string {
	q := r.quote(w.text)
	switch w.kind {
	case seenPage:
		return r.say("a page was titled %s", "页面标题为%s", q)
	case seenElement:
		return r.say("the screen said %s", "界面上显示%s", q)
	case seenMessage:
		return r.say("a message said %s", "提示信息为%s", q)
	case seenField:
		return r.say("%s is %s", "%s 为%s", clean(w.field, maxField), q)
	case saidNote:
		return r.say("the operator noted %s", "操作者备注%s", q)
	case saidAnswer:
		return r.say("the operator says %s", "操作者说%s", q)
	}
	return r.say("a window was titled %s", "窗口标题为%s", q)
}

type judged struct {
	w *witness
	verdict
}

// judge asks all witnesses; what was seen or said last counts, and what was said counts more than what was seen. What
// was seen and speaks of an error confirms nothing.
func (r *reading) judge(text string, e claim, witnesses []witness) (out judged) {
	for i := range witnesses {
		w := &witnesses[i]
		v := e.holds(w.claim)
		if v == agrees && w.kind < seenField && trouble(w.text) && !trouble(text) {
			v = unsaid
		}
		switch {
		case v == unsaid:
		case out.w == nil, v == otherNumber == (out.verdict == otherNumber) && w.at >= out.w.at:
			out = judged{w, v}
		case v != otherNumber && out.verdict == otherNumber: // which may be about something else
			out = judged{w, v}
		}
	}
	return out
}

// fileOutcome judges an expectation that names a file.
func (r *reading) fileOutcome(text string, e claim, said judged, request human.Ref) (human.Finding, bool) {
	quoted := r.quote(text)
	gone := e.says["delete"] != (saying{}) && !e.says["delete"].contrary || e.says["exist"].contrary || e.says["create"].contrary
	kept := e.says["change"].contrary || e.says["delete"].contrary
	made := r.made()
	var hits []*file
	var near *file
	paths := e.paths
	for _, f := range made {
		// A name with spaces in it is known once it is seen.
		if n := baseName(cmp.Or(f.now, f.was)); strings.ContainsAny(n, " ,()“”") && strings.Contains(text, n) {
			hits = append(hits, f)
			paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return strings.Contains(n, p) })
		}
	}
	for _, p := range paths {
		var hit, was *file // was: it had that name, and has another now
		for _, f := range made {
			at := f.now
			if at == "" {
				at = cmp.Or(f.was, f.ops[0].File.Path)
			}
			if r.samePath(p, at, f.last()) && (hit == nil || f.now != "") {
				hit = f
				continue
			}
			for _, a := range f.ops {
				if a.File != nil && a.File.Op == "renamed" && (r.samePath(p, a.File.To, a) || r.samePath(p, a.File.Path, a)) {
					was = f
				}
			}
			if near == nil && !gone && alike(p, f.now) {
				near = f
			}
		}
		if hit == nil && was != nil && was.now != "" && !gone && !kept {
			return r.judgedAs(differs, r.fileBrief(was), 0.9, r.say("Expected %s, but %s", "与预期（%s）不符：%s", quoted, r.lastFate(was)), append(refs(was.ops...), request)...), true
		}
		if hit != nil && !slices.Contains(hits, hit) {
			hits = append(hits, hit)
		} else if hit == nil && !isFolder(p) {
			if said.w != nil || near == nil || kept {
				return human.Finding{}, false // somebody says more, or nobody anything
			}
			return r.judgedAs(differs, r.fileBrief(near), 0.8, r.say("Expected %s, but %s", "与预期（%s）不符：实际情况是%s", quoted, r.lastFate(near)),
				near.last().ref(), request), true
		}
	}
	if len(hits) == 0 {
		return human.Finding{}, false
	}
	rest := r.beside(text, hits)
	var evidence []human.Ref
	var what, brief []string
	for _, f := range hits {
		evidence = append(evidence, f.last().ref())
		what, brief = append(what, r.lastFate(f)), append(brief, r.fileBrief(f))
		if gone != (f.now == "") {
			if !gone {
				return r.judgedAs(differs, r.fileBrief(f), 0.9, r.say("Expected %s, but %s", "与预期（%s）不符：%s", quoted, r.lastFate(f)), f.last().ref(), request), true
			}
			return human.Finding{}, false
		}
	}
	evidence = append(evidence, request)
	all, short := strings.Join(what, r.say(", ", "，")), strings.Join(brief, r.say(", ", "，"))
	switch {
	case kept:
		return r.judgedAs(differs, short, 0.9, r.say("Expected %s, but %s", "与预期（%s）不符：%s", quoted, all), evidence...), true
	case rest >= someRest && said.w != nil && said.verdict != agrees:
		return human.Finding{}, false
	case rest >= someRest && said.w == nil:
		return r.judgedAs(unsaid, short, 0.8, r.say("Of the expected outcome (%s), the file is there: %s; the rest cannot be told from the recording", "预期结果（%s）中的文件已有：%s；其余部分无法从录制中得知", quoted, all), evidence...), true
	}
	return r.judgedAs(agrees, short, 0.95, r.say("As expected (%s): %s", "符合预期（%s）：%s", quoted, all), evidence...), true
}

// someRest is the weight of words beside a file's name that say something more of it.
const someRest = 0.5

var placeShape = regexp.MustCompile(`(?i)\b(?:in|into|to|under|inside|at)\s+(?:the\s+)?(?:folder\s+)?([\p{L}\p{N}_-]+)|([\p{Han}\p{N}A-Za-z_-]+?)(?:文件夹|目录)`)

// beside is the weight of what an expectation says beside that files are there, by their names and in their folders.
func (r *reading) beside(text string, hits []*file) float64 {
	paths := claims(text).paths
	for _, f := range hits {
		at := cmp.Or(f.now, f.was)
		text = strings.ReplaceAll(text, baseName(at), " ")
		dir := strings.ToLower(folder(at))
		text = placeShape.ReplaceAllStringFunc(text, func(place string) string {
			m := placeShape.FindStringSubmatch(place)
			if named := strings.ToLower(cmp.Or(m[1], m[2])); named != "" && strings.Contains(dir, named) {
				return " "
			}
			return place
		})
	}
	for _, p := range paths {
		text = strings.ReplaceAll(text, p, " ")
	}
	rest := 0.0
	for w, weight := range claims(text).words {
		switch w {
		case "!save", "!create", "!exist", "!export", "!delete", "!rename", "!move", "!copy", "!change", "!ok", "!receive", "file", "folder", "contain", "document", "文档", "目录":
		default:
			rest += weight
		}
	}
	return rest
}

var fieldShape = regexp.MustCompile(`(?i)^(?:the\s+)?([\p{L}\p{N}_ ]+?)(?:\s+(?:is|are|equals|reads|says|=)\s+|\s*[=:：]\s*|为|是)(.+)$`)

// fieldSays holds an expectation of the form FIELD is VALUE against the field of that name, if there is one.
func fieldSays(text string, witnesses []witness) (*witness, verdict) {
	m := fieldShape.FindStringSubmatch(strings.TrimRight(strings.TrimSpace(text), ".。"))
	if m == nil {
		return nil, unsaid
	}
	field, value := flat(m[1]), flat(m[2])
	for i := range witnesses { // the latest come first
		w := &witnesses[i]
		if w.kind != seenField || flat(w.field) != field || strings.TrimSpace(value) == "" {
			continue
		}
		is := flat(w.text)
		switch {
		case is == value:
			return w, agrees
		case strings.Contains(is, value) || strings.Contains(value, is) || startsWith(m[2], enValueNot, zhValueNot):
			return nil, unsaid // more or less than that, or all but that: who knows
		}
		return w, differs
	}
	return nil, unsaid
}

// unwanted is the last dialog that spoke of an error, where none was expected.
func (r *reading) unwanted(e claim) (found *dialog) {
	if !e.says["is"].contrary || len(e.says) > 1 {
		return nil
	}
	for w := range e.words {
		if !slices.Contains([]string{"error", "warn", "warning", "problem", "failur", "messag", "alert", "!is"}, w) {
			return nil
		}
	}
	for _, d := range r.screen().dialogs {
		if d.title != "" && r.screen().trouble(d.title) {
			found = d
		}
	}
	return found
}

// dragged is the last drag between two things that an expectation names both.
func (r *reading) dragged(text string) (found act, ok bool) {
	low := flat(text)
	named := func(e *human.Element) bool {
		n := elementName(e)
		return len([]rune(n)) > 1 && (strings.Contains(low, flat(n)) || hasHan(n) && strings.Contains(text, n))
	}
	for _, a := range r.acts {
		if a.Type == human.Drag && named(a.Element) && named(a.Target) && elementName(a.Element) != elementName(a.Target) {
			found, ok = a, true
		}
	}
	return found, ok && !claims(text).contrary()
}

// contrary says whether a claim says of anything that it is not.
func (c claim) contrary() bool {
	for _, s := range c.says {
		if s.contrary {
			return true
		}
	}
	return false
}

var kindShape = regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}]|\p{Han})(pdf|csv|tsv|txt|png|jpe?g|svg|xlsx?|docx?|pptx?|odt|ods|json|xml|html?|zip|mp3|mp4|excel|word)(?:$|[^\p{L}\p{N}]|\p{Han})`)

// parted takes the name of a file apart into words.
var parted = strings.NewReplacer("-", " ", "_", " ", ".", " ")

// fileLike is a file that was made or downloaded and may be what is meant: of the kind that is named, and with a word
// in common, or one that was downloaded where a download is expected.
func (r *reading) fileLike(text string, e claim) *file {
	if e.contrary() {
		return nil
	}
	kinds := map[string]bool{}
	for _, m := range kindShape.FindAllStringSubmatch(text, -1) {
		k := strings.ToLower(m[1])
		kinds[k] = true
		switch k {
		case "excel":
			kinds["xlsx"], kinds["xls"] = true, true
		case "word":
			kinds["docx"], kinds["doc"] = true, true
		case "jpeg", "jpg":
			kinds["jpg"], kinds["jpeg"] = true, true
		}
	}
	var found *file
	for _, f := range r.made() {
		if f.now == "" || f.dir {
			continue
		}
		ext := strings.TrimPrefix(strings.ToLower(path.Ext(f.now)), ".")
		if len(kinds) > 0 && !kinds[ext] {
			continue
		}
		stem := strings.TrimSuffix(baseName(f.now), path.Ext(f.now))
		common := false
		for w, weight := range claims(parted.Replace(stem)).words {
			common = common || weight >= 0.5 && e.words[w] >= 0.5
		}
		_, exports := e.says["export"]
		if common && (len(kinds) > 0 || exports) || exports && f.last().Type == human.Download {
			found = f
		}
	}
	return found
}

// isFolder says whether a path names no file.
func isFolder(p string) bool { return strings.HasSuffix(p, "/") || path.Ext(p) == "" }

// maxBrief characters of what was seen go into the line.
const maxBrief = 48

// fileBrief says shortly what was last done to a file.
func (r *reading) fileBrief(f *file) string {
	if c := f.last().File; c != nil {
		n := r.exactly(baseName(cmp.Or(f.now, f.was, c.Path)), maxName)
		switch c.Op {
		case "created":
			return r.say("%s was created", "新建了 %s", n)
		case "deleted":
			return r.say("%s was deleted", "%s 已被删除", n)
		case "renamed":
			if folder(c.Path) != folder(c.To) {
				return r.say("%s was moved to %s", "%s 已移到 %s", n, r.exactly(baseName(folder(c.To)), maxName))
			}
			return r.say("%s was renamed to %s", "%s 已重命名为 %s", r.exactly(baseName(c.Path), maxName), n)
		}
		return r.say("%s was saved", "保存了 %s", n)
	}
	return r.say("%s was downloaded", "下载了 %s", r.exactly(f.now, maxName))
}

// lastFate says what was last done to a file, so that one piece of evidence tells it.
func (r *reading) lastFate(f *file) string {
	c := f.last().File
	if c == nil {
		return r.say("%s was downloaded", "下载了 %s", r.exactly(f.now, maxSaid))
	}
	switch c.Op {
	case "created":
		return r.say("%s was created", "新建了 %s", r.exactly(c.Path, maxSaid))
	case "renamed":
		return r.say("%s is now %s", "%s 现在是 %s", r.exactly(baseName(c.Path), maxSaid), r.exactly(c.To, maxSaid))
	case "deleted":
		return r.say("%s was deleted", "%s 已被删除", r.exactly(c.Path, maxSaid))
	}
	return r.say("%s was saved", "保存了 %s", r.exactly(c.Path, maxSaid))
}

// made are the files of folders that were watched, and those that were downloaded.
func (r *reading) made() []*file {
	out := slices.Clone(r.files())
	for _, a := range r.acts {
		if a.Type == human.Download {
			for _, t := range a.Transfers {
				if t.State == "completed" && t.Name != "" {
					out = append(out, &file{now: t.Name, ops: []act{a}})
				}
			}
		}
	}
	return out
}

// samePath says whether a file is the one that is named: by its whole path, from the home folder, from a watched
// folder, by its name, or by the folder it lies in.
func (r *reading) samePath(named, at string, a act) bool {
	if at == "" {
		return false
	}
	named, at = strings.ReplaceAll(named, `\`, "/"), strings.ReplaceAll(at, `\`, "/")
	dir := strings.HasSuffix(named, "/") || path.Ext(named) == ""
	named = strings.TrimSuffix(named, "/")
	if rest, ok := strings.CutPrefix(named, "~/"); ok {
		if !strings.HasPrefix(at, "/") && !strings.Contains(at, ":/") {
			return path.Base(named) == at // of a download the folder is not known
		}
		return strings.HasSuffix(at, "/"+rest) || dir && strings.HasSuffix(path.Dir(at), "/"+rest)
	}
	switch {
	case named == at, dir && path.Dir(at) == named:
		return true
	case !strings.HasPrefix(named, "/") && !strings.Contains(named, ":/"):
		return strings.HasSuffix(at, "/"+named) || dir && strings.Contains(named, "/") && strings.HasSuffix(path.Dir(at), "/"+named)
	}
	return a.File == nil && path.Base(named) == at
}

// alike says whether a file may be the one that is named under another name: of the same kind in the same folder, or
// with the same name and another end.
func alike(named, at string) bool {
	named, at = strings.ReplaceAll(named, `\`, "/"), strings.ReplaceAll(at, `\`, "/")
	if at == "" || path.Ext(named) == "" {
		return false
	}
	stem := func(p string) string { return strings.ToLower(strings.TrimSuffix(path.Base(p), path.Ext(p))) }
	a, b := stem(named), stem(at)
	if a == b {
		return true
	}
	return strings.EqualFold(path.Ext(named), path.Ext(at)) && len(a) > 3 && len(b) > 3 && (strings.Contains(a, b) || strings.Contains(b, a))
}

// witnesses are all that was seen and said, each text once, as it was last; the latest come first.
func (r *reading) witnesses() []witness {
	var out []witness
	known := map[string]bool{}
	add := func(kind witnessKind, text string, at int, ref human.Ref) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		if key := string(rune('a'+kind)) + text; !known[key] && len(out) < maxWitnesses {
			known[key] = true
			out = append(out, witness{text: text, ref: ref, kind: kind, at: at})
		}
	}
	field := func(called, value string, at int, ref human.Ref) {
		add(seenField, strings.ReplaceAll(called, "\x00", " ")+"\x00"+value, at, ref) // a name may have anything in it
	}
	n := len(r.acts)
	for _, called := range slices.Sorted(maps.Keys(r.in.Answer.Fields)) {
		value := r.in.Answer.Fields[called]
		if value != "" && len(value) < maxSaid && !strings.HasPrefix(value, "[") {
			field(called, value, n, human.Ref{Kind: human.RefField, ID: called})
		}
	}
	for _, s := range split(r.in.Answer.ExecutionResult) {
		add(saidAnswer, s, n+1, human.Ref{Kind: human.RefAnswer, ID: "execution_result"})
	}
	for _, s := range split(r.in.Answer.HumanInput) {
		add(saidAnswer, s, n+1, human.Ref{Kind: human.RefAnswer, ID: "human_input"})
	}
	for i := len(r.acts) - 1; i >= 0 && len(out) < maxWitnesses; i-- {
		a := r.acts[i]
		ref := a.ref()
		switch {
		case a.Type == human.Note:
			add(saidNote, a.Text, i, ref)
			continue
		case a.Page != nil:
			if !r.badPage(i) {
				add(seenPage, a.Page.Title, i, ref)
			}
		case a.Window != nil && a.Type != human.FileOperation:
			add(seenTitle, a.Window.Title, i, ref)
		}
		if a.Type == human.SwitchWindow && a.Element != nil {
			add(seenTitle, a.Element.Name, i, ref)
		} else if e := a.Element; e != nil && !isControl(e) && e.Role != "list" && e.Role != "listitem" && e.Role != "cell" && e.Role != "gridcell" {
			add(seenElement, elementName(e), i, ref)
		}
		if a.Element != nil {
			add(seenTitle, inDialog(a.Element), i, ref)
		}
		if d := a.Dialog; d != nil {
			add(seenMessage, d.Message, i, ref)
		}
		if p := a.Pick; p != nil && len(p.Rows) == 0 && len(p.Text) < maxSaid {
			field(p.Field, p.Text, i, ref)
		}
	}
	for i := range out {
		w := &out[i]
		if called, value, found := strings.Cut(w.text, "\x00"); found && w.kind == seenField {
			w.claim = claims(strings.ReplaceAll(called, "_", " ") + " " + value)
			w.field, w.text = called, value
		} else {
			w.claim = claims(w.text)
		}
		w.unreal = w.unreal || asks(w.text)
	}
	return out
}

// badPage says whether an action is in a page that could not be opened, or that came with an error.
func (r *reading) badPage(i int) bool {
	if n := r.acts[i].Navigation; n != nil && (n.Failed != "" || n.Status >= 400) {
		return true
	}
	v := r.pages().in[i]
	if v == nil || v.came < 0 {
		return false
	}
	n := r.acts[v.came].Navigation
	return n != nil && (n.Failed != "" || n.Status >= 400)
}

// stops says whether a full stop ends a sentence: not after an initial, nor within a name or a number.
func stops(r []rune, i int) bool {
	if i+1 < len(r) && r[i+1] != ' ' && r[i+1] != '\n' {
		return false
	}
	from := i
	for from > 0 && unicode.IsLetter(r[from-1]) {
		from--
	}
	switch word := string(r[from:i]); {
	case i+1 == len(r):
		return true
	case len(word) == 1 && unicode.IsUpper(rune(word[0])), word == "Mr", word == "Mrs", word == "Ms", word == "Dr", word == "No", word == "St", word == "vs", word == "etc", word == "approx":
		return false
	}
	return true
}

// split takes what somebody said apart into sentences.
func split(text string) []string {
	var out []string
	from := 0
	r := []rune(text)
	cut := func(to, next int) {
		if s := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(string(r[from:to])), "-*•· ")); s != "" {
			out = append(out, s)
		}
		from = next
	}
	for i, c := range r {
		switch c {
		case '\n', '。', '！', '？', '；', '!', '?', ';':
			next := i + 1
			if c == '？' || c == '?' {
				cut(i+1, next) // a question is one by its mark
			} else {
				cut(i, next)
			}
		case '.':
			item := i > 0 && unicode.IsDigit(r[i-1]) && from >= i-2 // 1. of a list
			if stops(r, i) && !item {
				cut(i, i+1)
			}
		}
	}
	cut(len(r), len(r))
	return out
}
