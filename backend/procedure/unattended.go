package procedure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// Limits of what runs without an operator.
const (
	goodRuns      = 5 // that were watched, before it can be given
	mostStops     = 2 // in a row, then it is off
	mostRuns      = 100
	mostListed    = 200 // agents, and values of a parameter
	longestGrant  = 90 * 24 * time.Hour
	localMinutes  = "2006-01-02 15:04 -0700"
	startingTimed = time.Minute // for a browser to open
)

// An UnattendedGrant is what an operator lets run without them. All of it has to fit a call.
type UnattendedGrant struct {
	Version int                         `json:"version" minimum:"1" doc:"The newest; it counts for no other."`
	Digest  string                      `json:"sha256" doc:"Of the version's file that was shown, in hex."`
	Agents  []string                    `json:"agents" doc:"The agents that may, each by its name."`
	Values  map[string]UnattendedValues `json:"values,omitempty" doc:"One for each parameter, by its name."`
	Most    int                         `json:"most_a_day" minimum:"1" maximum:"100" doc:"Runs without an operator on one day of this computer's."`
	Until   time.Time                   `json:"until" doc:"At most 90 days ahead."`
}

// UnattendedValues are those that a parameter may have in a run without an operator. One of both is given.
type UnattendedValues struct {
	Any    bool     `json:"any,omitempty" doc:"Each that the parameter takes. Not for files, nor for a part of a host's name."`
	Values []string `json:"values,omitempty" doc:"Exactly these."`
}

// Unattended is a grant as it is stored: the last one of a procedure.
type Unattended struct {
	UnattendedGrant
	Procedure string          `json:"procedure"`
	By        string          `json:"by" doc:"The operator who gave it: runs are theirs."`
	At        time.Time       `json:"at" doc:"When it was given."`
	Off       *human.Sentence `json:"off,omitempty" doc:"Why it was switched off; absent: it was not."`
}

// UnattendedState says whether a procedure runs without an operator.
type UnattendedState struct {
	On    bool            `json:"on"`
	Given *Unattended     `json:"given,omitempty" doc:"What was given last; absent: nothing ever."`
	Today int             `json:"today" doc:"Runs without an operator that began today."`
	Off   *human.Sentence `json:"off,omitempty" doc:"Why what was given is off."`
	Needs *human.Sentence `json:"needs,omitempty" doc:"Why it cannot be given now; absent: it can."`
}

// barred says why a procedure does not run without an operator, whatever its runs were.
func barred(p human.Procedure) *human.Sentence {
	if RiskOf(p).Level() > human.MediumRisk.Level() {
		return new(human.Sayf("it pays or deletes: an operator watches each run"))
	}
	return Blocked(p, cmp.Or(p.Policy, Standard))
}

// stops says whether a person had to decide about a run, or Deskbell ended in it. That its operator ended it does not count.
func stops(r human.RunOfProcedure) bool { return r.Stops > 0 || r.State == human.BrokeOff }

// watched says whether a run was good, with an operator who watched it and had to do nothing in their own way.
func watched(r human.RunOfProcedure) bool {
	return r.State == human.Succeeded && r.Stops == 0 && r.Unattended == nil && !slices.ContainsFunc(r.Steps, func(x human.RunStep) bool {
		return x.State == human.StepByHand || x.State == human.StepSkipped && x.Said == nil
	})
}

