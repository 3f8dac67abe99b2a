package find

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// What the agent expects to come of the work may stand under any of these names.
var expectations = []string{"expected_outcome", "expected_result", "expected_results", "expected"}

// maxObservations different texts are looked at, the last ones: earlier ones would not count against them.
const maxObservations = 5000

// A observation is something seen or said that may tell whether what was expected has come about.
type observation struct {
	text  string
	ref   human.Ref
	kind  observationKind
	field string // it is the value of
	at    int    // in reading.acts, so that what came last counts; what was said afterwards comes after all of them
	facts.Claim
}

type observationKind int

const (
	seenTitle   observationKind = iota // of a window or dialog
	seenPage                           // the title of a page
	seenElement                        // what an element says
	seenMessage                        // a message of a page
	seenField                          // a value
	saidNote                           // a note on the way
	saidAnswer                         // the operator's words
)

// expected are the texts of what the agent expects, with the name they have in details.
func (r *Result) expected() (texts []string, name string) {
	var details map[string]json.RawMessage
	if len(r.In.Operation.Details) == 0 || json.Unmarshal(r.In.Operation.Details, &details) != nil {
		return nil, ""
	}
	for _, name := range expectations {
		var one string
		if json.Unmarshal(details[name], &one) == nil && strings.TrimSpace(one) != "" {
			return facts.Sentences(one), name
		}
		var many []any
		if json.Unmarshal(details[name], &many) == nil {
			for _, x := range many {
				if s, ok := x.(string); ok && strings.TrimSpace(s) != "" {
					texts = append(texts, facts.Sentences(s)...)
				}
			}
			if len(texts) > 0 {
				return texts, name
			}
		}
	}
	return nil, ""
}

// findOutcome holds what was expected against what was seen and said.
func findOutcome(r *Result) []Claim {
	texts, called := r.expected()
	if len(texts) == 0 {
		return nil
	}
	request := human.Ref{Kind: human.RefRequest, ID: called}
	witnesses := r.observations()
	var out []Claim
	for _, text := range texts {
		e := facts.Claims(text)
		if len(e.Words) == 0 && len(e.Paths) == 0 {
			continue
		}
		out = append(out, r.outcome(text, e, witnesses, request))
	}
	return out
}

// judgedAs keeps how an expectation came out, and makes its finding.
func (r *Result) judgedAs(v facts.Verdict, brief Phrase, confidence float64, text Phrase, evidence ...human.Ref) Claim {
	r.Outcomes = append(r.Outcomes, v)
	c := claim(human.FoundOutcome, confidence, text, evidence...)
	c.Verdict, c.Doubt, c.Brief, c.OfFile = v, v == facts.Unsaid, brief, r.ofFiles(evidence)
	switch {
	case v == facts.Agrees:
		c.Brief = say("line-as-expected", brief)
	case v != facts.Unsaid:
		c.Brief = say("line-otherwise", brief)
	case brief.None():
		c.Brief = say("line-not-confirmed")
	}
	return c
}

// ofFiles says whether what was recorded of some evidence is of files only.
func (r *Result) ofFiles(evidence []human.Ref) (some bool) {
	for _, ref := range evidence {
		if !ref.Recorded() {
			continue
		}
		if i := r.Index(ref.Recording, ref.ID); i < 0 || r.Actions[i].Type != human.FileOperation && r.Actions[i].Type != human.Download {
			return false
		}
		some = true
	}
	return some
}

// met says whether all that was expected was seen or said to have come about.
func (r *Result) met() bool {
	return len(r.Outcomes) > 0 && !slices.ContainsFunc(r.Outcomes, func(v facts.Verdict) bool { return v != facts.Agrees })
}

