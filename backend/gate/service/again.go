package service

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

const (
	maxKeptText = 16 << 10 // bytes of a file's text that are kept with a question or a rule
	maxKept     = 64 << 10 // bytes of all texts
	maxShown    = 300      // lines of a difference
	maxLookBack = 50       // calls in which the one is looked for that wrote a file
)

// restOnProjectFile notes that a verdict rests on the project's own rules, too. One that allows does not: they only tighten.
func (k *Service) restOnProjectFile(j *judged) {
	if j.call.Root != "" && k.d.ProjectFile != "" {
		j.facts.Rests(filepath.Join(j.call.Root, k.d.ProjectFile))
		j.files = j.facts.Judged()
	}
}

// maskedFiles are files as they are kept with a question: secrets are masked in their texts, and long ones are shortened.
func (k *Service) maskedFiles(files []human.JudgedFile) []human.JudgedFile {
	left := maxKept
	kept := slices.Clone(files)
	for i, f := range kept {
		text := f.Text
		if text != "" {
			text = human.Shorten(k.d.Mask(text)(text), min(maxKeptText, left))
		}
		left -= len(text)
		kept[i].Text = text
	}
	return kept
}

// differing returns the files of two verdicts on one call that are not the same in both; before are kept ones. Where more is
// set, files that only now count are among them.
func (k *Service) differing(before, now []human.JudgedFile, more bool) []human.ChangedFile {
	now = k.maskedFiles(now)
	var list []human.ChangedFile
	add := func(b, n human.JudgedFile) {
		c := human.ChangedFile{Path: n.Path, Before: b, Now: n}
		c.Diff, c.Added, c.Removed = difference(b.Text, n.Text)
		c.Before.Text, c.Now.Text = "", ""
		list = append(list, c)
	}
	for _, n := range now {
		i := slices.IndexFunc(before, func(b human.JudgedFile) bool { return b.Path == n.Path })
		switch {
		case i >= 0 && !before[i].Same(n):
			add(before[i], n)
		case i < 0 && more && n.State != human.FileAbsent:
			add(human.JudgedFile{Path: n.Path, State: human.FileAbsent}, n)
		}
	}
	return list
}