// unready says what is missing before a procedure can run without an operator; nil for nothing. versions and runs are the newest first.
func unready(p human.Procedure, versions []Version, runs []human.RunOfProcedure) *human.Sentence {
	if said := barred(p); said != nil {
		return said
	}
	newest, first := versions[0], versions[len(versions)-1]
	last := slices.IndexFunc(runs, func(r human.RunOfProcedure) bool { return stops(r) || r.State == human.Succeeded })
	if last >= 0 && stops(runs[last]) {
		return new(human.Sayf("its last run stopped: watch a good one first"))
	}
	good, ofIt := 0, false
	for _, r := range runs {
		if watched(r) && r.StartedAt.After(first.SavedAt) { // another procedure of this name had the runs before
			good++
			ofIt = ofIt || r.Version == newest.Number && r.StartedAt.After(newest.SavedAt)
		}
	}
	switch {
	case good < goodRuns:
		return new(human.Sayf("%d of %d good runs were watched", good, goodRuns))
	case !ofIt:
		return new(human.Sayf("no good run of version %d was watched yet", newest.Number))
	}
	return nil
}

// off says why a grant does not count; nil where it does.
func (u Unattended) off(now time.Time, newest Version, runs []human.RunOfProcedure) *human.Sentence {
	switch {
	case u.Off != nil:
		return u.Off
	case newest.Number != u.Version || newest.Digest != u.Digest:
		return new(human.Sayf("version %d was saved since", newest.Number))
	case !now.Before(u.Until):
		return new(human.Sayf("it ended on %s", u.Until.In(now.Location()).Format(localMinutes)))
	}
	row := 0
	for _, r := range runs { // any two in a row, so that a later good run changes nothing
		switch {
		case r.EndedAt != nil && r.EndedAt.Before(u.At):
		case stops(r):
			if row++; row == mostStops {
				return new(human.Sayf("%d runs in a row stopped", mostStops))
			}
		case r.State == human.Succeeded:
			row = 0
		}
	}
	return nil
}

// today counts the runs without an operator that began on this day.
func today(now time.Time, runs []human.RunOfProcedure) (n int) {
	year, month, day := now.Date()
	for _, r := range runs {
		y, m, d := r.StartedAt.In(now.Location()).Date()
		if r.Unattended != nil && y == year && m == month && d == day {
			n++
		}
	}
	return n
}

// covers says for the log why a grant does not cover a call of an agent; "" where it does.
func (u Unattended) covers(agent string, v Version, values map[string]string) string {
	if !slices.Contains(u.Agents, agent) {
		return "it was not given to this agent"
	}
	if v.Number != u.Version || v.Digest != u.Digest {
		return "it was given for another version"
	}
	for _, q := range v.Content.Parameters {
		value, given := values[q.Name]
		if !given {
			value = q.Default
		}
		if may := u.Values[q.Name]; !may.Any && !slices.Contains(may.Values, value) {
			return "it was not given for this value of " + q.Name
		}
	}
	return ""
}

// history is what is known of a procedure.
func (s *Service) history(ctx context.Context, called string) (versions []Version, runs []human.RunOfProcedure, err error) {
	if versions, err = s.versions(ctx, called); err == nil {
		runs, err = s.d.Store.Runs(ctx, called, 1000)
	}
	return versions, runs, err
}

// Unattended says whether a procedure runs without an operator.
func (s *Service) Unattended(ctx context.Context, by human.Actor, called string) (UnattendedState, error) {
	if err := operatorsOnly(by); err != nil {
		return UnattendedState{}, err
	}
	versions, runs, err := s.history(ctx, called)
	if err != nil {
		return UnattendedState{}, err
	}
	return s.unattended(ctx, versions, runs)
}

func (s *Service) unattended(ctx context.Context, versions []Version, runs []human.RunOfProcedure) (UnattendedState, error) {
	p, err := Read(versions[0].File)
	if err != nil {
		return UnattendedState{}, err
	}
	state := UnattendedState{Today: today(s.d.Now(), runs), Needs: unready(p, versions, runs)}
	u, err := s.d.Store.Unattended(ctx, versions[0].Name)
	if human.KindOf(err) == human.NotFound {
		return state, nil
	}
	state.Given, state.Off = &u, cmp.Or(u.off(s.d.Now(), versions[0], runs), barred(p))
	state.On = state.Off == nil
	return state, err
}

