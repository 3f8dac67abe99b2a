package prompt

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

const (
	usualInput  = 24_000 // tokens of a request to a model of which the limit is not known
	leastInput  = 1_500  // tokens; the rules and a few lines
	oneAction   = 14     // tokens at least
	onePicture  = 1_600  // tokens, at the width that is sent
	maxPictures = 8
	pictureWide = 1024 // pixels
	actionText  = 300  // characters of one text of an action
	outputText  = 1_200
)

func itoa(n int) string { return strconv.Itoa(n) }

// A record is what a model is asked about one operation.
type record struct {
	request Request
	refs    map[string]human.Ref // by the label that the text gives them
}

// writer puts a record together.
type writer struct {
	s    *Summarizer
	in   summarizers.Input
	refs map[string]human.Ref
}

// record writes the request about an input. Preview and Summarize both send what it makes.
func (s *Summarizer) record(ctx context.Context, in summarizers.Input) (record, error) {
	language := s.language(in)
	w := &writer{s: s, in: in, refs: map[string]human.Ref{}}
	system := s.template.system(language)
	info := s.model.About()
	room := cmp.Or(info.MaxInput, usualInput) - human.Tokens(system) - human.Tokens(said[language].begin+said[language].end) - 40
	if room < leastInput/2 {
		return record{}, human.Errorf(human.Exhausted, "the model may read %d tokens, too few for this: raise model.max_input_tokens to %d at least", info.MaxInput, info.MaxInput-room+leastInput)
	}
	shots, err := w.pictures(ctx, min(maxPictures, room*2/5/onePicture))
	if err != nil {
		return record{}, err
	}
	room -= len(shots) * onePicture
	// What people said and asked for comes first; it may have half, and more where the recordings need less.
	recorded := 0
	for _, r := range in.Recordings {
		recorded += (len(r.Actions) + len(r.Commands)) * 3 * oneAction
	}
	lines := w.spoken(room - min(room/2, recorded))
	room -= sum(lines)
	lines = append(lines, w.recorded(room, shots)...)
	data := strings.Join(lines, "\n")
	// No one who writes into the record knows the mark: it depends on all of it.
	sum := sha256.Sum256([]byte(data))
	mark := hex.EncodeToString(sum[:8])
	text := fmt.Sprintf(said[language].begin, mark) + data + "\n" + fmt.Sprintf(said[language].end, mark)
	r := Request{System: system, Text: text, Schema: schema, Tokens: s.template.Tokens}
	for _, shot := range shots {
		r.Pictures = append(r.Pictures, shot.Picture)
	}
	return record{request: r, refs: w.refs}, nil
}

// A line of the record is one JSON object; what is empty is left out.
func (w *writer) line(pairs ...string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		_ = e.Encode(pairs[i]) // strings always can be
		b.Truncate(b.Len() - 1)
		b.WriteByte(':')
		_ = e.Encode(pairs[i+1])
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.String()
}

// text is a text as it may be sent: masked, without characters that show as something else, not too long. Where it
// has a name, that is masked with it: some secrets are known only by what stands before them.
func (w *writer) text(name, text string, most int) string {
	if text == "" {
		return ""
	}
	masked := w.s.mask(text)
	if name != "" {
		if with, ok := strings.CutPrefix(w.s.mask(name+": "+text), name+": "); ok && with != text {
			masked = w.s.mask(with)
		}
	}
	return clip(visible(masked), most)
}

// visible takes out the characters that do not show, or turn others around.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
}

// clip takes the middle out of a long text: the beginning says what it is, the end how it came out.
func clip(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	head := most * 2 / 3
	return string(r[:head]) + fmt.Sprintf(" […%d…] ", len(r)-most) + string(r[len(r)-(most-head):])
}

var plainLabel = regexp.MustCompile(`^[\p{L}\p{N}_-]{1,40}$`)

