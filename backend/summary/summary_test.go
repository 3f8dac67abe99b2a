package summary_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/record/library"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/summary"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin"
)

var (
	bot = human.Actor{Role: human.Agent, Name: "price-scout"}
	mei = human.Actor{Role: human.Operator, Name: "Mei"}
)

// scripted is a summarizer that does what a test says.
type scripted struct {
	about summarizers.About
	asked atomic.Int32
	do    func(ctx context.Context, in summarizers.Input, tell func(human.Progress)) (human.Report, error)
}

func (s *scripted) About() summarizers.About { return s.about }

func (s *scripted) Summarize(ctx context.Context, in summarizers.Input, tell func(human.Progress)) (human.Report, error) {
	s.asked.Add(1)
	return s.do(ctx, in, tell)
}

// sending is one that sends what it reads to another machine.
type sending struct{ *scripted }

func (s sending) Preview(_ context.Context, in summarizers.Input) (summarizers.Preview, error) {
	return summarizers.Preview{Host: s.about.Sends, Text: in.Operation.Description}, nil
}

func about(name string) summarizers.About {
	return summarizers.About{
		Name: name, Title: map[string]string{"en": name}, Sources: []summarizers.Source{summarizers.FromBrowser}, Languages: []string{"en", "zh-CN"},
		Limit: 20 * time.Second,
	}
}

// A fixture has real parts except for the summarizers that a test brings.
type fixture struct {
	*summary.Service
	t       testing.TB
	queue   *queue.Queue
	store   *sqlite.Store
	library *library.Library
	options summary.Options
	others  []summarizers.Summarizer
	n       int

	mu   sync.Mutex
	told []human.Summary
	news chan struct{}
}

