package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
	"deskbell/backend/record/flow"
	"deskbell/backend/record/guide"
	"deskbell/backend/record/har"
)

// An Export is a recording as it leaves, with its edits.
type Export struct {
	Name  string // of a file: letters, digits, dots, dashes and underscores only
	Media string
	Write func(w io.Writer) error // may be called once; it blocks for as long as w does
}

// The formats of an export that package flow has not.
const (
	HTML     = "html"     // one page that needs nothing else
	Markdown = "markdown" // a zip of a page, its pictures and the operation's attachments
	JSON     = "json"     // the recording and its actions, for programs
	HAR      = "har"      // the requests of pages; operators only
	RRWeb    = "rrweb"    // the pages themselves, as a list of rrweb's events; operators only
)

// An exporter writes a recording in a format.
type exporter struct {
	format, ending, media string
	refused               error // Denied or Conflict, where the format cannot be had of this recording
	says                  func() []human.Sentence
	write                 func(w io.Writer) error
}

// Exports lists the formats that a recording can be exported in, in the order in which they are offered, each with what
// it cannot say of this recording. It reads the recording as a whole.
func (l *Library) Exports(ctx context.Context, by human.Actor, id human.RecordingID) ([]human.ExportOffer, error) {
	all, name, err := l.exporters(ctx, by, id, "")
	if err != nil {
		return nil, err
	}
	offers := []human.ExportOffer{}
	for _, e := range all {
		o := human.ExportOffer{Format: e.format, File: name + e.ending}
		var refused *human.Error
		switch {
		case errors.As(e.refused, &refused) && refused.Kind == human.Conflict:
			o.Refused = &refused.Said
		case e.refused != nil:
			continue
		case e.says != nil:
			o.Says = e.says()
		}
		offers = append(offers, o)
	}
	return offers, nil
}

// Export returns a recording as a file in a format ("" is HTML), in words of a language (en, also "", or
// zh-CN), with its edits. An agent's has the text and the pictures that are shared, and no others. Invalid, with
// the field, for a format that the recording has nothing for; Denied to an agent for one that shows more than
// actions; Conflict for one from which cannot be taken what the edits hide.
func (l *Library) Export(ctx context.Context, by human.Actor, id human.RecordingID, format, language string) (Export, error) {
	all, name, err := l.exporters(ctx, by, id, language)
	if err != nil {
		return Export{}, err
	}
	format = cmp.Or(format, HTML)
	var names []string
	for _, e := range all {
		if e.format == format {
			return Export{name + e.ending, e.media, e.write}, e.refused
		}
		names = append(names, e.format)
	}
	return Export{}, human.BadField("format", "%q is not one that this recording can be exported in: %s", human.OneLine(format, 40), strings.Join(names, ", "))
}

// exporters are those of the formats that a recording has something for, and the name of their files without its ending.
func (l *Library) exporters(ctx context.Context, by human.Actor, id human.RecordingID, language string) (out []exporter, name string, err error) {
	r, op, err := l.open(ctx, by, id)
	if err != nil {
		return nil, "", err
	}
	language, err = languageOf(language)
	if err != nil {
		return nil, "", err
	}
	_, all, err := l.read(ctx, id, language)
	if err != nil {
		return nil, "", err
	}
	edits, err := l.deps.Store.Edits(ctx, id)
	if err != nil {
		return nil, "", err
	}
	if by.Role == human.Agent {
		all = actions.ForAgent(all, edits, language)
	}
	in := guide.Input{
		Recording: r, Actions: all, Edits: edits, Language: language,
		Title: human.OneLine(op.Description, 120), Description: op.Description,
		Picture: func(picture string) (*record.Frame, error) {
			return l.frame(ctx, id, picture, masksOf(edits, picture))
		},
	}
	in.Steps = kind.Steps(op)
	in.Files = l.files(ctx, by, op)
	out = []exporter{
		{format: HTML, ending: ".html", media: "text/html; charset=utf-8", write: func(w io.Writer) error { return guide.HTML(w, in) }},
		{format: Markdown, ending: ".zip", media: "application/zip", write: func(w io.Writer) error { return guide.Markdown(w, in) }},
		{format: JSON, ending: ".json", media: "application/json", write: func(w io.Writer) error { return guide.JSON(w, in) }},
	}
	if slices.ContainsFunc(all, func(a human.Action) bool { return a.Page != nil }) {
		played := flow.Input{Title: in.Title, Actions: actions.Left(all, edits, language)}
		for _, f := range flow.Formats {
			out = append(out, exporter{f.Name, f.Ending, f.Media, nil, func() []human.Sentence { return f.Says(played) }, func(w io.Writer) error { return f.Write(w, played) }})
		}
	}
	b := cmp.Or(r.Options.Browser, &human.BrowserOptions{})
	var refused error
	if by.Role == human.Agent {
		refused = human.Errorf(human.Denied, "only an operator can export this format: it shows more of the pages than the recorded actions")
	}
	if b.Network || by.Role == human.Agent {
		out = append(out, exporter{HAR, ".har", "application/json", refused, nil, func(w io.Writer) error {
			return har.Write(w, r, l.uncut(ctx, id, all, edits))
		}})
	}
	if refused == nil && len(edits.Cuts)+len(edits.MaskedTexts)+len(edits.Masks) > 0 {
		refused = human.Errorf(human.Conflict, "the recorded pages would still show what you removed and masked; undo that, or choose another format")
	}
	if b.DOM || by.Role == human.Agent {
		out = append(out, exporter{RRWeb, ".rrweb.json", "application/json", refused, nil, func(w io.Writer) error { return l.film(ctx, w, id) }})
	}
	return out, "recording-" + r.StartedAt.UTC().Format("20060102-150405") + "-" + plain(string(id)), nil
}

