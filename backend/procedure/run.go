package procedure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	patience  = 10 * time.Second       // for a page and an element to be there
	glimpse   = 2 * time.Second        // the same for an optional step
	calms     = 700 * time.Millisecond // a page has to answer what was filled in before a step that writes: no person is faster
	mostKnown = 1000                   // items that are kept to tell which are new
	within    = 10 * time.Second       // for checkpoints and effects, where nothing else is said
	look      = 25 * time.Millisecond  // between two looks at a checkpoint
	longLook  = 300 * time.Millisecond // and once it has not held for a second
	storeTime = 10 * time.Second       // for a run to be stored when Deskbell ends
	chord     = time.Second            // from the first of the keys that are pressed together to the last
)

// A run is one that is not over. Its goroutine alone does steps; orders reach it through a channel.
type run struct {
	s        *Service
	by       human.Actor
	p        human.Procedure // with the values filled in
	digest   string          // of the operation
	cancel   context.CancelFunc
	orders   chan RunOrder
	over     chan struct{} // closed when its goroutine has ended
	hands    record.Hands
	since    int64 // when the step under way began, of the recording's clock
	accepted int   // the step that is done although the form or the words around it differ; -1: none

	mu     sync.Mutex
	r      human.RunOfProcedure
	pausal bool      // pause before the next step
	held   time.Time // when the keyboard or the pointer paused it last
}

// Recover takes in what was under way when Deskbell ended: an operator decides how it continues. It is called once, before anything is run.
func (s *Service) Recover(ctx context.Context) error {
	open, err := s.d.Store.Open(ctx)
	if err != nil {
		return err
	}
	for _, r := range open {
		at := r.At()
		r.State, r.Recording = human.Halted, ""
		r.Stop = &human.RunStop{Expected: human.Sayf("that the run ends"), Found: human.Sayf("Deskbell ended while it ran")}
		if at < len(r.Steps) {
			// Also one whose checkpoints were looked at: whether the site has taken what it sent is not known.
			r.Stop.Step, r.Stop.Unsure = r.Steps[at].Step, r.Steps[at].State != human.StepLater
		}
		r.Stops++
		if err := s.d.Store.PutRun(ctx, r); err != nil {
			return err
		}
		var p human.Procedure // without its words where it was deleted
		if v, err := s.version(ctx, r.Procedure, r.Version); err == nil {
			if p, err = Fill(v.Content, r.Parameters); err != nil {
				p = v.Content
			}
		}
		s.note(r, p)
		s.settle(ctx, r.Procedure)
		s.d.Log.Warn("a run of a procedure broke off; its operator decides how it continues", "operation_id", r.Operation, "procedure", r.Procedure)
	}
	return s.orphans(ctx)
}

// Close ends what is run, as it stands, and waits for it. Nothing can be run afterwards.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	for _, r := range s.runs {
		r.cancel()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// Run begins the run that an operation asks for, by the operator who has it or takes it, and returns once its browser is open; or
// continues one that broke off, where it stopped. A Conflict error where it runs already, where something else is recorded, or where the
// procedure's file is not the one that was asked for.
func (s *Service) Run(ctx context.Context, by human.Actor, id human.OperationID) (human.RunOfProcedure, error) {
	if by.Role != human.Operator {
		return human.RunOfProcedure{}, human.Errorf(human.Denied, "only an operator can run a procedure")
	}
	op, v, p, err := s.called(ctx, by, id)
	if err != nil {
		return human.RunOfProcedure{}, err
	}
	r, err := s.d.Store.Run(ctx, id)
	if human.KindOf(err) == human.NotFound { // what has begun is continued, whoever can call it now
		if err := s.mayCall(ctx, op.AgentID, v.Name); err != nil {
			return r, err
		}
	}
	switch {
	case err == nil && r.State.Over() && r.Unattended != nil && !begun(r): // it did not start; an operator does it now
		r = newRun(op, v, p, by, s.d.Now())
	case err == nil && r.State.Over():
		return r, human.Errorf(human.Conflict, "operation %s was run already; ask for another run", id)
	case err == nil: // it broke off
		if r.Outputs == nil {
			r.Outputs = map[string]string{}
		}
	case human.KindOf(err) == human.NotFound:
		r = newRun(op, v, p, by, s.d.Now())
	default:
		return r, err
	}
	one := &run{s: s, by: by, p: p, digest: op.Digest, orders: make(chan RunOrder, 1), over: make(chan struct{}), accepted: -1, r: r}
	if err := s.enter(one, id); err != nil {
		return r, err
	}
	if err := one.open(ctx, op); err != nil {
		s.leave(id)
		close(one.over)
		return r, err
	}
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one.cancel = cancel
	go one.drive(base)
	return one.state(), nil
}

