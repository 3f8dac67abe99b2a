//go:build window

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/build/e2e/desktoptest"
)

// passwords are typed, and must be nowhere.
var passwords = []string{"Kv9!plainword-77", "Zt4?switched-word", "Qm2#framed-secret"}

// A study is a server that records browsers, and the site they work on.
type study struct {
	*serving
	site
	folder string // of what browsers start with and leave: profile, which names the profile's folder
	key    string // an agent's
	last   human.RecordingID
	hidden bool // no screen shows the browser, so no page of it would have the focus
}

// newStudy starts a server whose browser is Chromium with a debugging port beside the recorder's own
// connection, headless unless visible.
func newStudy(t *testing.T, visible bool, env ...string) *study {
	t.Helper()
	d := newFixture(t, desktoptest.Options{})
	d.Env = append(d.Env, env...)
	s := &study{hidden: !visible, site: startSite(t), folder: filepath.Join(d.Home, "browser")}
	if err := os.MkdirAll(filepath.Join(s.folder, "downloads"), 0o700); err != nil {
		t.Fatal(err)
	}
	flags := "--remote-debugging-port=0 --no-sandbox --force-device-scale-factor=1 --lang=en-US --disable-gpu"
	if !visible {
		flags += " --headless=new --window-size=1280,900"
	}
	browser := filepath.Join(s.folder, "chromium")
	d.Write(browser, fmt.Sprintf(`#!/bin/sh
for flag; do
	case $flag in --user-data-dir=*)
		mkdir -p "${flag#*=}/Default"
		echo '{"download":{"default_directory":"%[1]s/downloads","prompt_for_download":false}}' > "${flag#*=}/Default/Preferences"
		echo "${flag#*=}" > "%[1]s/profile" ;;
	esac
done
exec chromium %[2]s "$@"
`, s.folder, flags))
	if err := os.Chmod(browser, 0o700); err != nil {
		t.Fatal(err)
	}
	s.serving = &serving{fixture: d}
	if err := os.MkdirAll(d.data, 0o700); err != nil {
		t.Fatal(err)
	}
	d.Write(filepath.Join(d.data, "config.toml"), fmt.Sprintf("[recording.browser]\npath = %q\nprofile = \"throwaway\"\n", browser))
	s.serving = d.serve()
	var agent struct{ Key string }
	s.call("POST", "/api/agents", map[string]string{"name": "qa-runner"}, &agent)
	s.key = agent.Key
	return s
}

// in is the same study for a subtest.
func (s *study) in(t *testing.T) *study {
	desktop := *s.Desktop
	desktop.T = t
	d := *s.fixture
	d.Desktop = &desktop
	h := *s.serving
	h.fixture = &d
	again := *s
	again.serving = &h
	return &again
}

// record begins a recording of a browser that opens at a page, and returns the person before it.
func (s *study) record(t *testing.T, what, url string, options human.BrowserOptions) (human.Operation, human.Recording, *surfer) {
	t.Helper()
	return s.recordWith(t, what, url, human.RecordingOptions{Browser: &options})
}

func (s *study) recordWith(t *testing.T, what, url string, options human.RecordingOptions) (human.Operation, human.Recording, *surfer) {
	t.Helper()
	var op human.Operation
	s.call("POST", "/api/human/invoke", map[string]any{"action_type": "browser", "description": what, "details": map[string]any{"url": url}}, &op, s.key)
	s.call("POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, &op)
	if err := os.Remove(filepath.Join(s.folder, "profile")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var rec human.Recording
	s.call("POST", "/api/recordings", map[string]any{"operation_id": op.ID, "options": options}, &rec)
	s.last = rec.ID
	t.Cleanup(func() {
		if t.Failed() {
			_, _ = s.ask("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil)
			_, _ = s.ask("POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "summary": "done"})
		}
	})
	profile, err := os.ReadFile(filepath.Join(s.folder, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	p := newSurfer(t, dial(t, strings.TrimSpace(string(profile))), s.site)
	p.files, p.downloads = s.folder, filepath.Join(s.folder, "downloads")
	if s.hidden {
		p.must(p.page, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	}
	if url != "" {
		p.until("the page to open", fmt.Sprintf("location.href.startsWith(%q) && document.readyState === 'complete'", url))
	}
	p.pause()
	return op, rec, p
}

// stop ends a recording, which must be complete.
func (s *study) stop(t *testing.T, rec *human.Recording) []human.Action {
	t.Helper()
	s.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, rec)
	if !rec.Complete || rec.Counts.Lost != 0 || rec.State != human.RecordingStopped {
		t.Errorf("the recording is %s (%s), complete %t, lost %d, gaps %+v, sources %+v", rec.State, rec.Reason, rec.Complete, rec.Counts.Lost, rec.Gaps, rec.Sources)
	}
	all := s.actions(rec.ID)
	s.call("POST", "/api/human/complete", map[string]any{"operation_id": rec.OperationID, "summary": "done"}, nil)
	return all
}

// TestBrowserCases has scripted persons work in real browsers, with trusted input, and looks at every action of the
// recordings. What was recorded is then played by others' runners. Two persons work side by side, each with a server and
// a desktop of their own: they mostly look and wait, as persons do.
func TestBrowserCases(t *testing.T) {
	var all []*study
	idle := make(chan *study, 2)
	for range cap(idle) {
		s := newStudy(t, false, secretVariables()...)
		all = append(all, s)
		idle <- s
	}
	played := make([]*playable, len(browserCases)) // nil where a case failed
	t.Run("recorded", func(t *testing.T) {
		for i, c := range browserCases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				own := <-idle
				t.Cleanup(func() { idle <- own }) // after what a case that fails has to clean up
				s := own.in(t)
				_, rec, p := s.record(t, c.name, s.site.url(c.page), human.BrowserOptions{})
				c.act(p)
				p.sees(c.sees)
				state, err := p.state(false)
				if err != nil {
					t.Fatal(err)
				}
				got, said := sketches(s.stop(t, &rec), s.port)
				if want := lines(c.want); !slices.Equal(got, want) {
					t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
				}
				if c.says != nil && !slices.Equal(said, c.says) {
					t.Errorf("the pages said\n\t%s\nand not\n\t%s", strings.Join(said, "\n\t"), strings.Join(c.says, "\n\t"))
				}
				played[i] = s.playable(t, c, rec.ID, state, p.uploaded)
				switch why := s.runs(t, c, rec.ID, state, p.uploaded); {
				case why != "" && c.cannot["procedure"] == "":
					t.Errorf("as a procedure: %s", why)
				case why == "" && c.cannot["procedure"] != "":
					t.Errorf("a procedure is said not to do this (%s), and does", c.cannot["procedure"])
				}
			})
		}
	})
	for _, secret := range passwords {
		for _, s := range all {
			s.nowhere(secret)
		}
	}
	all[0].roundTrip(t, slices.DeleteFunc(played, func(p *playable) bool { return p == nil }))
}
