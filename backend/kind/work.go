package kind

import (
	"slices"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
)

// The longest note of a step in bytes, and how many files it may name.
const (
	maxNote      = 4000
	maxStepFiles = 8
)

// worked is the check of an answer about work by hand, whose checklist is sent in a field. An answer without a verdict is of
// a client that knows none.
func worked(checklist Field) func(human.Operation, *human.Answer) error {
	return func(op human.Operation, a *human.Answer) error {
		if err := judged(a); err != nil {
			return err
		}
		if err := stepped(len(lines(checklist.in(op.Details))), a); err != nil {
			return err
		}
		return says(op, a)
	}
}

func judged(a *human.Answer) error {
	switch a.Verdict {
	case "", human.WorkDone:
	case human.WorkPartly, human.WorkCouldNot:
		if strings.TrimSpace(a.HumanInput) == "" && strings.TrimSpace(a.ExecutionResult) == "" {
			return human.BadField("human_input", "is missing; say what is not done, and why")
		}
	case human.ReviewApprove, human.RequestChanges, human.ReviewComment:
		return human.BadField("verdict", "%q is not one of done, partly, could_not", a.Verdict)
	default:
		return human.BadField("verdict", "%q is not one of done, partly, could_not", human.OneLine(string(a.Verdict), 40))
	}
	return nil
}

// stepped is the check of what came of the steps of a checklist.
func stepped(steps int, a *human.Answer) error {
	last := 0
	for _, s := range a.Steps {
		switch {
		case s.Step < 1 || s.Step > steps:
			return human.BadField("steps", "there is no step %d; action_sequence has %d", s.Step, steps)
		case s.Step <= last:
			return human.BadField("steps", "step %d comes twice or after a later one; give each once, in their order", s.Step)
		case !slices.Contains([]string{"", "done", "skipped", "failed"}, s.Verdict):
			return human.BadField("steps", "the verdict of step %d, %q, is not one of done, skipped, failed", s.Step, human.OneLine(s.Verdict, 40))
		case len(s.Note) > maxNote || !utf8.ValidString(s.Note):
			return human.BadField("steps", "the note of step %d is %d bytes; the limit is %d, in valid UTF-8", s.Step, len(s.Note), maxNote)
		case len(s.Attachments) > maxStepFiles:
			return human.BadField("steps", "step %d has %d attachments; the limit is %d", s.Step, len(s.Attachments), maxStepFiles)
		}
		last = s.Step
	}
	return nil
}
