package service

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/gate/trust"
	"deskbell/backend/human"
)

const (
	// freshFor is how long an answer lets the call run that it was given to.
	freshFor = 10 * time.Minute
	// remembered is how far back answers count for trust; what is older has decayed.
	remembered = 365 * 24 * time.Hour
	// deserted is how long no one waits for a question before the same call, made again, takes it for its own.
	deserted = 5 * time.Second
	// censuses is of how many effects of a question the files are counted.
	censuses = 20
	// maxAsked is how many questions are remembered by their calls.
	maxAsked = 10_000
	// maxMade is how many files of one call are remembered as its session's.
	maxMade = 200
	// maxEffects is how many effects a question carries.
	maxEffects = 100
)

// A Service is the gatekeeper. It is made by New, works at once, and keeps its log of answers while Run runs. It is safe
// for concurrent use.
type Service struct {
	d      Deps
	ledger *trust.Ledger
	before []human.OperationID // questions of an earlier run
	after  uint64              // the last event before this one

	toolsOnce sync.Mutex
	tools     map[agentTool][]ToolKnown // nil before they are read

	// Held while an answer is given and the rule that comes with it is stored: who has read the answer is judged with the rule.
	answering sync.RWMutex
	settling  sync.Mutex // held until the end of a question is written

	mu         sync.Mutex
	waiting    map[human.OperationID]Decision
	granted    map[grant]granted
	asked      map[sameCall]human.OperationID
	attended   map[human.OperationID]attended
	askedAgain map[human.OperationID]human.OperationID // questions that were asked again, and as which
	standing   []human.GateRule                        // the operators'; they count where read is set
	read       bool
	changes    uint64 // of the operators' rules: a list that was read before one is not kept
}

// A grant is an operator's word that an agent may make a call with the arguments that they wrote, once. Not every client can
// be told to run a call with other arguments: its agent makes the changed call by itself.
type grant struct{ agent, digest string }

// A granted is until when a grant holds, and what it was given for.
type granted struct {
	at, until time.Time
	verdict   human.Verdict
	files     []human.JudgedFile
}

// grant remembers one.
func (k *Service) grant(agent string, j *judged) {
	now := k.d.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	for g, it := range k.granted {
		if now.After(it.until) {
			delete(k.granted, g)
		}
	}
	k.granted[grant{agent, j.verdict.Digest}] = granted{now, now.Add(freshFor), j.verdict, k.maskedFiles(j.files)}
}

// useGrant takes a grant, if there is one for the call: it then may run, unless a file has changed.
func (k *Service) useGrant(agent string, j *judged) {
	k.mu.Lock()
	it, is := k.granted[grant{agent, j.verdict.Digest}]
	delete(k.granted, grant{agent, j.verdict.Digest})
	k.mu.Unlock()
	if !is || !k.d.Now().Before(it.until) {
		return
	}
	if files := k.differing(it.files, j.files, true); len(files) > 0 {
		changed := k.changedFrom(it.verdict, files)
		changed.Since, changed.At = human.SinceQuestion, it.at.UTC()
		j.ask(changed)
		return
	}
	j.allow(human.Reasoned(human.Because{Rule: "operator.changed"}, human.Say("operator_changed")))
}

// A sameCall is one that the same agent may make again in a session.
type sameCall struct{ agent, session, digest string }

func (d Decision) same() sameCall { return sameCall{d.Agent, d.Session, d.Digest} }

// left returns the question about the same call that nobody waits for any more and whose answer nobody has read: its
// client was killed, or Deskbell was. An agent that makes the call again is not to ring a second time, nor to be told
// nothing of what was answered.
func (k *Service) left(ctx context.Context, by human.Actor, d Decision) (human.Operation, bool) {
	if d.Session == "" {
		return human.Operation{}, false
	}
	k.mu.Lock()
	id, is := k.asked[d.same()]
	k.mu.Unlock()
	if !is || !k.d.Queue.Deserted(id, deserted) {
		return human.Operation{}, false
	}
	op, err := k.d.Queue.Get(ctx, k.d.Operator, id)
	if err != nil || op.AgentID != by.Name || op.DeliveredAt != nil || op.State.Terminal() && k.d.Now().Sub(op.EndedAt()) > freshFor {
		return human.Operation{}, false
	}
	return op, true
}

