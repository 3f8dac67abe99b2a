package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/plan"
)

// code is the exit code that tells a script how an operation stands.
func code(op human.Operation) int {
	if st, err := plan.StatusOf(op); op.Kind == human.Plan && err == nil {
		return planCode(st)
	}
	switch op.State {
	case human.Completed:
		if op.Result != nil && (op.Result.Decision == human.Refused || op.Result.Verdict == human.WorkCouldNot || op.Result.Verdict == human.RequestChanges) {
			return exitNo
		}
		return exitYes
	case human.Declined:
		return exitNo
	case human.Pending, human.Claimed, human.InProgress, human.WaitingInput, human.Cancelled:
	}
	return exitUnended
}

// outcome tells in a line how an operation ended.
func outcome(op human.Operation) string {
	switch {
	case op.Result != nil:
		word := "answered"
		switch op.Result.Decision {
		case human.Approved:
			word = "approved"
		case human.Refused:
			word = "denied"
		}
		if how, is := verdictWords[op.Result.Verdict]; is {
			word = strings.ToLower(how[0])
		}
		return fmt.Sprintf("%s by %s after %s", word, name(op.Result.By), span(op.Result.At.Sub(op.CreatedAt)))
	case op.Ended != nil:
		text := fmt.Sprintf("%s by %s after %s", op.State, name(op.Ended.By), span(op.Ended.At.Sub(op.CreatedAt)))
		if op.Ended.Reason != "" {
			text += ": " + op.Ended.Reason
		}
		return text
	}
	return strings.ReplaceAll(string(op.State), "_", " ")
}

func name(by human.Actor) string {
	if by.Name == "" {
		return "the " + string(by.Role)
	}
	return by.Name
}

// span is a length of time for people.
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// showAnswer prints what the human gave back.
func (s *shell) showAnswer(op human.Operation) {
	if st, err := plan.StatusOf(op); op.Kind == human.Plan && err == nil {
		s.showStatus(st)
		return
	}
	s.printf("%s\n", visible(outcome(op)))
	if op.Result == nil {
		return
	}
	a := op.Result.Answer
	for _, part := range []struct{ label, text string }{
		{"", a.HumanInput}, {"Result", a.ExecutionResult}, {"Summary", a.Summary},
	} {
		s.part(part.label, part.text)
	}
	if len(a.Findings) == 0 && len(a.KeyFindings) > 0 {
		s.part("Findings", "- "+strings.Join(a.KeyFindings, "\n- "))
	}
	labels := a.Labels()
	s.part("Findings", listed(a.Findings, labels))
	s.part("Suggestions", listed(a.Suggestions, labels))
	var steps []string
	for _, step := range a.Steps {
		steps = append(steps, fmt.Sprintf("%d. %s", step.Step, stepLine(step.Verdict, step.Note)))
	}
	s.part("Steps", strings.Join(steps, "\n"))
	if asked, is, err := kind.Form(op); err == nil && is {
		s.part("Form", strings.Join(asked.Words(a.Response), "\n"))
	}
	if e := op.EditedCall(a); e != nil {
		for _, c := range e.Changes {
			s.part("Edited "+c.Name, fmt.Sprintf("- %s\n+ %s", c.Old, c.New))
		}
		s.part("Edited call", "sha256 "+e.Digest)
	}
	s.part("Focus", focused(a.Focus))
	s.part("Comments", commented(a.Comments))
	for _, key := range sortedKeys(a.Fields) {
		s.part(key, a.Fields[key])
	}
	if len(a.Files) > 0 {
		s.part("Files", attached(a.Files))
		s.printf("Save them with: deskbell attachments save %s\n", op.ID)
	}
}

// attached are files, a line each.
func attached(all []human.Attachment) string {
	lines := make([]string, len(all))
	for i, a := range all {
		lines[i] = fmt.Sprintf("- %s (%s, %s)", human.OneLine(a.Name, 200), a.Media, size(a.Size))
	}
	return strings.Join(lines, "\n")
}

// stepLine is what came of a step of a checklist: how it ended in a word, and the note.
func stepLine(how, note string) string {
	return strings.Join(slices.DeleteFunc([]string{how, note}, func(p string) bool { return p == "" }), ": ")
}