// called is what an operation asks for: the version of the procedure, and that with the values filled in.
func (s *Service) called(ctx context.Context, by human.Actor, id human.OperationID) (op human.Operation, v Version, p human.Procedure, err error) {
	if op, err = s.d.Queue.Get(ctx, by, id); err != nil {
		return
	}
	c, err := s.callOf(ctx, op)
	if err != nil {
		return
	}
	if v, err = s.version(ctx, c.Procedure, c.Version); err != nil {
		return
	}
	if v.Digest != c.Digest {
		err = human.Errorf(human.Conflict, "version %d of procedure %s is not the one that was asked for: it was deleted and taught again since", v.Number, v.Name)
		return
	}
	p, err = Fill(v.Content, c.Parameters)
	return
}

func newRun(op human.Operation, v Version, p human.Procedure, by human.Actor, now time.Time) human.RunOfProcedure {
	var c human.ProcedureCall
	_ = json.Unmarshal(op.Details, &c) // it was read before
	r := human.RunOfProcedure{
		Operation: op.ID, Procedure: p.Name, Version: v.Number, By: by.Name, Agent: op.AgentID, Parameters: c.Parameters,
		State: human.Performing, StartedAt: now.UTC(), Outputs: map[string]string{},
	}
	for _, step := range p.Steps {
		r.Steps = append(r.Steps, human.RunStep{Step: step.ID, State: human.StepLater})
	}
	for range p.Effects {
		r.Effects = append(r.Effects, human.RunEffect{State: "later"})
	}
	return r
}

// enter gives a run its place: each operation has one.
func (s *Service) enter(one *run, id human.OperationID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return human.Errorf(human.Unavailable, "Deskbell is shutting down")
	case s.d.Recorder == nil:
		return human.Errorf(human.Unavailable, "this Deskbell records nothing, and each run is recorded; set recording.enabled")
	case s.runs[id] != nil:
		return human.Errorf(human.Conflict, "operation %s is being run", id)
	}
	one.cancel = func() {}
	s.runs[id] = one
	s.work.Add(1)
	return nil
}

func (s *Service) leave(id human.OperationID) {
	s.mu.Lock()
	delete(s.runs, id)
	s.mu.Unlock()
	s.work.Done()
}

// open claims the operation and opens the recorded browser, or records the desktop, and looks at the effects as they are before.
func (one *run) open(ctx context.Context, op human.Operation) error {
	d := one.s.d
	if op.ClaimedBy != one.by.Name {
		if _, err := d.Queue.Claim(ctx, one.by, op.ID); err != nil {
			return err
		}
	}
	if !one.broke() {
		if err := one.before(ctx); err != nil {
			return err
		}
	}
	if err := d.Store.PutRun(ctx, one.r); err != nil {
		return err
	}
	var options human.RecordingOptions
	if one.p.Where != "desktop" {
		options = human.RecordingOptions{Desktop: new(false), Browser: &human.BrowserOptions{URL: cmp.Or(one.r.Address, "about:blank"), Profile: d.Profile()}}
	}
	rec, err := d.Recorder.Start(ctx, one.by, op.ID, options)
	if err != nil {
		return err
	}
	one.mu.Lock()
	one.r.Recording = rec.ID
	one.mu.Unlock()
	one.hands, err = d.Recorder.Hands(ctx, one.by, rec.ID)
	if err == nil && one.r.Unattended != nil && !one.broke() {
		err = one.s.still(ctx, one.r)
	}
	if err == nil {
		err = d.Store.PutRun(ctx, one.r)
	}
	if err != nil {
		_, _ = d.Recorder.Stop(context.WithoutCancel(ctx), one.by, rec.ID) // the error is the one before
	}
	return err
}

// begun says whether a step of a run may have been done.
func begun(r human.RunOfProcedure) bool {
	return slices.ContainsFunc(r.Steps, func(x human.RunStep) bool { return x.State != human.StepLater })
}

// broke says whether it broke off before.
func (one *run) broke() bool { return one.r.State == human.Halted }