// remember notes which question is the latest about a call.
func (k *Service) remember(d Decision) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.asked) >= maxAsked {
		clear(k.asked) // then a call that is made again rings again
	}
	k.waiting[d.OperationID], k.asked[d.same()] = d, d.OperationID
}

// New makes a gatekeeper. The queue has to be loaded, and nobody may ask yet: what an earlier run left is taken up. The
// error is that of reading it.
func New(ctx context.Context, d Deps) (*Service, error) {
	k := &Service{d: d, waiting: map[human.OperationID]Decision{}, granted: map[grant]granted{}, asked: map[sameCall]human.OperationID{}, askedAgain: map[human.OperationID]human.OperationID{}, attended: map[human.OperationID]attended{}}
	t := d.File().Config
	k.ledger = trust.New(trust.Options{
		Initial: t.Trust.Initial, Increment: t.Trust.Increment, Decrement: t.Trust.Decrement, HalfLife: t.Trust.HalfLife,
	})
	answered, err := d.Store.Answered(ctx, d.Now().Add(-remembered))
	if err != nil {
		return nil, err
	}
	for _, a := range answered {
		k.learn(a)
	}
	if k.after, err = d.Queue.Head(ctx); err != nil {
		return nil, err
	}
	waiting, err := d.Store.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range waiting {
		k.remember(w)
		k.before = append(k.before, w.OperationID)
	}
	open, err := d.Queue.OpenOf(ctx, human.Permission)
	if err != nil {
		return nil, err
	}
	for _, op := range open {
		var q human.Question
		if json.Unmarshal(op.Details, &q) == nil && q.Asker != nil {
			k.attend(op, q.Asker)
		}
		if _, known := k.waiting[op.ID]; known {
			continue
		}
		// The process ended after the question was stored and before its line of the log was.
		line, err := decisionOf(op)
		if err != nil {
			d.Log.Warn("a question is not in the gatekeeper's log", "operation_id", op.ID, "err", err)
			continue
		}
		line.ID = d.NewID("dec_")
		if err := d.Store.PutDecision(ctx, line, nil); err != nil {
			return nil, err
		}
		k.remember(line)
	}
	return k, nil
}

// Run writes down how questions end, until ctx ends; it returns nil then.
func (k *Service) Run(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { k.watch(watching) })
	defer watch.Wait()
	defer stop()
	for _, id := range k.before {
		if op, err := k.d.Queue.Get(ctx, k.d.Operator, id); err == nil {
			k.settle(ctx, op) // it ended while this did not run, or it is still open
		}
	}
	for e, err := range k.d.Queue.Follow(ctx, k.d.Operator, k.after) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		switch e.Event.Type {
		case human.Finished, human.Withdrawn, human.TurnedDown:
			k.settleByID(ctx, e.ID)
		}
	}
	return nil
}

// note adds a waiting decision to the log.
func (k *Service) note(ctx context.Context, d Decision) {
	k.remember(d)
	if err := k.d.Store.PutDecision(ctx, d, nil); err != nil {
		k.d.Log.Error("a decision of the gatekeeper could not be written down", "operation_id", d.OperationID, "err", err)
	}
}

// settleByID writes down how a question ended, if it is one of these.
func (k *Service) settleByID(ctx context.Context, id human.OperationID) {
	k.mu.Lock()
	_, mine := k.waiting[id]
	k.mu.Unlock()
	if !mine {
		return
	}
	op, err := k.d.Queue.Get(ctx, k.d.Operator, id)
	if err != nil {
		k.d.Log.Error("how a question of the gatekeeper ended could not be read; it is at the next start", "operation_id", id, "err", err)
		return
	}
	k.settle(ctx, op)
}

// settle returns when it is written, also by another.
func (k *Service) settle(ctx context.Context, op human.Operation) {
	if !op.State.Terminal() {
		return
	}
	k.settling.Lock()
	defer k.settling.Unlock()
	k.mu.Lock()
	d, mine := k.waiting[op.ID]
	delete(k.waiting, op.ID)
	delete(k.attended, op.ID)
	k.mu.Unlock()
	if !mine {
		return
	}
	d.end(op)
	var made []string
	if d.Outcome == Allowed && d.Choice != human.ChooseBox {
		made = d.Makes
	}
	if err := k.d.Store.EndDecision(ctx, d, made); err != nil {
		k.d.Log.Error("how a question of the gatekeeper ended could not be written down; it will be at the next start", "operation_id", op.ID, "err", err)
		return
	}
	k.learn(d)
}