// outcome judges one expectation.
func (r *Result) outcome(text string, e facts.Claim, witnesses []observation, request human.Ref) Claim {
	quoted := facts.Quote(text)
	said := r.judge(text, e, witnesses)
	if said.w == nil || said.w.kind <= seenField { // what was said counts more
		ref, seen, v := r.meant(text, witnesses)
		if ref == nil {
			ref, seen, v = r.gotIn(e)
		}
		if up := false; ref == nil {
			if ref, seen, v, up = r.wentUp(e); up && ref == nil {
				return r.judgedAs(facts.Unsaid, Phrase{}, 0.6, say("recording-does-not-confirm", quoted), request)
			}
		}
		if ref == nil && said.w == nil {
			if why, evidence, ok := r.allRefused(e); ok {
				return r.judgedAs(facts.Differs, why, 0.85, say("expected-but", quoted, why), append(evidence, request)...)
			}
		}
		if ref != nil {
			key := map[facts.Verdict]string{facts.Agrees: "as-expected", facts.Differs: "expected-but"}[v]
			return r.judgedAs(v, seen, 0.9, say(key, quoted, seen), *ref, request)
		}
	}
	if d := r.unwanted(e); d != nil {
		seen := say("seen-dialog", facts.Quote(d.Title))
		return r.judgedAs(facts.Differs, seen, 0.85, say("expected-but", quoted, seen), r.Actions[d.Opened].Ref(), request)
	}
	if len(e.Paths) > 0 {
		if f, ok := r.fileOutcome(text, e, said, request); ok {
			return f
		}
	}
	if said.w == nil {
		if f := r.fileLike(text, e); f != nil {
			return r.judgedAs(facts.Unsaid, r.fileBrief(f), 0.7, say("expected-in-part", quoted, r.lastChange(f)),
				f.Last().Ref(), request)
		}
		if len(r.In.Recordings) == 0 {
			return r.judgedAs(facts.Unsaid, Phrase{}, 0.6, say("answer-does-not-confirm", quoted), request)
		}
		return r.judgedAs(facts.Unsaid, Phrase{}, 0.6, say("recording-does-not-confirm", quoted), request)
	}
	seen, brief := said.w.seen(facts.Quote(said.w.text)), said.w.seen("“"+facts.Clean(said.w.text, maxBrief)+"”")
	switch said.Verdict {
	case facts.Agrees:
		return r.judgedAs(facts.Agrees, brief, said.w.sure(), say("as-expected", quoted, seen), said.w.ref, request)
	case facts.OtherNumber:
		return r.judgedAs(facts.OtherNumber, brief, 0.7, say("expected-other-number", quoted, seen), said.w.ref, request)
	}
	return r.judgedAs(facts.Differs, brief, 0.8, say("expected-but", quoted, seen), said.w.ref, request)
}

// deeds are verbs of what pages are sent for. That something of it has come about by itself is not to be expected.
var deeds = []string{"create", "add", "save", "change", "delete", "send", "publish", "pay", "approve", "import"}

// allRefused says whether a deed was expected, and all that pages sent in a recording was turned down, with nothing done after that
// may have sent more: why the last of it was.
func (r *Result) allRefused(e facts.Claim) (why Phrase, evidence []human.Ref, ok bool) {
	if e.Contrary() || e.Unreal || !slices.ContainsFunc(deeds, func(d string) bool { _, says := e.Says[d]; return says }) {
		return why, nil, false
	}
	last := -1
	for i, a := range r.Actions {
		said := slices.DeleteFunc(slices.Clone(r.Pages().Effects[i]), func(j int) bool { return !r.tells(j) })
		bad := slices.IndexFunc(said, func(j int) bool { return facts.Objects(r.Actions[j]) })
		status := facts.Refused(a)
		switch {
		case a.Type == human.PageSaid:
		case status == 404 || status == 410, a.Type == human.FileOperation, a.Type == human.Missing, status != 0 && !facts.TurnedDown(a), bad >= 0 && facts.Accepted(a):
			return why, nil, false // it may be gone as it was to be, or have come about
		case bad >= 0:
			last, evidence = i, r.RefsAt(i, said[bad])
			why = r.failure(i, say("answer-was-message", facts.Quote(facts.Spoken(r.Actions[said[bad]]))))
		case status != 0:
			last, evidence = i, r.RefsAt(i)
			why = r.failure(i, say("answer-was", status))
		case len(a.Answers) > 0 && !facts.IsPassword(a) && !r.signsIn(i), len(said) > 0 && !r.signsIn(i), facts.KindOf(a) == "form" && !r.signsIn(r.Index(a.Rec.ID, a.CausedBy)):
			return why, nil, false
		}
	}
	if last < 0 || why.None() || r.signsIn(last) {
		return why, nil, false
	}
	rec := r.Actions[last].Rec
	return why, evidence, len(r.In.Recordings) == 1 && r.none(search{rec, []human.SourceName{human.BrowserSource}, last + 1, len(r.Actions)}, func(i int) bool { return !r.Inert(i) })
}

