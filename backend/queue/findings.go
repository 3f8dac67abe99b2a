package queue

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// Limits of the findings of an answer; suggestions have the same.
const (
	maxFindings = 100
	maxFinding  = 4000 // bytes of its text
	maxEvidence = 50   // references of one
)

// both calls do with the findings and the suggestions of an answer, and the names of their fields, until it
// returns an error.
func both(a human.Answer, do func(field string, all []human.Finding) error) error {
	if err := do("findings", a.Findings); err != nil {
		return err
	}
	return do("suggestions", a.Suggestions)
}

// checkFindings returns an error for findings that are wrong by themselves, whatever they answer, those that were
// removed too. It returns how many bytes their texts have.
func checkFindings(a human.Answer) (size int, err error) {
	size = len(a.SummaryID)
	if !utf8.ValidString(string(a.SummaryID)) {
		return 0, human.BadField("summary_id", "is not valid UTF-8")
	}
	return size, both(a, func(field string, all []human.Finding) error {
		if len(all) > maxFindings {
			return human.BadField(field, "there are %d; the limit is %d", len(all), maxFindings)
		}
		for i, f := range all {
			if err := checkFinding(field, i+1, f); err != nil {
				return err
			}
			size += len(f.ID) + len(f.Kind) + len(f.Text)
			for _, r := range f.Evidence {
				size += len(r.Kind) + len(r.Recording) + len(r.ID)
			}
		}
		return nil
	})
}

func checkFinding(field string, n int, f human.Finding) error {
	switch {
	case !slices.Contains(human.FindingKinds, f.Kind):
		return human.BadField(field, "number %d is of the kind %q, which is not one of %s", n, human.OneLine(string(f.Kind), 40), listed(human.FindingKinds))
	case len(f.Text) > maxFinding:
		return human.BadField(field, "number %d has %d bytes of text; the limit is %d", n, len(f.Text), maxFinding)
	case !utf8.ValidString(f.Text) || !utf8.ValidString(f.ID):
		return human.BadField(field, "number %d is not valid UTF-8", n)
	case !(f.Confidence >= 0 && f.Confidence <= 1):
		return human.BadField(field, "number %d has the confidence %g; it runs from 0 to 1", n, f.Confidence)
	case len(f.Evidence) > maxEvidence:
		return human.BadField(field, "number %d has %d references; the limit is %d", n, len(f.Evidence), maxEvidence)
	}
	for _, r := range f.Evidence {
		switch {
		case !slices.Contains(human.RefKinds, r.Kind):
			return human.BadField(field, "number %d rests on a %q, which is not one of %s", n, human.OneLine(string(r.Kind), 40), listed(human.RefKinds))
		case r.ID == "":
			return human.BadField(field, "number %d rests on a %s without an id", n, r.Kind)
		case !utf8.ValidString(r.ID) || !utf8.ValidString(string(r.Recording)):
			return human.BadField(field, "number %d rests on a %s whose id is not valid UTF-8", n, r.Kind)
		}
	}
	return nil
}

// whole is an answer in whose findings no list is null, as their JSON promises. The one given stays as it is.
func whole(a human.Answer) human.Answer {
	a.Findings, a.Suggestions = slices.Clone(a.Findings), slices.Clone(a.Suggestions)
	for _, list := range [][]human.Finding{a.Findings, a.Suggestions} {
		for i := range list {
			list[i].Evidence = append([]human.Ref{}, list[i].Evidence...)
		}
	}
	return a
}

func listed[T ~string](all []T) string {
	text := ""
	for i, one := range all {
		if i > 0 {
			text += ", "
		}
		text += string(one)
	}
	return text
}

// rests returns an error for findings that rest on what the operation, or this answer to it, does not have. What is in a
// recording only the recording knows.
func rests(op human.Operation, a human.Answer) error {
	var details map[string]json.RawMessage
	_ = json.Unmarshal(op.Details, &details) // those that are no object have no parts
	has := func(r human.Ref) bool {
		switch r.Kind {
		case human.RefAction, human.RefPicture, human.RefCommand:
			return slices.Contains(op.Recordings, r.Recording)
		case human.RefField:
			_, is := a.Fields[r.ID]
			return is
		case human.RefStep:
			return within(r.ID, len(kind.Steps(op)))
		case human.RefMessage:
			return within(r.ID, len(op.Messages))
		case human.RefAnswer:
			return map[string]string{"human_input": a.HumanInput, "execution_result": a.ExecutionResult, "decision": string(a.Decision)}[r.ID] != ""
		case human.RefRequest:
			_, is := details[r.ID]
			return is || r.ID == "description"
		}
		return false
	}
	return both(a, func(field string, all []human.Finding) error {
		for i, f := range all {
			if strings.TrimSpace(f.Text) == "" { // in a draft it may be still to be written
				return human.BadField(field, "number %d has no text; write it, or remove the finding", i+1)
			}
			for _, r := range f.Evidence {
				if has(r) {
					continue
				}
				if r.Recorded() {
					return human.BadField(field, "number %d rests on recording %s, which operation %s does not have; it was discarded, or belongs to another operation",
						i+1, human.OneLine(string(r.Recording), 80), op.ID)
				}
				return human.BadField(field, "number %d rests on the %s %q, which %s does not have; remove the finding, or that evidence",
					i+1, r.Kind, human.OneLine(r.ID, 80), map[bool]string{true: "the answer", false: "operation " + string(op.ID)}[r.Kind == human.RefField || r.Kind == human.RefAnswer])
			}
		}
		return nil
	})
}

// within says whether a text is an index into a list of n.
func within(index string, n int) bool {
	i, err := strconv.Atoi(index)
	return err == nil && i >= 0 && i < n && index == strconv.Itoa(i)
}
