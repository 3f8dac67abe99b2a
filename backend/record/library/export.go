package library

import (
	"context"
	"io"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
	"deskbell/backend/record/guide"
)

// An Export is a recording as it leaves, with its edits.
type Export struct {
	Name  string // of a file: letters, digits, dots, dashes and underscores only
	Media string
	Write func(w io.Writer) error // may be called once; it blocks for as long as w does
}

// The formats of an export.
const (
	HTML     = "html"     // one page that needs nothing else
	Markdown = "markdown" // a zip of a page and its pictures
	JSON     = "json"     // the recording and its actions, for programs
)

// Export returns a recording as a file in a format ("" is HTML), in words of a language (en, also "", or
// zh-CN), with its edits. An agent's has the text and the pictures that are shared, and no others.
func (l *Library) Export(ctx context.Context, by human.Actor, id human.RecordingID, format, language string) (Export, error) {
	r, op, err := l.open(ctx, by, id)
	if err != nil {
		return Export{}, err
	}
	language, err = languageOf(language)
	if err != nil {
		return Export{}, err
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
	in.Steps, _ = checklist(op)
	name := "recording-" + r.StartedAt.UTC().Format("20060102-150405") + "-" + plain(string(id))
	switch format {
	case "", HTML:
		return Export{name + ".html", "text/html; charset=utf-8", func(w io.Writer) error { return guide.HTML(w, in) }}, nil
	case Markdown:
		return Export{name + ".zip", "application/zip", func(w io.Writer) error { return guide.Markdown(w, in) }}, nil
	case JSON:
		return Export{name + ".json", "application/json", func(w io.Writer) error { return guide.JSON(w, in) }}, nil
	}
	return Export{}, human.BadField("format", "%q is not one of html, markdown, json", human.OneLine(format, 40))
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
