package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// think asks the model what to do next.
func (x *execution) think(ctx context.Context) error {
	if x.barren >= stalled {
		return x.fail(ctx, EndFailed, human.Sayf("%s made no progress in %d replies.", x.deps.Model.Name(), stalled))
	}
	if err := x.thinking(ctx); err != nil {
		return err
	}
	if t, any := x.flush(""); any {
		if err := x.keep(ctx, Record{Kind: TurnRecord, Turn: &t}); err != nil {
			return err
		}
	}
	reply, err := x.chat(ctx)
	if err != nil {
		return x.modelFailed(ctx, err)
	}
	x.seen.settle(reply.Calls)
	rec := Record{Kind: TurnRecord, Turn: &Turn{Role: Assistant, Text: reply.Text, Calls: reply.Calls, Kept: reply.Kept}, Spent: x.spentNow()}
	switch {
	case reply.Cut && len(reply.Calls) > 0:
		rec.Turn.Text, rec.Turn.Calls, rec.Turn.Kept = cmp.Or(strings.TrimSpace(reply.Text), nothing), nil, nil
		rec.Text = "Your reply was longer than the limit of tokens, so none of its calls was made. Make it shorter."
	case len(reply.Calls) == 0 && strings.TrimSpace(reply.Text) == "":
		rec.Turn.Text, rec.Turn.Kept = nothing, nil
		rec.Text = "You said nothing. Continue, or say what came of it."
	}
	return x.keep(ctx, rec)
}

// thinking comes to the state in which the model is asked.
func (x *execution) thinking(ctx context.Context) error {
	switch {
	case x.current != nil && x.detour, x.current == nil && (x.why != "" || x.detour):
		return x.to(ctx, Replanning, human.Sayf("Looking for another way"))
	case x.current != nil && x.last == OutcomeFailed:
		return x.to(ctx, Evaluating, human.Sayf("Looking at what failed"))
	case x.current != nil:
		return x.to(ctx, Executing, human.Sayf("Working on task %s", x.current.ID))
	case x.state == Reasoning:
		return nil
	case x.state == Planning, x.state == AwaitingConfirmation:
		return x.to(ctx, Replanning, human.Sayf("The plan could not be taken as it is"))
	}
	return x.to(ctx, Evaluating, human.Sayf("Looking at what came of it"))
}

// chat asks the model, with a conversation that it can take.
func (x *execution) chat(ctx context.Context) (Reply, error) {
	return x.work.fitted(ctx, &x.conversation, x.prompt, x.info.Task, x.standing(), func(c Cut) error {
		if err := x.keep(ctx, Record{Kind: CutRecord, Cut: &c, Spent: x.spentNow()}); err != nil {
			return err
		}
		if x.shorter { // it may come to this with every reply from now on
			return nil
		}
		x.shorter = true
		return x.status(ctx, human.Sayf("The conversation with the model became too long: what is older is left out of it, but for the task, the plan and what people said"))
	})
}

func (x *execution) prompt() Prompt {
	return Prompt{System: x.system, Turns: x.turns, Tools: x.offers}
}

// flush is the turn that tells the model what happened since its last one; false where nothing did, or nothing is to be
// said. Calls without a result are answered, too: with held, where they wait for people.
func (x *execution) flush(held string) (t Turn, any bool) {
	notes := strings.Join(x.notes, "\n\n")
	if len(x.open) == 0 {
		if notes == "" && len(x.turns) > 0 && x.turns[len(x.turns)-1].Role == Assistant {
			notes = "Continue."
		}
		return Turn{Role: User, Text: notes}, notes != ""
	}
	t.Role = ToolTurn
	for _, c := range x.open {
		done, has := x.results[c.ID]
		if !has {
			done = CallDone{CallID: c.ID, Failed: true, Text: "It did not run."}
			if held != "" && (x.isBound(c.ID) || x.proposal != nil && slices.Contains(x.proposal.Calls, c.ID) || c.ID == x.proposing() || x.asking != nil && x.asking.ID == c.ID) {
				done = CallDone{CallID: c.ID, Text: held}
			}
		}
		t.Results = append(t.Results, done)
	}
	last := &t.Results[len(t.Results)-1]
	last.Text = joined(last.Text, notes)
	return t, true
}

// modelFailed ends the run where the model did not answer; it can be resumed.
func (x *execution) modelFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e := (*human.Error)(nil); !errors.As(err, &e) {
		return x.fail(ctx, EndInterrupted, own(sentence("the model failed: "+err.Error())))
	}
	return x.fail(ctx, EndInterrupted, saidBy(err))
}

// sentence begins with a capital letter and ends with a mark.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?") && !strings.HasSuffix(s, "。") {
		s += "."
	}
	return s
}

// ask puts a question to people.
func (x *execution) ask(ctx context.Context) error {
	use := *x.asking
	q := question(use)
	if err := x.status(ctx, human.Sayf("Asking: %s", q)); err != nil {
		return err
	}
	if x.deps.Asker == nil {
		res := x.result(WaitingInput, EndNeedsInput, q)
		res.Prompt = q
		return x.keep(ctx, Record{Kind: EndRecord, Result: &res, Spent: x.spentNow()})
	}
	answer, err := x.deps.Asker.Ask(ctx, q, func(q string) string { return x.askedBack(ctx, q) })
	if x.broken != nil {
		return x.broken
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	rec := Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: "You asked: " + q + "\nThe person answered: " + answer}}
	if err != nil {
		rec.Done.Text, rec.Done.Failed = "You asked: "+q+"\nNo operator answered: "+human.SafeText(err), true
	}
	if x.current != nil && use.ID == x.callID() { // the task is the question
		rec.Task, rec.Outcome, rec.Text = x.current.ID, OutcomeDone, human.OneLine(answer, 300)
		if err != nil {
			rec.Outcome = OutcomeFailed
		}
	}
	return x.keep(ctx, rec)
}

// askedBack has the model answer what an operator asks while they are asked (M6). Its answer decides nothing: calls in it
// are not made.
func (x *execution) askedBack(ctx context.Context, q string) string {
	t, _ := x.flush("It waits for a person.")
	words := "A person who was asked asks you back: " + q + "\nAnswer them now, in a few plain words. Call no tools: only your text is shown to them."
	if t.Role == ToolTurn {
		last := &t.Results[len(t.Results)-1]
		last.Text = joined(last.Text, words)
	} else {
		t.Text = joined(t.Text, words)
	}
	err := x.keep(ctx, Record{Kind: AsideRecord, Turn: &t, Text: q})
	if err == nil {
		err = x.status(ctx, human.Sayf("An operator asks: %s", q))
	}
	if err != nil {
		x.calledBack(err)
		return ""
	}
	reply, err := x.chat(ctx)
	if err != nil {
		reply.Text = "The agent cannot answer now: " + human.SafeText(err)
	}
	text := strings.TrimSpace(reply.Text)
	for _, c := range reply.Calls {
		text = joined(text, question(c))
	}
	if text == "" {
		text = "I have no answer to this."
	}
	err = x.keep(ctx, Record{Kind: AsideRecord, Turn: &Turn{Role: Assistant, Text: text}, Spent: x.spentNow()})
	if err == nil {
		err = x.status(ctx, human.Sayf("Answered: %s", text))
	}
	x.calledBack(err)
	return text
}
