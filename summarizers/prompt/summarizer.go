package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// limit is how long a summary may take, the second attempt included.
const limit = 5 * time.Minute

// A Summarizer asks a model. It is a summarizers.Previewer, safe for concurrent use.
type Summarizer struct {
	template Template
	model    Model
	mask     func(string) string
}

var _ summarizers.Previewer = (*Summarizer)(nil)

// New returns the summarizer that asks m with a template. mask hides secrets; every text of an operation goes through
// it before it is sent.
func New(t Template, m Model, mask func(string) string) *Summarizer {
	return &Summarizer{template: t, model: m, mask: mask}
}

// About says what it is. Whatever it reads is sent, also where the model runs on this machine: what answers there may
// pass it on.
func (s *Summarizer) About() summarizers.About {
	m := s.model.About()
	return summarizers.About{
		Name: s.template.Name, Title: s.template.Title, Kinds: s.template.Kinds, Sources: s.template.Sources, Languages: s.template.Languages,
		Limit: limit, Sends: m.Host, Model: m.Name, Pictures: s.template.Pictures && m.Pictures,
	}
}

func (s *Summarizer) language(in summarizers.Input) string {
	if slices.Contains(s.template.Languages, in.Language) {
		return in.Language
	}
	return s.template.Languages[0]
}

// Preview returns what Summarize would send, exactly. Where the first answer cannot be used, Summarize sends the
// same once more with a sentence of ours that says what was wrong.
func (s *Summarizer) Preview(ctx context.Context, in summarizers.Input) (summarizers.Preview, error) {
	r, err := s.record(ctx, in)
	if err != nil {
		return summarizers.Preview{}, err
	}
	info := s.model.About()
	p := summarizers.Preview{
		Host: info.Host, Model: info.Name, System: r.request.System, Text: r.request.Text, Pictures: []human.Ref{},
		Tokens: human.Tokens(r.request.System) + human.Tokens(r.request.Text),
	}
	for _, picture := range r.request.Pictures {
		p.Pictures = append(p.Pictures, picture.Ref)
	}
	return p, nil
}

// A Draft is a report with what a Report has no place for.
type Draft struct {
	Report    human.Report
	Dropped   []human.Dropped // what did not stand on its evidence
	Model     string          // as the provider names it
	TokensIn  int
	TokensOut int
}

// Summarize asks the model, and returns what of its report stands.
func (s *Summarizer) Summarize(ctx context.Context, in summarizers.Input, tell func(human.Progress)) (human.Report, error) {
	d, err := s.Draft(ctx, in, tell)
	return d.Report, err
}

// Draft is Summarize with what it cost and what was dropped, also where nothing stands and the error says so.
func (s *Summarizer) Draft(ctx context.Context, in summarizers.Input, tell func(human.Progress)) (Draft, error) {
	r, err := s.record(ctx, in)
	if err != nil {
		return Draft{}, err
	}
	if tell == nil {
		tell = func(human.Progress) {}
	}
	w, info := said[s.language(in)], s.model.About()
	tell(human.Progress{Note: fmt.Sprintf(w.asking, info.Name, info.Host)})
	var d Draft
	ask := func(request Request) (answer, error) {
		reply, err := s.model.Ask(ctx, request, func(soFar string) {
			tell(human.Progress{Note: fmt.Sprintf(w.written, info.Name, utf8.RuneCountInString(soFar))})
		})
		d.Model, d.TokensIn, d.TokensOut = reply.Model, d.TokensIn+reply.TokensIn, d.TokensOut+reply.TokensOut
		if err != nil {
			return answer{}, err
		}
		return parse(reply.JSON)
	}
	a, err := ask(r.request)
	if errors.Is(err, ErrAnswer) && ctx.Err() == nil {
		wrong := w.noJSON
		if errors.Is(err, errShape) {
			wrong = w.shape
		}
		again := r.request
		again.Text += "\n\n" + fmt.Sprintf(w.repair, wrong)
		a, err = ask(again)
	}
	if err != nil {
		if errors.Is(err, errShape) {
			err = human.Wrap(human.Invalid, err, "%s answered twice in another shape than it was asked for", info.Name)
		}
		return d, err
	}
	d.Report, d.Dropped = s.check(in, a.report(r.refs))
	if len(d.Report.Findings) == 0 {
		return d, human.Errorf(human.Invalid, "nothing that %s wrote stands on what was recorded", info.Name)
	}
	if d.Report.Line == "" {
		d.Report.Line = human.OneLine(d.Report.Findings[0].Text, summarizers.MaxLine)
	}
	return d, nil
}