// learn lets an answer count for trust.
func (k *Service) learn(d Decision) {
	// That a call may run in a box says nothing of what it may do outside.
	if d.AnsweredAt == nil || d.By == "" || d.Choice == human.ChooseBox || d.Outcome != Allowed && d.Outcome != Refused {
		return
	}
	k.ledger.Add(trust.Answer{
		At: *d.AnsweredAt, Operator: d.By, Project: d.Project, Verbs: d.Verbs, Allowed: d.Outcome == Allowed,
		Read: time.Duration(d.ReadFor * float64(time.Second)), Words: words(d.Call), HardLimit: d.HardLimit,
	})
}

// A judged call.
type judged struct {
	call    gate.Call
	facts   Facts
	file    File
	at      rules.Circumstances
	verdict human.Verdict
	micros  int64
	files   []human.JudgedFile // that the verdict rests on
	changed *human.Changed     // why it is asked again
}

// engineCall is a call as the engine takes it.
func (k *Service) engineCall(c human.ToolCall) gate.Call {
	return gate.Call{
		Tool: c.Tool, Args: c.Args, Cwd: c.Cwd, Root: c.Root, Home: c.Home, Guard: k.d.Guard, Annotations: c.Annotations, Schema: c.Schema, About: c.About, Session: c.SessionID,
	}
}

// judge says what to do with a call. The error is that of reading the operators' rules: without them nothing is judged.
func (k *Service) judge(ctx context.Context, agent string, call human.ToolCall, set func(File, string) *rules.Set) (judged, error) {
	began := k.d.Now()
	j := judged{file: k.d.File(), call: k.engineCall(call)}
	if j.call.Root == "" && call.Cwd != "" {
		j.call.Root = k.d.Root(call.Cwd)
	}
	j.facts = k.d.Facts(ctx, j.call, func(path string) bool {
		made, err := k.d.Store.Made(ctx, call.SessionID, path)
		return err == nil && made && call.SessionID != ""
	})
	k.answering.RLock()
	standing, err := k.rules(ctx)
	k.answering.RUnlock()
	if err != nil {
		return j, err
	}
	j.at = rules.Circumstances{
		Agent: agent, Session: call.SessionID, Project: j.call.Root, Standing: standing, Now: began,
		Trust: func(verb human.EffectVerb) float64 {
			return k.ledger.Value(k.d.Operator.Name, j.call.Root, verb, began)
		},
	}
	now := set(j.file, j.call.Root)
	j.verdict = now.Judge(j.call, j.facts, j.at)
	j.files = j.facts.Judged()
	k.held(&j, now)
	j.micros = k.d.Now().Sub(began).Microseconds()
	return j, nil
}

// count tells how many files the most severe effects of a verdict are about.
func (j *judged) count() {
	effects := slices.Clone(j.verdict.Effects)
	n := 0
	for i, e := range effects {
		switch e.Verb {
		case human.FilesystemDelete, human.FilesystemWrite:
		default:
			continue
		}
		if e.Certainty == human.Certain && e.Blast.Near() && filepath.IsAbs(e.Target) && n < censuses {
			effects[i].FileCounts = j.facts.FileCounts(e.Target)
			n++
		}
	}
	j.verdict.Effects = effects
}

// allow lets a call through for one reason more.
func (j *judged) allow(b human.Because) {
	v := &j.verdict
	v.Decision, v.Choices, v.Form, v.Input, v.Reason, v.Said = human.Allow, nil, "", nil, b.Text, b.Said
	v.Because = append([]human.Because{b}, v.Because...)
	v.Rules = append([]string{b.Rule}, v.Rules...)
}

// makes are the files that are the session's own once the call has run: those that it writes and that were not there, or
// were as a commit has them.
func (j *judged) makes() []string {
	var made []string
	for _, e := range j.verdict.Effects {
		if e.Verb != human.FilesystemWrite || e.Certainty != human.Certain || !e.Blast.Near() || !filepath.IsAbs(e.Target) || len(made) == maxMade || slices.Contains(made, e.Target) {
			continue
		}
		switch j.facts.File(e.Target) {
		case gate.Absent, gate.Committed:
			made = append(made, e.Target)
		}
	}
	return made
}