// difference is a unified diff of two texts, and how many lines it adds and removes. A long one is shortened.
func difference(before, now string) (text string, added, removed int) {
	u, err := udiff.ToUnifiedDiff("before", "now", before, udiff.Lines(before, now), udiff.DefaultContextLines)
	if err != nil { // the edits are of these texts
		return "", 0, 0
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	lines := slices.Collect(strings.Lines(u.String()))
	return strings.Join(lines[:min(len(lines), maxShown)], ""), added, removed
}

// held makes a call that an operator's rule allows one to be asked about, where a file that the rule was made for has
// changed since.
func (k *Service) held(j *judged, set *rules.Set) {
	for j.verdict.Decision == human.Allow {
		var changed []human.ChangedFile
		i := slices.IndexFunc(j.at.Standing, func(r human.GateRule) bool {
			if r.Decision != human.Allow || len(r.Files) == 0 || !slices.Contains(j.verdict.Rules, ruleID+r.ID) {
				return false
			}
			changed = k.differing(r.Files, j.files, true)
			return len(changed) > 0
		})
		if i < 0 {
			return
		}
		r, before := j.at.Standing[i], j.verdict
		j.at.Standing = slices.Delete(slices.Clone(j.at.Standing), i, i+1)
		j.verdict = set.Judge(j.call, j.facts, j.at)
		if j.verdict.Decision == human.Allow {
			continue // without the rule, too
		}
		j.changed = k.changedFrom(before, changed)
		j.changed.Since, j.changed.Rule = human.SinceRule, r.ID
		if r.At != nil {
			j.changed.At = *r.At
		}
		j.ask(j.changed)
		return
	}
}

// ruleID is how a verdict names a rule of the user's own.
const ruleID = "rule."

func (k *Service) changedFrom(before human.Verdict, files []human.ChangedFile) *human.Changed {
	return &human.Changed{Files: files, Noticed: k.d.Now().UTC(), Risk: before.Risk, Effects: before.Effects[:min(maxEffects, len(before.Effects))]}
}

// unchanged says whether the files that a verdict rests on are as they were when it was made. Where not, the call is judged
// again, and is then one to ask about.
func (k *Service) unchanged(ctx context.Context, j *judged) bool {
	if len(j.files) == 0 {
		return true
	}
	now := k.d.Facts(ctx, j.call, nil)
	for _, f := range j.files {
		now.Rests(f.Path)
	}
	files := now.Judged()
	if slices.EqualFunc(j.files, files, human.JudgedFile.Same) {
		return true
	}
	j.changed = k.changedFrom(j.verdict, k.differing(k.maskedFiles(j.files), files, true))
	j.changed.Since, j.changed.At = human.SinceVerdict, j.at.Now.UTC()
	return false
}

// undo writes down that a call that was allowed a moment ago did not run, and judges it again: now it is asked about.
func (k *Service) undo(ctx context.Context, by human.Actor, call human.ToolCall, j *judged, d Decision) (Decision, error) {
	d.Outcome = Withdrawn
	if err := k.d.Store.EndDecision(ctx, d, nil); err != nil {
		return d, err
	}
	changed := j.changed
	now, err := k.judge(ctx, by.Name, call, k.d.Project)
	if err != nil {
		return d, err
	}
	*j = now
	j.ask(changed)
	return k.decision(by, call, j), nil
}

// ask makes a call that is not blocked one to ask about, because of what changed.
func (j *judged) ask(changed *human.Changed) {
	j.changed = changed
	v := &j.verdict
	if v.Decision == human.Deny {
		return
	}
	said := human.Say("judged_otherwise")
	switch {
	case len(changed.Files) == 0:
	case changed.Since == human.SinceTool:
		said = human.Say("tool_changed", "name", changed.Files[0].Path)
	default:
		said = human.Say("file_changed", "name", filepath.Base(changed.Files[0].Path))
	}
	b := human.Reasoned(human.Because{Rule: "changed"}, said)
	v.Because = append([]human.Because{b}, v.Because...)
	if v.Decision == human.Allow {
		v.Decision = human.Ask
		gate.Explain(j.call, v, j.facts)
		v.Reason, v.Said = b.Text, b.Said
	}
}

// inPlaceOf returns the question that was asked in the place of one, or nil.
func (k *Service) inPlaceOf(ctx context.Context, by human.Actor, op human.Operation) (*human.Operation, error) {
	k.mu.Lock()
	id, is := k.askedAgain[op.ID]
	k.mu.Unlock()
	if !is {
		return nil, nil
	}
	next, err := k.d.Queue.Get(ctx, by, id)
	return &next, err
}

// mayRun judges a call again that an operator has allowed, just before its client learns of it. Where a file has changed, or
// the call has become riskier than the one they saw, it asks again and returns that question.
func (k *Service) mayRun(ctx context.Context, by human.Actor, op human.Operation, yes human.Judgement, how Asking) (human.Judgement, *human.Operation, error) {
	var q human.Question
	if err := json.Unmarshal(op.Details, &q); err != nil {
		return yes, nil, human.Wrap(human.Internal, err, "the question of operation %s cannot be read", op.ID)
	}
	call := q.ToolCall
	if q.Changed != nil && q.Changed.Since == human.SinceTool {
		t := ToolKnown{Agent: by.Name, Tool: call.Tool, At: k.d.Now().UTC(), Definition: gate.Definition(k.engineCall(call))}
		if err := k.accept(ctx, t); err != nil {
			return yes, nil, err
		}
	}
	if len(yes.Args) > 0 {
		call.Args = yes.Args
	}
	if yes.Choice == human.ChooseBox {
		q = inBox(q)
	}
	j, changed, err := k.compare(ctx, by.Name, call, q)
	if err != nil || changed == nil {
		return yes, nil, err
	}
	changed.OperationID, changed.Choice = op.ID, yes.Choice
	if op.Result != nil {
		changed.AnsweredAt = &op.Result.At
	}
	if d, err := k.d.Store.DecisionOf(ctx, op.ID); err == nil && d.Outcome == Allowed {
		d.Outcome = Withdrawn // it did not run
		if err := k.d.Store.EndDecision(ctx, d, nil); err != nil {
			return yes, nil, err
		}
	}
	j.ask(changed)
	d := k.decision(by, call, &j)
	if j.verdict.Decision == human.Deny {
		if err := k.d.Store.PutDecision(ctx, d, nil); err != nil {
			return yes, nil, err
		}
		return judgement(d, j.verdict), nil, nil
	}
	next, err := k.askInPlace(ctx, by, op, call, &j, d, how)
	return yes, next, err
}

// compare judges the call of a question again. changed is nil where it may run as the operator saw it.
func (k *Service) compare(ctx context.Context, agent string, call human.ToolCall, q human.Question) (j judged, changed *human.Changed, err error) {
	if j, err = k.judge(ctx, agent, call, k.d.Project); err != nil {
		return j, nil, err
	}
	k.restOnProjectFile(&j)
	files := k.differing(q.Files, j.files, slices.Equal(call.Args, q.Args))
	v := j.verdict
	if len(files) == 0 && v.Decision != human.Deny && (!v.HardLimit || q.Verdict.HardLimit) && v.Risk.Level() <= q.Verdict.Risk.Level() {
		return j, nil, nil
	}
	changed = k.changedFrom(q.Verdict, files)
	changed.Since = human.SinceQuestion
	return j, changed, nil
}

// askAnew asks again about the call of an open question where it is not what the operator was shown, and withdraws the
// question. It returns the new one, and nil where nothing changed.
func (k *Service) askAnew(ctx context.Context, op human.Operation, q human.Question, choice human.ChoiceAction) (*human.Operation, error) {
	by := human.Actor{Role: human.Agent, Name: op.AgentID}
	j, changed, err := k.compare(ctx, op.AgentID, q.ToolCall, q)
	if err != nil || changed == nil {
		return nil, err
	}
	at := k.d.Now().UTC()
	changed.OperationID, changed.Choice, changed.AnsweredAt = op.ID, choice, &at
	j.ask(changed)
	if j.verdict.Decision == human.Deny { // it need not be asked about: the agent learns it, and so does the operator
		return nil, human.Errorf(human.Conflict, "your answer was not used: what would run has changed, and is blocked now: %s", j.verdict.Reason)
	}
	next, err := k.askInPlace(ctx, by, op, q.ToolCall, &j, k.decision(by, q.ToolCall, &j), k.rest(op, q))
	if err != nil {
		return nil, err
	}
	if _, err := k.d.Queue.Cancel(ctx, by, op.ID, "what would run has changed; it is asked again as "+string(next.ID)); err != nil {
		return nil, err
	}
	return next, nil
}

// askInPlace asks a question in the place of another.
func (k *Service) askInPlace(ctx context.Context, by human.Actor, op human.Operation, call human.ToolCall, j *judged, d Decision, how Asking) (*human.Operation, error) {
	j.changed.At = op.CreatedAt
	j.changed.By = k.writer(ctx, j.changed.Files, op.CreatedAt)
	next, err := k.ask(ctx, by, call, j, d, how)
	if err != nil {
		return nil, err
	}
	k.replaced(op.ID, next.ID)
	return &next, nil
}

// writer finds the last call since a time that wrote one of the files.
func (k *Service) writer(ctx context.Context, files []human.ChangedFile, since time.Time) *human.ChangedBy {
	page, err := k.d.Store.Decisions(ctx, LogFilter{Since: since, Limit: maxLookBack})
	if err != nil {
		return nil // it is said where it is known
	}
	for _, d := range page.Decisions {
		if d.outcome() != Allowed {
			continue
		}
		for _, e := range d.Effects {
			if e.Verb == human.FilesystemWrite && slices.ContainsFunc(files, func(f human.ChangedFile) bool { return f.Path == e.Target }) {
				return &human.ChangedBy{Agent: d.Agent, Tool: d.Tool, Path: e.Target, At: d.At}
			}
		}
	}
	return nil
}

// putRule stores a rule. One that an operator makes again, because a file has changed, replaces the one before.
func (k *Service) putRule(ctx context.Context, r human.GateRule) error {
	before, err := k.rules(ctx)
	if err != nil {
		return err
	}
	if err := k.d.Store.PutRule(ctx, r); err != nil {
		return err
	}
	for _, b := range before {
		if len(b.Files) > 0 && b.Decision == r.Decision && b.Tool == r.Tool && b.Command == r.Command && b.Path == r.Path && slices.Equal(b.Verbs, r.Verbs) &&
			b.Project == r.Project && b.Session == r.Session && b.Agent == r.Agent {
			if err := k.d.Store.DropRule(ctx, b.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