// LetUnattended lets agents run a procedure without an operator, in place of what was given before. A Conflict error where it cannot
// be given now, or where the version is not the newest or not the one that was shown; Invalid with the field where a limit is missing.
func (s *Service) LetUnattended(ctx context.Context, by human.Actor, called string, g UnattendedGrant) (UnattendedState, error) {
	if by.Role != human.Operator {
		return UnattendedState{}, human.Errorf(human.Denied, "only an operator can let a procedure run unattended")
	}
	s.granting.Lock()
	defer s.granting.Unlock()
	versions, runs, err := s.history(ctx, called)
	if err != nil {
		return UnattendedState{}, err
	}
	newest := versions[0]
	p, err := Read(newest.File)
	if err != nil {
		return UnattendedState{}, err
	}
	if newest.Number != g.Version || newest.Digest != g.Digest {
		return UnattendedState{}, human.Errorf(human.Conflict, "procedure %s is not the one that was shown; look at it again", newest.Name)
	}
	if said := unready(p, versions, runs); said != nil {
		return UnattendedState{}, human.Errorf(human.Conflict, "procedure %s does not run unattended: %s", newest.Name, said.Text)
	}
	now := s.d.Now()
	if err := g.check(p, now); err != nil {
		return UnattendedState{}, err
	}
	u := Unattended{UnattendedGrant: g, Procedure: newest.Name, By: by.Name, At: now.UTC()}
	if err := s.d.Store.PutUnattended(ctx, u); err != nil {
		return UnattendedState{}, err
	}
	s.d.Log.Info("a procedure runs unattended", "procedure", u.Procedure, "version", u.Version, "permitted_by", u.By, "until", u.Until, "agents", u.Agents)
	return s.unattended(ctx, versions, runs)
}

// check says which limit is missing or too wide.
func (g UnattendedGrant) check(p human.Procedure, now time.Time) error {
	switch {
	case len(g.Agents) == 0 || len(g.Agents) > mostListed:
		return human.BadField("agents", "has %d names; name 1 to %d agents", len(g.Agents), mostListed)
	case g.Most < 1 || g.Most > mostRuns:
		return human.BadField("most_a_day", "is %d; it runs from 1 to %d", g.Most, mostRuns)
	case !g.Until.After(now) || g.Until.After(now.Add(longestGrant)):
		return human.BadField("until", "is not within the next 90 days; choose an end")
	}
	for _, name := range g.Agents {
		if name == "" || name == "*" || name == "all" || strings.HasPrefix(name, human.PersonID("")) {
			return human.BadField("agents", "%q is no agent's name; name each agent", name)
		}
	}
	for _, q := range p.Parameters {
		field, may := "values."+q.Name, g.Values[q.Name]
		switch {
		case may.Any == (len(may.Values) > 0) || len(may.Values) > mostListed:
			return human.BadField(field, "says neither which values, 1 to %d, nor any, or says both", mostListed)
		case may.Any && (q.Type == "file" || namesHost(p, q.Name)):
			return human.BadField(field, "cannot be any: it is a file or a part of an address's host; list the values")
		}
		for _, value := range may.Values {
			if err := checkValue(q, value); err != nil {
				return human.BadField(field, "has a value that the parameter does not take: %s", human.Inner{Err: err})
			}
		}
	}
	for name := range g.Values {
		if !slices.ContainsFunc(p.Parameters, func(q human.ProcedureParameter) bool { return q.Name == name }) {
			return human.BadField("values."+name, "this procedure has no such parameter: leave it out")
		}
	}
	return nil
}

// namesHost says whether a parameter stands in the host of an address that the procedure opens or asks.
func namesHost(p human.Procedure, name string) bool {
	in := func(address string) bool {
		_, rest, found := strings.Cut(address, "://")
		if !found {
			rest = address
		}
		if end := strings.IndexAny(rest, "/?#"); end >= 0 {
			rest = rest[:end]
		}
		return slices.Contains(Placeholders(rest), name)
	}
	return slices.ContainsFunc(p.Steps, func(x human.ProcedureStep) bool { return in(x.URL) }) ||
		slices.ContainsFunc(p.Effects, func(e human.ProcedureEffect) bool { return in(e.URL) })
}