// label gives a piece of evidence its id: by its own name where that is short and plain, else by number.
func (w *writer) label(prefix, name string, ref human.Ref) string {
	if l := prefix + name; plainLabel.MatchString(name) && w.s.mask(name) == name {
		if _, taken := w.refs[l]; !taken {
			w.refs[l] = ref
			return l
		}
	}
	for n := 1; ; n++ {
		l := prefix + "#" + itoa(n)
		if _, taken := w.refs[l]; !taken {
			w.refs[l] = ref
			return l
		}
	}
}

// spoken are the lines of the request, the conversation, the checklist and the answer, in at most room tokens.
// Long texts are cut first, then lines left out from the end.
func (w *writer) spoken(room int) []string {
	var lines []string
	for _, most := range []int{8000, 4000, 2000, 1000, 500, 250, 120, 60} {
		clear(w.refs)
		lines = w.said(most)
		if sum(lines) <= room {
			return lines
		}
	}
	kept, left := 0, room-30
	for _, l := range lines {
		if left -= human.Tokens(l) + 1; left < 0 {
			break
		}
		kept++
	}
	return append(lines[:kept:kept], w.line("kind", "left_out", "count", itoa(len(lines)-kept), "what", "further parts of the request and the answer"))
}

// sum is how many tokens lines have, each with its end.
func sum(lines []string) (n int) {
	for _, l := range lines {
		n += human.Tokens(l) + 1
	}
	return n
}

func (w *writer) said(most int) []string {
	var lines []string
	add := func(pairs ...string) { lines = append(lines, w.line(pairs...)) }
	op, a := w.in.Operation, w.in.Answer
	if op.Description != "" {
		id := w.label("r:", "description", human.Ref{Kind: human.RefRequest, ID: "description"})
		add("id", id, "kind", "request", "text", w.text("", op.Description, most), "agent", w.text("", op.AgentID, 80), "type", string(op.Kind))
	}
	if a.Decision != "" {
		add("id", w.label("h:", "decision", human.Ref{Kind: human.RefAnswer, ID: "decision"}), "kind", "answer", "by", "operator", "name", "decision", "text", string(a.Decision))
	}
	for _, part := range []struct{ name, text string }{{"human_input", a.HumanInput}, {"execution_result", a.ExecutionResult}} {
		if part.text != "" {
			add("id", w.label("h:", part.name, human.Ref{Kind: human.RefAnswer, ID: part.name}), "kind", "answer", "by", "operator", "name", part.name, "text", w.text("", part.text, most))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Fields)) {
		from := a.FieldSources[name]
		picked := ""
		if from.Picked != a.Fields[name] {
			picked = w.text(name, from.Picked, most)
		}
		add("id", w.label("f:", name, human.Ref{Kind: human.RefField, ID: name}), "kind", "field", "name", w.text("", name, 120),
			"text", w.text(name, a.Fields[name], most), "picked", picked, "page", w.text("", from.URL, actionText))
	}
	details := texts(op.Details)
	for _, name := range slices.Sorted(maps.Keys(details)) {
		if name == "action_sequence" && len(w.in.Checklist) > 0 {
			continue // its steps follow
		}
		add("id", w.label("r:", name, human.Ref{Kind: human.RefRequest, ID: name}), "kind", "request_part", "name", w.text("", name, 120), "text", w.text(name, details[name], most))
	}
	for i, step := range w.in.Checklist {
		done := "no"
		if step.Done {
			done = "yes"
		}
		add("id", w.label("s", itoa(i+1), human.Ref{Kind: human.RefStep, ID: itoa(i)}), "kind", "step", "text", w.text("", step.Text, most), "ticked", done)
	}
	for i, m := range op.Messages {
		add("id", w.label("m", itoa(i+1), human.Ref{Kind: human.RefMessage, ID: itoa(i)}), "kind", "message", "by", string(m.By.Role), "text", w.text("", m.Text, most))
	}
	return lines
}