// rules are the operators'. When they change the list during a read, it reads again: a rule that was just deleted does not
// allow any more.
func (k *Service) rules(ctx context.Context) ([]human.GateRule, error) {
	for {
		k.mu.Lock()
		list, read, changes := k.standing, k.read, k.changes
		k.mu.Unlock()
		if read {
			return list, nil
		}
		list, err := k.d.Store.Rules(ctx)
		if err != nil {
			return nil, err
		}
		k.mu.Lock()
		current := k.changes == changes
		if current {
			k.standing, k.read = list, true
		}
		k.mu.Unlock()
		if current {
			return list, nil
		}
	}
}

// forget is called when the rules in the store have changed.
func (k *Service) forget() {
	k.mu.Lock()
	k.standing, k.read = nil, false
	k.changes++
	k.mu.Unlock()
}

// check returns an error for a call that cannot be judged.
func check(call human.ToolCall) error {
	switch {
	case call.Tool == "":
		return human.BadField("tool", "is missing; it is the name of the tool that is called")
	case len(call.Tool) > 256 || !utf8.ValidString(call.Tool):
		return human.BadField("tool", "is longer than 256 bytes, or not valid UTF-8")
	case len(call.SessionID) > 256:
		return human.BadField("session_id", "is longer than 256 bytes")
	case len(call.CallID) > 128:
		return human.BadField("call_id", "is longer than 128 bytes")
	case call.Cwd != "" && !filepath.IsAbs(call.Cwd):
		return human.BadField("cwd", "%q is not absolute", human.OneLine(call.Cwd, 80))
	case call.Root != "" && !filepath.IsAbs(call.Root):
		return human.BadField("root", "%q is not absolute", human.OneLine(call.Root, 80))
	case len(call.Args) > 0 && !json.Valid(call.Args):
		return human.BadField("args", "are not JSON")
	}
	return nil
}

func onlyOperators(by human.Actor) error {
	if by.Role != human.Operator {
		return human.Errorf(human.Denied, "only an operator can do this; an agent's key can have its calls judged")
	}
	return nil
}

// Evaluate judges a call before it runs (G1, G9). Where an operator has to be asked it asks, and waits for how.Wait at
// most; the judgement is then Ask, and the same call with how.Question continues waiting. What an operator decides holds for
// exactly this call: one that was changed is judged again.
func (k *Service) Evaluate(ctx context.Context, by human.Actor, call human.ToolCall, how Asking) (human.Judgement, error) {
	if by.Role != human.Agent {
		return human.Judgement{}, human.Errorf(human.Denied, "only agents can have calls judged; as an operator, use /api/gate/try")
	}
	if err := check(call); err != nil {
		return human.Judgement{}, err
	}
	if how.Question != "" {
		op, err := k.d.Queue.Get(ctx, by, how.Question)
		if err == nil && op.Kind != human.Permission {
			err = human.Errorf(human.NotFound, "operation %s is not a question of the gatekeeper", how.Question)
		}
		if err != nil {
			return human.Judgement{}, err
		}
		var q human.Question
		if json.Unmarshal(op.Details, &q) == nil && q.Verdict.Digest == gate.Digest(gate.Call{Tool: call.Tool, Args: call.Args, Cwd: call.Cwd}) {
			return k.wait(ctx, by, op, how)
		}
	}
	j, err := k.judge(ctx, by.Name, call, k.d.Project)
	if err != nil {
		return human.Judgement{}, err
	}
	if j.verdict.Decision == human.Ask {
		k.useGrant(by.Name, &j)
	}
	if err := k.defined(ctx, by.Name, call, &j); err != nil {
		return human.Judgement{}, err
	}
	if j.verdict.Decision == human.Ask && j.changed == nil && k.d.Model != nil && j.file.Config.Model {
		k.consult(ctx, &j, call)
	}
	d := k.decision(by, call, &j)
	if j.verdict.Decision == human.Allow {
		if err := k.d.Store.PutDecision(ctx, d, d.madeNow()); err != nil {
			return human.Judgement{}, err
		}
		if k.unchanged(ctx, &j) {
			return judgement(d, j.verdict), nil
		}
		if d, err = k.undo(ctx, by, call, &j, d); err != nil {
			return human.Judgement{}, err
		}
	}
	if j.verdict.Decision == human.Deny {
		if err := k.d.Store.PutDecision(ctx, d, nil); err != nil {
			return human.Judgement{}, err
		}
		return judgement(d, j.verdict), nil
	}
	if op, is := k.left(ctx, by, d); is {
		return k.wait(ctx, by, op, how)
	}
	op, err := k.ask(ctx, by, call, &j, d, how)
	if err != nil {
		return human.Judgement{}, err
	}
	return k.wait(ctx, by, op, how)
}

