//go:build window

package e2e

import (
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deskbell/backend/human"
	"deskbell/build/corpus"
	"deskbell/build/corpus/fresh"
)

// players are the runners that play fresh cases: the one of Selenium IDE too where its driver of Chromium is installed.
var players = func() []string {
	if _, err := exec.LookPath("chromedriver"); err != nil {
		return runners
	}
	return append(slices.Clip(runners), "selenium")
}()

// freshLibraries is where the UI libraries of the pages are installed.
const freshLibraries = "testdata/fresh/node_modules"

// A lab has what fresh cases are recorded and played with: a server of the pages for each, so that none sees what
// another did.
type lab struct {
	seed    uint64
	dir     string // where cases are kept
	servers map[string]*fresh.Server
	ports   map[string]string
	mu      sync.Mutex
	results []*freshResult
}

// A freshResult is what came of one case.
type freshResult struct {
	fresh.Case
	fresh.Recall
	targets  []string // actions without a useful target
	aimed    int      // actions that have a target
	claims   []fresh.Claim
	plays    map[string]string // runner: "" where it ended the same, else how not
	said     map[string]string // runner: what the export says it cannot express
	leaks    map[string]string
	masked   []string // ordinary numbers that were hidden
	trouble  string   // the person could not finish
	done     []string
	page     string
	exports  map[string][]byte
	uploaded []string
}

func newLab(t *testing.T, seed uint64, dir string) *lab {
	t.Helper()
	l := &lab{seed: seed, dir: dir, servers: map[string]*fresh.Server{}, ports: map[string]string{}}
	for _, use := range append([]string{"recorded"}, players...) {
		s := &fresh.Server{Libraries: freshLibraries}
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		_, port, err := net.SplitHostPort(h.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		l.servers[use], l.ports[use] = s, port
	}
	return l
}

func (l *lab) origin(use, name string) string { return "http://" + name + ".localhost:" + l.ports[use] }

// TestFreshBrowser records cases that no one has seen, made from FRESH_SEED, and holds what was recorded, summarized
// and exported against the truth. `make corpus-new` runs it.
func TestFreshBrowser(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("FRESH_SEED"), 10, 64)
	if err != nil {
		t.Skip("FRESH_SEED does not name a seed; `make corpus-new SEED=n` does")
	}
	n, _ := strconv.Atoi(os.Getenv("FRESH_CASES"))
	if n == 0 {
		n = 200
	}
	dir := os.Getenv("FRESH_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cases := fresh.Generate(seed, n)
	if only := os.Getenv("CASE"); only != "" {
		cases = slices.DeleteFunc(cases, func(c fresh.Case) bool { return c.Name != only })
	}
	l := newLab(t, seed, dir)
	l.record(t, cases)
	l.write(t)
	l.play(t)
	slices.SortFunc(l.results, func(a, b *freshResult) int { return strings.Compare(a.Name, b.Name) })
	l.write(t)
}

// write gives the report of what is known by now.
func (l *lab) write(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	report := l.report()
	l.mu.Unlock()
	if path := os.Getenv("FRESH_REPORT"); path == "" {
		t.Log("\n" + report)
	} else if err := os.WriteFile(path, []byte(report), 0o644); err != nil {
		t.Fatal(err)
	}
}

// record has two persons work side by side.
func (l *lab) record(t *testing.T, cases []fresh.Case) {
	type place struct {
		*study
		*bench
	}
	idle := make(chan place, 2)
	for range cap(idle) {
		idle <- place{newStudy(t, false), newBench(t)}
	}
	t.Run("recorded", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				at := <-idle
				t.Cleanup(func() { idle <- at })
				r := &freshResult{Case: c, plays: map[string]string{}, said: map[string]string{}, exports: map[string][]byte{}}
				l.mu.Lock()
				l.results = append(l.results, r)
				l.mu.Unlock()
				r.trouble = "the person did not finish"
				l.one(t, at.in(t), at.bench, r)
				r.trouble = ""
			})
		}
	})
}

