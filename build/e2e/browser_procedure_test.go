//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// endMark is a file that is never there: a run stops at its end, so that one can look at what it came to.
const endMark = "end-of-the-case"

// secretVariables are the values of the secrets that the cases type, in the environment of a server.
func secretVariables() (env []string) {
	for i, c := range browserCases {
		for j, secret := range c.secrets {
			env = append(env, fmt.Sprintf("DESKBELL_SECRET_CASE%d_%d=%s", i, j, secret))
		}
	}
	return env
}

// draft is the procedure that was shown in recordings of a case.
func (s *study) draft(c browserCase, recordings ...human.RecordingID) human.Procedure {
	number := slices.IndexFunc(browserCases, func(one browserCase) bool { return one.name == c.name })
	var draft procedure.ProcedureDraft
	s.call("POST", "/api/procedure-drafts", map[string]any{"recordings": recordings}, &draft)
	p := draft.Procedure
	p.Name, p.Policy = fmt.Sprintf("case_%d", number), "permissive"
	for i, secret := range p.Secrets {
		named := fmt.Sprintf("case%d-%d", number, i)
		for j := range p.Steps {
			if p.Steps[j].Secret == secret.Name {
				p.Steps[j].Secret = named
			}
		}
		p.Secrets[i].Name = named
	}
	return p
}

// runs has Deskbell run what was recorded as a procedure, and says why that does not end in the same state; "" where it does.
func (s *study) runs(t *testing.T, c browserCase, rec human.RecordingID, state string, files []string) string {
	t.Helper()
	p := s.draft(c, rec)
	for i := range p.Steps {
		for j, name := range p.Steps[i].Files {
			for _, file := range files {
				if filepath.Base(file) == name {
					p.Steps[i].Files[j] = file
				}
			}
		}
	}
	return s.carries(t, p, map[string]string{}, state)
}

// carries has Deskbell run a procedure, in a clean profile, and says why that does not end in a state; "" where it does.
func (s *study) carries(t *testing.T, p human.Procedure, values map[string]string, state string) string {
	t.Helper()
	p.Effects = []human.ProcedureEffect{{Is: "file", Title: endMark, Path: filepath.Join(s.folder, endMark), Within: 0.01}}
	status, answer := s.ask("POST", "/api/procedures", map[string]any{"procedure": p})
	if status != http.StatusCreated {
		return fmt.Sprintf("it cannot be saved: %s", answer)
	}
	var asked procedure.Asked
	s.call("POST", "/api/procedures/"+p.Name+"/runs", map[string]any{"parameters": values}, &asked, s.key)
	if err := os.Remove(filepath.Join(s.folder, "profile")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	path := "/api/operations/" + string(asked.Operation) + "/procedure"
	var r human.RunOfProcedure
	s.call("POST", path, map[string]any{}, &r)
	for !r.State.Over() && r.State != human.Halted && r.State != human.HeldUp {
		<-time.After(20 * time.Millisecond)
		s.call("GET", path, nil, &r)
	}
	defer func() {
		if !r.State.Over() {
			s.call("POST", path+"/orders", procedure.RunOrder{Do: "end"}, &r)
			eventually(t, "the end of the run", func() bool {
				s.call("GET", path, nil, &r)
				return r.State.Over()
			})
		}
		s.call("POST", "/api/human/complete", map[string]any{"operation_id": asked.Operation, "summary": "done"}, nil)
	}()
	if r.Stop == nil || r.Stop.Expected.Text != endMark {
		text, _ := json.Marshal(r)
		file, _ := procedure.Write(p)
		return fmt.Sprintf("%s\n%s", text, file)
	}
	profile, err := os.ReadFile(filepath.Join(s.folder, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	d := dial(t, strings.TrimSpace(string(profile)))
	got := ""
	for range 20 {
		if got, err = d.state(false); err == nil && got == state {
			break
		}
		<-time.After(200 * time.Millisecond)
	}
	if err != nil {
		return err.Error()
	}
	if got != state {
		return "it ends otherwise:\n" + difference(state, got)
	}
	return ""
}
