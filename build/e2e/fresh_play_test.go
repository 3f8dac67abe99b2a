//go:build window

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/build/e2e/desktoptest"
)

// play has others' runners play the exports, each against a server of its own, and compares what came of it.
func (l *lab) play(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	s := &study{serving: &serving{fixture: &fixture{Desktop: desktoptest.Start(t, desktoptest.Options{})}}}
	var flows []map[string]string
	given := map[string]map[string]string{}
	for _, r := range l.results {
		if r.trouble != "" {
			continue
		}
		for _, runner := range players {
			l.servers[runner].Add(r.Case)
			text := strings.ReplaceAll(string(r.exports[runner]), ".localhost:"+l.ports["recorded"], ".localhost:"+l.ports[runner])
			r.said[runner] = cannot(runner, text)
			r.plays[runner] = "it was not played"
			name := map[string]string{"puppeteer": r.Name + ".json", "playwright": r.Name + ".spec.ts", "selenium": r.Name + ".side"}[runner]
			s.Write(filepath.Join(folder, name), text)
		}
		flows = append(flows, map[string]string{"name": r.Name, "file": filepath.Join(folder, r.Name+".json")})
		given[r.Name] = map[string]string{}
		for i, secret := range slices.Compact(slices.Clone(r.Truth.Secrets)) {
			given[r.Name][fmt.Sprintf("DESKBELL_SECRET_%d", i+1)] = secret
		}
		for i, file := range r.uploaded {
			given[r.Name][fmt.Sprintf("DESKBELL_FILE_%d", i+1)] = file
		}
	}
	s.Write(filepath.Join(folder, "package.json"), `{"type":"module"}`)
	browser := filepath.Join(folder, "chromium")
	s.Write(browser, "#!/bin/sh\nexec chromium --no-sandbox --disable-gpu --window-size=1280,900 \"$@\"\n")
	if err := os.Chmod(browser, 0o700); err != nil {
		t.Fatal(err)
	}
	capture := httptest.NewServer(http.HandlerFunc(l.ended))
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
	for _, r := range l.results {
		if r.trouble == "" && slices.Contains(players, "selenium") {
			l.selenium(t, s, r, filepath.Join(folder, r.Name+".side"), capture.URL, given[r.Name])
		}
	}
}

// selenium plays a project of Selenium IDE, in a browser of its own. What its variables stand for is filled in, as its
// head asks, and at its end the page asks to be looked at.
func (l *lab) selenium(t *testing.T, s *study, r *freshResult, file, capture string, given map[string]string) {
	t.Helper()
	port := freePort(t)
	var project map[string]any
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &project) != nil {
		t.Fatalf("%s is no project: %v", file, err)
	}
	test := project["tests"].([]any)[0].(map[string]any)
	commands := test["commands"].([]any)
	for _, c := range commands {
		if c := c.(map[string]any); c["command"] == "store" {
			c["target"] = given[c["value"].(string)]
		}
	}
	ask := fmt.Sprintf("return new Promise(done => { const i = new Image(); i.onload = i.onerror = done; i.src = '%s?runner=selenium&name=%s&port=%d' }).then(() => '')", capture, r.Name, port)
	test["commands"] = append(commands, map[string]any{"id": "end", "comment": "", "command": "executeAsyncScript", "target": ask, "targets": []any{}, "value": ""})
	s.writeJSON(file, project)
	options, err := json.Marshal(map[string]any{"browserName": "chrome", "goog:chromeOptions": map[string]any{
		"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--lang=en-US", "--force-device-scale-factor=1", fmt.Sprintf("--remote-debugging-port=%d", port)}}})
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	r.plays["selenium"] = "it did not come to its end"
	l.mu.Unlock()
	config := strings.TrimSuffix(file, ".side") + ".yml" // JSON is YAML
	s.Write(config, fmt.Sprintf(`{"capabilities": %s}`, options))
	out := s.node(t, nil, "../fresh/node_modules/.bin/selenium-side-runner", "-n", config, "-t", "8000", "-T", "30000", "-w", "1", file)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, why, failed := strings.Cut(out, "●"); failed && r.plays["selenium"] != "" {
		r.plays["selenium"] = strings.Join(strings.Fields(firstLines(why, 8)), " ")
	}
}

