package library

import (
	"context"
	"encoding/json"
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

// The formats of an export. Those after JSON are of what was done in a browser.
const (
	HTML       = "html"       // one page that needs nothing else
	Markdown   = "markdown"   // a zip of a page, its pictures and the operation's attachments
	JSON       = "json"       // the recording and its actions, for programs
	Puppeteer  = "puppeteer"  // a user flow for @puppeteer/replay
	Playwright = "playwright" // a test
	HAR        = "har"        // the requests of pages; operators only
	RRWeb      = "rrweb"      // the pages themselves, as a list of rrweb's events; operators only
)

// Export returns a recording as a file in a format ("" is HTML), in words of a language (en, also "", or
// zh-CN), with its edits. An agent's has the text and the pictures that are shared, and no others. Invalid, with
// the field, for a format that the recording has nothing for; Denied to an agent for one that shows more than
// actions; Conflict for one from which cannot be taken what the edits hide.
func (l *Library) Export(ctx context.Context, by human.Actor, id human.RecordingID, format, language string) (Export, error) {
	r, op, err := l.open(ctx, by, id)
	if err != nil {
		return Export{}, err
	}
	language, err = languageOf(language)
	if err != nil {
		return Export{}, err
	}
	if (format == HAR || format == RRWeb) && by.Role == human.Agent {
		return Export{}, human.Errorf(human.Denied, "only an operator can export %s: it shows more of the pages than the recorded actions", format)
	}
	_, all, err := l.read(ctx, id, language)
	if err != nil {
		return Export{}, err
	}
	edits, err := l.deps.Store.Edits(ctx, id)
	if err != nil {
		return Export{}, err
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
	name := "recording-" + r.StartedAt.UTC().Format("20060102-150405") + "-" + plain(string(id))
	switch format {
	case "", HTML:
		return Export{name + ".html", "text/html; charset=utf-8", func(w io.Writer) error { return guide.HTML(w, in) }}, nil
	case Markdown:
		return Export{name + ".zip", "application/zip", func(w io.Writer) error { return guide.Markdown(w, in) }}, nil
	case JSON:
		return Export{name + ".json", "application/json", func(w io.Writer) error { return guide.JSON(w, in) }}, nil
	case Puppeteer, Playwright:
		played := flow.Input{Title: in.Title, Actions: actions.Left(all, edits, language)}
		if !slices.ContainsFunc(all, func(a human.Action) bool { return a.Page != nil }) {
			return Export{}, human.BadField("format", "%s plays actions in a browser, and this recording has none", format)
		}
		if format == Playwright {
			return Export{name + ".spec.ts", "text/plain; charset=utf-8", func(w io.Writer) error { return flow.Playwright(w, played) }}, nil
		}
		return Export{name + ".flow.json", "application/json", func(w io.Writer) error { return flow.Puppeteer(w, played) }}, nil
	case HAR:
		if b := r.Options.Browser; b == nil || !b.Network {
			return Export{}, human.BadField("format", "no requests were recorded; the recording was made without them")
		}
		return Export{name + ".har", "application/json", func(w io.Writer) error {
			return har.Write(w, r, l.uncut(ctx, id, all, edits))
		}}, nil
	case RRWeb:
		if b := r.Options.Browser; b == nil || !b.DOM {
			return Export{}, human.BadField("format", "the pages themselves were not recorded; the recording was made without them")
		}
		if len(edits.Cuts)+len(edits.MaskedTexts)+len(edits.Masks) > 0 {
			return Export{}, human.Errorf(human.Conflict, "the recorded pages would still show what you removed and masked; undo that, or choose another format")
		}
		return Export{name + ".rrweb.json", "application/json", func(w io.Writer) error { return l.film(ctx, w, id) }}, nil
	}
	return Export{}, human.BadField("format", "%q is not one of html, markdown, json, puppeteer, playwright, har, rrweb", human.OneLine(format, 40))
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