// before counts what there is of the effects that have to be new.
func (one *run) before(ctx context.Context) error {
	for i, e := range one.p.Effects {
		if !e.Fresh {
			continue
		}
		e, outputs := beforeOutputs(e)
		seen, err := one.s.d.Effects.Look(ctx, e, one.sends(e))
		had := seen.Items
		if e.Only {
			had = seen.All
		}
		known := len(had) <= mostKnown
		if err == nil && (outputs || e.Only) && !known {
			err = human.Errorf(human.Exhausted, "there are more than %d already: add what tells the new one apart", mostKnown)
		}
		if err != nil {
			return human.Wrap(human.Conflict, err, "what the run has to bring about cannot be looked at: %s", effectWords(e))
		}
		if one.r.Effects[i].Before = len(seen.Items); known {
			one.r.Effects[i].Had = had
		}
	}
	return nil
}

func effectWords(e human.ProcedureEffect) string {
	return cmp.Or(e.Title, strings.TrimSpace(e.Is+" "+cmp.Or(e.Path, e.URL)))
}

// State says how far the run of an operation has come; NotFound where it was not run.
func (s *Service) State(ctx context.Context, by human.Actor, id human.OperationID) (human.RunOfProcedure, error) {
	if by.Role == human.Agent {
		return human.RunOfProcedure{}, human.Errorf(human.Denied, "only an operator can watch a run")
	}
	if one := s.find(id); one != nil {
		return one.state(), nil
	}
	return s.d.Store.Run(ctx, id)
}

// ByKey does to the run that a recording is of what a key asks for that works in every program: it ends it, or pauses or continues it. found
// is false where no such run is under way. Who presses that key uses the keyboard, which pauses a run by itself: that is one pause.
func (s *Service) ByKey(ctx context.Context, by human.Actor, id human.RecordingID, end bool) (found bool, err error) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.runs))
	s.mu.Unlock()
	for _, one := range all {
		one.mu.Lock()
		r, since := one.r, s.d.Now().Sub(one.held)
		one.mu.Unlock()
		if r.Recording != id {
			continue
		}
		order := RunOrder{Do: "continue"}
		switch {
		case end:
			order.Do = "end"
		case r.State == human.Performing:
			order.Do = "pause"
		case r.State == human.HeldUp && since < chord:
			return true, nil
		}
		_, err := s.Order(ctx, by, r.Operation, order)
		return true, err
	}
	return false, nil
}

func (s *Service) find(id human.OperationID) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[id]
}

// state is a copy of the run as it is now.
func (one *run) state() human.RunOfProcedure {
	one.mu.Lock()
	defer one.mu.Unlock()
	r := one.r
	r.Steps, r.Effects, r.Outputs = slices.Clone(r.Steps), slices.Clone(r.Effects), maps.Clone(r.Outputs)
	return r
}

// Order has a run do what its operator wants. It returns when the run has taken that in, not when it is done.
func (s *Service) Order(ctx context.Context, by human.Actor, id human.OperationID, o RunOrder) (human.RunOfProcedure, error) {
	if by.Role != human.Operator {
		return human.RunOfProcedure{}, human.Errorf(human.Denied, "only an operator can steer a run")
	}
	one := s.find(id)
	if one == nil {
		var r human.RunOfProcedure
		var err error
		if one, r, err = s.again(ctx, by, id, o); one == nil || err != nil {
			return r, err
		}
	}
	if by.Name != one.by.Name {
		return one.state(), human.Errorf(human.Denied, "this run is %s's", one.by.Name)
	}
	if err := one.allows(o); err != nil {
		return one.state(), err
	}
	if o.Do == "pause" || o.Do == "take" {
		one.mu.Lock()
		one.pausal = true
		one.mu.Unlock()
		if o.Do == "pause" {
			return one.state(), nil
		}
	}
	select {
	case one.orders <- o:
	case <-one.over:
		return one.state(), human.Errorf(human.Conflict, "operation %s is not being run", id)
	case <-ctx.Done():
		return one.state(), human.Wrap(human.Unavailable, ctx.Err(), "the run does not answer; try again")
	}
	return one.state(), nil
}

