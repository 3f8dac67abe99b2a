package guide

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"deskbell/backend/human"
)

//go:embed guide.css
var style string

//go:embed guide.tmpl
var page string

var pageTemplate = template.Must(template.New("guide").Parse(page))

// HTML writes the guide as one page that needs nothing else: pictures are in it, clicks are drawn over them,
// it runs no scripts and its policy allows none. Texts from elsewhere are escaped. It holds one picture in
// memory at a time, and may have written a part when it fails.
func HTML(w io.Writer, in Input) error {
	g := newGuide(in)
	sum := sha256.Sum256([]byte(style))
	err := pageTemplate.Execute(w, struct {
		*guide
		Lang, Title, Policy             string
		Style                           template.CSS
		Paragraphs, Meta, Gaps, LeftOut []string
		Complete                        string
		Whole                           bool
		Made, Nothing, About            string
		Fields                          []picked
		SayFields, SayField, SayValue   string
		SaySource, SaySelector          string
	}{
		guide: g, Lang: g.say.lang, Title: g.title(),
		Policy: fmt.Sprintf("default-src 'none'; img-src data:; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:])),
		Style:  template.CSS(style), Paragraphs: g.paragraphs(), Meta: g.meta(), Gaps: g.gaps(), LeftOut: g.left(),
		Complete: g.complete(), Whole: in.Recording.Complete,
		Made: fmt.Sprintf(g.say.made, in.Recording.ID), Nothing: g.say.nothing, About: g.say.about,
		Fields: g.fields(), SayFields: g.say.fields, SayField: g.say.field, SayValue: g.say.value, SaySource: g.say.source, SaySelector: g.say.selector,
	})
	if g.err != nil {
		return g.err
	}
	return err
}

// Shot is the step's picture, nil where there is none.
func (s *step) Shot() (*shot, error) { return s.shot(false) }

func (s *step) shot(draw bool) (*shot, error) {
	if s.show == "" || s.guide.in.Picture == nil {
		return nil, nil
	}
	f, err := s.guide.in.Picture(s.show)
	if err != nil {
		if human.KindOf(err) == human.NotFound {
			return nil, nil
		}
		s.guide.err = err
		return nil, err
	}
	out, err := take(f, s.action, draw)
	if out != nil {
		out.Alt = fmt.Sprintf(s.guide.say.picture, s.Number, s.Words)
	}
	return out, err
}

// MoreRows says how many rows of a table are not shown; empty where all are.
func (p picked) MoreRows() string {
	if p.More == 0 {
		return ""
	}
	return p.guide.say.count(p.More, p.guide.say.oneRow, p.guide.say.rows)
}

// Crop is the picture of what was picked, nil where there is none.
func (p picked) Crop() (*shot, error) { return p.shot(false) }

// Picked says whether the step filled a field; its picture is among the fields.
func (s *step) Picked() bool { return s.action.Type == human.Extract }

// EffectsLabel is what effects are announced by to those who do not see the page.
func (s *step) EffectsLabel() string { return s.guide.say.effects }

// HiddenMark is the word for a hidden text.
func (s *step) HiddenMark() string { return s.guide.say.hiddenMark }

// URL is the picture itself.
func (s *shot) URL() template.URL {
	return template.URL("data:" + s.Media + ";base64," + base64.StdEncoding.EncodeToString(s.Data)) //nolint:gosec // made of our own bytes
}

// Points are the ends of an arrow's two wings, around its tip.
func (m mark) Points() string {
	l := m.wings()
	return fmt.Sprintf("%.1f,%.1f %.1f,%.1f %.1f,%.1f", l[0], l[1], m.X2, m.Y2, l[2], l[3])
}
