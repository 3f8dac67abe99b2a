//go:build window

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/build/corpus"
)

// A corpusCase is an operation that a scripted person works on in a browser.
type corpusCase struct {
	name  string
	agent string // qa-runner when ""
	what  string // the operation's description
	// details are those of the operation; its url is where the browser opens.
	details map[string]any
	act     func(*worker)
	// gaps says that something is not recorded, as the person wishes it.
	gaps bool
}

// TestCorpusBrowser records the browser's half of the corpus anew: scripted persons work on operations, on sites
// that fail and take time as real ones do. What their summaries must say is written by hand and stays.
func TestCorpusBrowser(t *testing.T) {
	dir := os.Getenv("DESKBELL_CORPUS")
	if dir == "" {
		t.Skip("DESKBELL_CORPUS does not name the folder to write to; `make corpus` does")
	}
	w := startWeb(t)
	s := newCorpusStudy(t, w)
	keys := map[string]string{"": s.key}
	for _, c := range corpusCases {
		t.Run(c.name, func(t *testing.T) {
			if _, known := keys[c.agent]; !known {
				var agent struct{ Key string }
				s.call("POST", "/api/agents", map[string]string{"name": c.agent}, &agent)
				keys[c.agent] = agent.Key
			}
			w.anew()
			p := begin(t, s.in(t), c, keys[c.agent])
			c.act(p)
			if err := corpus.Save(dir, p.end(c)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// newCorpusStudy is a study whose browser finds the corpus's sites, and records nothing of the private ones.
func newCorpusStudy(t *testing.T, w *web) *study {
	t.Helper()
	s := newStudy(t, false)
	browser := filepath.Join(s.folder, "chromium")
	s.Write(browser, strings.Replace(s.read("browser/chromium"), "exec chromium ", "exec chromium "+w.flags()+" ", 1))
	// The file ends in the section of the browser, and is read when the server starts.
	s.Write(filepath.Join(s.data, "config.toml"), s.read("data/config.toml")+"exclude = [\"mail.private.example\"]\n")
	if err := s.program.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.Ended(s.program)
	s.serving = s.serve()
	return s
}

// A worker is a person who works on an operation: a surfer with the answer's form beside the browser.
type worker struct {
	*surfer
	s      *study
	op     human.Operation
	rec    human.Recording
	answer human.Answer
	before []human.Recording // ended earlier
	events [][]human.RecordedEvent
	gaps   bool
	key    string // the agent's
}

// begin rings, claims and records, with a browser at the operation's url.
func begin(t *testing.T, s *study, c corpusCase, key string) *worker {
	t.Helper()
	p := &worker{s: s, answer: human.Answer{Fields: map[string]string{}}, gaps: c.gaps, key: key}
	s.call("POST", "/api/human/invoke", map[string]any{"action_type": "browser", "description": c.what, "details": c.details}, &p.op, key)
	s.call("POST", "/api/human/claim", map[string]any{"operation_id": p.op.ID}, &p.op)
	t.Cleanup(func() {
		if t.Failed() {
			_, _ = s.ask("POST", "/api/recordings/"+string(p.rec.ID)+"/stop", nil)
			_, _ = s.ask("POST", "/api/human/complete", map[string]any{"operation_id": p.op.ID, "summary": "given up"})
		}
	})
	url, _ := c.details["url"].(string)
	p.records(t, url)
	return p
}

// records begins a recording, with a new browser at a url.
func (p *worker) records(t *testing.T, url string) {
	t.Helper()
	s := p.s
	for _, name := range []string{"profile", "downloads"} {
		if err := os.RemoveAll(filepath.Join(s.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(s.folder, "downloads"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.call("POST", "/api/recordings", map[string]any{"operation_id": p.op.ID, "options": human.RecordingOptions{Browser: &human.BrowserOptions{}}}, &p.rec)
	profile, err := os.ReadFile(filepath.Join(s.folder, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	p.surfer = newSurfer(t, dial(t, strings.TrimSpace(string(profile))), s.site)
	p.files, p.downloads = s.folder, filepath.Join(s.folder, "downloads")
	p.must(p.page, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	p.at(strings.TrimPrefix(url, "https:/"))
}

// visits types another address.
func (p *worker) visits(url string) {
	p.t.Helper()
	p.must(p.page, "Page.navigate", map[string]any{"url": url, "transitionType": "typed"}, nil)
	p.at(strings.TrimPrefix(url, "https:/"))
}

// picks takes an element's text for a field.
func (p *worker) picks(field, path string) { p.t.Helper(); p.takes(human.TakeElement, field, path) }

// takes points at something on the page for a field, which is filled with it.
func (p *worker) takes(how, field, path string) {
	p.t.Helper()
	x, y := p.where(path)
	p.takesAt(how, field, x, y)
}

func (p *worker) takesAt(how, field string, x, y float64) {
	p.t.Helper()
	before := len(p.pickedFor(field))
	p.s.call("POST", "/api/recordings/"+string(p.rec.ID)+"/pick", human.PickRequest{Field: field, Take: how}, nil)
	p.pause()
	if how != human.TakeSelection {
		p.clicksAt(x, y, "left", 1, 0)
	}
	eventually(p.t, "the pick of "+field, func() bool { return len(p.pickedFor(field)) > before })
	<-time.After(2 * p.looking) // it takes the browser a moment to take down what it drew for picking
	all := p.pickedFor(field)
	a := all[len(all)-1]
	if a.Pick.Text == "" {
		p.t.Fatalf("nothing was picked for %s", field)
	}
	from := human.FieldSource{
		Recording: p.rec.ID, Action: a.ID, Picked: a.Pick.Text, At: p.rec.StartedAt.Add(time.Duration(a.At)).UTC().Truncate(time.Millisecond),
		URL: a.Page.URL, Picture: a.After,
	}
	if a.Page.FrameURL != "" {
		from.URL = a.Page.FrameURL
	}
	if a.Element != nil && len(a.Element.Selectors) > 0 {
		from.Selector = strings.Join(a.Element.Selectors[0], " >>> ")
	}
	if p.answer.FieldSources == nil {
		p.answer.FieldSources = map[string]human.FieldSource{}
	}
	p.answer.Fields[field], p.answer.FieldSources[field] = a.Pick.Text, from
}

func (p *worker) pickedFor(field string) (all []human.Action) {
	p.t.Helper()
	for _, a := range p.s.actions(p.rec.ID) {
		if a.Type == human.Extract && a.Pick.Field == field {
			all = append(all, a)
		}
	}
	return all
}

// fills writes a field's value by hand, over what was picked for it.
func (p *worker) fills(field, value string) {
	p.answer.Fields[field] = value
	if from, picked := p.answer.FieldSources[field]; picked {
		from.Corrected = value != from.Picked
		p.answer.FieldSources[field] = from
	}
}

// notes marks a moment of the recording.
func (p *worker) notes(text string) {
	p.t.Helper()
	p.s.call("POST", "/api/recordings/"+string(p.rec.ID)+"/mark", map[string]any{"text": text}, nil)
}

// ticks ticks a step of the checklist.
func (p *worker) ticks(step int) {
	p.t.Helper()
	p.s.call("POST", "/api/recordings/"+string(p.rec.ID)+"/mark", map[string]any{"step": step, "done": true}, nil)
}

// says writes to the agent.
func (p *worker) says(text string) {
	p.t.Helper()
	p.s.call("POST", "/api/human/reply", map[string]any{"operation_id": p.op.ID, "text": text}, nil)
}

// hears gets the agent's answer.
func (p *worker) hears(text string) {
	p.t.Helper()
	p.s.call("POST", "/api/human/reply", map[string]any{"operation_id": p.op.ID, "text": text}, nil, p.key)
	p.pause()
}

// controls pauses a recording or goes on with it.
func (p *worker) controls(what string) {
	p.t.Helper()
	p.s.call("POST", "/api/recordings/"+string(p.rec.ID)+"/"+what, nil, &p.rec)
}

// cancels stops the download that began last, as the browser's own list of downloads does.
func (p *worker) cancels() {
	p.t.Helper()
	var d struct{ GUID string }
	if err := json.Unmarshal(p.await("Page.downloadWillBegin").params, &d); err != nil {
		p.t.Fatal(err)
	}
	p.reaches()
	p.must("", "Browser.cancelDownload", map[string]any{"guid": d.GUID}, nil)
	p.pause()
}

// leaves stops the recording and keeps it.
func (p *worker) leaves() {
	p.t.Helper()
	p.pause()
	p.controls("stop")
	if p.rec.State != human.RecordingStopped || p.rec.Counts.Lost != 0 || !p.rec.Complete && !p.gaps {
		p.t.Errorf("the recording is %s (%s), complete %t, lost %d, gaps %+v, sources %+v", p.rec.State, p.rec.Reason, p.rec.Complete, p.rec.Counts.Lost, p.rec.Gaps, p.rec.Sources)
	}
	events := p.s.events(p.rec.ID)
	p.before, p.events = append(p.before, p.rec), append(p.events, events)
	p.t.Logf("%d events\n\t%s", len(events), strings.Join(sketch(p.s.actions(p.rec.ID), p.s.port), "\n\t"))
}

// end stops the recording, gives the operation back answered, and returns the case.
func (p *worker) end(c corpusCase) corpus.Case {
	p.t.Helper()
	p.leaves()
	p.s.call("GET", "/api/human/operations/"+string(p.op.ID), nil, &p.op)
	p.s.call("POST", "/api/human/complete", map[string]any{"operation_id": p.op.ID, "summary": "done"}, nil)
	p.s.absent(corpusPassword)
	source := corpus.Browser
	if len(p.before) > 1 {
		source = corpus.Joined
	}
	return corpus.Case{Name: c.name, Source: source, Operation: p.op, Answer: p.answer, Recordings: p.before, Events: p.events}
}