// signsIn says whether an action sends a form to sign in with.
func (r *Result) signsIn(i int) bool {
	return slices.ContainsFunc(r.Pages().Sends, func(s *facts.Send) bool { return s.At == i && s.Secret && r.IsSignIn(s) })
}

// sure is how far what a witness says can be relied on.
func (w *observation) sure() float64 {
	switch w.kind {
	case seenElement:
		return 0.75
	case seenField, saidAnswer, saidNote:
		return 0.9
	}
	return 0.85
}

// seen says who says what, which is quoted.
func (w *observation) seen(quoted string) Phrase {
	switch w.kind {
	case seenPage:
		return say("seen-page-title", quoted)
	case seenElement:
		return say("seen-element", quoted)
	case seenMessage:
		return say("seen-message", quoted)
	case seenField:
		return say("seen-field", facts.Clean(w.field, MaxField), quoted)
	case saidNote:
		return say("seen-operator-noted", quoted)
	case saidAnswer:
		return say("seen-operator-says", quoted)
	}
	return say("seen-window-title", quoted)
}

type judged struct {
	w *observation
	facts.Verdict
}

// judge asks all witnesses; what was seen or said last counts, and what was said counts more than what was seen. What
// was seen and speaks of an error confirms nothing.
func (r *Result) judge(text string, e facts.Claim, witnesses []observation) (out judged) {
	for i := range witnesses {
		w := &witnesses[i]
		v := e.Compare(w.Claim)
		if v == facts.Agrees && w.kind < seenField && !facts.Trouble(text) && (facts.Trouble(w.text) || r.objects(w)) {
			v = facts.Unsaid
		}
		if v == facts.Agrees && w.kind <= seenField && onlyThere(e) && !slices.ContainsFunc(e.Paths, func(p string) bool { return strings.Contains(w.text, facts.BaseName(p)) }) {
			v = facts.Unsaid // it has a word like file, and not the name of the one that is meant
		}
		switch {
		case v == facts.Unsaid:
		case out.w == nil, v == facts.OtherNumber == (out.Verdict == facts.OtherNumber) && w.at >= out.w.at:
			out = judged{w, v}
		case v != facts.OtherNumber && out.Verdict == facts.OtherNumber: // which may be about something else
			out = judged{w, v}
		}
	}
	return out
}

// objects says whether a page's message tells that something is wrong, by its words or because the site took nothing of what it
// answers.
func (r *Result) objects(w *observation) bool {
	if w.kind != seenMessage {
		return false
	}
	a := r.Actions[w.at]
	by := r.Index(a.Rec.ID, a.CausedBy)
	return facts.Objects(a) || by >= 0 && facts.TurnedDown(r.Actions[by])
}

// onlyThere says whether an expectation is no more than that there are files, by their names.
func onlyThere(e facts.Claim) bool {
	for what := range e.Says {
		if what != "is" && what != "exist" {
			return false
		}
	}
	return len(e.Paths) > 0
}

// fileOutcome judges an expectation that names a file.
func (r *Result) fileOutcome(text string, e facts.Claim, said judged, request human.Ref) (Claim, bool) {
	quoted := facts.Quote(text)
	gone, kept := wantsGone(e), e.Says["change"].Contrary || e.Says["delete"].Contrary
	hits, paths := r.spacedNames(text, e.Paths)
	var near *facts.File
	for _, p := range paths {
		hit, was, like := r.fileAt(p)
		if !gone {
			near = cmp.Or(near, like)
		}
		switch {
		case hit == nil && was != nil && was.Now != "" && !gone && !kept:
			return r.judgedAs(facts.Differs, r.fileBrief(was), 0.9, say("expected-but", quoted, r.lastChange(was)), append(facts.Refs(was.Ops...), request)...), true
		case hit != nil && !slices.Contains(hits, hit):
			hits = append(hits, hit)
		case hit != nil || facts.IsFolder(p):
		case said.w != nil || near == nil || kept:
			return Claim{}, false // more is said of it, or nothing at all
		default:
			return r.judgedAs(facts.Differs, r.fileBrief(near), 0.8, say("expected-but-in-fact", quoted, r.lastChange(near)),
				near.Last().Ref(), request), true
		}
	}
	if len(hits) == 0 {
		return Claim{}, false
	}
	return r.filesOutcome(text, hits, gone, kept, said, request)
}