// listed are findings, a line each, with the labels of what they rest on.
func listed(list []human.Finding, labels map[human.Ref]string) string {
	var lines []string
	for _, f := range list {
		var rests []string
		for _, ref := range f.Evidence {
			rests = append(rests, labels[ref])
		}
		line := "- " + f.Text
		if len(rests) > 0 {
			line += " (" + strings.Join(rests, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// focused is what a review found of what it was to look at, a line each.
func focused(list []human.FocusResult) string {
	var lines []string
	for _, f := range list {
		lines = append(lines, "- "+f.Area+": "+f.Verdict+strings.TrimSuffix("; "+f.Note, "; "))
	}
	return strings.Join(lines, "\n")
}

// commented are the comments of a review: where, how bad, what, and what should stand there.
func commented(list []human.CodeComment) string {
	var lines []string
	for _, c := range list {
		where := fmt.Sprintf("%s:%d", c.File, c.Line)
		if c.EndLine > c.Line {
			where += fmt.Sprintf("-%d", c.EndLine)
		}
		if c.Side == "old" {
			where += " (before the change)"
		}
		lines = append(lines, "- "+where+strings.TrimSuffix(", "+c.Severity, ", ")+strings.TrimSuffix(": "+c.Text, ": "))
		switch {
		case c.Suggestion == nil:
		case *c.Suggestion == "":
			lines = append(lines, "  suggestion: remove these lines")
		default:
			lines = append(lines, "  suggestion:", "    "+strings.ReplaceAll(strings.TrimSuffix(*c.Suggestion, "\n"), "\n", "\n    "))
		}
	}
	return strings.Join(lines, "\n")
}

func (s *shell) part(label, text string) {
	switch {
	case text == "":
	case label == "":
		s.printf("%s\n", indent(text, "  "))
	default:
		s.printf("%s:\n%s\n", visible(label), indent(text, "  "))
	}
}

// showRequest prints all an operator needs to answer: every byte the agent sent, made visible.
func (s *shell) showRequest(op human.Operation, now time.Time) {
	head := fmt.Sprintf("%s asks: %s", op.AgentID, op.Kind)
	if op.Risk != "" {
		head += fmt.Sprintf(", %s risk (as it says)", op.Risk)
	}
	s.printf("%s\n", visible(head))
	when := span(now.Sub(op.CreatedAt)) + " ago"
	switch {
	case op.Overdue:
		when += ", overdue"
	case op.ExpiresAt != nil:
		when += ", " + span(op.ExpiresAt.Sub(now)) + " left"
	}
	s.printf("%s, %s, %s\n\n%s\n", op.ID, when, outcome(op), indent(op.Description, "  "))
	for _, object := range []struct {
		label string
		raw   json.RawMessage
	}{{"details", op.Details}, {"context", op.Context}} {
		if len(object.raw) > 0 {
			s.printf("\n%s:\n", object.label)
			s.fields(object.raw)
		}
	}
	if len(op.Attachments) > 0 {
		s.printf("\nfiles:\n%s\nSave them with: deskbell attachments save %s\n", indent(attached(op.Attachments), "  "), op.ID)
	}
	if len(op.Messages) > 0 {
		s.printf("\nconversation:\n")
		for _, m := range op.Messages {
			s.printf("  %s: %s\n", visible(name(m.By)), strings.TrimSpace(indent(m.Text, "    ")))
		}
	}
	s.printf("\nThe answer counts for these bytes only: sha256 %s\n", op.Digest)
}

// fields prints a JSON object with every field it has, in the order sent; texts are printed as text, all
// else as JSON.
func (s *shell) fields(raw json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		s.printf("%s\n", indent(string(raw), "  "))
		return
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return
		}
		var text string
		if json.Unmarshal(value, &text) == nil {
			if !strings.Contains(text, "\n") {
				s.printf("  %s: %s\n", visible(fmt.Sprint(key)), visible(text))
				continue
			}
		} else {
			var pretty bytes.Buffer
			_ = json.Indent(&pretty, value, "", "  ") // it was decoded, so it is valid
			text = pretty.String()
		}
		if strings.Contains(text, "\n") {
			s.printf("  %s:\n%s\n", visible(fmt.Sprint(key)), indent(text, "    "))
		} else {
			s.printf("  %s: %s\n", visible(fmt.Sprint(key)), visible(text))
		}
	}
}

// columns are lines whose parts, with tabs between them, stand below each other.
type columns struct {
	to  *tabwriter.Writer
	err error
}

func (s *shell) columns() *columns {
	return &columns{to: tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)}
}

func (c *columns) row(format string, args ...any) {
	if c.err == nil {
		_, c.err = fmt.Fprintf(c.to, format, args...)
	}
}

// flush writes what is left. The error is the first of all.
func (c *columns) flush() error {
	if c.err == nil {
		c.err = c.to.Flush()
	}
	return c.err
}