// StopUnattended switches off what was given: once it has returned, no run begins without an operator. One that has begun continues.
func (s *Service) StopUnattended(ctx context.Context, by human.Actor, called string) (UnattendedState, error) {
	if by.Role != human.Operator {
		return UnattendedState{}, human.Errorf(human.Denied, "only an operator can switch off what runs unattended")
	}
	if err := s.switchOff(ctx, called, func(Unattended) (*human.Sentence, error) { return new(human.Sayf("%s switched it off", by.Name)), nil }); err != nil {
		return UnattendedState{}, err
	}
	return s.Unattended(ctx, by, called)
}

// settle switches off for good what does not count any more. It is looked at before each start, too: a failure is only logged.
func (s *Service) settle(ctx context.Context, called string) {
	err := s.switchOff(ctx, called, func(u Unattended) (*human.Sentence, error) {
		versions, runs, err := s.history(ctx, called)
		if err != nil {
			return nil, err
		}
		return u.off(s.d.Now(), versions[0], runs), nil
	})
	if err != nil {
		s.d.Log.Error("what runs unattended could not be looked at", "procedure", called, "err", err)
	}
}

// switchOff switches off what was given, where why says why. It does nothing where it is off, or where nothing was given.
func (s *Service) switchOff(ctx context.Context, called string, why func(Unattended) (*human.Sentence, error)) error {
	s.granting.Lock()
	defer s.granting.Unlock()
	u, err := s.d.Store.Unattended(ctx, called)
	switch {
	case human.KindOf(err) == human.NotFound || err == nil && u.Off != nil:
		return nil
	case err != nil:
		return err
	}
	if u.Off, err = why(u); err != nil || u.Off == nil {
		return err
	}
	s.d.Log.Info("a procedure runs unattended no more", "procedure", called, "why", u.Off.Text)
	return s.d.Store.PutUnattended(ctx, u)
}

// permitted is the grant that covers a call of an agent now; why says for the log what it lacks, and is "" with one.
func (s *Service) permitted(ctx context.Context, agent string, v Version, values map[string]string) (u Unattended, why string, err error) {
	if u, err = s.d.Store.Unattended(ctx, v.Name); err != nil {
		return u, "", err
	}
	versions, runs, err := s.history(ctx, v.Name)
	if err != nil {
		return u, "", err
	}
	if said := cmp.Or(u.off(s.d.Now(), versions[0], runs), barred(v.Content)); said != nil {
		return u, said.Text, nil
	}
	if why = u.covers(agent, v, values); why != "" {
		return u, why, nil
	}
	if today(s.d.Now(), runs) >= u.Most {
		return u, "it ran as often today as it may", nil
	}
	open, err := s.d.Store.Open(ctx)
	if err == nil && len(open) > 0 {
		why = "another run is not over"
	}
	return u, why, err
}

