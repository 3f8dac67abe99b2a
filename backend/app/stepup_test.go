package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/store/settings"
)

// A windowCaller is the desktop window of a whole Deskbell.
type windowCaller struct {
	t          *testing.T
	url, token string
}

// send makes a call, with a proof where one is given.
func (w windowCaller) send(method, path, body, proof string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, bytes.NewBufferString(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	if proof != "" {
		r.Header.Set("Deskbell-Proof", proof)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// inWindow runs a Deskbell on a data folder for as long as use takes.
func inWindow(t *testing.T, dir string, use func(windowCaller)) {
	t.Helper()
	c, err := settings.Load(settings.Options{Dir: dir, Flags: map[string]string{"server.addr": "127.0.0.1:0"}, Env: func() []string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Config{Dir: dir, Config: c, Version: "test", InApp: true, Errors: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-a.Ready()
	use(windowCaller{t, a.URL(), a.WindowToken()})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The PIN counts after a restart, and so do wrong tries; who deletes what is kept is seen.
func TestStepUpOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	const policy = `{"answers":"critical","rules":true,"keys":true,"gatekeeper":true}`
	challenge := func(w windowCaller) string {
		t.Helper()
		status, said := w.send("POST", "/api/agents", `{"name":"bot"}`, "")
		var p struct {
			Code  string
			Proof struct{ Challenge string }
		}
		if err := json.Unmarshal([]byte(said), &p); err != nil || status != http.StatusForbidden || p.Code != "proof_needed" {
			t.Fatalf("%d %s", status, said)
		}
		return p.Proof.Challenge
	}
	inWindow(t, dir, func(w windowCaller) {
		if status, said := w.send("PUT", "/api/stepup/policy", policy, ""); status != http.StatusOK {
			t.Fatalf("%d %s", status, said)
		}
		if status, said := w.send("PUT", "/api/stepup/pin", `{"pin":"correct horse"}`, ""); status != http.StatusOK {
			t.Fatalf("%d %s", status, said)
		}
		if status, said := w.send("POST", "/api/stepup", `{"challenge":"`+challenge(w)+`","means":"pin","pin":"wrong one"}`, ""); status != http.StatusForbidden {
			t.Errorf("%d %s", status, said)
		}
		if _, said := w.send("GET", "/api/attempts", "", ""); !strings.Contains(said, `"count":1`) || !strings.Contains(said, `"what":"pin"`) {
			t.Errorf("a wrong PIN is no attempt: %s", said)
		}
	})
	inWindow(t, dir, func(w windowCaller) {
		if _, said := w.send("GET", "/api/stepup", "", ""); !strings.Contains(said, `"wrong":1`) || !strings.Contains(said, "A wrong PIN") {
			t.Errorf("after a restart: %s", said)
		}
		proof := challenge(w)
		if status, said := w.send("POST", "/api/stepup", `{"challenge":"`+proof+`","means":"pin","pin":"correct horse"}`, ""); status != http.StatusOK {
			t.Errorf("%d %s", status, said)
		}
		if status, said := w.send("POST", "/api/agents", `{"name":"bot"}`, proof); status != http.StatusCreated {
			t.Errorf("%d %s", status, said)
		}
	})
	if info, err := os.Stat(filepath.Join(dir, "stepup.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Remove(filepath.Join(dir, "stepup.key")); err != nil {
		t.Fatal(err)
	}
	inWindow(t, dir, func(w windowCaller) {
		if _, said := w.send("GET", "/api/stepup", "", ""); !strings.Contains(said, `"broken":true`) {
			t.Errorf("what was deleted is not missed: %s", said)
		}
	})
}
