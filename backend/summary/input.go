package summary

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/summarizers"
)

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
	in.Operation.Draft, in.Operation.Drafts, in.Operation.Leaving, in.Operation.Deliveries, in.Operation.SnoozedUntil, in.Operation.Result = nil, nil, nil, nil, nil, nil
	// What earlier drafts said is no evidence for another.
	in.Answer.Summary, in.Answer.KeyFindings, in.Answer.Findings, in.Answer.Suggestions, in.Answer.SummaryID = "", nil, nil, nil, ""
	if s, is, err := kind.Form(op); err == nil && is && in.Answer.HumanInput == "" {
		in.Answer.HumanInput = strings.Join(s.Words(answer.Response), "; ")
	}
	in.Checklist = []summarizers.Step{}
	for _, text := range kind.Steps(op) {
		in.Checklist = append(in.Checklist, summarizers.Step{Text: text})
	}
	in.Suggested = kind.Commands(op)
	in.Answer.Fields = maps.Clone(in.Answer.Fields)
	for _, n := range numbers(in.Answer.Fields[stepsDone]) {
		tick(in.Checklist, n-1)
	}
	delete(in.Answer.Fields, stepsDone)
	for _, s := range answer.Steps {
		if s.Verdict == "done" {
			tick(in.Checklist, s.Step-1)
		}
	}
	if looked := numbers(in.Answer.Fields[lookedAt]); len(looked) > 0 {
		var areas []string
		for i, area := range kind.FocusAreas(op) {
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
	stepsDone = "steps_done"      // of details.action_sequence, in answers without steps
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
		r.Actions, r.Commands = parted(r.Actions)
		for _, step := range done {
			tick(in.Checklist, step)
		}
	}
	return nil
}

// parted are actions, and those of a terminal as commands. A command has the id of its action.
func parted(all []human.Action) (rest []human.Action, commands []summarizers.Command) {
	rest, commands = []human.Action{}, []summarizers.Command{}
	for _, a := range all {
		c := a.Command
		if c == nil {
			rest = append(rest, a)
			continue
		}
		commands = append(commands, summarizers.Command{ID: a.ID, At: a.At, End: a.End, Line: c.Text, Dir: c.Folder, Exit: c.Exit, Output: c.Output, Screen: c.Screen, Suggestion: c.Suggestion, Edited: c.Edited})
	}
	return rest, commands
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
	return human.LanguageOf(op.Description)
}

// edits sums up what was removed, masked, reworded and shared in the recordings of an input.
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
			return "", human.Wrap(human.Internal, err, "the edits of recording %s cannot be written as JSON", r.ID)
		}
		hash.Write(said)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}
