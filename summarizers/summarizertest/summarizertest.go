// Package summarizertest is the conformance suite of summarizers, ours and others'.
package summarizertest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/summarizers"
)

// prompt is how long a summarizer may take to notice that no one waits any more.
const prompt = 10 * time.Second

// Run holds a summarizer against its contract, with inputs of its own making (see Inputs), in every language that the
// summarizer names. Of one that is not deterministic, such as one that asks a model, it does not ask that all it says
// stands on its evidence: Check drops the rest.
func Run(t *testing.T, s summarizers.Summarizer) {
	t.Helper()
	t.Run("About", func(t *testing.T) { about(t, s.About()) })
	t.Run("Context", func(t *testing.T) { stops(t, s) })
	for _, language := range s.About().Languages {
		for i, c := range Inputs(language) {
			if !s.About().Fits(c.Input) {
				continue
			}
			t.Run(language+" "+c.Name, func(t *testing.T) {
				before := text(t, c.Input)
				r := reports(t, s, c.Input)
				if text(t, c.Input) != before {
					t.Error("the input is another one afterwards")
				}
				if !c.Foreign {
					oneLanguage(t, language, r)
				}
				// Often enough where a run costs a process.
				if s.About().Deterministic && (i%5 == 0 || strings.HasPrefix(c.Name, "several")) {
					same(t, s, c.Input, r)
				}
			})
		}
	}
	t.Run("Another language", func(t *testing.T) {
		for _, c := range Inputs(s.About().Languages[0]) {
			if s.About().Fits(c.Input) && !c.Foreign {
				c.Input.Language = "tlh"
				oneLanguage(t, s.About().Languages[0], reports(t, s, c.Input))
				return
			}
		}
	})
	t.Run("About afterwards", func(t *testing.T) {
		if a, b := text(t, s.About()), text(t, s.About()); a != b {
			t.Errorf("About is not the same at each call:\n%s\n%s", a, b)
		}
	})
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var name = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

func about(t *testing.T, a summarizers.About) {
	if !name.MatchString(a.Name) {
		t.Errorf("it is called %q", a.Name)
	}
	if len(a.Languages) == 0 || len(a.Sources) == 0 {
		t.Fatalf("it names no language or no source: %+v", a)
	}
	for _, l := range a.Languages {
		if l != "en" && l != "zh-CN" {
			t.Errorf("it writes %q, which is not needed", l)
		}
		if strings.TrimSpace(a.Title[l]) == "" {
			t.Errorf("it has no title in %s", l)
		}
	}
	for _, k := range a.Kinds {
		if !slices.Contains(kind.ForAgents(), k) {
			t.Errorf("there are no operations of kind %q", k)
		}
	}
	for _, s := range a.Sources {
		if !slices.Contains([]summarizers.Source{summarizers.FromAnswer, summarizers.FromDesktop, summarizers.FromBrowser, summarizers.FromTerminal}, s) {
			t.Errorf("there is no source %q", s)
		}
	}
	if a.Limit <= 0 {
		t.Error("it has no time limit")
	}
	if a.Deterministic && (a.Sends != "" || a.Model != "") {
		t.Error("a model elsewhere answers the same question twice in the same way: it says it is deterministic")
	}
	if (a.Model != "") && a.Sends == "" {
		t.Error("it asks a model and does not say where")
	}
}

// reports asks once and holds what comes against the contract.
func reports(t *testing.T, s summarizers.Summarizer, in summarizers.Input) human.Report {
	t.Helper()
	a := s.About()
	ctx, stop := context.WithTimeout(t.Context(), a.Limit+prompt)
	defer stop()
	var telling atomic.Int32
	r, err := s.Summarize(ctx, in, func(p human.Progress) {
		if telling.Add(1) != 1 {
			t.Error("two goroutines tell how far it is at once")
		}
		if !(p.Share >= 0 && p.Share <= 1) {
			t.Errorf("it is %v done", p.Share)
		}
		telling.Add(-1)
	})
	if err != nil {
		if k := human.KindOf(err); !isOurs(err) || !slices.Contains([]human.ErrorKind{human.Invalid, human.Unavailable, human.Denied, human.Exhausted}, k) {
			t.Fatalf("an error that is not one of package human's that fit: %v", err)
		}
		if a.Deterministic {
			t.Fatalf("it cannot read what it says it can: %v", err)
		}
		t.Logf("no report: %v", err)
		return human.Report{}
	}
	if strings.TrimSpace(r.Line) == "" {
		t.Error("it has no line")
	}
	for _, f := range slices.Concat(r.Findings, r.Suggestions) {
		for _, ref := range f.Evidence {
			if _, ok := in.Resolve(ref); !ok {
				t.Errorf("%q rests on %+v, which is not there", f.Text, ref)
			}
		}
		if f.ByHand || f.Cut {
			t.Errorf("%q: only operators write by hand and cut", f.Text)
		}
		if math.IsNaN(f.Confidence) || f.Confidence < 0 || f.Confidence > 1 {
			t.Errorf("%q with a confidence of %v", f.Text, f.Confidence)
		}
	}
	checked, dropped := summarizers.Check(in, r)
	if a.Deterministic {
		for _, d := range dropped {
			t.Errorf("%q was dropped: %s", d.Text, d.Why)
		}
	}
	if again, d := summarizers.Check(in, checked); text(t, again) != text(t, checked) || len(d) > 0 {
		t.Errorf("checked twice it is another report: %+v", d)
	}
	return checked
}

func isOurs(err error) bool {
	var e *human.Error
	return errors.As(err, &e)
}

// same asks again, also several times at once.
func same(t *testing.T, s summarizers.Summarizer, in summarizers.Input, first human.Report) {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			r, err := s.Summarize(t.Context(), in, func(human.Progress) {})
			if err != nil {
				t.Errorf("asked again: %v", err)
				return
			}
			r, _ = summarizers.Check(in, r)
			if a, b := text(t, r), text(t, first); a != b {
				t.Errorf("asked again it says something else:\n%s\n%s", a, b)
			}
		})
	}
	wg.Wait()
}

