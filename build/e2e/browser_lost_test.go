//go:build window

package e2e

import (
	"bytes"
	"encoding/json"
	"image"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"deskbell/backend/human"
)

// absent fails the test when a text is in any file of the data folder: the database and its log, pictures,
// Deskbell's log; as UTF-8 or UTF-16 in either order of bytes.
func (d *fixture) absent(text string) {
	d.T.Helper()
	little, big := make([]byte, 0, 2*len(text)), make([]byte, 0, 2*len(text))
	for _, u := range utf16.Encode([]rune(text)) {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	files := 0
	err := filepath.WalkDir(d.data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, form := range [][]byte{[]byte(text), little, big} {
			if bytes.Contains(data, form) {
				d.T.Errorf("%q is in %s", text, path)
			}
		}
		return err
	})
	if err != nil || files < 3 {
		d.T.Fatalf("%d files in the data folder: %v", files, err)
	}
}

// A password typed into a plain field, one switched to text and one in a frame of another site is nowhere: not in
// the data folder while it is recorded and afterwards, not in an event, not in an export, not in a picture.
func TestBrowserSecretsAreNowhere(t *testing.T) {
	s := newStudy(t, false)
	_, rec, p := s.record(t, "Sign in", s.site.url("/login.html?frame"), human.BrowserOptions{Network: true, Console: true, DOM: true})
	p.enters("#password", passwords[0])
	p.clicks("h1")
	p.presses("Tab", 0)
	p.clicks("#show")
	p.clicks("#password")
	p.presses("a", ctrl, "selectAll")
	p.types(passwords[1])
	p.until("the password to be shown", `document.querySelector('#password').type === 'text' && document.querySelector('#password').value === '`+passwords[1]+`'`)
	p.clicks("h1")
	p.enters("iframe >> #pin", passwords[2])
	p.clicks("iframe >> #ok")
	secrets := append([]string{passwords[0][:6], passwords[1][:6], passwords[2][:6]}, passwords...)
	for _, secret := range secrets {
		s.absent(secret)
	}
	all := s.stop(t, &rec)
	events, err := json.Marshal(s.events(rec.ID))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"the events": events}
	for _, format := range []string{"html", "json", "markdown", "puppeteer", "playwright", "selenium", "cypress", "har", "rrweb"} {
		status, data := s.ask("GET", "/api/recordings/"+string(rec.ID)+"/export?format="+format+"&language=en", nil)
		if status != http.StatusOK {
			t.Errorf("export %s: %d %.200s", format, status, data)
		}
		texts[format] = data
	}
	for _, secret := range secrets {
		s.absent(secret)
		for what, text := range texts {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%q is in %s", secret, what)
			}
		}
	}
	typed := 0
	for _, a := range all {
		if a.Type != human.Typing {
			continue
		}
		typed++
		if a.Hidden != "password" || a.Text != "" || a.Value != "" {
			t.Errorf("typed %q, %q, hidden as %q", a.Text, a.Value, a.Hidden)
		}
	}
	if typed != 3 {
		t.Errorf("%d passwords were typed: %q", typed, sketch(all, s.port))
	}
	// The press of the heading after the second one shows the field with its text, blacked out.
	s.black(t, rec.ID, all)
}

// black looks at the field for the password in a picture from while its text was shown.
func (s *study) black(t *testing.T, rec human.RecordingID, all []human.Action) {
	t.Helper()
	var field *human.Element
	seen := 0
	for i, a := range all {
		if a.Type == human.Typing && a.Element.Name == "Password" {
			field = a.Element
			continue
		}
		if field == nil || i == 0 || a.Type != human.Click || a.Before == "" || field.Bounds.W == 0 {
			continue
		}
		status, data := s.ask("GET", "/api/recordings/"+string(rec)+"/pictures/"+url.PathEscape(a.Before), nil)
		picture, _, err := image.Decode(bytes.NewReader(data))
		if status != http.StatusOK || err != nil {
			t.Fatalf("picture %s: %d %v", a.Before, status, err)
		}
		seen++
		b := field.Bounds
		for x := b.X + 2; x < b.X+b.W-2; x++ {
			if r, g, bl, _ := picture.At(x, b.Y+b.H/2).RGBA(); r|g|bl != 0 {
				t.Errorf("before %q the field for the password is not black at %d,%d of %v", a.Words, x, b.Y+b.H/2, picture.Bounds())
				break
			}
		}
	}
	if seen == 0 {
		t.Errorf("no picture shows the field: %q", sketch(all, s.port))
	}
}

