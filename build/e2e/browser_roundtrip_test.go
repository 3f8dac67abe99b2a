//go:build window

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
)

// runners play exports, each its format.
var runners = []string{"puppeteer", "playwright"}

// A playable is a case that was recorded, with its exports and the state it ended in.
type playable struct {
	browserCase
	file    string   // its name in a folder
	by      []string // the runners that play it: with -short each case has one, in turns
	state   string
	exports map[string][]byte
	ends    map[string]*ending
}

// An ending is what playing came to.
type ending struct{ err, state string }

func (s *study) playable(t *testing.T, c browserCase, rec human.RecordingID, state string, files []string) *playable {
	t.Helper()
	c.files = files
	number := slices.IndexFunc(browserCases, func(one browserCase) bool { return one.name == c.name })
	p := &playable{browserCase: c, file: fmt.Sprintf("case%03d", number), by: runners, state: state, exports: map[string][]byte{}, ends: map[string]*ending{}}
	if testing.Short() {
		p.by = []string{runners[number%len(runners)]}
	}
	for _, format := range runners {
		status, data := s.ask("GET", "/api/recordings/"+string(rec)+"/export?format="+format+"&language=en", nil)
		if status != http.StatusOK {
			t.Errorf("export %s: %d %.200s", format, status, data)
		}
		p.exports[format] = data
	}
	return p
}

// given are the variables of the environment that the exports read.
func (p *playable) given() map[string]string {
	all := map[string]string{}
	for i, secret := range p.secrets {
		all[fmt.Sprintf("DESKBELL_SECRET_%d", i+1)] = secret
	}
	for i, file := range p.files {
		all[fmt.Sprintf("DESKBELL_FILE_%d", i+1)] = file
	}
	return all
}

// roundTrip has others' runners play what was recorded, in clean profiles, and compares what they end in.
func (s *study) roundTrip(t *testing.T, played []*playable) {
	t.Helper()
	folder := t.TempDir()
	var flows []map[string]string
	given := map[string]map[string]string{}
	for _, p := range played {
		if slices.Contains(p.by, "puppeteer") {
			flow := filepath.Join(folder, p.file+".json")
			s.Write(flow, string(p.exports["puppeteer"]))
			flows = append(flows, map[string]string{"name": p.file, "file": flow})
		}
		if slices.Contains(p.by, "playwright") {
			s.Write(filepath.Join(folder, p.file+".spec.ts"), string(p.exports["playwright"]))
		}
		given[p.file] = p.given()
	}
	s.Write(filepath.Join(folder, "package.json"), `{"type":"module"}`)
	browser := filepath.Join(folder, "chromium")
	s.Write(browser, "#!/bin/sh\nexec chromium --no-sandbox --disable-gpu --window-size=1280,900 \"$@\"\n")
	if err := os.Chmod(browser, 0o700); err != nil {
		t.Fatal(err)
	}
	capture := httptest.NewServer(&captor{t: t, played: played})
	defer capture.Close()
	s.writeJSON(filepath.Join(folder, "flows.list"), map[string]any{"browser": browser, "capture": capture.URL, "flows": flows})
	s.writeJSON(filepath.Join(folder, "given.list"), given)

	port := strconv.Itoa(freePort(t))
	var both sync.WaitGroup
	both.Go(func() { s.node(t, nil, "puppeteer.mjs", filepath.Join(folder, "flows.list")) })
	both.Go(func() {
		s.node(t, []string{
			"ROUNDTRIP_TESTS=" + folder, "ROUNDTRIP_BROWSER=" + browser, "ROUNDTRIP_GIVEN=" + filepath.Join(folder, "given.list"),
			"ROUNDTRIP_CAPTURE=" + capture.URL, "ROUNDTRIP_PORT=" + port,
		}, "node_modules/@playwright/test/cli.js", "test", "--config", "playwright.config.mjs")
	})
	both.Wait()
	s.compare(t, played)
}

func (s *study) writeJSON(path string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Write(path, string(data))
}