// texts are the parts of details: strings as they are, everything else as JSON.
func texts(details json.RawMessage) map[string]string {
	var parts map[string]json.RawMessage
	if json.Unmarshal(details, &parts) != nil {
		return nil
	}
	out := make(map[string]string, len(parts))
	for name, raw := range parts {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		out[name] = text
	}
	return out
}

// A happening is an action or a command, as one line of the record.
type happening struct {
	place
	action  *human.Action
	command *summarizers.Command
	line    string
	ref     human.Ref
}

// A place is where a happening stands: which recording, and which of its actions or commands.
type place struct {
	recording, at int32
	isCommand     bool
}

// weight says how telling an action is.
func weight(a *human.Action) int {
	switch {
	case a.Dialog != nil || a.Pick != nil || a.Type == human.Note || a.Gap != nil || a.Navigation != nil && (a.Navigation.Failed != "" || a.Navigation.Status >= 400):
		return 6
	case len(a.Transfers) > 0 || a.File != nil || a.Step != nil && a.Type != human.Click:
		return 5
	}
	switch a.Type {
	case human.Navigate, human.OpenPage, human.OpenApp, human.Choose, human.Check:
		return 4
	case human.Typing, human.Paste, human.Copy, human.DoubleClick:
		return 3
	case human.Click, human.Drag, human.CloseWindow, human.ClosePage, human.Shortcut:
		return 2
	case human.SwitchWindow, human.SwitchPage, human.TripleClick:
		return 1
	}
	return 0 // scrolling and pointing
}

// recorded are the lines of what was recorded, in at most room tokens: the most telling actions, in their order,
// and what was left out. The pictures that go along have their names beside the actions they show.
func (w *writer) recorded(room int, shots []shot) []string {
	heads := make([]string, len(w.in.Recordings))
	for i, r := range w.in.Recordings {
		heads[i] = w.head(r)
		room -= human.Tokens(heads[i]) + 60 // the line that says what was left out
	}
	named := map[human.Ref][]string{} // pictures, by the action they show
	for _, s := range shots {
		named[s.of] = append(named[s.of], w.line("id", s.Name, "kind", "picture", "of", w.labelOf(s.of), "taken", s.when))
		w.refs[s.Name] = s.Ref
	}
	for _, lines := range named {
		room -= sum(lines)
	}
	kept := w.choose(room)
	var lines []string
	for i, r := range w.in.Recordings {
		lines = append(lines, heads[i])
		out, left := map[string]int{}, 0
		for j := range r.Actions {
			out[string(r.Actions[j].Type)]++
		}
		if len(r.Commands) > 0 {
			out["command"] = len(r.Commands)
		}
		for _, h := range kept {
			if h.recording != int32(i) {
				continue
			}
			if h.action != nil {
				out[string(h.action.Type)]--
			} else {
				out["command"]--
			}
			w.refs[w.labelOf(h.ref)] = h.ref
			lines = append(lines, h.line)
			lines = append(lines, named[h.ref]...)
			delete(named, h.ref)
		}
		for _, s := range shots { // of actions that were left out
			if s.of.Recording == r.ID {
				lines = append(lines, named[s.of]...)
				delete(named, s.of)
			}
		}
		var what []string
		for _, name := range slices.Sorted(maps.Keys(out)) {
			if n := out[name]; n > 0 {
				left += n
				what = append(what, name+" "+itoa(n))
			}
		}
		if r.More > 0 {
			what = append(what, fmt.Sprintf("%d after the last of these", r.More))
		}
		if left += r.More; left > 0 {
			lines = append(lines, w.line("kind", "left_out", "count", itoa(left), "what", strings.Join(what, ", ")))
		}
	}
	return lines
}