// begin runs what an agent asks for without an operator, where that is permitted; began is false, and nothing was done, where it is
// not. Where the run does not start, the request waits for an operator.
func (s *Service) begin(ctx context.Context, by human.Actor, v Version, r human.Request, values map[string]string) (asked Asked, began bool, err error) {
	if _, err := s.d.Store.Unattended(ctx, v.Name); by.Role != human.Agent || human.KindOf(err) == human.NotFound {
		return Asked{}, false, nil
	}
	s.beginning.Lock() // one at a time
	defer s.beginning.Unlock()
	u, why, err := s.permitted(ctx, by.Name, v, values)
	log := s.d.Log.With("procedure", v.Name, "agent", by.Name)
	if err != nil || why != "" {
		log.Info("a run waits for an operator", "why", why, "err", err)
		return Asked{}, false, nil
	}
	given := human.UnattendedRun{By: u.By, Until: u.Until}
	operator := human.Actor{Role: human.Operator, Name: u.By}
	op, created, err := s.d.Queue.SubmitClaimed(ctx, r, operator, s.saysWho(given))
	if err != nil || !created {
		return Asked{op.ID, op.State, created}, true, err
	}
	// From here on it is in the queue: what happens to the agent's connection does not matter.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startingTimed)
	defer cancel()
	log.Info("a run begins unattended", "operation_id", op.ID, "permitted_by", u.By, "until", u.Until)
	run := newRun(op, v, v.Content, operator, s.d.Now())
	run.Unattended = &given
	if err = s.d.Store.PutRun(ctx, run); err == nil {
		if _, err = s.Run(ctx, operator, op.ID); err != nil {
			s.unstarted(ctx, run, err)
		}
	}
	if err != nil {
		log.Warn("a run did not begin unattended and waits for an operator", "operation_id", op.ID, "err", err)
		if _, err := s.d.Queue.Release(context.WithoutCancel(ctx), operator, op.ID, "it did not start unattended: "+human.SafeText(err)); err != nil {
			log.Error("a request could not be released", "operation_id", op.ID, "err", err)
		}
	}
	if now, err := s.d.Queue.Get(ctx, operator, op.ID); err == nil {
		op = now
	}
	return Asked{op.ID, op.State, true}, true, nil
}

// saysWho says for the journal and the answer that no operator watched, and who permitted that.
func (s *Service) saysWho(u human.UnattendedRun) string {
	return fmt.Sprintf("unattended, permitted by %s until %s", u.By, u.Until.In(s.d.Now().Location()).Format(localMinutes))
}

// unstarted stores the end of a run that did not start.
func (s *Service) unstarted(ctx context.Context, r human.RunOfProcedure, why error) human.RunOfProcedure {
	r.State, r.Why, r.EndedAt = human.GivenUp, new(human.Sayf("it did not start: %s", human.SafeText(why))), new(s.d.Now().UTC())
	if err := s.d.Store.PutRun(context.WithoutCancel(ctx), r); err != nil {
		s.d.Log.Error("a run that did not start could not be stored", "operation_id", r.Operation, "err", err)
	}
	return r
}

// still says, just before the first step, that a run without an operator is permitted no more.
func (s *Service) still(ctx context.Context, r human.RunOfProcedure) error {
	u, err := s.d.Store.Unattended(ctx, r.Procedure)
	if err == nil && (u.Off != nil || u.Version != r.Version || !s.d.Now().Before(u.Until)) {
		err = human.Errorf(human.Conflict, "it was switched off")
	}
	return err
}

// orphans gives back what was claimed for a run without an operator that Deskbell ended before: an operator starts it.
func (s *Service) orphans(ctx context.Context) error {
	recent, err := s.d.Queue.Recent(ctx, human.ProcedureRun, 100)
	if err != nil {
		return err
	}
	for _, op := range recent {
		if op.State != human.Claimed {
			continue
		}
		if _, err := s.d.Store.Run(ctx, op.ID); human.KindOf(err) != human.NotFound {
			continue
		}
		operator := human.Actor{Role: human.Operator, Name: op.ClaimedBy}
		whole, err := s.d.Queue.Get(ctx, operator, op.ID)
		if err != nil {
			return err
		}
		c, err := s.callOf(ctx, whole)
		if err != nil {
			continue
		}
		if u, err := s.d.Store.Unattended(ctx, c.Procedure); err != nil || u.By != op.ClaimedBy || !slices.Contains(u.Agents, op.AgentID) {
			continue
		}
		if _, err := s.d.Queue.Release(ctx, operator, op.ID, "it did not start unattended: Deskbell ended before"); err != nil {
			return err
		}
	}
	return nil
}