// files are those attached to an operation's request and to its answer, each once.
func (l *Library) files(ctx context.Context, by human.Actor, op human.Operation) (all []guide.File) {
	if l.deps.Files == nil {
		return nil
	}
	add := func(list []human.Attachment, answer bool) {
		for _, a := range list {
			if !slices.ContainsFunc(all, func(f guide.File) bool { return f.ID == a.ID }) {
				all = append(all, guide.File{Attachment: a, Answer: answer, Read: func() ([]byte, error) {
					_, data, err := l.deps.Files.AttachmentData(ctx, by, a.ID, 0)
					return data, err
				}})
			}
		}
	}
	add(op.Attachments, false)
	if op.Result != nil {
		add(op.Result.Files, true)
	}
	return all
}

// uncut are the events of a recording without those from the time of an action that was removed or hidden, until the
// next action.
func (l *Library) uncut(ctx context.Context, id human.RecordingID, all []human.Action, edits human.Edits) iter.Seq2[human.RecordedEvent, error] {
	type stretch struct{ from, to int64 }
	var gone []stretch
	for i, a := range all {
		if slices.Contains(edits.Cuts, a.ID) || slices.Contains(edits.MaskedTexts, a.ID) {
			s := stretch{a.At, 1<<63 - 1}
			if i+1 < len(all) {
				s.to = all[i+1].At
			}
			gone = append(gone, s)
		}
	}
	in := func(at int64) bool {
		return slices.ContainsFunc(gone, func(s stretch) bool { return at >= s.from && at < s.to })
	}
	return func(yield func(human.RecordedEvent, error) bool) {
		for ev, err := range l.deps.Store.Events(ctx, id, 0) {
			// A request is reported when it has ended, and may have begun before that.
			if err == nil && (in(ev.At) || ev.Request != nil && in(ev.At-ev.Request.Took)) {
				continue
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// film writes the events of rrweb as a list, each with the tab it is of: what shows the film of one tab takes
// those of that. What came from frames is part of no page that could be shown alone.
func (l *Library) film(ctx context.Context, w io.Writer, id human.RecordingID) error {
	before := "[\n"
	for ev, err := range l.deps.Store.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		if ev.Type != human.PageDOM || ev.Page == nil || len(ev.Page.Frame) > 0 || len(ev.DOM) < 3 || ev.DOM[0] != '{' || !json.Valid(ev.DOM) {
			continue
		}
		target, _ := json.Marshal(ev.Page.Target) // a text: cannot fail
		for _, part := range []string{before, `{"target":`, string(target), ","} {
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		if _, err := w.Write(ev.DOM[1:]); err != nil {
			return err
		}
		before = ",\n"
	}
	end := "\n]\n"
	if before == "[\n" {
		end = "[]\n"
	}
	_, err := io.WriteString(w, end)
	return err
}

// plain keeps what every file system takes in a name.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, text)
}