// again takes up a run that broke off when Deskbell ended: in a new browser, unless it is to end. one is nil where nothing is to be done any more.
func (s *Service) again(ctx context.Context, by human.Actor, id human.OperationID, o RunOrder) (one *run, r human.RunOfProcedure, err error) {
	if r, err = s.d.Store.Run(ctx, id); err != nil {
		return nil, r, err
	}
	if r.State.Over() {
		return nil, r, human.Errorf(human.Conflict, "operation %s is not being run", id)
	}
	if o.Do == "end" {
		r.State, r.EndedAt = human.GivenUp, new(s.d.Now().UTC())
		if err := s.d.Store.PutRun(ctx, r); err != nil {
			return nil, r, err
		}
		s.note(r, human.Procedure{})
		return nil, r, nil
	}
	if err := (&run{r: r}).allows(o); err != nil {
		return nil, r, err
	}
	if r, err = s.Run(ctx, by, id); err != nil {
		return nil, r, err
	}
	return s.find(id), r, nil
}

// allows says no to an order that does not fit the run as it is.
func (one *run) allows(o RunOrder) error {
	one.mu.Lock()
	defer one.mu.Unlock()
	goes := one.r.State == human.Performing
	switch {
	case !slices.Contains([]string{"pause", "continue", "accept", "step", "take", "done", "skip", "end"}, o.Do):
		return human.BadField("do", "%q is not one of pause, continue, accept, step, take, done, skip, end", human.OneLine(o.Do, 40))
	case goes && !slices.Contains([]string{"pause", "take", "end"}, o.Do):
		return human.Errorf(human.Conflict, "the run is not paused; pause it first")
	case o.Do == "accept" && (one.r.Stop == nil || !one.r.Stop.Differs):
		return human.Errorf(human.Conflict, "the run did not stop at a form or words that are not those that were taught")
	case (o.Do == "continue" || o.Do == "step") && one.r.Stop != nil && one.r.Stop.Unsure && !o.NotDone:
		return human.Errorf(human.Conflict, "step %s may have been done already; look, then say that it was done, or that it was not", one.r.Stop.Step)
	}
	return nil
}

// drive does the steps until the run is over, or Deskbell ends.
func (one *run) drive(ctx context.Context) {
	defer one.s.leave(one.r.Operation)
	defer close(one.over)
	err := one.steps(ctx)
	if err == nil {
		err = one.effects(ctx)
	}
	if ctx.Err() != nil { // Recover says so
		return
	}
	one.finish(ctx, err)
}

var errNoKeys = human.Errorf(human.Unavailable, "there is no key store")

// How a run ends before its last step: its operator ends it, or its request has ended.
var (
	errEnd  = errors.New("the operator ended the run")
	errGone = errors.New("the request has ended")
)

func (one *run) steps(ctx context.Context) error {
	if one.broke() {
		if err := one.decide(ctx, one.s.d.Now().UTC()); err != nil {
			return err
		}
		for {
			stop, err := one.altered(ctx, true)
			if stop != nil && err == nil {
				err = one.halt(ctx, *stop)
			}
			if err != nil {
				return err
			}
			if stop == nil {
				break
			}
		}
	}
	one.hands.Resume()
	for {
		if err := one.all(ctx); err != nil {
			return err
		}
		if changed, err := one.reread(ctx); err != nil || !changed {
			return err
		}
	}
}

// all does the steps that are left.
func (one *run) all(ctx context.Context) error {
	for at := one.r.At(); at < len(one.p.Steps); at = one.r.At() {
		if op, err := one.s.d.Queue.Get(ctx, one.by, one.r.Operation); err == nil && op.State.Terminal() {
			return errGone
		}
		if s := one.p.Steps[at]; s.Writes && at > 0 && fills(one.p.Steps[at-1]) && one.r.Steps[at-1].State == human.StepDone {
			if err := one.s.d.Wait(ctx, calms); err != nil {
				return err
			}
		}
		if err := one.yield(ctx); err != nil {
			return err
		}
		if at = one.r.At(); at >= len(one.p.Steps) {
			return nil
		}
		var stop *human.RunStop
		var err error
		if r := one.r.Steps[at]; one.p.Steps[at].Writes && r.State == human.StepLater {
			if stop, err = one.altered(ctx, false); err != nil {
				return err
			}
		}
		if stop == nil {
			stop, err = one.step(ctx, at)
		}
		if err != nil {
			return err
		}
		if stop == nil {
			continue
		}
		if err := one.halt(ctx, *stop); err != nil {
			return err
		}
	}
	return nil
}