// one records and judges a case.
func (l *lab) one(t *testing.T, s *study, b *bench, r *freshResult) {
	server, origin := l.servers["recorded"], l.origin("recorded", r.Name)
	server.Add(r.Case)
	p := newStranger(t, s, r.Case, origin)
	for _, d := range r.Truth.Steps {
		p.does(d)
	}
	p.pause()
	r.done, r.uploaded = server.Done(r.Name), p.uploaded
	var err error
	if r.page, err = pageState(p.debugger, false); err != nil {
		t.Fatal(err)
	}
	p.controls("stop")
	s.call("GET", "/api/human/operations/"+string(p.op.ID), nil, &p.op)
	kept := corpus.Case{Name: r.Name, Source: corpus.Browser, Operation: p.op, Answer: p.answer, Recordings: []human.Recording{p.rec}, Events: [][]human.RecordedEvent{s.events(p.rec.ID)}}
	all := s.actions(p.rec.ID)
	for _, format := range players {
		_, r.exports[format] = s.ask("GET", "/api/recordings/"+string(p.rec.ID)+"/export?format="+format+"&language=en", nil)
		if err := os.WriteFile(filepath.Join(l.dir, r.Name+"."+format), r.exports[format], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.call("POST", "/api/human/complete", map[string]any{"operation_id": p.op.ID, "summary": "done"}, nil)
	if err := corpus.Save(l.dir, kept); err != nil {
		t.Fatal(err)
	}
	if err := r.Truth.Save(l.dir); err != nil {
		t.Fatal(err)
	}
	l.weigh(t, s, b, r, p, kept, all)
}

// weigh judges what was recorded of a case.
func (l *lab) weigh(t *testing.T, s *study, b *bench, r *freshResult, p *stranger, kept corpus.Case, all []human.Action) {
	steps := make([]fresh.Step, len(p.did))
	for i, d := range p.did {
		steps[i] = d.Step
	}
	r.Recall = fresh.Align(steps, all, p.scrolled)
	for i, at := range r.Of {
		if at < 0 || all[at].Element == nil || p.did[i].before == "" {
			continue
		}
		r.aimed++
		found := b.target(p.origin, p.did[i], all[at])
		if !found.useful() {
			r.targets = append(r.targets, fmt.Sprintf("%s %s %q recorded as %s %q, unique %v, broken %q", p.did[i].Do, p.did[i].On, p.did[i].Name, all[at].Element.Role, all[at].Element.Name, found.unique, found.broken))
		}
	}
	var err error
	if r.claims, err = fresh.Judge(kept, r.Truth); err != nil {
		t.Error(err)
	}
	r.leaks = secretsIn(s.data, r.Truth.Secrets)
	for _, n := range r.Truth.Numbers {
		if !slices.ContainsFunc(all, func(a human.Action) bool {
			return a.Type == human.Typing && (a.Text == n || a.Value == n) && a.Hidden == ""
		}) &&
			slices.ContainsFunc(all, func(a human.Action) bool {
				return a.Type == human.Typing && a.Hidden != "" && a.Count == len([]rune(n))
			}) {
			r.masked = append(r.masked, n)
		}
	}
}

// pageState is what the tabs show in the end: where they are, and what stands in their fields.
func pageState(d *debugger, contexts bool) (string, error) {
	own := map[string]bool{}
	if contexts {
		var all struct {
			BrowserContextIDs []string `json:"browserContextIds"`
		}
		if err := d.call("", "Target.getBrowserContexts", nil, &all); err != nil {
			return "", err
		}
		for _, id := range all.BrowserContextIDs {
			own[id] = true
		}
	}
	var tabs []string
	for _, page := range d.pages() {
		if contexts && !own[page.Context] {
			continue
		}
		var text string
		if err := d.evaluate(page.session, fieldsNow, &text); err != nil {
			return "", err
		}
		if !strings.HasPrefix(text, "blank") {
			tabs = append(tabs, text)
		}
	}
	slices.Sort(tabs)
	return strings.Join(tabs, "\n"), nil
}

const fieldsNow = `(() => {
  const out = [location.pathname, document.title];
  const walk = r => { for (const e of r.querySelectorAll('*')) {
    if (e.matches('input,select,textarea') && e.type !== 'hidden') out.push(e.type === 'checkbox' || e.type === 'radio' ? e.checked : e.type === 'file' ? [...e.files].map(f => f.name).join() : e.value);
    if (e.isContentEditable && !e.parentElement.isContentEditable) out.push(e.innerText.trim());
    if (e.shadowRoot) walk(e.shadowRoot);
    try { if (e.contentDocument) walk(e.contentDocument); } catch {}
  } };
  walk(document);
  return out.join(' | ');
})()`
