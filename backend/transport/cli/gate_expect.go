package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// A difference is an expectation of a file that the gatekeeper does not meet.
type difference struct {
	Line     int          `json:"line"`
	Call     string       `json:"call"`
	Expected human.Ruling `json:"expected"`
	Decision human.Ruling `json:"decision"`
	Reason   string       `json:"reason"`
}

// expectations reads a team's own expectations, a line each: allow, ask or deny, and then a command, or a tool call as
// {"tool": …, "args": {…}}. It judges each by its text alone, so that every machine finds the same, and returns how many there
// are and those that the rules do not meet. Blank lines, and those that begin with #, count for nothing.
func expectations(file string, set *rules.Set, at gate.Call) (n int, differ []difference, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // the file that the operator names
	if err != nil {
		return 0, nil, human.Wrap(human.Invalid, err, "%s cannot be read: %v", file, reason(err))
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		want := human.Ruling(word)
		if rest = strings.TrimSpace(rest); rest == "" || want != human.Allow && want != human.Ask && want != human.Deny {
			return 0, nil, human.Errorf(human.Invalid, "%s:%d: a line is allow, ask or deny, and then a command", file, i+1)
		}
		call := at
		call.Tool = "bash"
		if call.Args, err = json.Marshal(map[string]string{"command": rest}); err != nil {
			return 0, nil, err
		}
		if strings.HasPrefix(rest, `{"`) {
			var of struct {
				Tool string          `json:"tool"`
				Args json.RawMessage `json:"args"`
			}
			d := json.NewDecoder(bytes.NewReader([]byte(rest)))
			d.DisallowUnknownFields()
			if err := d.Decode(&of); err != nil || of.Tool == "" || len(of.Args) == 0 {
				return 0, nil, human.Errorf(human.Invalid, `%s:%d: a tool call is {"tool": "NAME", "args": {…}}`, file, i+1)
			}
			call.Tool, call.Args = of.Tool, of.Args
		}
		n++
		v := set.Judge(call, nil, rules.Circumstances{Project: at.Root, Now: time.Now()})
		if v.Decision != want {
			differ = append(differ, difference{Line: i + 1, Call: rest, Expected: want, Decision: v.Decision, Reason: v.Reason})
		}
	}
	return n, differ, nil
}

// expected prints what expectations found.
func (s *shell) expected(r gateReport) {
	if r.Expectations == "" {
		return
	}
	name := filepath.Base(r.Expectations)
	for _, d := range r.Differ {
		s.printf("%s:%d: %s is expected, not %s: %s\n    %s\n", visible(name), d.Line, d.Expected, d.Decision, oneLine(d.Call, 200), oneLine(d.Reason, 400))
	}
	s.printf("%d of %d expectations are met.\n", r.Expected-len(r.Differ), r.Expected)
}
