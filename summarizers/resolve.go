package summarizers

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// Resolve says whether a reference points at something in the input, and all the text there that a finding may
// quote, one piece to a line: words, names and texts as they stand, sizes in bytes and as people write them, times
// from the start (mm:ss) and durations in seconds. Of a picture it is the text of the actions it shows, since
// nothing reads its pixels. It looks through the input at each call; Check keeps what it found.
func (in Input) Resolve(ref human.Ref) (text string, ok bool) {
	var s sheet
	switch ref.Kind {
	case human.RefAction, human.RefPicture, human.RefCommand:
		i := slices.IndexFunc(in.Recordings, func(r Recorded) bool { return r.ID == ref.Recording })
		if i < 0 || ref.ID == "" {
			return "", false
		}
		ok = s.recorded(in, in.Recordings[i], ref)
	default:
		ok = s.spoken(in, ref)
	}
	if !ok {
		return "", false
	}
	return s.String(), true
}

// A sheet collects text, one piece to a line: what stands in two pieces cannot be quoted as one.
type sheet struct{ strings.Builder }

func (s *sheet) add(pieces ...string) {
	for _, p := range pieces {
		if p != "" {
			s.WriteString(strings.ReplaceAll(clean(p), "\n", " "))
			s.WriteByte('\n')
		}
	}
}

func (s *sheet) number(n int) { s.add(strconv.Itoa(n)) }

// recorded adds what is in a recording.
func (s *sheet) recorded(in Input, r Recorded, ref human.Ref) bool {
	found := false
	switch ref.Kind {
	case human.RefAction:
		for i := range r.Actions {
			if a := &r.Actions[i]; a.ID == ref.ID && !a.Cut {
				s.action(a)
				return true
			}
		}
	case human.RefPicture:
		for i := range r.Actions {
			if a := &r.Actions[i]; (a.Before == ref.ID || a.After == ref.ID) && !a.Cut {
				s.action(a)
				found = true
			}
		}
		for name, f := range in.Answer.FieldSources {
			if f.Recording == r.ID && f.Picture == ref.ID {
				s.field(in.Answer, name)
				found = true
			}
		}
	case human.RefCommand:
		for i := range r.Commands {
			if c := &r.Commands[i]; c.ID == ref.ID {
				s.command(c)
				return true
			}
		}
	}
	return found
}

func (s *sheet) action(a *human.Action) {
	s.add(a.Words, a.Text, a.Value, a.Key)
	if a.Key != "" && len(a.Modifiers) > 0 {
		s.add(strings.Join(append(slices.Clone(a.Modifiers), a.Key), "+"))
	}
	s.add(a.Values...)
	for _, n := range []int{a.Count, int(a.DeltaX), int(a.DeltaY)} {
		if n != 0 {
			s.number(n)
		}
	}
	s.element(a.Element)
	s.element(a.Target)
	if a.App != nil {
		s.add(a.App.Name, a.App.Exe)
	}
	if a.Window != nil {
		s.add(a.Window.Title)
	}
	if p := a.Page; p != nil {
		s.add(p.URL, p.Title, p.FrameURL)
	}
	if f := a.File; f != nil {
		s.file(f.Path)
		s.file(f.To)
		s.size(f.Size)
	}
	if d := a.Dialog; d != nil {
		s.add(d.Message, d.Input)
	}
	if n := a.Navigation; n != nil {
		s.add(n.Failed)
		if n.Status != 0 {
			s.number(n.Status)
		}
	}
	for _, answer := range a.Answers {
		s.add(answer.Method)
		s.number(answer.Status)
	}
	for _, t := range a.Transfers {
		s.add(t.Name, t.Type, t.URL, t.Hash, t.State)
		s.size(t.Size)
	}
	if p := a.Pick; p != nil {
		s.add(p.Field)
		s.rows(p)
	}
	if g := a.Gap; g != nil {
		s.add(g.Reason, seconds(g.To-g.From))
		if g.Count > 0 {
			s.add(strconv.FormatUint(g.Count, 10))
		}
	}
	if a.Step != nil {
		s.number(*a.Step + 1)
	}
	s.span(a.At, a.End)
}

func (s *sheet) element(e *human.Element) {
	if e == nil {
		return
	}
	s.add(e.Name)
	s.add(e.Beside)
	for _, a := range e.Ancestry {
		s.add(a.Name)
	}
}

