package service

import (
	"context"
	"encoding/json"

	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// question reads an operation as a question.
func (k *Service) question(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, human.Question, error) {
	if err := onlyOperators(by); err != nil {
		return human.Operation{}, human.Question{}, err
	}
	op, err := k.d.Queue.Get(ctx, by, id)
	if err != nil {
		return op, human.Question{}, err
	}
	var q human.Question
	if op.Kind != human.Permission {
		return op, q, human.Errorf(human.NotFound, "operation %s is not a question of the gatekeeper", id)
	}
	if err := json.Unmarshal(op.Details, &q); err != nil {
		return op, q, human.Wrap(human.Internal, err, "the question of operation %s cannot be read", id)
	}
	return op, q, nil
}

// Question returns what an operation of kind permission asks, with the rule that 'always allow' would make and the past
// calls that it would have matched.
func (k *Service) Question(ctx context.Context, by human.Actor, id human.OperationID) (QuestionView, error) {
	op, q, err := k.question(ctx, by, id)
	if err != nil {
		return QuestionView{}, err
	}
	view := QuestionView{Question: q, Box: k.boxState(k.engineCall(q.ToolCall), q.Verdict), PutBack: !op.State.Terminal() && len(k.shown(ctx, by, q)) > 0}
	at := rules.Circumstances{Agent: op.AgentID, Session: op.SessionID, Project: q.Root, Now: k.d.Now()}
	rule, leftOut, ok := rules.Suggest(k.engineCall(q.ToolCall), q.Verdict, at)
	mask := k.masker(q.Args)
	if !ok || mask(rule.Command) != rule.Command || mask(rule.Path) != rule.Path {
		return view, nil // a rule is shown and kept, so it holds no secret
	}
	preview, err := k.preview(ctx, rule)
	if err != nil {
		return view, err
	}
	preview.LeftOut = leftOut
	view.Standing = &preview
	return view, nil
}

// Difference says what the call that is asked about would change. It blocks while files are read.
func (k *Service) Difference(ctx context.Context, by human.Actor, id human.OperationID) (Difference, error) {
	_, q, err := k.question(ctx, by, id)
	if err != nil {
		return Difference{}, err
	}
	d, err := k.d.Files.Difference(ctx, k.engineCall(q.ToolCall), q.Verdict)
	d.Files = append([]FileDifference{}, d.Files...)
	return d, err
}

// Answer answers a question (G2, G7): it does first what the choice needs, a copy for example, and where that fails
// nothing is answered. It blocks as long as that takes.
func (k *Service) Answer(ctx context.Context, by human.Actor, id human.OperationID, r AnswerRequest) (human.Operation, error) {
	op, q, err := k.question(ctx, by, id)
	if err != nil {
		return op, err
	}
	if r.Digest != op.Digest {
		return op, human.Errorf(human.Conflict, "the answer is for another version of the request (%.12s…) than operation %s has (%.12s…); read it again", r.Digest, op.ID, op.Digest)
	}
	if op.State.Terminal() { // the queue says what happened, before anything is copied
		return k.d.Queue.Complete(ctx, by, id, human.Answer{Decision: human.Refused}, op.Digest)
	}
	a := human.Answer{Decision: human.Refused, PermissionAnswer: human.PermissionAnswer{Choice: r.Choice}, HumanInput: r.Reason}
	rule, err := k.ruleWith(by, op, q, r)
	if err != nil {
		return op, err
	}
	switch r.Choice {
	case human.ChooseDeny, human.ChooseInstead:
		if rule != nil && rule.Decision == human.Allow {
			return op, human.BadField("rule", "would allow what you deny")
		}
	case human.ChooseAllow, human.ChooseBackup, human.ChooseChange, human.ChooseBox:
		if err := wasRead(q, r); err != nil {
			return op, err
		}
		a.Decision = human.Approved
	default:
		return op, human.BadField("choice", "%q is not one of allow, deny, backup, instead, change, box", human.OneLine(string(r.Choice), 40))
	}
	if a.Decision == human.Approved {
		if next, err := k.askAnew(ctx, op, q, r.Choice); err != nil || next != nil {
			if next != nil {
				op = *next
			}
			return op, err
		}
	}
	var written judged // the call with the arguments that the operator wrote
	switch r.Choice {
	case human.ChooseBackup:
		b, err := k.d.Files.Backup(ctx, k.engineCall(q.ToolCall), q.Verdict)
		if err != nil {
			return op, err
		}
		if b.Files == 0 && !b.Stash {
			return op, human.Errorf(human.Conflict, "there is nothing to back up: what the call would remove no longer exists; read the request again")
		}
		a.Backup = &b
	case human.ChooseChange, human.ChooseBox:
		if written, err = k.written(ctx, op, q, r); err != nil {
			return op, err
		}
		a.Args = written.call.Args
	}
	if rule != nil {
		k.answering.Lock()
		defer k.answering.Unlock()
	}
	done, err := k.d.Queue.Complete(ctx, by, id, a, r.Digest)
	if err != nil {
		if a.Backup != nil {
			err = human.Wrap(human.KindOf(err), err, "%s. The backup stays in %s", human.Inner{Err: err}, a.Backup.Path)
		}
		return op, err
	}
	switch {
	case done.State.Terminal():
		if a.Args != nil && q.Fixed {
			k.grant(op.AgentID, &written)
		}
		k.settle(context.WithoutCancel(ctx), done)
	case done.Later == nil: // it was the first of two approvals
		return done, nil
	}
	if rule != nil {
		if err := k.putRule(ctx, *rule); err != nil {
			return done, human.Wrap(human.KindOf(err), err, "your answer was sent, but the rule could not be saved: %s", human.Inner{Err: err})
		}
		k.forget()
	}
	return done, nil
}

// wasRead says what is missing where a yes is not enough.
func wasRead(q human.Question, r AnswerRequest) error {
	if r.Choice == human.ChooseBox { // where it is: nothing of it is kept without another answer
		if r.Rule != nil {
			return human.BadField("rule", "goes with allow or deny only")
		}
		return nil
	}
	if q.Verdict.Form == human.Enter && q.Verdict.Input != nil {
		if must := q.Verdict.Input.Must; must != "" && r.Typed != must || r.Typed == "" {
			return human.BadField("typed", "is not the text you must type before this can run")
		}
	}
	if q.Check != nil && (len(q.Verdict.Effects) == 0 || r.Check != q.Verdict.Effects[0].Verb) {
		return human.BadField("check", "does not match what the call does; read it again")
	}
	return nil
}

// written is the call with other arguments: those that an operator wrote, or those that run it in a box.
func (k *Service) written(ctx context.Context, op human.Operation, q human.Question, r AnswerRequest) (judged, error) {
	if r.Choice == human.ChooseBox {
		return k.boxed(ctx, op, q)
	}
	return k.changed(ctx, op, q, r.Args)
}

// changed judges a call with the arguments that an operator wrote: their word is enough for a call that would be asked about,
// and for no call that is blocked or a hard limit.
func (k *Service) changed(ctx context.Context, op human.Operation, q human.Question, args json.RawMessage) (j judged, err error) {
	call := q.ToolCall
	call.Args = args
	if len(args) == 0 {
		return j, human.BadField("args", "are missing; send the arguments the call runs with")
	}
	if err := check(call); err != nil {
		return j, err
	}
	if j, err = k.judge(ctx, op.AgentID, call, k.d.Project); err != nil {
		return j, err
	}
	v := j.verdict
	if v.Decision == human.Deny || v.HardLimit {
		return j, human.BadField("args", "cannot be allowed: %s", v.Reason)
	}
	if v.Risk.Level() > q.Verdict.Risk.Level() {
		return j, human.BadField("args", "are riskier than the call you were asked about (%s, not %s): %s", v.Risk, q.Verdict.Risk, v.Reason)
	}
	return j, nil
}

// ruleOf is an operator's rule, ready to be stored.
func (k *Service) ruleOf(by human.Actor, r human.GateRule) (*human.GateRule, error) {
	at := k.d.Now().UTC()
	r.ID, r.Source, r.By, r.At, r.Matched, r.LastUsed, r.Files = k.d.NewID("gr_"), human.RuleOperator, by.Name, &at, 0, nil, nil
	if r.Until != nil && !r.Until.After(at) {
		return nil, human.BadField("until", "is in the past")
	}
	if err := rules.Check(r); err != nil {
		return nil, err
	}
	return &r, nil
}

// ruleWith is the rule that comes with an answer; nil for none.
func (k *Service) ruleWith(by human.Actor, op human.Operation, q human.Question, r AnswerRequest) (*human.GateRule, error) {
	if r.Rule == nil {
		return nil, nil
	}
	rule, err := k.ruleOf(by, *r.Rule)
	if err != nil {
		return nil, err
	}
	if rule.Decision == human.Allow && op.ApprovalsNeeded > 1 {
		return nil, human.BadField("rule", "would allow without asking what two people have to approve")
	}
	rule.Files = q.Files
	return rule, nil
}

// AddRule makes a rule that allows, asks or blocks.
func (k *Service) AddRule(ctx context.Context, by human.Actor, r human.GateRule) (human.GateRule, error) {
	if err := onlyOperators(by); err != nil {
		return r, err
	}
	rule, err := k.ruleOf(by, r)
	if err != nil {
		return r, err
	}
	if err := k.d.Store.PutRule(ctx, *rule); err != nil {
		return r, err
	}
	k.forget()
	return *rule, nil
}

// DropRule takes a rule back, at once.
func (k *Service) DropRule(ctx context.Context, by human.Actor, id string) error {
	if err := onlyOperators(by); err != nil {
		return err
	}
	defer k.forget()
	return k.d.Store.DropRule(ctx, id)
}