// An answer is a report as the model writes it.
type answer struct {
	Line        *string    `json:"line"`
	Text        *string    `json:"text"`
	Findings    *[]finding `json:"findings"`
	Suggestions []finding  `json:"suggestions"`
}

type finding struct {
	Kind       string   `json:"kind"`
	Text       string   `json:"text"`
	Evidence   []string `json:"evidence"`
	Confidence float64  `json:"confidence"`
}

var errShape = fmt.Errorf("another shape: %w", ErrAnswer)

// parse reads an answer. What the schema has no place for is passed over; what it asks for has to be there.
func parse(data json.RawMessage) (answer, error) {
	var a answer
	if json.Unmarshal(data, &a) != nil || a.Line == nil || a.Text == nil || a.Findings == nil {
		return answer{}, errShape
	}
	return a, nil
}

// report gives an answer its references. A label that was not in the record becomes a reference to nothing, which
// Check drops and counts.
func (a answer) report(refs map[string]human.Ref) human.Report {
	of := func(all []finding) []human.Finding {
		out := make([]human.Finding, 0, len(all))
		for _, f := range all {
			h := human.Finding{Kind: human.FindingKind(f.Kind), Text: f.Text, Confidence: f.Confidence}
			for _, label := range f.Evidence {
				label = strings.Trim(strings.TrimSpace(label), "[]")
				ref, ok := refs[label]
				if !ok {
					ref = human.Ref{ID: label}
				}
				h.Evidence = append(h.Evidence, ref)
			}
			out = append(out, h)
		}
		return out
	}
	return human.Report{Line: *a.Line, Text: *a.Text, Findings: of(*a.Findings), Suggestions: of(a.Suggestions)}
}

// check drops what names an address that its evidence does not have, or has nothing to do with it, takes markup out of
// the rest, and holds that against its evidence.
func (s *Summarizer) check(in summarizers.Input, r human.Report) (human.Report, []human.Dropped) {
	var dropped []human.Dropped
	known := newAtlas(in, r)
	// plain is the text without markup; false where it names an address, with its markup or without.
	plain := func(text string, p *places) (string, bool) {
		text = visible(text)
		bare := unmarked(text)
		at := cmp.Or(p.first(text), p.first(bare))
		if at != "" {
			dropped = append(dropped, human.Dropped{
				Text: human.OneLine(bare, summarizers.MaxFindingText), Why: fmt.Sprintf(said[s.language(in)].noLink, clip(at, 80)),
			})
			return "", false
		}
		return bare, true
	}
	keep := func(all []human.Finding) []human.Finding {
		out := make([]human.Finding, 0, len(all))
		for _, f := range all {
			text, ok := plain(f.Text, known.of(f.Evidence))
			if !ok {
				continue
			}
			if f.Text = text; !known.shares(text, f.Evidence) {
				dropped = append(dropped, human.Dropped{Text: human.OneLine(text, summarizers.MaxFindingText), Why: said[s.language(in)].apart})
				continue
			}
			out = append(out, f)
		}
		return out
	}
	r.Findings, r.Suggestions = keep(r.Findings), keep(r.Suggestions)
	for _, text := range []*string{&r.Line, &r.Text} {
		*text, _ = plain(*text, known.all)
	}
	r, more := summarizers.Check(in, r)
	return r, append(dropped, more...)
}