// labelOf is what an action or command is called: its id, with the number of its recording before it where there
// is more than one.
func (w *writer) labelOf(ref human.Ref) string {
	if len(w.in.Recordings) < 2 {
		return ref.ID
	}
	i := slices.IndexFunc(w.in.Recordings, func(r summarizers.Recorded) bool { return r.ID == ref.Recording })
	return itoa(i+1) + "." + ref.ID
}

// head says which recording follows.
func (w *writer) head(r summarizers.Recorded) string {
	var gaps []string
	for _, g := range r.Gaps {
		if len(gaps) == 8 {
			gaps = append(gaps, fmt.Sprintf("and %d more", len(r.Gaps)-8))
			break
		}
		gaps = append(gaps, clock(g.From)+" to "+clock(g.To)+" "+g.Reason)
	}
	complete := "no"
	if r.Complete {
		complete = "yes"
	}
	return w.line("kind", "recording", "length", clock(r.Span), "complete", complete, "gaps", strings.Join(gaps, "; "), "hidden_texts", number(int(r.Counts.Masked)))
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return itoa(n)
}

// choose takes the most telling actions and commands that fit into room tokens, in their order.
func (w *writer) choose(room int) []happening {
	const most = 6
	var by [most + 1][]place // only places: there may be a million
	for i := range w.in.Recordings {
		r := &w.in.Recordings[i]
		for j := range r.Actions {
			if a := &r.Actions[j]; !a.Cut {
				g := weight(a)
				by[g] = append(by[g], place{int32(i), int32(j), false})
			}
		}
		for j := range r.Commands {
			g := 4
			if exit := r.Commands[j].Exit; exit != nil && *exit != 0 {
				g = most
			}
			by[g] = append(by[g], place{int32(i), int32(j), true})
		}
	}
	var kept []happening
	missed := 0 // lines that were too long for what is left
	for g := most; g >= 0 && room >= oneAction; g-- {
		// From both ends: how it began and how it came out say more than the middle.
		for i, j := 0, len(by[g])-1; i <= j && room >= oneAction && missed < 20; {
			p := by[g][j]
			if (len(by[g])-(j-i))%2 == 1 {
				j--
			} else {
				p = by[g][i]
				i++
			}
			h := w.happening(p)
			cost := human.Tokens(h.line) + 1
			if cost > room {
				missed++
				continue
			}
			room -= cost
			kept = append(kept, h)
		}
	}
	slices.SortFunc(kept, func(a, b happening) int {
		return cmp.Or(cmp.Compare(a.recording, b.recording), cmp.Compare(a.time(), b.time()), cmp.Compare(a.at, b.at))
	})
	return kept
}

// happening is what stands at a place.
func (w *writer) happening(p place) happening {
	r, h := &w.in.Recordings[p.recording], happening{place: p}
	if p.isCommand {
		h.command = &r.Commands[p.at]
		h.ref = human.Ref{Kind: human.RefCommand, Recording: r.ID, ID: h.command.ID}
	} else {
		h.action = &r.Actions[p.at]
		h.ref = human.Ref{Kind: human.RefAction, Recording: r.ID, ID: h.action.ID}
	}
	h.line = w.happened(h)
	return h
}

func (h happening) time() int64 {
	if h.action != nil {
		return h.action.At
	}
	return h.command.At
}

