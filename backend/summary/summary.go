package summary

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/prompt"
)

const (
	mostActions = 50_000           // of one recording that a summarizer reads
	longest     = 10 * time.Minute // whatever a summarizer says of its own limit
	usual       = time.Minute      // for one that says nothing
	tellEvery   = 200 * time.Millisecond
	scored      = 500 // drafts that scores are made of
)

// A Service makes drafts. It is safe for concurrent use. Close ends what it does.
type Service struct {
	deps Deps
	life context.Context // of what is being made
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	making   map[human.SummaryID]*making
	watchers map[*watcher]struct{}
}

// A making is a draft that is being made.
type making struct {
	sum    human.Summary // as it stands; under Service.mu
	told   time.Time
	cancel context.CancelFunc
	done   chan struct{}
}

// New makes a service. It does nothing by itself.
func New(deps Deps) *Service {
	s := &Service{deps: deps, making: map[human.SummaryID]*making{}, watchers: map[*watcher]struct{}{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close stops every draft that is being made and returns when none is.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.work.Wait()
}

// RecordingEnded begins the drafts that are due for the operation of a recording that has ended. What goes
// wrong is logged: nobody waits for it.
func (s *Service) RecordingEnded(ctx context.Context, r human.Recording) {
	if _, err := s.Drafts(ctx, s.deps.Operator, r.OperationID); err != nil && ctx.Err() == nil {
		s.deps.Log.Error("no summary could be drafted when a recording ended", "recording", r.ID, "err", err)
	}
}

// Drafts returns what was made of an operation. Where drafts are made by themselves and the operation is open,
// it begins those that are due: once for each set of recordings that have ended.
func (s *Service) Drafts(ctx context.Context, by human.Actor, id human.OperationID) (Drafts, error) {
	op, in, err := s.outline(ctx, by, id, nil)
	if err != nil {
		return Drafts{}, err
	}
	options := s.deps.Options()
	d := Drafts{Chosen: choose(options.Rules, in), Fitting: []string{}, Language: languageOf(op, options, "")}
	for _, each := range s.all() {
		if about := each.About(); about.Fits(in) {
			d.Fitting = append(d.Fitting, about.Name)
		}
	}
	if d.Summaries, err = s.list(ctx, id); err != nil {
		return Drafts{}, err
	}
	d.Stale = []human.SummaryID{}
	if edits, err := s.edits(ctx, in); err != nil {
		return Drafts{}, err
	} else if !op.State.Terminal() {
		for _, one := range d.Summaries {
			if one.State == human.SummaryDone && one.Edits != edits && slices.Equal(one.Recordings, recordingsOf(in)) {
				d.Stale = append(d.Stale, one.ID)
			}
		}
	}
	if options.Auto && !op.State.Terminal() && len(in.Recordings) > 0 && !slices.ContainsFunc(d.Summaries, func(one human.Summary) bool {
		return slices.Equal(one.Recordings, recordingsOf(in))
	}) {
		for _, name := range d.Chosen {
			one, err := s.start(op, in, begin{name: name, language: d.Language})
			if err != nil {
				return Drafts{}, err
			}
			d.Summaries = append(d.Summaries, one)
		}
	}
	return d, nil
}

// edits sums up what was cut, masked, reworded and shared in the recordings of an input.
func (s *Service) edits(ctx context.Context, in summarizers.Input) (string, error) {
	hash := sha256.New()
	for _, r := range in.Recordings {
		e, err := s.deps.Recordings.Edits(ctx, s.deps.Operator, r.ID)
		if err != nil {
			return "", err
		}
		// Pictures are no part of what a summary tells.
		words := make([][2]string, 0, len(e.Words))
		for _, action := range slices.Sorted(maps.Keys(e.Words)) {
			words = append(words, [2]string{action, e.Words[action]})
		}
		said, err := json.Marshal([]any{append([]string{}, e.Cuts...), append([]string{}, e.MaskedTexts...), words, e.ShareText})
		if err != nil {
			return "", human.Wrap(human.Internal, err, "the edits of recording %s cannot be summed up", r.ID)
		}
		hash.Write(said)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// list has the drafts of an operation, those that are being made last.
func (s *Service) list(ctx context.Context, id human.OperationID) ([]human.Summary, error) {
	s.mu.Lock()
	var running []human.Summary
	for _, m := range s.making {
		if m.sum.OperationID == id {
			running = append(running, m.sum)
		}
	}
	s.mu.Unlock()
	stored, err := s.deps.Store.Summaries(ctx, id)
	if err != nil {
		return nil, err
	}
	// One may have been stored since.
	running = slices.DeleteFunc(running, func(r human.Summary) bool {
		return slices.ContainsFunc(stored, func(one human.Summary) bool { return one.ID == r.ID })
	})
	slices.SortFunc(running, func(a, b human.Summary) int { return cmp.Compare(a.ID, b.ID) })
	return append(append([]human.Summary{}, stored...), running...), nil
}

// Start begins a draft and returns it at once, or the one of that summarizer that is being made already.
// NotFound for a summarizer that there is not; Conflict while a recording of the operation runs. Operators only.
func (s *Service) Start(ctx context.Context, by human.Actor, id human.OperationID, r DraftRequest) (human.Summary, error) {
	op, in, err := s.outline(ctx, by, id, nil)
	if err != nil {
		return human.Summary{}, err
	}
	for _, rec := range op.Recordings {
		if !slices.Contains(recordingsOf(in), rec) {
			return human.Summary{}, human.Errorf(human.Conflict, "recording %s still runs; stop it first, so that the summary has all of it", rec)
		}
	}
	options := s.deps.Options()
	name := cmp.Or(r.With, choose(options.Rules, in)[0])
	if _, err := s.find(name); err != nil {
		return human.Summary{}, err
	}
	if err := s.agree(ctx, by, op, name, r.Consent); err != nil {
		return human.Summary{}, err
	}
	return s.start(op, in, begin{name: name, language: languageOf(op, options, r.Language), consent: r.Consent})
}

// Stop ends the making of a draft and returns it as it then stands; one that is done stays as it is.
func (s *Service) Stop(ctx context.Context, by human.Actor, op human.OperationID, id human.SummaryID) (human.Summary, error) {
	if err := onlyOperators(by); err != nil {
		return human.Summary{}, err
	}
	s.mu.Lock()
	m := s.making[id]
	s.mu.Unlock()
	if m != nil && m.sum.OperationID == op {
		m.cancel()
		select {
		case <-m.done:
		case <-ctx.Done():
			return human.Summary{}, ctx.Err()
		}
	}
	all, err := s.list(ctx, op)
	if err != nil {
		return human.Summary{}, err
	}
	if i := slices.IndexFunc(all, func(one human.Summary) bool { return one.ID == id }); i >= 0 {
		return all[i], nil
	}
	return human.Summary{}, human.Errorf(human.NotFound, "operation %s has no summary %s", op, id)
}

// Preview shows what a summarizer would send to another machine, to the letter, and sends nothing. Invalid for
// one that sends nothing.
func (s *Service) Preview(ctx context.Context, by human.Actor, id human.OperationID, r DraftRequest) (Showing, error) {
	op, in, err := s.outline(ctx, by, id, nil)
	if err != nil {
		return Showing{}, err
	}
	which, err := s.find(r.With)
	if err != nil {
		return Showing{}, err
	}
	shows, is := which.(summarizers.Previewer)
	if !is || which.About().Sends == "" {
		return Showing{}, human.BadField("with", "%s sends nothing to another machine", r.With)
	}
	if err := s.fill(ctx, &in, languageOf(op, s.deps.Options(), r.Language)); err != nil {
		return Showing{}, err
	}
	preview, err := shows.Preview(ctx, in)
	if err != nil {
		return Showing{}, err
	}
	consented, err := s.consented(ctx, op, which.About())
	return Showing{Preview: preview, Scope: scopeOf(op), Consented: consented}, err
}

// Try makes a draft of one recording and stores nothing. It blocks until that is done or ctx ends. Denied where
// what the summarizer reads would leave this machine and the operator has not agreed.
func (s *Service) Try(ctx context.Context, by human.Actor, id human.RecordingID, r DraftRequest) (human.Summary, error) {
	if err := onlyOperators(by); err != nil {
		return human.Summary{}, err
	}
	rec, err := s.deps.Recordings.Recording(ctx, by, id)
	if err != nil {
		return human.Summary{}, err
	}
	op, in, err := s.outline(ctx, by, rec.OperationID, []human.RecordingID{id})
	if err != nil {
		return human.Summary{}, err
	}
	if len(in.Recordings) == 0 {
		return human.Summary{}, human.Errorf(human.Conflict, "recording %s still runs; stop it first", id)
	}
	options := s.deps.Options()
	which, err := s.find(cmp.Or(r.With, choose(options.Rules, in)[0]))
	if err != nil {
		return human.Summary{}, err
	}
	if err := s.agree(ctx, by, op, which.About().Name, r.Consent); err != nil {
		return human.Summary{}, err
	}
	sum := s.blank(op, in, which.About(), languageOf(op, options, r.Language))
	s.draft(ctx, &sum, op, in, which, r.Consent, func(human.Progress) {})
	switch {
	case sum.State == human.SummaryAsks:
		return sum, human.Errorf(human.Denied, "%s sends what it reads to %s; agree to that for this time (consent once), or always (consent always)", sum.Summarizer, which.About().Sends)
	case ctx.Err() != nil:
		return sum, ctx.Err()
	}
	return sum, nil
}

// blank is a draft that is begun.
func (s *Service) blank(op human.Operation, in summarizers.Input, about summarizers.About, language string) human.Summary {
	return human.Summary{
		ID: s.deps.NewID(), OperationID: op.ID, Recordings: recordingsOf(in), Summarizer: about.Name, Language: language,
		State: human.SummaryRuns, StartedAt: s.deps.Now().UTC(), Model: about.Model,
	}
}

// A begin is what a draft is begun with.
type begin struct{ name, language, consent, insteadOf string }

// start begins a draft, unless that summarizer is at it already.
func (s *Service) start(op human.Operation, in summarizers.Input, b begin) (human.Summary, error) {
	which, err := s.find(b.name)
	about := summarizers.About{Name: b.name}
	if err == nil {
		about = which.About()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return human.Summary{}, human.Errorf(human.Unavailable, "Deskbell is shutting down")
	}
	for _, m := range s.making {
		if m.sum.OperationID == op.ID && m.sum.Summarizer == b.name && m.sum.Language == b.language && slices.Equal(m.sum.Recordings, recordingsOf(in)) {
			return m.sum, nil
		}
	}
	ctx, cancel := context.WithCancel(s.life)
	m := &making{sum: s.blank(op, in, about, b.language), cancel: cancel, done: make(chan struct{})}
	m.sum.InsteadOf = b.insteadOf
	s.making[m.sum.ID] = m
	s.tell(m.sum)
	s.work.Go(func() {
		defer cancel()
		s.mu.Lock()
		sum := m.sum
		s.mu.Unlock()
		if err != nil {
			sum.State, sum.Problem = human.SummaryFailed, human.SafeText(err)
		} else {
			s.draft(ctx, &sum, op, in, which, b.consent, func(p human.Progress) { s.progress(m, p) })
		}
		s.finish(m, sum)
		s.serveInstead(op, in, sum)
	})
	return m.sum, nil
}

// serveInstead has the built-in summarizer make a draft where another could not.
func (s *Service) serveInstead(op human.Operation, in summarizers.Input, failed human.Summary) {
	name := builtIn(in)
	if failed.State != human.SummaryFailed && failed.State != human.SummaryAsks || failed.Summarizer == name || s.life.Err() != nil {
		return
	}
	had, err := s.list(s.life, op.ID)
	if err == nil && slices.ContainsFunc(had, func(one human.Summary) bool {
		return one.Summarizer == name && slices.Equal(one.Recordings, failed.Recordings) && (one.State == human.SummaryDone || one.State == human.SummaryRuns)
	}) {
		return
	}
	if _, err := s.start(op, in, begin{name: name, language: failed.Language, insteadOf: failed.Summarizer}); err != nil {
		s.deps.Log.Error("the built-in summarizer could not serve instead", "of", failed.Summarizer, "operation", op.ID, "err", err)
	}
}

// draft asks a summarizer, and puts into the draft what came of it.
func (s *Service) draft(ctx context.Context, sum *human.Summary, op human.Operation, in summarizers.Input, which summarizers.Summarizer, consent string, tell func(human.Progress)) {
	about := which.About()
	report, dropped, err := func() (human.Report, []human.Dropped, error) {
		if about.Sends != "" && consent == "" {
			agreed, err := s.consented(ctx, op, about)
			if err != nil {
				return human.Report{}, nil, err
			}
			if !agreed {
				return human.Report{}, nil, errAsks
			}
		}
		var err error
		if sum.Edits, err = s.edits(ctx, in); err != nil { // before they are read: what comes between makes it stale
			return human.Report{}, nil, err
		}
		if err := s.fill(ctx, &in, sum.Language); err != nil {
			return human.Report{}, nil, err
		}
		if !about.Fits(in) {
			return human.Report{}, nil, human.Errorf(human.Invalid, "%s does not read what operation %s has; choose another summarizer", about.Name, op.ID)
		}
		limit := min(cmp.Or(about.Limit, usual), longest)
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		d, err := ask(ctx, which, in, tell)
		if d.Model != "" {
			sum.Model = d.Model
		}
		sum.TokensIn, sum.TokensOut = d.TokensIn, d.TokensOut
		if ctx.Err() == context.DeadlineExceeded {
			return human.Report{}, d.Dropped, human.Errorf(human.Unavailable, "%s took longer than its %s", about.Name, limit)
		}
		if err != nil {
			return human.Report{}, d.Dropped, err
		}
		report, dropped := summarizers.Check(in, d.Report)
		dropped = slices.Concat(d.Dropped, dropped)
		if report.Line == "" && report.Text == "" && len(report.Findings) == 0 {
			return human.Report{}, dropped, human.Errorf(human.Invalid, "%s said nothing that stands on its evidence", about.Name)
		}
		return report, dropped, nil
	}()
	sum.Took = s.deps.Now().Sub(sum.StartedAt).Nanoseconds()
	sum.Progress = human.Progress{}
	sum.Report, sum.Dropped = report, dropped
	switch {
	case err == nil:
		sum.State = human.SummaryDone
	case errors.Is(err, errAsks):
		sum.State = human.SummaryAsks
	case ctx.Err() != nil:
		sum.State = human.SummaryStopped
	default:
		sum.State, sum.Problem = human.SummaryFailed, human.SafeText(err)
		s.deps.Log.Warn("a summarizer failed", "summarizer", about.Name, "operation", op.ID, "err", err)
	}
}

var errAsks = errors.New("the operator has not agreed")

// ask calls a summarizer. One that panics has failed, and nothing else. One that asks a model tells what that cost,
// and what it left out itself.
func ask(ctx context.Context, which summarizers.Summarizer, in summarizers.Input, tell func(human.Progress)) (d prompt.Draft, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = human.Wrap(human.Internal, fmt.Errorf("panic: %v", p), "%s broke down", which.About().Name)
		}
	}()
	if model, is := which.(*prompt.Summarizer); is {
		return model.Draft(ctx, in, tell)
	}
	d.Report, err = which.Summarize(ctx, in, tell)
	return d, err
}

func (s *Service) progress(m *making, p human.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.sum.Progress = p
	if now := s.deps.Now(); now.Sub(m.told) >= tellEvery {
		m.told = now
		s.tell(m.sum)
	}
}

// finish stores a draft that is made, and only then says so.
func (s *Service) finish(m *making, sum human.Summary) {
	err := s.deps.Store.PutSummary(context.WithoutCancel(s.life), sum)
	gone := human.KindOf(err) == human.NotFound // a recording of it was deleted meanwhile
	if err != nil && !gone {
		s.deps.Log.Error("a summary could not be stored", "operation", sum.OperationID, "err", err)
		sum.State, sum.Report, sum.Problem = human.SummaryFailed, human.Report{}, human.SafeText(err)
	}
	if gone {
		sum.State, sum.Report = human.SummaryStopped, human.Report{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.sum = sum
	delete(s.making, sum.ID)
	close(m.done)
	s.tell(sum)
}

// Line is one line about an answer, by the built-in summarizer for answers, in the language of drafts; "" where
// drafts are not made by themselves. It reads no recordings.
func (s *Service) Line(op human.Operation, answer human.Answer) string {
	options := s.deps.Options()
	which, err := s.find(string(summarizers.FromAnswer))
	if !options.Auto || err != nil {
		return ""
	}
	op.Result, op.Recordings = nil, []human.RecordingID{}
	in := input(op, answer)
	in.Language = languageOf(op, options, "")
	d, err := ask(s.life, which, in, func(human.Progress) {})
	if err != nil {
		s.deps.Log.Warn("an answer has no summary", "operation", op.ID, "err", err)
		return answer.OneLine()
	}
	report, _ := summarizers.Check(in, d.Report)
	return cmp.Or(report.Line, answer.OneLine())
}

// input is an operation with an answer, as a summarizer reads it, without recordings.
func input(op human.Operation, answer human.Answer) summarizers.Input {
	in := summarizers.Input{Version: 1, Operation: op, Answer: answer, Recordings: []summarizers.Recorded{}}
	in.Operation.Draft, in.Operation.Deliveries, in.Operation.SnoozedUntil, in.Operation.Result = nil, nil, nil, nil
	// What earlier drafts said is no evidence for another.
	in.Answer.Summary, in.Answer.KeyFindings, in.Answer.Findings, in.Answer.Suggestions, in.Answer.SummaryID = "", nil, nil, nil, ""
	in.Checklist = []summarizers.Step{}
	for _, text := range op.Steps() {
		in.Checklist = append(in.Checklist, summarizers.Step{Text: text})
	}
	in.Answer.Fields = maps.Clone(in.Answer.Fields)
	for _, n := range numbers(in.Answer.Fields[stepsDone]) {
		tick(in.Checklist, n-1)
	}
	delete(in.Answer.Fields, stepsDone)
	if looked := numbers(in.Answer.Fields[lookedAt]); len(looked) > 0 {
		var areas []string
		for i, area := range op.FocusAreas() {
			if slices.Contains(looked, i+1) {
				areas = append(areas, area)
			}
		}
		in.Answer.Fields[lookedAt] = strings.Join(areas, "; ")
	}
	return in
}

// Fields in which the console keeps what was ticked, as numbers from 1 with commas between them.
const (
	stepsDone = "steps_done"      // of details.action_sequence
	lookedAt  = "focus_looked_at" // of details.focus_areas
)

func numbers(text string) (all []int) {
	for part := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func tick(list []summarizers.Step, i int) {
	if i >= 0 && i < len(list) {
		list[i].Done = true
	}
}

// outline is an operation for an operator, and what a summarizer will read of it without actions: all of its
// recordings that have ended, or some.
func (s *Service) outline(ctx context.Context, by human.Actor, id human.OperationID, only []human.RecordingID) (human.Operation, summarizers.Input, error) {
	if err := onlyOperators(by); err != nil {
		return human.Operation{}, summarizers.Input{}, err
	}
	op, err := s.deps.Operations.Get(ctx, by, id)
	if err != nil {
		return op, summarizers.Input{}, err
	}
	var answer human.Answer
	switch {
	case op.Result != nil:
		answer = op.Result.Answer
	case op.Draft != nil:
		answer = op.Draft.Answer
	}
	in := input(op, answer)
	in.Pictures = pictures{s.deps.Recordings}
	for _, rec := range op.Recordings {
		if only != nil && !slices.Contains(only, rec) {
			continue
		}
		r, err := s.deps.Recordings.Recording(ctx, by, rec)
		if err != nil {
			return op, in, err
		}
		if !r.Running() {
			in.Recordings = append(in.Recordings, summarizers.Recorded{Recording: r, Actions: []human.Action{}, Commands: []summarizers.Command{}})
		}
	}
	return op, in, nil
}

// fill reads the recordings of an outline.
func (s *Service) fill(ctx context.Context, in *summarizers.Input, language string) error {
	in.Language = language
	in.Checklist = slices.Clone(in.Checklist)
	in.Recordings = slices.Clone(in.Recordings)
	for i := range in.Recordings {
		r := &in.Recordings[i]
		var done []int
		var err error
		if r.Actions, r.More, done, err = s.deps.Recordings.Summarized(ctx, r.ID, language, mostActions); err != nil {
			return err
		}
		for _, step := range done {
			tick(in.Checklist, step)
		}
	}
	return nil
}

func recordingsOf(in summarizers.Input) []human.RecordingID {
	ids := make([]human.RecordingID, len(in.Recordings))
	for i, r := range in.Recordings {
		ids[i] = r.ID
	}
	return ids
}

// pictures are those of recordings.
type pictures struct{ Recordings }

func (p pictures) Picture(ctx context.Context, recording human.RecordingID, id string, width int) ([]byte, error) {
	return p.JPEG(ctx, recording, id, width)
}

// languageOf is the language of a draft: the one asked for, else as the settings say.
func languageOf(op human.Operation, o Options, asked string) string {
	switch asked = cmp.Or(asked, o.Language); asked {
	case "en", "zh-CN":
		return asked
	}
	letters, han := 0, 0
	for _, r := range op.Description {
		if unicode.Is(unicode.Han, r) {
			han++
		} else if unicode.IsLetter(r) {
			letters++
		}
	}
	if han*3 > letters { // a word is one or two characters in Chinese and five or six letters in English
		return "zh-CN"
	}
	return "en"
}

func (s *Service) all() []summarizers.Summarizer {
	shelf := s.deps.Shelf()
	return slices.Concat(shelf.BuiltIn, shelf.Others)
}

func (s *Service) find(name string) (summarizers.Summarizer, error) {
	var names []string
	for _, each := range s.all() {
		if each.About().Name == name {
			return each, nil
		}
		names = append(names, each.About().Name)
	}
	for _, p := range s.deps.Shelf().Problems {
		if p.Name == name {
			return nil, human.Errorf(human.Unavailable, "%s cannot be used: %s", name, p.Text)
		}
	}
	return nil, human.Errorf(human.NotFound, "there is no summarizer %q; there are %s", human.OneLine(name, 60), strings.Join(names, ", "))
}

// Summarizers tells what there is, how each fared, and what was agreed. Operators only.
func (s *Service) Summarizers(ctx context.Context, by human.Actor) (Summarizers, error) {
	if err := onlyOperators(by); err != nil {
		return Summarizers{}, err
	}
	scores, err := s.scores(ctx)
	if err != nil {
		return Summarizers{}, err
	}
	consents, err := s.deps.Store.Consents(ctx)
	if err != nil {
		return Summarizers{}, err
	}
	shelf := s.deps.Shelf()
	all := Summarizers{
		Summarizers: []Known{}, Problems: append([]Unusable{}, shelf.Problems...), Consents: append([]Consent{}, consents...), Folder: s.deps.Folder,
	}
	for i, each := range slices.Concat(shelf.BuiltIn, shelf.Others) {
		about := each.About()
		about.Kinds = append([]human.Kind{}, about.Kinds...)
		all.Summarizers = append(all.Summarizers, Known{About: about, BuiltIn: i < len(shelf.BuiltIn), Score: scores[about.Name]})
	}
	return all, nil
}

func (s *Service) scores(ctx context.Context) (map[string]Score, error) {
	recent, err := s.deps.Store.Recent(ctx, scored)
	if err != nil {
		return nil, err
	}
	scores := map[string]Score{}
	for _, sum := range recent {
		score := scores[sum.Summarizer]
		score.Drafts++
		score.Dropped += len(sum.Dropped)
		if sum.State == human.SummaryFailed {
			score.Failed++
		}
		op, err := s.deps.Operations.Get(ctx, s.deps.Operator, sum.OperationID)
		if err != nil && human.KindOf(err) != human.NotFound {
			return nil, err
		}
		if err == nil && op.Result != nil && op.Result.SummaryID == sum.ID {
			score.Released++
			j := Judge(sum.Report, op.Result.Answer)
			score.Kept += j.Kept
			score.Edited += j.Edited
			score.Cut += j.Cut
			score.Added += j.Added
		}
		scores[sum.Summarizer] = score
	}
	return scores, nil
}

// Judge compares a draft with what was released: findings and suggestions that went out as they were, with
// other words, not at all, and that were added.
func Judge(draft human.Report, released human.Answer) Score {
	var j Score
	out := map[string]human.Finding{}
	for _, f := range slices.Concat(released.Findings, released.Suggestions) {
		if f.ID == "" {
			j.Added++
		} else {
			out[f.ID] = f
		}
	}
	for _, f := range slices.Concat(draft.Findings, draft.Suggestions) {
		switch now, is := out[f.ID]; {
		case !is:
			j.Cut++
		case now.Text != f.Text:
			j.Edited++
		default:
			j.Kept++
		}
	}
	return j
}

// scopeOf is what a consent for an operation covers, when it is given for always.
func scopeOf(op human.Operation) string {
	if p := op.Project(); p != "" {
		return "project: " + p
	}
	return "agent: " + op.AgentID
}

func consentFor(op human.Operation, about summarizers.About) Consent {
	c := Consent{Scope: scopeOf(op), Summarizer: about.Name, Host: about.Sends}
	sum := sha256.Sum256([]byte(c.Scope + "\n" + c.Summarizer + "\n" + c.Host))
	c.ID = hex.EncodeToString(sum[:8])
	return c
}

// consented says whether the operator agreed before, for the operation's scope.
func (s *Service) consented(ctx context.Context, op human.Operation, about summarizers.About) (bool, error) {
	all, err := s.deps.Store.Consents(ctx)
	want := consentFor(op, about).ID
	return slices.ContainsFunc(all, func(c Consent) bool { return c.ID == want }), err
}

// agree stores the operator's word where it is given for always.
func (s *Service) agree(ctx context.Context, by human.Actor, op human.Operation, name, consent string) error {
	switch consent {
	case "", "once":
		return nil
	case "always":
	default:
		return human.BadField("consent", "%q is not one of once, always", human.OneLine(consent, 40))
	}
	which, err := s.find(name)
	if err != nil || which.About().Sends == "" {
		return err
	}
	c := consentFor(op, which.About())
	c.By, c.At = by.Name, s.deps.Now().UTC()
	return s.deps.Store.PutConsent(ctx, c)
}

// Forget takes a consent back. Operators only.
func (s *Service) Forget(ctx context.Context, by human.Actor, consent string) error {
	if err := onlyOperators(by); err != nil {
		return err
	}
	return s.deps.Store.DropConsent(ctx, consent)
}

func onlyOperators(by human.Actor) error {
	if by.Role != human.Operator {
		return human.Errorf(human.Denied, "only an operator can do this; an agent reads what its operator released")
	}
	return nil
}

// A watcher waits for drafts to change. It is told the latest state of each, not every one in between.
type watcher struct {
	latest map[human.SummaryID]human.Summary
	wake   chan struct{}
}

// tell notes a change for all watchers. Service.mu is held.
func (s *Service) tell(sum human.Summary) {
	for w := range s.watchers {
		w.latest[sum.ID] = sum
		select {
		case w.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// Watch calls changed with each draft as it changes, beginning with those that are being made, until ctx ends.
// It blocks; changed may, too.
func (s *Service) Watch(ctx context.Context, changed func(human.Summary)) {
	w := &watcher{latest: map[human.SummaryID]human.Summary{}, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watchers[w] = struct{}{}
	for _, m := range s.making {
		w.latest[m.sum.ID] = m.sum
	}
	w.wake <- struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		s.mu.Lock()
		news := w.latest
		w.latest = map[human.SummaryID]human.Summary{}
		s.mu.Unlock()
		for _, id := range slices.Sorted(maps.Keys(news)) {
			if ctx.Err() == nil {
				changed(news[id])
			}
		}
	}
}