// filesOutcome judges an expectation that names files which were seen: that they are there, or gone.
func (r *Result) filesOutcome(text string, hits []*facts.File, gone, kept bool, said judged, request human.Ref) (Claim, bool) {
	quoted := facts.Quote(text)
	but := func(f *facts.File, evidence ...human.Ref) (Claim, bool) {
		return r.judgedAs(facts.Differs, r.fileBrief(f), 0.9, say("expected-but", quoted, r.lastChange(f)), append(evidence, request)...), true
	}
	rest := r.beside(text, hits)
	var evidence []human.Ref
	var what, brief []Phrase
	for _, f := range hits {
		evidence = append(evidence, f.Last().Ref())
		what, brief = append(what, r.lastChange(f)), append(brief, r.fileBrief(f))
		switch {
		case gone && f.Now != "" && slices.ContainsFunc(f.Ops, func(a facts.Action) bool { return a.File != nil && a.File.Op == "deleted" }):
			return but(f, facts.Refs(f.Ops...)...) // it came back
		case gone && f.Now != "":
			return Claim{}, false
		case !gone && f.Now == "":
			return but(f, f.Last().Ref())
		}
	}
	evidence = append(evidence, request)
	all, short := Series{"clause", what}, Phrase{Args: []any{Series{"clause", brief}}}
	switch {
	case kept:
		return r.judgedAs(facts.Differs, short, 0.9, say("expected-but", quoted, all), evidence...), true
	case rest >= someRest && said.w != nil && said.Verdict != facts.Agrees:
		return Claim{}, false
	case rest >= someRest && said.w == nil:
		return r.judgedAs(facts.Unsaid, short, 0.8, say("expected-file-is-there", quoted, all), evidence...), true
	}
	return r.judgedAs(facts.Agrees, short, 0.95, say("as-expected", quoted, all), evidence...), true
}

// wantsGone says whether files are expected not to be there.
func wantsGone(e facts.Claim) bool {
	deleted, says := e.Says["delete"]
	return says && !deleted.Contrary || e.Says["exist"].Contrary || e.Says["create"].Contrary
}

// spacedNames are the files that a text names with spaces in their names, which are known once they are seen, and the
// paths that are left.
func (r *Result) spacedNames(text string, paths []string) (hits []*facts.File, left []string) {
	left = slices.Clone(paths)
	for _, f := range r.Made() {
		if n := facts.BaseName(cmp.Or(f.Now, f.Was)); (strings.ContainsAny(n, " ,()“”") || facts.HasHan(n)) && strings.Contains(text, n) {
			hits = append(hits, f)
			left = slices.DeleteFunc(left, func(p string) bool { return strings.Contains(n, p) })
		}
	}
	return hits, left
}

// fileAt is the file at a path; one that was there and has another name now; and the first with a name much like it.
func (r *Result) fileAt(p string) (hit, was, like *facts.File) {
	for _, f := range r.Made() {
		at := f.Now
		if at == "" {
			at = cmp.Or(f.Was, f.Ops[0].File.Path)
		}
		if r.SamePath(p, at, f.Last()) && (hit == nil || f.Now != "") {
			hit = f
			continue
		}
		for _, a := range f.Ops {
			if a.File != nil && a.File.Op == "renamed" && (r.SamePath(p, a.File.To, a) || r.SamePath(p, a.File.Path, a)) {
				was = f
			}
		}
		if like == nil && facts.Alike(p, f.Now) {
			like = f
		}
	}
	return hit, was, like
}

// someRest is the weight of words beside a file's name that say something more of it.
const someRest = 0.5

var placeShape = regexp.MustCompile(`(?i)\b(?:in|into|to|under|inside|at)\s+(?:the\s+)?(?:folder\s+)?([\p{L}\p{N}_-]+)|([\p{Han}\p{N}A-Za-z_-]+?)(?:文件夹|目录)`)