// file adds a path, and its last part as people call the file; of either system, whatever this one is.
func (s *sheet) file(p string) {
	if p == "" {
		return
	}
	s.add(p, path.Base(strings.ReplaceAll(p, `\`, "/")))
}

// size adds a number of bytes, and what people write for it in units of 1000 and of 1024.
func (s *sheet) size(n int64) {
	if n <= 0 {
		return
	}
	s.add(strconv.FormatInt(n, 10), fmt.Sprintf("%d B", n))
	for _, unit := range []struct {
		by    float64
		names string
	}{{1000, "kMGT"}, {1024, "KMGT"}} {
		v := float64(n)
		for _, name := range unit.names {
			if v /= unit.by; v < 0.05 {
				break
			}
			if unit.by == 1024 {
				s.add(fmt.Sprintf("%.1f %ciB", v, name))
			} else {
				s.add(fmt.Sprintf("%.1f %cB", v, name))
			}
		}
	}
}

// rows adds what was picked: a cell to a line, and how many rows and columns there are, with and without header.
func (s *sheet) rows(p *human.Pick) {
	if len(p.Rows) == 0 {
		s.add(p.Text)
		return
	}
	columns := 0
	for _, row := range p.Rows {
		s.add(row...)
		columns = max(columns, len(row))
	}
	s.number(len(p.Rows))
	s.number(columns)
	if p.Header {
		s.number(len(p.Rows) - 1)
	}
}

func (s *sheet) command(c *Command) {
	s.add(c.Line, c.Dir, c.Output)
	if c.Exit != nil {
		s.number(*c.Exit)
	}
	s.span(c.At, c.End)
}

// span adds when something began, and how long it took where it took any time.
func (s *sheet) span(from, to int64) {
	s.add(clock(from))
	if to > from {
		s.add(seconds(to - from))
	}
}

// clock is a time from the start as people read it: mm:ss, or h:mm:ss.
func clock(ns int64) string {
	sec := max(ns, 0) / 1e9
	if sec >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
	}
	return fmt.Sprintf("%02d:%02d", sec/60, sec%60)
}

func seconds(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

// spoken adds what is not in a recording: the request, what was said, and the answer.
func (s *sheet) spoken(in Input, ref human.Ref) bool {
	switch ref.Kind {
	case human.RefField:
		return s.field(in.Answer, ref.ID)
	case human.RefStep:
		i, ok := index(ref.ID, len(in.Checklist))
		if !ok {
			return false
		}
		s.add(in.Checklist[i].Text)
		s.number(i + 1)
		s.steps(in)
	case human.RefMessage:
		i, ok := index(ref.ID, len(in.Operation.Messages))
		if !ok {
			return false
		}
		m := in.Operation.Messages[i]
		s.add(m.Text, m.By.Name)
	case human.RefAnswer:
		text := map[string]string{
			"human_input": in.Answer.HumanInput, "execution_result": in.Answer.ExecutionResult, "decision": string(in.Answer.Decision),
		}[ref.ID]
		if text == "" {
			return false
		}
		s.add(text)
	case human.RefRequest:
		return s.request(in, ref.ID)
	default:
		return false
	}
	return true
}

// field adds a field of the answer, with what was picked for it where it was corrected by hand.
func (s *sheet) field(a human.Answer, name string) bool {
	value, ok := a.Fields[name]
	from, picked := a.FieldSources[name]
	if !ok && !picked {
		return false
	}
	s.add(name, value)
	if picked {
		s.add(from.Picked, from.URL)
	}
	return true
}

// request adds a part of what the agent asked for, and what came of a list of steps or fields.
func (s *sheet) request(in Input, part string) bool {
	if part == "description" && in.Operation.Description != "" {
		s.add(in.Operation.Description)
		return true
	}
	var details map[string]json.RawMessage
	if json.Unmarshal(in.Operation.Details, &details) != nil {
		return false
	}
	raw, ok := details[part]
	if !ok {
		return false
	}
	s.add(part)
	names := s.json(raw)
	switch part {
	case "action_sequence":
		s.steps(in)
	case "data_to_extract":
		picked := map[string]bool{} // which the answer may not have yet
		for i := range in.Recordings {
			for _, a := range in.Recordings[i].Actions {
				if a.Pick != nil && !a.Cut {
					picked[a.Pick.Field] = true
				}
			}
		}
		asked, filled, got := map[string]bool{}, 0, 0
		for _, name := range names {
			if strings.TrimSpace(name) == "" || asked[name] {
				continue
			}
			asked[name] = true
			value, given := in.Answer.Fields[name]
			if strings.TrimSpace(value) != "" {
				filled++
				got++
			} else if !given && picked[name] {
				got++
			}
		}
		for _, n := range []int{filled, got} {
			s.number(n)
			s.number(len(asked) - n)
		}
		s.number(len(asked))
	}
	return true
}

// json adds the texts, numbers and names in a JSON value, and returns what an outermost list or object names.
func (s *sheet) json(raw json.RawMessage) (names []string) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber() // as it was sent: 12000000 and not 1.2e+07
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			switch x := x.(type) {
			case string:
				names = append(names, x)
			case map[string]any: // fields may be asked for with more than their names
				for _, key := range []string{"name", "field"} {
					if name, ok := x[key].(string); ok && name != "" {
						names = append(names, name)
						break
					}
				}
			}
		}
	case map[string]any:
		for name := range v {
			names = append(names, name)
		}
	}
	s.value(v)
	return names
}

func (s *sheet) value(v any) {
	switch v := v.(type) {
	case string:
		s.add(v)
	case json.Number:
		s.add(v.String())
	case bool:
		s.add(strconv.FormatBool(v))
	case []any:
		s.number(len(v))
		for _, x := range v {
			s.value(x)
		}
	case map[string]any:
		for name, x := range v {
			s.add(name)
			s.value(x)
		}
	}
}

// steps adds how many steps the checklist has, how many are done and how many are not.
func (s *sheet) steps(in Input) {
	done := 0
	for _, step := range in.Checklist {
		if step.Done {
			done++
		}
	}
	s.number(len(in.Checklist))
	s.number(done)
	s.number(len(in.Checklist) - done)
}

// index reads an index as it is written in references: without a sign or leading zeros.
func index(id string, n int) (int, bool) {
	i, err := strconv.Atoi(id)
	return i, err == nil && i >= 0 && i < n && strconv.Itoa(i) == id
}