// work does something that can be recognized.
func work(p *surfer) {
	p.enters("[name=name]", "Anna")
	p.clicks("#check")
	p.sees("Checked Anna")
}

var worked = []string{`open_page address /forms.html`, `click textbox "Name"`, `type textbox "Name" = "Anna"`, `click button "Check"`}

// stands fails the test unless the work is in the recording and the operation is still the operator's.
func (s *study) stands(t *testing.T, op human.Operation, rec human.RecordingID) {
	t.Helper()
	got := sketch(s.actions(rec), s.port)
	for _, want := range worked {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s is not recorded: %q", want, got)
		}
	}
	s.call("GET", "/api/human/operations/"+string(op.ID), nil, &op)
	if op.State != human.Claimed && op.State != human.InProgress {
		t.Errorf("the operation is %s", op.State)
	}
}

// browserPID is the process of the browser, by the file that says who has its profile.
func (s *study) browserPID(t *testing.T) int {
	t.Helper()
	profile, err := os.ReadFile(filepath.Join(s.folder, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Readlink(filepath.Join(strings.TrimSpace(string(profile)), "SingletonLock"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(host[strings.LastIndex(host, "-")+1:])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// A browser that is killed in the middle: what was done is there, the loss is said, the operation stays open.
func TestBrowserIsKilled(t *testing.T) {
	s := newStudy(t, false)
	op, rec, p := s.record(t, "Work until it is killed", s.site.url("/forms.html"), human.BrowserOptions{})
	work(p)
	browser, err := os.FindProcess(s.browserPID(t))
	if err == nil {
		err = browser.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s %s, gaps %+v, sources %+v", rec.State, rec.Reason, rec.Gaps, rec.Sources)
		}
	})
	s.Wait("the loss to be told", func() bool {
		s.call("GET", "/api/recordings/"+string(rec.ID), nil, &rec)
		for _, source := range rec.Sources {
			if source.Source == human.BrowserSource && source.Status != "complete" {
				return true
			}
		}
		return !rec.Running()
	})
	s.stands(t, op, rec.ID)
	if rec.Running() {
		s.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec)
	}
	if rec.Complete {
		t.Errorf("a recording whose browser was killed is called complete: %+v", rec.Sources)
	}
	s.stands(t, op, rec.ID)
}

// A Deskbell that is killed in the middle: the same, and its browser does not stay behind.
func TestBrowserRecorderIsKilled(t *testing.T) {
	s := newStudy(t, false)
	op, rec, p := s.record(t, "Work until Deskbell is killed", s.site.url("/forms.html"), human.BrowserOptions{})
	work(p)
	<-time.After(time.Second) // events are committed each half second
	pid := s.browserPID(t)
	if err := s.program.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	s.Ended(s.program)
	s.Wait("the browser to go", func() bool {
		_, err := os.Stat("/proc/" + strconv.Itoa(pid))
		return os.IsNotExist(err)
	})
	s.serving = s.serve()
	s.Wait("the recording to be looked after", func() bool {
		s.call("GET", "/api/recordings/"+string(rec.ID), nil, &rec)
		return rec.State == human.RecordingInterrupted
	})
	if rec.Reason != "crash" || rec.Complete {
		t.Errorf("the recording broke off by %q, complete %t", rec.Reason, rec.Complete)
	}
	s.stands(t, op, rec.ID)
}