// reread reads once more what was picked from the page that the run ends on, and stops at what is another now: it may not have been there yet.
func (one *run) reread(ctx context.Context) (changed bool, err error) {
	for i := len(one.p.Steps) - 1; i >= 0 && !turns(one.p.Steps[i]); i-- {
		s, was := one.p.Steps[i], ""
		if s.Do == "pick" && one.r.Steps[i].State == human.StepDone {
			was = one.r.Outputs[s.Output]
		}
		if was == "" {
			continue
		}
		did, err := one.hands.Do(ctx, s, nil, glimpse)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil || did.Text == was { // what is gone was there
			continue
		}
		if err := one.change(ctx, func(r *human.RunOfProcedure) { r.Steps[i].State = human.StepLater }); err != nil {
			return false, err
		}
		stop := human.RunStop{Step: s.ID, Expected: human.Sayf("%s stays %q", s.Output, human.OneLine(was, 80)), Found: human.Sayf("It is now %q", human.OneLine(did.Text, 80))}
		if err := one.halt(ctx, stop); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// altered is where a run must not send what is not as it was typed. Before a step that writes, that is what was filled in right before it: a
// page may change one field as another is filled in. Where the run broke off, it is all since the page was come to: a browser that was
// opened again has its fields empty. A field that is not there at all is left to the step that needs it.
func (one *run) altered(ctx context.Context, broke bool) (*human.RunStop, error) {
	at, left := one.r.At(), glimpse
	for i := at - 1; i >= 0 && at < len(one.p.Steps); i-- {
		s := one.p.Steps[i]
		if turns(s) || !broke && !fills(s) && !looks(s) { // what is pressed in between may empty a field, as when a line is added
			break
		}
		checks := slices.DeleteFunc(slices.Clone(s.Then), func(c human.ProcedureCheckpoint) bool { return c.Is != "value" })
		if s.Do == "change" && s.Secret == "" {
			checks = append(checks, human.ProcedureCheckpoint{Is: "value", Text: s.Text, Target: s.Target, Frame: s.Frame})
		}
		if one.r.Steps[i].State != human.StepDone {
			checks = nil
		}
		for _, c := range checks {
			c.Page = cmp.Or(c.Page, s.Page)
			if c.Window == nil {
				c.Window = s.Window
			}
			not, err := one.until(ctx, &left, func() (*record.Mismatch, error) {
				not, err := one.hands.Holds(ctx, c, 0)
				if not != nil && (not.Missing || s.Do == "change" && keeps(c.Text, not.Holds)) {
					return nil, err
				}
				return not, err
			})
			if err != nil {
				return nil, err
			}
			if not != nil {
				return &human.RunStop{Step: one.p.Steps[at].ID, Expected: not.Expected, Found: not.Found}, nil
			}
		}
	}
	return nil, nil
}

// turns says whether what was typed before a step need not stand in the page after it.
func turns(s human.ProcedureStep) bool {
	switch s.Do {
	case "navigate", "back", "forward", "reload", "close":
		return true
	}
	return s.Writes || s.Key != "" || s.Do != "change" && slices.ContainsFunc(s.Then, func(c human.ProcedureCheckpoint) bool {
		return c.Is == "address" || c.Is == "title" || c.Is == "opened"
	})
}

// yield pauses where the operator asked for it, or uses the pages.
func (one *run) yield(ctx context.Context) error {
	one.mu.Lock()
	wants := one.pausal
	one.mu.Unlock()
	how := one.hands.Interrupted()
	if !wants && how == nil {
		return ctx.Err()
	}
	why := human.Sayf("you paused it")
	if !wants {
		why = *how
		one.mu.Lock()
		one.held = one.s.d.Now()
		one.mu.Unlock()
	}
	if err := one.change(ctx, func(r *human.RunOfProcedure) { r.State, r.Why = human.HeldUp, &why }); err != nil {
		return err
	}
	return one.decide(ctx, one.s.d.Now().UTC())
}

// change changes the run: on the disk first, before anything else is done or shown. Only the run's own goroutine calls it.
func (one *run) change(ctx context.Context, how func(*human.RunOfProcedure)) error {
	r := one.state()
	before := stops(r)
	how(&r)
	stopped := stops(r) && !before
	if err := one.s.d.Store.PutRun(ctx, r); err != nil {
		return err
	}
	one.mu.Lock()
	one.r = r
	one.s.note(r, one.p) // who sees that it stopped sees that it rings
	one.mu.Unlock()
	if stopped {
		one.s.settle(ctx, r.Procedure)
	}
	return nil
}

// step does one step and waits for its checkpoints. stop is what it stops at.
func (one *run) step(ctx context.Context, at int) (stop *human.RunStop, err error) {
	s := one.p.Steps[at]
	if at == one.accepted {
		s.Form, s.Says = nil, nil
	}
	picked := "" // on the disk with the mark that it was done
	mark := func(how func(*human.RunStep)) error {
		return one.change(ctx, func(r *human.RunOfProcedure) {
			how(&r.Steps[at])
			if s.Do == "pick" && s.Output != "" && r.Steps[at].State == human.StepChecks {
				r.Outputs[s.Output] = picked
			}
			r.Steps[at].At = one.s.d.Now().Sub(r.StartedAt).Milliseconds()
		})
	}
	if one.r.Steps[at].State == human.StepLater {
		secret, err := one.secret(s)
		if err != nil {
			return &human.RunStop{Step: s.ID, Expected: human.Sayf("the secret %s in the key store", s.Secret), Found: human.Sayf("%s", human.SafeText(err))}, nil
		}
		// On the disk first: whatever happens from here on, it may have been done.
		if err := mark(func(r *human.RunStep) { r.State = human.StepDoing }); err != nil {
			return nil, err
		}
		one.since = one.hands.Now()
		wait := patience
		if s.Optional {
			wait = glimpse
		}
		did, err := one.does(ctx, s, secret, wait)
		picked = did.Text
		var not *record.Mismatch
		switch {
		case errors.As(err, &not) && not.Missing && s.Optional && !not.Did:
			said := human.Sayf("it was not there")
			return nil, mark(func(r *human.RunStep) { r.State, r.Said = human.StepSkipped, &said })
		case errors.As(err, &not):
			if !not.Did {
				err = mark(func(r *human.RunStep) { r.State = human.StepLater })
			} else {
				err = nil
			}
			return &human.RunStop{Step: s.ID, Expected: not.Expected, Found: not.Found, Unsure: not.Did, Differs: not.Differs}, err
		case err != nil:
			return one.lost(ctx, s, err)
		}
		if err := mark(func(r *human.RunStep) {
			r.State, r.FoundBy, r.Drifted = human.StepChecks, did.FoundBy, did.Drifted
		}); err != nil {
			return nil, err
		}
	}
	not, err := one.holds(ctx, s)
	switch {
	case err != nil:
		return one.lost(ctx, s, err)
	case not != nil:
		return &human.RunStop{Step: s.ID, Expected: not.Expected, Found: not.Found}, nil
	}
	one.mu.Lock()
	one.r.Address = one.hands.Address()
	one.mu.Unlock()
	return nil, mark(func(r *human.RunStep) { r.State = human.StepDone })
}

// lost is a stop where the browser or the desktop does not answer any more; the context's error where Deskbell ends.
func (one *run) lost(ctx context.Context, s human.ProcedureStep, err error) (*human.RunStop, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	expected := human.Sayf("the browser to do %s", s.Title)
	if one.p.Where == "desktop" {
		expected = human.Sayf("the desktop to do %s", s.Title)
	}
	return &human.RunStop{Step: s.ID, Expected: expected, Found: human.Sayf("%s", human.SafeText(err)), Unsure: one.r.Steps[one.r.At()].State == human.StepDoing}, nil
}

// secret is the value that a step types, and where it may.
func (one *run) secret(s human.ProcedureStep) (*record.Secret, error) {
	if s.Secret == "" {
		return nil, nil
	}
	i := slices.IndexFunc(one.p.Secrets, func(x human.ProcedureSecret) bool { return x.Name == s.Secret })
	if i < 0 || one.p.Secrets[i].Site == "" {
		return nil, human.Errorf(human.Invalid, "the procedure does not say for which site it is")
	}
	if one.s.d.Secret == nil {
		return nil, errNoKeys
	}
	text, err := one.s.d.Secret(s.Secret)
	return &record.Secret{Text: text, Site: one.p.Secrets[i].Site, Around: one.p.Secrets[i].Around}, err
}

// sends gives the secrets that may be sent to the server of an effect: those that were taught for its site. A file of others must not send
// a secret elsewhere.
func (one *run) sends(e human.ProcedureEffect) func(name string) (string, error) {
	return func(name string) (string, error) {
		i := slices.IndexFunc(one.p.Secrets, func(x human.ProcedureSecret) bool { return x.Name == name })
		if i < 0 || siteOf(e.URL) == "" || siteOf(e.URL) != one.p.Secrets[i].Site {
			return "", human.Errorf(human.Denied, "the secret %s was not taught for %s, and is not sent there", name, siteOf(e.URL))
		}
		if one.s.d.Secret == nil {
			return "", errNoKeys
		}
		return one.s.d.Secret(name)
	}
}

// holds waits for the checkpoints of a step, each in turn; what does not hold in time is returned.
func (one *run) holds(ctx context.Context, s human.ProcedureStep) (*record.Mismatch, error) {
	time := one.s.within
	if s.Within > 0 {
		time = seconds(s.Within)
	}
	for _, c := range s.Then {
		if c.Page == "" {
			c.Page = s.Page
		}
		if c.Window == nil {
			c.Window = s.Window
		}
		not, err := one.until(ctx, &time, func() (*record.Mismatch, error) { return one.hands.Holds(ctx, c, one.since) })
		if not != nil || err != nil {
			return not, err
		}
	}
	return nil, nil
}

// until looks until it holds, for as long as the time lasts, and takes what that took off it.
func (one *run) until(ctx context.Context, left *time.Duration, looks func() (*record.Mismatch, error)) (*record.Mismatch, error) {
	began := one.s.d.Now()
	for {
		not, err := looks()
		spent := one.s.d.Now().Sub(began)
		if not == nil || err != nil || spent >= *left {
			*left -= min(spent, *left)
			return not, err
		}
		pause := look
		if spent > time.Second {
			pause = longLook
		}
		if err := one.s.d.Wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// halt stops and waits for what the operator decides.
func (one *run) halt(ctx context.Context, stop human.RunStop) error {
	since := one.s.d.Now().UTC()
	err := one.change(ctx, func(r *human.RunOfProcedure) {
		r.State, r.Stop, r.Why = human.Halted, &stop, nil
		r.Stops++
	})
	if err != nil {
		return err
	}
	if id, page := one.hands.Picture(ctx); id != "" { // the notification comes first: a page may take a while to be seen
		shown := stop
		shown.Picture, shown.Page = id, &page
		if err := one.change(ctx, func(r *human.RunOfProcedure) { r.Stop = &shown }); err != nil {
			return err
		}
	}
	return one.decide(ctx, since)
}

// decide waits for an order that has the run continue. The operator has the page since then.
func (one *run) decide(ctx context.Context, since time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o := <-one.orders:
			if err := one.allows(o); err != nil {
				continue // the run has changed since
			}
			more, err := one.obey(ctx, o, since)
			if err != nil || more {
				return err
			}
		}
	}
}

// obey does what an order says; continues says whether the run does. The operator had the page since then.
func (one *run) obey(ctx context.Context, o RunOrder, since time.Time) (continues bool, err error) {
	at := one.r.At()
	switch o.Do {
	case "end":
		return false, errEnd
	case "take":
		why := human.Sayf("you have the page")
		return false, one.change(ctx, func(r *human.RunOfProcedure) { r.State, r.Why = human.TakenOver, &why })
	case "pause":
		return false, nil
	}
	err = one.change(ctx, func(r *human.RunOfProcedure) {
		if at < len(r.Steps) {
			r.ByHand = append(slices.Clone(r.ByHand), human.RunByHand{Step: r.Steps[at].Step, Instead: o.Do == "done", Accept: o.Do == "accept", From: since, To: one.s.d.Now().UTC()})
			switch {
			case o.Do == "done":
				r.Steps[at].State = human.StepByHand
			case o.Do == "skip":
				r.Steps[at].State = human.StepSkipped
			case r.Steps[at].State == human.StepDoing || r.Stop != nil && r.Stop.Unsure: // it was not done, the operator says
				r.Steps[at].State = human.StepLater
			}
		}
		r.State, r.Stop, r.Why = human.Performing, nil, nil
	})
	one.mu.Lock()
	one.pausal = o.Do == "step"
	one.accepted = at
	if o.Do != "accept" {
		one.accepted = -1
	}
	one.mu.Unlock()
	one.hands.Resume()
	return true, err
}

// finish ends the recording, and the operation where the run was good.
func (one *run) finish(ctx context.Context, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	rec, stopErr := one.s.d.Recorder.Stop(ctx, one.by, one.r.Recording)
	log := one.s.d.Log.With("operation_id", one.r.Operation, "procedure", one.r.Procedure)
	if stopErr != nil {
		log.Warn("the recording of a run did not end well", "err", stopErr)
	}
	state := human.Succeeded
	var why *human.Sentence
	switch {
	case errors.Is(err, errEnd):
		state, why = human.GivenUp, new(human.Sayf("you ended it"))
	case errors.Is(err, errGone):
		state, why = human.GivenUp, new(human.Sayf("the request has ended"))
	case err != nil:
		state, why = human.BrokeOff, new(human.Sayf("%s", human.SafeText(err)))
	default:
		why = one.deliver(ctx, rec)
	}
	ended := one.s.d.Now().UTC()
	if err := one.change(ctx, func(r *human.RunOfProcedure) { r.State, r.Why, r.EndedAt, r.Stop = state, why, &ended, nil }); err != nil {
		log.Error("the end of a run could not be stored", "err", err)
	}
}

// answer is what the agent gets of a good run.
func (one *run) answer(ctx context.Context, rec human.Recording) human.Answer {
	r := one.state()
	a := human.Answer{Fields: map[string]string{}, FieldSources: map[string]human.FieldSource{}, Attachments: []string{string(rec.ID)}}
	a.Verdict = human.WorkDone
	by := map[human.StepState]int{}
	for _, s := range r.Steps {
		by[s.State]++
	}
	a.ExecutionResult = fmt.Sprintf("Ran %s, version %d: %d steps done, %d left out, %d by hand; all checkpoints held.", r.Procedure, r.Version, by[human.StepDone], by[human.StepSkipped], by[human.StepByHand])
	if n := len(r.Effects); n > 0 {
		a.ExecutionResult += fmt.Sprintf(" %d effects confirmed outside of the page.", n)
	}
	if r.Unattended != nil {
		a.ExecutionResult += " It ran " + one.s.saysWho(*r.Unattended) + "."
	}
	for name, value := range r.Outputs {
		a.Fields[name] = value
	}
	if one.s.d.Recordings == nil {
		return a
	}
	_, _, list, err := one.s.d.Recordings.Taught(ctx, one.by, rec.ID)
	if err != nil {
		one.s.d.Log.Warn("the evidence of a run cannot be read", "operation_id", r.Operation, "err", err)
	}
	var shown []string
	for _, x := range list {
		field, value := "", ""
		switch {
		case x.Type == human.Extract && x.Pick != nil && a.Fields[x.Pick.Field] != "":
			field, value = x.Pick.Field, x.Pick.Text
		case x.Type == human.Download && len(x.Transfers) > 0:
			field, value = one.fileOutput(a.Fields), x.Transfers[0].Name
		}
		if field == "" {
			continue
		}
		if x.Type == human.Download {
			a.Fields[field] = value
		}
		source := human.FieldSource{Recording: rec.ID, Action: x.ID, Picked: value, At: rec.StartedAt.Add(time.Duration(x.At)), Picture: x.After}
		if x.Page != nil {
			source.URL = x.Page.URL
		}
		if x.Element != nil && len(x.Element.Selectors) > 0 {
			source.Selector = strings.Join(x.Element.Selectors[0], " >> ")
		}
		a.FieldSources[field] = source
		shown = append(shown, x.ID)
		if x.Type == human.Download && x.CausedBy != "" {
			shown = append(shown, x.CausedBy) // it may have no picture of its own
		}
	}
	allowed, err := one.s.d.Store.Agents(ctx)
	if err == nil && allowed[r.Procedure].Pictures && len(shown) > 0 {
		err = one.s.d.Recordings.Share(ctx, one.by, rec.ID, shown)
	}
	if err != nil { // the agent gets the values without them
		one.s.d.Log.Warn("the pictures of a run's outputs are not shared", "operation_id", r.Operation, "err", err)
	}
	return a
}

// fileOutput is the first output for a file that has none yet; "" where all have one.
func (one *run) fileOutput(fields map[string]string) string {
	for _, o := range one.p.Outputs {
		if o.Type == "file" && fields[o.Name] == "" {
			return o.Name
		}
	}
	return ""
}
