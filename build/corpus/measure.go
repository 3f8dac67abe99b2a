package corpus

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// Languages are those that cases are judged in.
var Languages = []string{"en", "zh-CN"}

// A Choice names the summarizer that serves a case.
type Choice func(Case) (summarizers.Summarizer, error)

// ByName chooses, of those given, the summarizer that is called as the case's source.
func ByName(all []summarizers.Summarizer) Choice {
	return func(c Case) (summarizers.Summarizer, error) {
		for _, s := range all {
			if s.About().Name == c.Source {
				return s, nil
			}
		}
		return nil, fmt.Errorf("no summarizer is called %s", c.Source)
	}
}

// A Judged is what came of one case in one language.
type Judged struct {
	Case     Case
	Language string
	Report   human.Report // as Check left it

	Missed     []Point         // musts that no finding meets
	Unlisted   []human.Finding // findings that meet no must and no may
	Said       []string        // what must never be said and was
	Line       []string        // what the line lacks
	Unresolved []human.Ref
	Dropped    []human.Dropped // by summarizers.Check
}

// Measure has each case summarised and judged.
func Measure(ctx context.Context, cases []Case, choose Choice, lang string) ([]Judged, error) {
	var out []Judged
	for _, c := range cases {
		s, err := choose(c)
		if err != nil {
			return nil, err
		}
		in, err := c.Input(lang)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Name, err)
		}
		if !s.About().Fits(in) {
			return nil, fmt.Errorf("case %s is nothing for %s", c.Name, s.About().Name)
		}
		report, err := s.Summarize(ctx, in, func(human.Progress) {})
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Name, err)
		}
		out = append(out, c.Judge(in, report))
	}
	return out, nil
}

// never is in no report, whatever the case: slips of a program's own.
var never = []string{"%!", "<nil>", "\ufffd"}

// Judge holds a report against what the case expects.
func (c Case) Judge(in summarizers.Input, raw human.Report) Judged {
	r, dropped := summarizers.Check(in, raw)
	j := Judged{Case: c, Language: in.Language, Report: r, Dropped: dropped}
	for _, p := range c.Expect.Must {
		if !slices.ContainsFunc(r.Findings, func(f human.Finding) bool { return p.meets(in, f) }) {
			j.Missed = append(j.Missed, p)
		}
	}
	listed := slices.Concat(c.Expect.Must, c.Expect.May)
	for _, f := range r.Findings {
		if !slices.ContainsFunc(listed, func(p Point) bool { return p.meets(in, f) }) {
			j.Unlisted = append(j.Unlisted, f)
		}
	}
	// What Check removed was still said, and references are those that the summarizer gave.
	for _, text := range slices.Concat(never, c.Expect.Never.in(in.Language)) {
		if hasOne(all(raw), []string{text}) || hasOne(all(r), []string{text}) {
			j.Said = append(j.Said, text)
		}
	}
	for _, text := range c.Expect.Line.in(in.Language) {
		if !hasAll(r.Line, []string{text}) {
			j.Line = append(j.Line, text)
		}
	}
	for _, f := range slices.Concat(raw.Findings, raw.Suggestions) {
		if len(f.Evidence) == 0 {
			j.Unresolved = append(j.Unresolved, human.Ref{})
		}
		for _, ref := range f.Evidence {
			if _, ok := in.Resolve(ref); !ok || !resolves(in, ref) {
				j.Unresolved = append(j.Unresolved, ref)
			}
		}
	}
	return j
}

// all is every text of a report.
func all(r human.Report) string {
	parts := []string{r.Line, r.Text}
	for _, f := range slices.Concat(r.Findings, r.Suggestions) {
		parts = append(parts, f.Text)
	}
	return strings.Join(parts, "\n")
}

// Figures are what cases come to together.
type Figures struct {
	Cases, Musts, Found             int
	Findings, Listed                int
	Said, Line, Unresolved, Dropped int
}

// Sum adds up.
func Sum(all []Judged) (f Figures) {
	for _, j := range all {
		f.Cases++
		f.Musts += len(j.Case.Expect.Must)
		f.Found += len(j.Case.Expect.Must) - len(j.Missed)
		f.Findings += len(j.Report.Findings)
		f.Listed += len(j.Report.Findings) - len(j.Unlisted)
		f.Said += len(j.Said)
		f.Line += len(j.Line)
		f.Unresolved += len(j.Unresolved)
		f.Dropped += len(j.Dropped)
	}
	return f
}

// Recall is the share of musts that were found, and Precision the share of findings that are listed.
func (f Figures) Recall() float64 { return share(f.Found, f.Musts) }

// Precision is the share of findings that a must or a may knows.
func (f Figures) Precision() float64 { return share(f.Listed, f.Findings) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Table is the figures by source in Markdown, each language a row.
func Table(judged []Judged) string {
	var b strings.Builder
	b.WriteString("| summarizer | language | cases | to be found | recall | findings | precision | forbidden | unresolved | dropped |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	row := func(source, lang string, f Figures) {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %.1f %% | %d | %.1f %% | %d | %d | %d |\n", source, lang,
			f.Cases, f.Musts, 100*f.Recall(), f.Findings, 100*f.Precision(), f.Said, f.Unresolved, f.Dropped)
	}
	groups := map[string][]Judged{}
	for _, j := range judged {
		groups[j.Case.Source] = append(groups[j.Case.Source], j)
	}
	for _, source := range append(slices.Sorted(maps.Keys(groups)), "all") {
		for _, lang := range Languages {
			var of []Judged
			for _, j := range judged {
				if j.Language == lang && (source == "all" || j.Case.Source == source) {
					of = append(of, j)
				}
			}
			row(source, lang, Sum(of))
		}
	}
	return b.String()
}

// String is what is wrong with it, each in a line; "" where nothing is.
func (j Judged) String() string {
	var b strings.Builder
	say := func(what string, value any) { fmt.Fprintf(&b, "%s %s: %s %v\n", j.Case.Name, j.Language, what, value) }
	for _, p := range j.Missed {
		say("missed", fmt.Sprintf("%s %q %s", p.Kind, p.in(j.Language), p.Evidence))
	}
	for _, f := range j.Unlisted {
		say("unlisted", fmt.Sprintf("%s %q %v", f.Kind, f.Text, f.Evidence))
	}
	for _, text := range j.Said {
		say("said", fmt.Sprintf("%q", text))
	}
	for _, text := range j.Line {
		say("line lacks", fmt.Sprintf("%q, is %q", text, j.Report.Line))
	}
	for _, ref := range j.Unresolved {
		say("unresolved", ref)
	}
	for _, d := range j.Dropped {
		say("dropped", fmt.Sprintf("%q: %s", d.Text, d.Why))
	}
	return b.String()
}

// names are those of the parts of details.
func names(details json.RawMessage) []string {
	var all map[string]json.RawMessage
	if len(details) == 0 || json.Unmarshal(details, &all) != nil {
		return nil
	}
	return slices.Collect(maps.Keys(all))
}

// asked says whether a field is one of those to be extracted.
func asked(details json.RawMessage, field string) bool {
	var d struct {
		Extract json.RawMessage `json:"data_to_extract"`
	}
	var list []string
	if len(details) == 0 || json.Unmarshal(details, &d) != nil || json.Unmarshal(d.Extract, &list) != nil {
		return false
	}
	return slices.Contains(list, field)
}
