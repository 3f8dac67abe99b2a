package summary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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

// Recording returns the function that gets a recorder's changes: where drafts are automatic, it begins them when a recording
// ends. It does not wait for them.
func (s *Service) Recording(ctx context.Context) func(human.Recording) {
	return func(r human.Recording) {
		if r.State != human.RecordingStopped && r.State != human.RecordingInterrupted {
			return
		}
		if _, err := s.Drafts(ctx, s.deps.Operator, r.OperationID); err != nil && ctx.Err() == nil {
			s.deps.Log.Error("no summary could be drafted when a recording ended", "recording", r.ID, "err", err)
		}
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

// Preview shows what a summarizer would send to another machine, exactly, and sends nothing. Invalid for
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
			return human.Report{}, nil, human.Errorf(human.Invalid, "%s cannot summarize what operation %s has; choose another summarizer", about.Name, op.ID)
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
			return human.Report{}, dropped, human.Errorf(human.Invalid, "%s gave no finding that its evidence supports", about.Name)
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
			err = human.Wrap(human.Internal, fmt.Errorf("panic: %v", p), "%s crashed", which.About().Name)
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