// happened is the line of an action or command.
func (w *writer) happened(h happening) string {
	short := func(text string) string { return w.text("", text, actionText) }
	if c := h.command; c != nil {
		exit := ""
		if c.Exit != nil {
			exit = itoa(*c.Exit)
		}
		return w.line("id", w.labelOf(h.ref), "kind", "command", "at", clock(c.At), "took", took(c.At, c.End), "did", w.text("", c.Line, outputText),
			"in", short(c.Dir), "exit", exit, "output", w.text("", c.Output, outputText))
	}
	a := h.action
	pairs := []string{"id", w.labelOf(h.ref), "kind", "action", "at", clock(a.At), "took", took(a.At, a.End), "did", short(a.Words)}
	add := func(name, text string) {
		if text != "" && !strings.Contains(a.Words, text) {
			pairs = append(pairs, name, w.text(name, text, actionText))
		}
	}
	if a.Element != nil && !a.Element.Secret {
		add("element", a.Element.Name)
	}
	if a.Page != nil {
		add("page", a.Page.URL)
		add("page_title", a.Page.Title)
	} else {
		if a.App != nil {
			add("app", a.App.Name)
		}
		if a.Window != nil {
			add("window", a.Window.Title)
		}
	}
	add("typed", a.Text)
	if a.Value != a.Text {
		add("value", a.Value)
	}
	add("chosen", strings.Join(a.Values, ", "))
	if n := a.Navigation; n != nil {
		add("failed", n.Failed)
		if n.Status >= 400 {
			pairs = append(pairs, "http_status", itoa(n.Status))
		}
	}
	if d := a.Dialog; d != nil {
		// Whole, though the words may have its beginning: it is what went wrong.
		name := "dialog"
		if a.Type == human.PageSaid {
			name = "message"
		}
		pairs = append(pairs, name, short(d.Message))
		add("dialog_input", d.Input)
	}
	if p := a.Pick; p != nil {
		pairs = append(pairs, "field", short(p.Field), "picked", w.text(p.Field, p.Text, outputText))
	}
	for _, t := range a.Transfers {
		add("file", t.Name)
		add("from", t.URL)
		add("state", t.State)
	}
	if f := a.File; f != nil {
		add("file", f.Path)
		add("to", f.To)
	}
	if g := a.Gap; g != nil {
		pairs = append(pairs, "missing", g.Reason)
	}
	if a.Hidden != "" {
		pairs = append(pairs, "hidden", a.Hidden)
	}
	if a.Step != nil {
		pairs = append(pairs, "step", itoa(*a.Step+1))
	}
	return w.line(pairs...)
}

// clock is a time from the start as evidence has it: mm:ss, or h:mm:ss.
func clock(ns int64) string {
	s := max(ns, 0) / int64(time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// took is how long something took, where that was a while.
func took(from, to int64) string {
	if to-from < 2*int64(time.Second) {
		return ""
	}
	return fmt.Sprintf("%.1f s", float64(to-from)/1e9)
}

// A shot is a picture with the action that it shows.
type shot struct {
	Picture
	of   human.Ref
	when string
}

// pictures are the pictures of the most telling actions, at most so many, in their order. One that is not there is
// left out.
func (w *writer) pictures(ctx context.Context, most int) ([]shot, error) {
	if most <= 0 || !w.s.template.Pictures || !w.s.model.About().Pictures || w.in.Pictures == nil {
		return nil, ctx.Err()
	}
	type candidate struct {
		shot
		weight, recording, at int
	}
	var all []candidate
	seen := map[human.Ref]bool{}
	for i, r := range w.in.Recordings {
		for j := range r.Actions {
			a := &r.Actions[j]
			id, when := a.After, "after"
			if id == "" {
				id, when = a.Before, "before"
			}
			ref := human.Ref{Kind: human.RefPicture, Recording: r.ID, ID: id}
			if g := weight(a); id != "" && !a.Cut && g >= 2 && !seen[ref] {
				seen[ref] = true
				all = append(all, candidate{shot{Picture{Ref: ref}, human.Ref{Kind: human.RefAction, Recording: r.ID, ID: a.ID}, when}, g, i, j})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	all = all[:min(most, len(all))]
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.recording, b.recording), cmp.Compare(a.at, b.at))
	})
	var out []shot
	for _, c := range all {
		data, err := w.in.Pictures.Picture(ctx, c.Ref.Recording, c.Ref.ID, pictureWide)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && human.KindOf(err) == human.NotFound:
			continue
		case err != nil:
			return nil, err
		}
		c.JPEG, c.Name = data, "p"+itoa(len(out)+1)
		out = append(out, c.shot)
	}
	return out, nil
}