// stops asks for what no one waits for any more.
func stops(t *testing.T, s summarizers.Summarizer) {
	var fits []Case
	for _, c := range Inputs(s.About().Languages[0]) {
		if s.About().Fits(c.Input) {
			fits = append(fits, c)
		}
	}
	if len(fits) == 0 {
		t.Fatal("no input fits: it can never be asked")
	}
	ask := func(ctx context.Context, in summarizers.Input) error {
		ended := make(chan error, 1)
		go func() {
			_, err := s.Summarize(ctx, in, func(human.Progress) {})
			ended <- err
		}()
		<-ctx.Done()
		select {
		case err := <-ended:
			return err
		case <-time.After(prompt):
			t.Fatalf("it continues %v after the context has ended", prompt)
			return nil
		}
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if err := ask(gone, fits[0].Input); !errors.Is(err, context.Canceled) {
		t.Errorf("asked after the context had ended: %v", err)
	}
	big := fits[0]
	for _, c := range fits {
		if c.Name == "a huge recording" {
			big = c
		}
	}
	soon, stop := context.WithTimeout(t.Context(), 3*time.Millisecond)
	defer stop()
	if err := ask(soon, big.Input); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped in the middle: %v", err)
	}
}

var english = regexp.MustCompile(`(?i)\b(the|was|were|and|with|not|from|that|after|before|took|of|to)\b`)

// oneLanguage looks for sentences in another language than the one that the whole input is in.
func oneLanguage(t *testing.T, language string, r human.Report) {
	t.Helper()
	texts := []string{r.Line, r.Text}
	for _, f := range slices.Concat(r.Findings, r.Suggestions) {
		texts = append(texts, f.Text)
	}
	for _, text := range texts {
		chinese := strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Han, c) })
		switch {
		case language == "en" && chinese:
			t.Errorf("Chinese in an English report: %q", text)
		case language == "zh-CN" && text != "" && (!chinese || english.MatchString(text)):
			t.Errorf("English in a Chinese report: %q", text)
		}
	}
}