// beside is the weight of what an expectation says beside that files are there, by their names and in their folders.
func (r *Result) beside(text string, hits []*facts.File) float64 {
	paths := facts.Claims(text).Paths
	for _, p := range paths { // with its folders, before the name alone leaves them over
		if strings.ContainsAny(p, `/\`) {
			text = strings.ReplaceAll(text, p, " ")
		}
	}
	for _, f := range hits {
		at := cmp.Or(f.Now, f.Was)
		text = strings.ReplaceAll(text, facts.BaseName(at), " ")
		dir := strings.ToLower(facts.Folder(at))
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
	for w, weight := range facts.Claims(text).Words {
		switch w {
		case "!save", "!create", "!exist", "!export", "!delete", "!rename", "!move", "!copy", "!change", "!ok", "!receive", "fil", "folder", "contain", "document", "文档", "目录":
		default:
			rest += weight
		}
	}
	return rest
}

// unwanted is the last dialog that spoke of an error, where none was expected.
func (r *Result) unwanted(e facts.Claim) (found *facts.Dialog) {
	if !e.Says["is"].Contrary || len(e.Says) > 1 {
		return nil
	}
	for w := range e.Words {
		if !slices.Contains([]string{"error", "warn", "warning", "problem", "failur", "messag", "alert", "!is"}, w) {
			return nil
		}
	}
	for _, d := range r.Screen().Dialogs {
		if d.Title != "" && r.Screen().Trouble(d.Title) {
			found = d
		}
	}
	return found
}

var kindShape = regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}]|\p{Han})(pdf|csv|tsv|txt|png|jpe?g|svg|xlsx?|docx?|pptx?|odt|ods|json|xml|html?|zip|mp3|mp4|excel|word)(?:$|[^\p{L}\p{N}]|\p{Han})`)

// parted takes the name of a file apart into words.
var parted = strings.NewReplacer("-", " ", "_", " ", ".", " ")

// fileLike is a file that was made or downloaded and may be what is meant: of the kind that is named, and with a word
// in common, or one that was downloaded where a download is expected.
func (r *Result) fileLike(text string, e facts.Claim) *facts.File {
	if e.Contrary() {
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
	var found *facts.File
	for _, f := range r.Made() {
		if f.Now == "" || f.Dir {
			continue
		}
		ext := strings.TrimPrefix(strings.ToLower(path.Ext(f.Now)), ".")
		if len(kinds) > 0 && !kinds[ext] {
			continue
		}
		stem := strings.TrimSuffix(facts.BaseName(f.Now), path.Ext(f.Now))
		common := false
		for w, weight := range facts.Claims(parted.Replace(stem)).Words {
			common = common || weight >= 0.5 && e.Words[w] >= 0.5
		}
		_, exports := e.Says["export"]
		if common && (len(kinds) > 0 || exports) || exports && f.Last().Type == human.Download {
			found = f
		}
	}
	return found
}

// maxBrief characters of what was seen go into the line.
const maxBrief = 48

// fileBrief says shortly what was last done to a file.
func (r *Result) fileBrief(f *facts.File) Phrase {
	if c := f.Last().File; c != nil {
		n := facts.Exactly(facts.BaseName(cmp.Or(f.Now, f.Was, c.Path)), facts.MaxName)
		switch c.Op {
		case "created":
			return say("file-was-created", n)
		case "deleted":
			return say("file-was-deleted", n)
		case "renamed":
			if facts.Folder(c.Path) != facts.Folder(c.To) {
				return say("file-was-moved", n, facts.Exactly(facts.BaseName(facts.Folder(c.To)), facts.MaxName))
			}
			return say("file-was-renamed", facts.Exactly(facts.BaseName(c.Path), facts.MaxName), n)
		}
		return say("file-was-saved", n)
	}
	return say("file-was-downloaded", facts.Exactly(f.Now, facts.MaxName))
}

// lastChange says what was last done to a file, so that one piece of evidence tells it.
func (r *Result) lastChange(f *facts.File) Phrase {
	c := f.Last().File
	if c == nil {
		return say("file-was-downloaded", facts.Exactly(f.Now, facts.MaxSaid))
	}
	switch c.Op {
	case "created":
		return say("file-was-created", facts.Exactly(c.Path, facts.MaxSaid))
	case "renamed":
		return say("file-is-now", facts.Exactly(facts.BaseName(c.Path), facts.MaxSaid), facts.Exactly(c.To, facts.MaxSaid))
	case "deleted":
		return say("file-was-deleted", facts.Exactly(c.Path, facts.MaxSaid))
	}
	return say("file-was-saved", facts.Exactly(c.Path, facts.MaxSaid))
}

// observed are observations as they are gathered: each text once.
type observed struct {
	all   []observation
	known map[observedText]bool
}

type observedText struct {
	kind        observationKind
	field, text string
}

// add gathers a text, or what a field of that name has.
func (o *observed) add(kind observationKind, field, text string, at int, ref human.Ref) {
	is := observedText{kind, strings.TrimSpace(field), strings.TrimSpace(text)}
	if is.field == "" && is.text == "" || o.known[is] || len(o.all) >= maxObservations {
		return
	}
	o.known[is] = true
	w := observation{text: is.text, field: is.field, ref: ref, kind: kind, at: at}
	claim := w.text
	if w.field != "" {
		claim = strings.ReplaceAll(w.field, "_", " ") + " " + w.text
	}
	w.Claim = facts.Claims(claim)
	w.Unreal = w.Unreal || facts.Asks(w.text)
	o.all = append(o.all, w)
}

// observations are all that was seen and said, each text once, as it was last; the latest come first.
func (r *Result) observations() []observation {
	o := observed{known: map[observedText]bool{}}
	n := len(r.Actions)
	for _, called := range slices.Sorted(maps.Keys(r.In.Answer.Fields)) {
		value := r.In.Answer.Fields[called]
		if value != "" && len(value) < facts.MaxSaid && !strings.HasPrefix(value, "[") {
			o.add(seenField, called, value, n, human.Ref{Kind: human.RefField, ID: called})
		}
	}
	for _, s := range facts.Split(r.In.Answer.ExecutionResult) {
		o.add(saidAnswer, "", s, n+1, human.Ref{Kind: human.RefAnswer, ID: "execution_result"})
	}
	for _, s := range facts.Split(r.In.Answer.HumanInput) {
		o.add(saidAnswer, "", s, n+1, human.Ref{Kind: human.RefAnswer, ID: "human_input"})
	}
	for i := n - 1; i >= 0 && len(o.all) < maxObservations; i-- {
		if a := r.Actions[i]; a.Type == human.Note {
			o.add(saidNote, "", a.Text, i, a.Ref())
		} else {
			r.observe(&o, i)
		}
	}
	return o.all
}

// observe gathers what was seen at an action.
func (r *Result) observe(o *observed, i int) {
	a := r.Actions[i]
	ref := a.Ref()
	switch {
	case a.Page != nil:
		if !r.badPage(i) {
			o.add(seenPage, "", a.Page.Title, i, ref)
		}
	case a.Window != nil && a.Type != human.FileOperation:
		o.add(seenTitle, "", a.Window.Title, i, ref)
	}
	if e := a.Element; e != nil {
		switch {
		case a.Type == human.SwitchWindow:
			o.add(seenTitle, "", e.Name, i, ref)
		case !facts.IsControl(e) && e.Role != "list" && e.Role != "listitem" && e.Role != "cell" && e.Role != "gridcell":
			o.add(seenElement, "", facts.ElementName(e), i, ref)
		}
		o.add(seenTitle, "", facts.InDialog(e), i, ref)
	}
	if d := a.Dialog; d != nil {
		o.add(seenMessage, "", d.Message, i, ref)
	}
	if p := a.Pick; p != nil && len(p.Rows) == 0 && len(p.Text) < facts.MaxSaid {
		o.add(seenField, p.Field, p.Text, i, ref)
	}
}

// badPage says whether an action is in a page that could not be opened, or that came with an error.
func (r *Result) badPage(i int) bool {
	if n := r.Actions[i].Navigation; n != nil && (n.Failed != "" || n.Status >= 400) {
		return true
	}
	v := r.Pages().In[i]
	if v == nil || v.Came < 0 {
		return false
	}
	n := r.Actions[v.Came].Navigation
	return n != nil && (n.Failed != "" || n.Status >= 400)
}