func open(t testing.TB, others ...summarizers.Summarizer) *fixture {
	t.Helper()
	dir := t.TempDir()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{t: t, store: store, others: others, options: summary.Options{Auto: true, Language: "request"}, news: make(chan struct{}, 1000)}
	h.queue = queue.New(store, store, queue.Options{})
	if err := h.queue.Load(ctx); err != nil {
		t.Fatal(err)
	}
	h.library = library.New(library.Deps{Store: store.Recordings(), Pictures: pictures.New(dir), Operations: h.queue, Encode: pictures.Encode})
	var made atomic.Int32
	h.Service = summary.New(summary.Deps{
		Operations: h.queue, Recordings: h.library, Store: store.Summaries(), Operator: mei, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Registry: func() summary.Registry {
			return summary.Registry{BuiltIn: builtin.All(), Others: h.others, Problems: []summary.Unusable{{Name: "broken", Text: "its manifest has no command"}}}
		},
		Options: func() summary.Options { return h.options },
		NewID: func() human.SummaryID {
			return human.SummaryID(fmt.Sprintf("%s%06d", human.SummaryPrefix, made.Add(1)))
		},
	})
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = h.queue.Run(running) })
	wg.Go(func() {
		h.Watch(running, func(s human.Summary) {
			h.mu.Lock()
			h.told = append(h.told, s)
			h.mu.Unlock()
			h.news <- struct{}{}
		})
	})
	for h.Watched() == 0 { // else it hears nothing of a draft that is made at once
		<-time.After(time.Millisecond)
	}
	t.Cleanup(func() {
		h.Close()
		stop()
		wg.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// recorded is an operation that was claimed, with a recording of a browser that has ended.
func (h *fixture) recorded(description string) (human.Operation, human.RecordingID) {
	h.t.Helper()
	ctx := h.t.Context()
	op, _, err := h.queue.Ring(ctx, human.Request{
		Kind: human.Browser, Description: description, AgentID: bot.Name, Priority: 5, Context: []byte(`{"project":"/src/prices"}`),
		Details: []byte(`{"url":"https://vendor.example/","data_to_extract":{"plan":"text"},"action_sequence":["Log in","Read the plan"]}`),
	}, false)
	if err == nil {
		op, err = h.queue.Claim(ctx, mei, op.ID)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return op, h.record(op.ID)
}

func (h *fixture) record(op human.OperationID) human.RecordingID {
	h.t.Helper()
	ctx := h.t.Context()
	h.n++
	r := human.Recording{ID: human.RecordingID(fmt.Sprintf("%s%03d", human.RecordingPrefix, h.n)), OperationID: op, By: mei.Name, State: human.RecordingStopped, Complete: true, StartedAt: time.Now(), Options: human.RecordingOptions{Browser: &human.BrowserOptions{}}}
	page := &human.WebPage{Target: "t1", URL: "https://vendor.example/quota", Title: "Quota"}
	step := 0
	events := []human.RecordedEvent{
		{Seq: 1, Type: human.RecordingBegan, Source: human.RecorderSource},
		{Seq: 2, At: 1e9, Type: human.PageOpened, Source: human.BrowserSource, Browsing: human.Browsing{Page: page}},
		{Seq: 3, At: 2e9, Type: human.PageNavigated, Source: human.BrowserSource, Browsing: human.Browsing{Page: page, Navigation: &human.Navigation{Kind: "address", Status: 200}}},
		{Seq: 4, At: 3e9, Type: human.Marked, Source: human.RecorderSource, Step: &step, Done: true},
		{Seq: 5, At: 4e9, Type: human.PagePicked, Source: human.BrowserSource, Element: &human.Element{Role: "heading", Name: "Scale 2026"}, Browsing: human.Browsing{Page: page, Pick: &human.Pick{Field: "plan", Take: "element", Text: "Scale 2026"}}},
		{Seq: 6, At: 5e9, Type: human.RecordingEnded, Source: human.RecorderSource, Text: "operator"},
	}
	store := h.store.Recordings()
	if err := errors.Join(store.Create(ctx, r), store.Append(ctx, r, events)); err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.queue.RecordingBegan(ctx, mei, op, r.ID); err != nil {
		h.t.Fatal(err)
	}
	return r.ID
}

// until waits until a draft of an operation is as a test wants it.
func (h *fixture) until(op human.OperationID, want func(human.Summary) bool) human.Summary {
	h.t.Helper()
	for {
		h.mu.Lock()
		i := slices.IndexFunc(h.told, func(s human.Summary) bool { return s.OperationID == op && want(s) })
		var found human.Summary
		if i >= 0 {
			found = h.told[i]
		}
		h.mu.Unlock()
		if i >= 0 {
			return found
		}
		select {
		case <-h.news:
		case <-time.After(30 * time.Second):
			h.t.Fatalf("no such draft; told was %+v", h.told)
		}
	}
}

func is(name string, state human.SummaryState) func(human.Summary) bool {
	return func(s human.Summary) bool { return s.Summarizer == name && s.State == state }
}

func (h *fixture) drafts(op human.OperationID) summary.Drafts {
	h.t.Helper()
	d, err := h.Drafts(h.t.Context(), mei, op)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func wantKind(t testing.TB, err error, kind human.ErrorKind, words ...string) {
	t.Helper()
	if err == nil || human.KindOf(err) != kind {
		t.Errorf("error %v, want kind %v", err, kind)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
}

// H10, H13: where drafts are made by themselves, one is there once a recording has ended, once for the same
// recordings, and anew when there is another.
func TestADraftIsMadeWhenARecordingEnds(t *testing.T) {
	h := open(t)
	op, rec := h.recorded("Read the plan")
	h.Recording(t.Context())(human.Recording{ID: rec, OperationID: op.ID, State: human.RecordingStopped})
	done := h.until(op.ID, is("browser", human.SummaryDone))
	if done.Report.Line == "" || len(done.Report.Findings) == 0 || done.Language != "en" || !slices.Equal(done.Recordings, []human.RecordingID{rec}) {
		t.Errorf("draft %+v", done)
	}
	for range 2 {
		d := h.drafts(op.ID)
		if len(d.Summaries) != 1 || d.Summaries[0].State != human.SummaryDone || !slices.Equal(d.Chosen, []string{"browser"}) || !slices.Contains(d.Fitting, "browser") {
			t.Fatalf("drafts %+v", d)
		}
	}
	second := h.record(op.ID)
	d := h.drafts(op.ID)
	if len(d.Summaries) != 2 || !slices.Equal(d.Chosen, []string{"joined"}) {
		t.Fatalf("after a second recording: %+v", d)
	}
	joined := h.until(op.ID, is("joined", human.SummaryDone))
	if !slices.Equal(joined.Recordings, []human.RecordingID{rec, second}) {
		t.Errorf("joined %v", joined.Recordings)
	}
}

func TestNothingIsDraftedByItselfWhereThatIsOff(t *testing.T) {
	h := open(t)
	h.options.Auto = false
	op, _ := h.recorded("Read the plan")
	if d := h.drafts(op.ID); len(d.Summaries) != 0 {
		t.Errorf("drafts %+v", d)
	}
	if _, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{Language: "zh-CN"}); err != nil {
		t.Fatal(err)
	}
	if done := h.until(op.ID, is("browser", human.SummaryDone)); done.Language != "zh-CN" || !strings.ContainsAny(done.Report.Line, "页面访问打开读取") {
		t.Errorf("draft %+v", done.Report)
	}
}

// The language of drafts is that of the request, unless the settings name one.
func TestLanguageOfDrafts(t *testing.T) {
	h := open(t)
	for description, want := range map[string]string{"Read the plan": "en", "请读取套餐": "zh-CN", "请在 vendor console 读取套餐和单价": "zh-CN", "Read 套餐 from the vendor's console": "en"} {
		op, _ := h.recorded(description)
		if d := h.drafts(op.ID); d.Language != want {
			t.Errorf("%s: %s", description, d.Language)
		}
	}
	h.options.Language = "zh-CN"
	op, _ := h.recorded("Read the plan")
	if d := h.drafts(op.ID); d.Language != "zh-CN" {
		t.Errorf("set: %s", d.Language)
	}
}

// What a summarizer gets is what an agent may get, with the operator's answer and the ticked checklist, and
// without what earlier drafts said.
func TestWhatASummarizerReads(t *testing.T) {
	var got summarizers.Input
	s := &scripted{about: about("reader"), do: func(ctx context.Context, in summarizers.Input, _ func(human.Progress)) (human.Report, error) {
		got = in
		_, err := in.Pictures.Picture(ctx, in.Recordings[0].ID, strings.Repeat("0", 64), 0)
		if human.KindOf(err) != human.NotFound {
			t.Errorf("a picture that is not there: %v", err)
		}
		return human.Report{Line: "Read it."}, nil
	}}
	h := open(t, s)
	h.options.Auto = false
	op, rec := h.recorded("Read the plan")
	draft := human.Answer{HumanInput: "No renewal date", Summary: "earlier", Findings: []human.Finding{{Kind: human.FoundNote, Text: "earlier"}}, Fields: map[string]string{"plan": "Scale", "steps_done": "2"}}
	if _, err := h.queue.SaveInput(t.Context(), mei, op.ID, &draft); err != nil {
		t.Fatal(err)
	}
	if _, err := h.library.SetEdits(t.Context(), mei, rec, human.Edits{Cuts: []string{"a2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{With: "reader"}); err != nil {
		t.Fatal(err)
	}
	h.until(op.ID, is("reader", human.SummaryDone))
	if got.Version != 1 || got.Operation.Draft != nil || got.Answer.HumanInput != "No renewal date" || got.Answer.Fields["plan"] != "Scale" || got.Answer.Summary != "" || got.Answer.Findings != nil {
		t.Errorf("input %+v", got)
	}
	// One was ticked in the recording, the other in the answer.
	if want := []summarizers.Step{{Text: "Log in", Done: true}, {Text: "Read the plan", Done: true}}; !slices.Equal(got.Checklist, want) || len(got.Answer.Fields) != 1 {
		t.Errorf("checklist %+v", got.Checklist)
	}
	holes := 0
	for _, a := range got.Recordings[0].Actions {
		if a.Cut || a.ID == "a2" {
			t.Errorf("has what was cut: %+v", a)
		}
		if a.Type == human.Missing {
			holes++
			if a.ID != "" || a.Page != nil || a.Gap != nil {
				t.Errorf("the gap tells what was cut: %+v", a)
			}
		}
	}
	if holes != 1 {
		t.Errorf("%d gaps for one cut", holes)
	}
	if len(got.Recordings[0].Actions) == 0 {
		t.Error("has no actions")
	}
}

// A summarizer that fails, breaks down, takes too long, says nothing or is not there is reported, and the
// built-in one serves.
func TestTheBuiltInServesWhereAnotherFails(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(context.Context, summarizers.Input, func(human.Progress)) (human.Report, error)
		want string
	}{
		"fails": {func(context.Context, summarizers.Input, func(human.Progress)) (human.Report, error) {
			return human.Report{}, human.Errorf(human.Unavailable, "no answer from the model; try again later")
		}, "try again later"},
		"breaksdown": {func(context.Context, summarizers.Input, func(human.Progress)) (human.Report, error) { panic("oh") }, "crashed"},
		"slow": {func(ctx context.Context, _ summarizers.Input, _ func(human.Progress)) (human.Report, error) {
			<-ctx.Done()
			return human.Report{}, ctx.Err()
		}, "longer than"},
		"silent": {func(context.Context, summarizers.Input, func(human.Progress)) (human.Report, error) {
			return human.Report{}, nil
		}, "no finding"},
		"inventor": {func(context.Context, summarizers.Input, func(human.Progress)) (human.Report, error) {
			return human.Report{Findings: []human.Finding{{Kind: human.FoundValue, Text: "The price is 99.50", Evidence: []human.Ref{{Kind: human.RefAction, Recording: "rec_001", ID: "a5"}}}}}, nil
		}, "no finding that its evidence supports"},
		"broken":  {nil, "its manifest has no command"},
		"missing": {nil, "there is no summarizer"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			if c.do != nil {
				s := &scripted{about: about(name), do: c.do}
				if name == "slow" {
					s.about.Limit = 50 * time.Millisecond
				}
				h.others = append(h.others, s)
			}
			h.options.Rules = []summary.Rule{rule(t, "agent:price-scout = "+name)}
			op, _ := h.recorded("Read the plan")
			h.drafts(op.ID)
			failed := h.until(op.ID, is(name, human.SummaryFailed))
			if !strings.Contains(failed.Problem, c.want) {
				t.Errorf("problem %q, want %q in it", failed.Problem, c.want)
			}
			if name == "inventor" && len(failed.Dropped) != 1 {
				t.Errorf("dropped %+v", failed.Dropped)
			}
			if served := h.until(op.ID, is("browser", human.SummaryDone)); served.InsteadOf != name {
				t.Errorf("instead of %q", served.InsteadOf)
			}
			if d := h.drafts(op.ID); len(d.Summaries) != 2 {
				t.Errorf("%d drafts", len(d.Summaries))
			}
		})
	}
}

func rule(t *testing.T, text string) summary.Rule {
	t.Helper()
	r, err := summary.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Nothing leaves this machine before the operator agrees: for this time, or always for the project.
func TestNothingIsSentWithoutConsent(t *testing.T) {
	s := &scripted{about: about("model"), do: func(context.Context, summarizers.Input, func(human.Progress)) (human.Report, error) {
		return human.Report{Line: "The plan was read."}, nil
	}}
	s.about.Sends = "api.example.org"
	h := open(t, sending{s})
	h.options.Rules = []summary.Rule{rule(t, "project:/src/prices = model")}
	op, rec := h.recorded("Read the plan")
	h.drafts(op.ID)
	h.until(op.ID, is("model", human.SummaryAsks))
	h.until(op.ID, is("browser", human.SummaryDone)) // so that there is something
	if _, err := h.Try(t.Context(), mei, rec, summary.DraftRequest{With: "model"}); err == nil {
		t.Error("tried without consent")
	} else {
		wantKind(t, err, human.Denied, "api.example.org")
	}
	if n := s.asked.Load(); n != 0 {
		t.Fatalf("it was asked %d times", n)
	}
	shown, err := h.Preview(t.Context(), mei, op.ID, summary.DraftRequest{With: "model"})
	if err != nil || shown.Host != "api.example.org" || shown.Scope != "project: /src/prices" || shown.Consented || shown.Text != "Read the plan" {
		t.Errorf("preview %+v, %v", shown, err)
	}
	if _, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{With: "model", Consent: "maybe"}); err == nil {
		t.Error("maybe is no consent")
	}
	if _, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{With: "model", Consent: "once"}); err != nil {
		t.Fatal(err)
	}
	h.until(op.ID, is("model", human.SummaryDone))
	again, _ := h.recorded("Read the plan again")
	h.drafts(again.ID)
	h.until(again.ID, is("model", human.SummaryAsks)) // once was once
	if _, err := h.Start(t.Context(), mei, again.ID, summary.DraftRequest{With: "model", Consent: "always"}); err != nil {
		t.Fatal(err)
	}
	h.until(again.ID, is("model", human.SummaryDone))
	third, _ := h.recorded("And again")
	h.drafts(third.ID)
	h.until(third.ID, is("model", human.SummaryDone))
	all, err := h.Summarizers(t.Context(), mei)
	if err != nil || len(all.Consents) != 1 || all.Consents[0].By != mei.Name || all.Consents[0].Scope != "project: /src/prices" {
		t.Fatalf("consents %+v, %v", all.Consents, err)
	}
	if err := h.Forget(t.Context(), mei, all.Consents[0].ID); err != nil {
		t.Fatal(err)
	}
	wantKind(t, h.Forget(t.Context(), mei, all.Consents[0].ID), human.NotFound)
	fourth, _ := h.recorded("Once more")
	h.drafts(fourth.ID)
	h.until(fourth.ID, is("model", human.SummaryAsks))
	if _, err := h.Preview(t.Context(), mei, op.ID, summary.DraftRequest{With: "browser"}); err == nil {
		t.Error("the built-in one has a preview")
	} else {
		wantKind(t, err, human.Invalid, "sends nothing")
	}
}

// A draft tells how far it is, can be stopped, and is not begun twice.
func TestADraftUnderWay(t *testing.T) {
	began := make(chan struct{}, 2)
	s := &scripted{about: about("long"), do: func(ctx context.Context, _ summarizers.Input, tell func(human.Progress)) (human.Report, error) {
		tell(human.Progress{Share: 0.25, Note: "reading"})
		began <- struct{}{}
		<-ctx.Done()
		return human.Report{}, ctx.Err()
	}}
	h := open(t, s)
	h.options.Auto = false
	op, _ := h.recorded("Read the plan")
	first, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{With: "long"})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	second, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{With: "long"})
	if err != nil || second.ID != first.ID || second.Progress.Share != 0.25 {
		t.Errorf("a second start gave %+v, %v", second, err)
	}
	h.until(op.ID, func(s human.Summary) bool { return s.State == human.SummaryRuns && s.Progress.Note == "reading" })
	if d := h.drafts(op.ID); len(d.Summaries) != 1 || d.Summaries[0].State != human.SummaryRuns {
		t.Errorf("while it runs: %+v", d.Summaries)
	}
	stopped, err := h.Stop(t.Context(), mei, op.ID, first.ID)
	if err != nil || stopped.State != human.SummaryStopped {
		t.Errorf("stopped %+v, %v", stopped, err)
	}
	if again, err := h.Stop(t.Context(), mei, op.ID, first.ID); err != nil || again.State != human.SummaryStopped {
		t.Errorf("stopped again %+v, %v", again, err)
	}
	_, err = h.Stop(t.Context(), mei, op.ID, "sum_none")
	wantKind(t, err, human.NotFound)
	if s.asked.Load() != 1 {
		t.Errorf("asked %d times", s.asked.Load())
	}
}

// Trying one leaves nothing behind.
func TestTrying(t *testing.T) {
	h := open(t)
	h.options.Auto = false
	op, rec := h.recorded("Read the plan")
	sum, err := h.Try(t.Context(), mei, rec, summary.DraftRequest{})
	if err != nil || sum.State != human.SummaryDone || sum.Report.Line == "" {
		t.Errorf("tried %+v, %v", sum, err)
	}
	if d := h.drafts(op.ID); len(d.Summaries) != 0 {
		t.Errorf("left %+v", d.Summaries)
	}
	_, err = h.Try(t.Context(), mei, "rec_none", summary.DraftRequest{})
	wantKind(t, err, human.NotFound)
	_, err = h.Try(t.Context(), mei, rec, summary.DraftRequest{With: "nobody"})
	wantKind(t, err, human.NotFound, "browser")
}

// What was ticked in a review is read by its names, not by its numbers.
func TestWhatWasLookedAtIsNamed(t *testing.T) {
	h := open(t)
	op := human.Operation{ID: "op_1", Kind: human.Review, Description: "Review the login", AgentID: bot.Name, Details: []byte(`{"focus_areas":["Security","Speed"]}`)}
	line := h.Line(op, human.Answer{Fields: map[string]string{"focus_looked_at": "2"}})
	if !strings.Contains(line, "Speed") || strings.Contains(line, "2") || strings.Contains(line, "about “Speed") {
		t.Errorf("line %q", line)
	}
}

// H13: an answer without a summary gets one line, of what the operator said.
func TestALineAboutAnAnswer(t *testing.T) {
	h := open(t)
	op := human.Operation{ID: "op_1", Kind: human.Approve, Description: "Deploy to production?", AgentID: bot.Name}
	line := h.Line(op, human.Answer{Decision: human.Refused, HumanInput: "The migration was not tested"})
	if !strings.Contains(line, "The migration was not tested") || strings.Contains(line, "\n") {
		t.Errorf("line %q", line)
	}
	op.Description = "是否部署到生产环境？"
	if line := h.Line(op, human.Answer{Decision: human.Approved}); !strings.ContainsAny(line, "批准同意") {
		t.Errorf("line %q", line)
	}
	h.options.Auto = false
	if line := h.Line(op, human.Answer{Decision: human.Approved}); line != "" {
		t.Errorf("line %q, where none is wanted", line)
	}
}

func TestAgentsHaveNoPartInDrafts(t *testing.T) {
	h := open(t)
	op, rec := h.recorded("Read the plan")
	ctx := t.Context()
	for what, err := range map[string]error{
		"drafts":      second(h.Drafts(ctx, bot, op.ID)),
		"start":       second(h.Start(ctx, bot, op.ID, summary.DraftRequest{})),
		"stop":        second(h.Stop(ctx, bot, op.ID, "sum_x")),
		"preview":     second(h.Preview(ctx, bot, op.ID, summary.DraftRequest{})),
		"try":         second(h.Try(ctx, bot, rec, summary.DraftRequest{})),
		"summarizers": second(h.Summarizers(ctx, bot)),
		"forget":      h.Forget(ctx, bot, "x"),
	} {
		if human.KindOf(err) != human.Denied {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A draft from before an action was removed is marked stale; one made anew is not.
func TestADraftFromBeforeACutIsStale(t *testing.T) {
	h := open(t)
	op, rec := h.recorded("Read the plan")
	h.drafts(op.ID)
	first := h.until(op.ID, is("browser", human.SummaryDone))
	if d := h.drafts(op.ID); len(d.Stale) != 0 {
		t.Fatalf("stale %v", d.Stale)
	}
	edits, err := h.library.SetEdits(t.Context(), mei, rec, human.Edits{SharePictures: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := h.drafts(op.ID); len(d.Stale) != 0 {
		t.Errorf("stale for pictures that are shared: %v", d.Stale)
	}
	edits.Cuts = []string{"a2"}
	if _, err = h.library.SetEdits(t.Context(), mei, rec, edits); err != nil {
		t.Fatal(err)
	}
	if d := h.drafts(op.ID); !slices.Equal(d.Stale, []human.SummaryID{first.ID}) || len(d.Summaries) != 1 {
		t.Errorf("after a cut: stale %v of %d", d.Stale, len(d.Summaries))
	}
	again, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{})
	if err != nil {
		t.Fatal(err)
	}
	h.until(op.ID, func(s human.Summary) bool { return s.ID == again.ID && s.State == human.SummaryDone })
	if d := h.drafts(op.ID); !slices.Equal(d.Stale, []human.SummaryID{first.ID}) {
		t.Errorf("stale %v", d.Stale)
	}
}

// What was made of a recording goes with it.
func TestADeletedRecordingTakesItsDraftsAlong(t *testing.T) {
	h := open(t)
	op, rec := h.recorded("Read the plan")
	h.drafts(op.ID)
	done := h.until(op.ID, is("browser", human.SummaryDone))
	if err := h.library.Delete(t.Context(), mei, rec); err != nil {
		t.Fatal(err)
	}
	if d := h.drafts(op.ID); len(d.Summaries) != 0 {
		t.Errorf("drafts %+v", d.Summaries)
	}
	done.ID = "sum_late"
	wantKind(t, h.store.Summaries().PutSummary(t.Context(), done), human.NotFound)
	if d := h.drafts(op.ID); len(d.Summaries) != 0 {
		t.Errorf("a late one was stored: %+v", d.Summaries)
	}
}

func TestWhileARecordingRunsThereIsNoDraft(t *testing.T) {
	h := open(t)
	op, rec := h.recorded("Read the plan")
	r := human.Recording{ID: rec, OperationID: op.ID, State: human.RecordingRuns}
	if err := h.store.Recordings().Append(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if d := h.drafts(op.ID); len(d.Summaries) != 0 {
		t.Errorf("drafts %+v", d.Summaries)
	}
	_, err := h.Start(t.Context(), mei, op.ID, summary.DraftRequest{})
	wantKind(t, err, human.Conflict, "stop it first")
	_, err = h.Try(t.Context(), mei, rec, summary.DraftRequest{})
	wantKind(t, err, human.Conflict, "stop it first")
}

// Scores are the difference between drafts and what was released.
func TestScores(t *testing.T) {
	finding := func(text string) human.Finding {
		return human.Finding{Kind: human.FoundNote, Text: text, Evidence: []human.Ref{{Kind: human.RefAction, Recording: "rec_001", ID: "a5"}}}
	}
	s := &scripted{about: about("judged"), do: func(context.Context, summarizers.Input, func(human.Progress)) (human.Report, error) {
		return human.Report{Line: "Read.", Findings: []human.Finding{finding("Quota was read"), finding("Plan was read"), finding("Nothing else")}, Suggestions: []human.Finding{finding("Read it again")}}, nil
	}}
	h := open(t, s)
	h.options.Rules = []summary.Rule{rule(t, "* = judged")}
	op, _ := h.recorded("Read the plan")
	h.drafts(op.ID)
	draft := h.until(op.ID, is("judged", human.SummaryDone))
	if len(draft.Report.Findings) != 3 || len(draft.Report.Suggestions) != 1 {
		t.Fatalf("draft %+v, dropped %+v", draft.Report, draft.Dropped)
	}
	kept, edited := draft.Report.Findings[0], draft.Report.Findings[1]
	edited.Text, edited.ByHand = "The plan was read", true
	answer := human.Answer{Summary: "Read", SummaryID: draft.ID, Findings: []human.Finding{kept, edited, {Kind: human.FoundNote, Text: "Ask the owner", ByHand: true}}}
	if _, err := h.queue.Complete(t.Context(), mei, op.ID, answer, ""); err != nil {
		t.Fatal(err)
	}
	all, err := h.Summarizers(t.Context(), mei)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all.Summarizers, func(k summary.Known) bool { return k.Name == "judged" })
	want := summary.Score{Drafts: 1, Released: 1, Kept: 1, Edited: 1, Cut: 2, Added: 1}
	if i < 0 || all.Summarizers[i].Score != want || all.Summarizers[i].BuiltIn {
		t.Errorf("known %+v", all.Summarizers)
	}
	if len(all.Problems) != 1 || all.Problems[0].Name != "broken" {
		t.Errorf("problems %+v", all.Problems)
	}
}

func TestRules(t *testing.T) {
	for _, bad := range []string{"", "browser", "kind:browser", "kind: = x", "kind:cooking = x", "team:a = x", "kind:browser = ", "* x"} {
		if r, err := summary.ParseRule(bad); err == nil || !strings.Contains(err.Error(), "kind") {
			t.Errorf("%q: %+v, %v", bad, r, err)
		}
	}
	h := open(t)
	for _, c := range []struct {
		rules []string
		want  []string
	}{
		{nil, []string{"browser"}},
		{[]string{"kind:desktop = a", "* = b c b"}, []string{"b", "c"}},
		{[]string{"kind:browser = a", "* = b"}, []string{"a"}},
		{[]string{"agent:other = a", "agent:price-scout = b"}, []string{"b"}},
		{[]string{"project:/src/other = a", "project:/src/prices=b"}, []string{"b"}},
	} {
		h.options = summary.Options{Language: "en"}
		for _, text := range c.rules {
			h.options.Rules = append(h.options.Rules, rule(t, text))
		}
		op, _ := h.recorded("Read the plan")
		if d := h.drafts(op.ID); !slices.Equal(d.Chosen, c.want) {
			t.Errorf("%v: %v", c.rules, d.Chosen)
		}
	}
}