// node runs a script of testdata/roundtrip. The result of a play says whether it failed.
func (s *study) node(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = "testdata/roundtrip"
	cmd.Env = append(append([]string{}, s.Env...), env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%s did not end: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A captor is asked by runners, at the end of a play, to look at what stands there.
type captor struct {
	t      *testing.T
	played []*playable
	mu     sync.Mutex
}

func (c *captor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct{ Runner, Name, Error, Browser string }
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	i := slices.IndexFunc(c.played, func(p *playable) bool { return p.file == m.Name })
	if i < 0 {
		http.Error(w, "no such case", http.StatusNotFound)
		return
	}
	end := &ending{err: m.Error}
	d, err := connect(r.Context(), m.Browser)
	if err == nil {
		defer d.close()
		if c.played[i].cannot[m.Runner] != "" {
			d.wait = 4 * time.Second // a dialog that no one answers holds up the page
		}
		end.state, err = settled(d, c.played[i].state)
	}
	if err != nil {
		end.err += "\n" + err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.played[i].ends[m.Runner] = end
}

// settled waits a while for a state to be as wanted, and returns what it is.
func settled(d *debugger, want string) (state string, err error) {
	deadline, tick := time.After(4*time.Second), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for {
		if state, err = d.state(true); err == nil && state == want {
			return state, nil
		}
		select {
		case <-deadline:
			return state, err
		case <-tick.C:
		}
	}
}

// compare fails the test where a play ended otherwise than the work, unless the case says why its format cannot
// say it; and where it says so and is wrong. It writes the report that DESKBELL_ROUNDTRIP names.
func (s *study) compare(t *testing.T, played []*playable) {
	var report strings.Builder
	for _, runner := range runners {
		same, of, cannot := 0, 0, map[string][]string{}
		for _, p := range played {
			if !slices.Contains(p.by, runner) {
				continue
			}
			of++
			why := p.cannot[runner]
			end := p.ends[runner]
			if end == nil {
				end = &ending{err: "it was not played"}
			}
			is := end.err == "" && end.state == p.state
			switch {
			case is && (why == "" || open(why)):
				same++
			case is:
				t.Errorf("%s: %s is said to be beyond the format (%s), and ends in the same state", runner, p.name, why)
			case why != "":
				cannot[why] = append(cannot[why], p.name)
			default:
				t.Errorf("%s: %s (%s) ends otherwise: %s\n%s", runner, p.name, p.file, end.err, difference(p.state, end.state))
			}
		}
		beyond := 0
		for why, names := range cannot {
			if !open(why) {
				beyond += len(names)
			}
		}
		fmt.Fprintf(&report, "| %s | %d | %d | %d | %d %% |\n", runner, of, same, beyond, 100*same/max(1, of-beyond))
		defer func() {
			for why, names := range cannot {
				t.Logf("%s cannot say %s: %s", runner, why, strings.Join(names, "; "))
			}
		}()
	}
	t.Logf("\n%s", report.String())
	if path := os.Getenv("DESKBELL_ROUNDTRIP"); path != "" {
		s.Write(path, reportOf(played))
	}
}

// open says whether a reason is none of the format's: the case counts against the share, and may come right.
func open(why string) bool { return strings.HasPrefix(why, "open: ") }

// difference are the lines of two states that the other has not.
func difference(want, got string) string {
	var b strings.Builder
	a, z := lines(want), lines(got)
	for _, line := range a {
		if !slices.Contains(z, line) {
			fmt.Fprintf(&b, "\t- %s\n", line)
		}
	}
	for _, line := range z {
		if !slices.Contains(a, line) {
			fmt.Fprintf(&b, "\t+ %s\n", line)
		}
	}
	return b.String()
}

// reportOf is the table of what was played, in Markdown.
func reportOf(played []*playable) string {
	var b strings.Builder
	b.WriteString("<!-- Written by `make roundtrip`. -->\n| format | played by | cases | same state in the end | beyond the format | share of the rest |\n| --- | --- | --- | --- | --- | --- |\n")
	by := map[string]string{"puppeteer": "@puppeteer/replay", "playwright": "Playwright"}
	for _, runner := range runners {
		same, beyond := 0, 0
		for _, p := range played {
			switch end := p.ends[runner]; {
			case end != nil && end.err == "" && end.state == p.state:
				same++
			case !open(p.cannot[runner]):
				beyond++
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d of %d |\n", runner, by[runner], len(played), same, beyond, same, len(played)-beyond)
	}
	b.WriteString("\n| format | case that ends otherwise | why |\n| --- | --- | --- |\n")
	for _, runner := range runners {
		for _, p := range played {
			if why := p.cannot[runner]; why != "" {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", runner, p.name, why)
			}
		}
	}
	return b.String()
}