// beyond are the steps of a user flow that change a page and cannot be played.
var beyond = []string{"deskbell.drag", "deskbell.upload", "deskbell.dialog", "deskbell.secret", "deskbell.key", "deskbell.action"}

// cannot is what an export itself says that it leaves out, of what changes a page.
func cannot(runner, text string) string {
	var out []string
	if runner == "puppeteer" {
		var flow struct {
			Steps []struct {
				Type, Name string
				Parameters json.RawMessage
			}
		}
		if json.Unmarshal([]byte(text), &flow) == nil {
			for _, s := range flow.Steps {
				if s.Type == "customStep" && slices.Contains(beyond, s.Name) {
					out = append(out, strings.TrimSpace(s.Name+" "+string(s.Parameters)))
				}
			}
		}
		return strings.Join(out, "; ")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), `"target": "`) // of an echo of Selenium IDE
		if (strings.HasPrefix(line, "//") || runner == "selenium") && (strings.Contains(line, "no way to find") || strings.Contains(line, "left out")) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

// ended is asked by runners, at the end of a play, to look at what stands there.
func (l *lab) ended(w http.ResponseWriter, req *http.Request) {
	var m struct{ Runner, Name, Error, Browser string }
	if port := req.FormValue("port"); port != "" {
		m.Runner, m.Name = req.FormValue("runner"), req.FormValue("name")
		m.Browser = debuggerAt(req.Context(), "http://127.0.0.1:"+port)
	} else if err := json.NewDecoder(req.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	i := slices.IndexFunc(l.results, func(r *freshResult) bool { return r.Name == m.Name })
	if i < 0 {
		http.Error(w, "no such case", http.StatusNotFound)
		return
	}
	r := l.results[i]
	how := ""
	d, err := connect(req.Context(), m.Browser)
	if err != nil {
		how = err.Error()
	} else {
		defer d.close()
		d.wait = 4 * time.Second
		how = l.differs(d, m.Runner, r)
	}
	if m.Error != "" {
		how = strings.TrimSpace(firstLines(m.Error, 3) + " " + how)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.plays[m.Runner] = how
}

// debuggerAt is where a browser can be debugged whose port is known; "" where there is none.
func debuggerAt(ctx context.Context, address string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/json/version", nil)
	if err != nil {
		return ""
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var version struct{ WebSocketDebuggerURL string }
	if json.NewDecoder(resp.Body).Decode(&version) != nil {
		return ""
	}
	return version.WebSocketDebuggerURL
}

func firstLines(text string, n int) string {
	all := strings.SplitN(text, "\n", n+1)
	return strings.Join(all[:min(n, len(all))], " ")
}

// differs waits a while for a play to come to the same as the work, and says how it does not. Of Selenium's browser, which is
// another program's to look at, only what the server got counts.
func (l *lab) differs(d *debugger, runner string, r *freshResult) string {
	deadline, tick := time.After(3*time.Second), time.NewTicker(150*time.Millisecond)
	defer tick.Stop()
	for {
		done := l.servers[runner].Done(r.Name)
		page, err := pageState(d, true)
		switch {
		case slices.Equal(done, r.done) && (runner == "selenium" || err == nil && page == r.page):
			return ""
		}
		select {
		case <-deadline:
			if !slices.Equal(done, r.done) {
				return fmt.Sprintf("server: %q, recorded %q", done, r.done)
			}
			return fmt.Sprintf("page: %q, recorded %q (%v)", page, r.page, err)
		case <-tick.C:
		}
	}
}

// report is what came of all cases, in Markdown.
func (l *lab) report() string {
	var b strings.Builder
	var steps, found, invented, disordered, aimed, bad, trouble, leaks, masked int
	said := map[string]map[string]int{}
	var lists = map[string][]string{}
	list := func(what, format string, args ...any) {
		lists[what] = append(lists[what], fmt.Sprintf(format, args...))
	}
	plays, same, left := map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range l.results {
		if r.trouble != "" {
			trouble++
			list("Not finished", "%s: %s", r.Name, r.trouble)
			continue
		}
		steps, found = steps+r.Due, found+r.Found
		invented, disordered = invented+len(r.Invented), disordered+len(r.Disordered)
		for _, one := range r.Lost {
			list("Lost steps", "%s: %s", r.Name, one)
		}
		for _, one := range r.Invented {
			list("Invented actions", "%s: %s", r.Name, one)
		}
		for _, one := range r.Disordered {
			list("Wrong order", "%s: %s", r.Name, one)
		}
		aimed, bad = aimed+r.aimed, bad+len(r.targets)
		for _, one := range r.targets {
			list("Targets that are not useful", "%s: %s", r.Name, one)
		}
		for _, c := range r.claims {
			if said[c.Lang] == nil {
				said[c.Lang] = map[string]int{}
			}
			said[c.Lang][c.Verdict]++
			if c.Verdict == "false" || c.Verdict == "not said" {
				list(map[string]string{"false": "False claims", "not said": "Not said"}[c.Verdict], "%s %s %s: %q (%s; %s)", r.Name, c.Lang, c.Where, c.Text, c.Why, r.Truth.Story)
			}
		}
		for _, runner := range players {
			if _, played := r.plays[runner]; !played {
				continue
			}
			plays[runner]++
			switch how := r.plays[runner]; {
			case how == "":
				same[runner]++
			case r.said[runner] != "":
				left[runner]++
				list("Beyond the format, as the export says", "%s %s: %s", r.Name, runner, r.said[runner])
			default:
				list("Plays that end otherwise", "%s %s: %s", r.Name, runner, how)
			}
		}
		for text, path := range r.leaks {
			leaks++
			list("Secrets that were found", "%s: %s in %s", r.Name, text, filepath.Base(path))
		}
		masked += len(r.masked)
		for _, n := range r.masked {
			list("Ordinary numbers that were hidden", "%s: %s", r.Name, n)
		}
	}
	percent := func(part, whole int) string { return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(1, whole))) }
	fmt.Fprintf(&b, "# Fresh cases, seed %d\n\n| what | figure |\n| --- | --- |\n", l.seed)
	fmt.Fprintf(&b, "| cases | %d, of which %d were not finished |\n", len(l.results), trouble)
	fmt.Fprintf(&b, "| steps recorded | %d of %d (%s); %d invented, %d in the wrong order |\n", found, steps, percent(found, steps), invented, disordered)
	fmt.Fprintf(&b, "| targets that are not useful | %d of %d (%s) |\n", bad, aimed, percent(bad, aimed))
	for _, lang := range []string{"en", "zh-CN"} {
		c := said[lang]
		fmt.Fprintf(&b, "| claims, %s | %d true, %d **false**, %d not said |\n", lang, c["true"], c["false"], c["not said"])
	}
	for _, runner := range players {
		fmt.Fprintf(&b, "| same end in %s | %d of %d (%s); %d beyond the format; of the rest %s |\n", runner, same[runner], plays[runner], percent(same[runner], plays[runner]), left[runner], percent(same[runner], plays[runner]-left[runner]))
	}
	fmt.Fprintf(&b, "| planted secrets found | %d |\n| ordinary numbers hidden | %d |\n", leaks, masked)
	for _, what := range []string{"False claims", "Secrets that were found", "Ordinary numbers that were hidden", "Lost steps", "Invented actions", "Wrong order", "Targets that are not useful", "Plays that end otherwise", "Beyond the format, as the export says", "Not said", "Not finished"} {
		if len(lists[what]) > 0 {
			fmt.Fprintf(&b, "\n## %s (%d)\n\n- %s\n", what, len(lists[what]), strings.Join(lists[what], "\n- "))
		}
	}
	return b.String()
}