// ask puts the question into the queue.
func (k *Service) ask(ctx context.Context, by human.Actor, call human.ToolCall, j *judged, d Decision, how Asking) (human.Operation, error) {
	j.count()
	k.offerBox(j)
	k.restOnProjectFile(j)
	call.Root = j.call.Root
	q := human.Question{Risk: j.verdict.Risk, ToolCall: call, Verdict: j.verdict, Project: j.facts.Project(), Files: k.maskedFiles(j.files), Changed: j.changed, Asker: k.asker(how)}
	if len(q.Verdict.Effects) > maxEffects {
		q.Verdict.Effects = q.Verdict.Effects[:maxEffects]
	}
	if shown(j.file.Config.ReadCheck, d.ID) {
		q.Check = readCheck(j.verdict, d.ID)
	}
	details, err := json.Marshal(q)
	if err != nil {
		return human.Operation{}, human.Wrap(human.Invalid, err, "the call cannot be written as JSON")
	}
	about, err := json.Marshal(map[string]string{"project": q.Project.Name, "cwd": call.Cwd, "client": call.Client})
	if err != nil {
		return human.Operation{}, human.Wrap(human.Internal, err, "the call's place cannot be written as JSON")
	}
	timeout := how.Timeout
	if timeout <= 0 || timeout > j.file.Config.Timeout {
		timeout = j.file.Config.Timeout
	}
	r := human.Request{
		Kind:        human.Permission,
		Description: d.Words, Details: details, Context: about, AgentID: by.Name, SessionID: call.SessionID,
		Priority: priority(j.verdict.Risk), Timeout: timeout.Seconds(),
	}
	if call.CallID != "" {
		r.IdempotencyKey = fmt.Sprintf("gate:%s:%.40s", call.CallID, j.verdict.Digest[len("sha256:"):])
		if j.changed != nil {
			r.IdempotencyKey += fmt.Sprintf(":%d", j.changed.Noticed.UnixMicro())
		}
	}
	op, created, err := k.d.Queue.Submit(ctx, r, nil)
	if err != nil || !created {
		return op, err
	}
	d.OperationID, d.Outcome = op.ID, Waiting
	if q.Asker != nil {
		k.attend(op, q.Asker)
	}
	k.note(context.WithoutCancel(ctx), d)
	if now, err := k.d.Queue.Get(ctx, k.d.Operator, op.ID); err == nil {
		k.settle(ctx, now) // it may have been answered before it was noted
	}
	return op, nil
}

func priority(r human.Risk) int {
	return human.DefaultPriority + max(0, r.Level()-human.MediumRisk.Level())
}

// wait waits for the end of a question, and of those that are asked in its place. What an operator allowed is judged again
// before it is returned.
func (k *Service) wait(ctx context.Context, by human.Actor, op human.Operation, how Asking) (human.Judgement, error) {
	waiting, cancel := context.WithTimeout(ctx, how.Wait)
	defer cancel()
	for {
		if how.Wait > 0 && !op.State.Terminal() {
			var err error
			if op, err = k.d.Queue.WaitFor(waiting, by, op.ID, func(human.Operation) bool { return false }); err != nil {
				return human.Judgement{}, err
			}
			if ctx.Err() != nil && how.Parent > 0 && !op.State.Terminal() {
				k.attend(op, nil)
			}
		}
		next, err := k.inPlaceOf(ctx, by, op)
		if err != nil {
			return human.Judgement{}, err
		}
		j, err := k.answered(op)
		if err == nil && next == nil && j.Decision == human.Allow {
			j, next, err = k.mayRun(ctx, by, op, j, how)
		}
		if err == nil && op.State.Terminal() {
			if err := k.d.Queue.MarkDelivered(ctx, by, op.ID); err != nil {
				k.d.Log.Warn("an answer was delivered, and that could not be noted", "operation_id", op.ID, "err", err)
			}
		}
		if next == nil {
			return j, err
		}
		op = *next
	}
}
