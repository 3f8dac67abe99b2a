package x11

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/recordtest"
)

// clip puts something into the clipboard with xclip, which continues to serve it.
func (d *fixture) clip(content string, args ...string) {
	d.T.Helper()
	file := filepath.Join(d.T.TempDir(), "clip")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		d.T.Fatal(err)
	}
	d.xclip(append(args, file)...)
}

// xclip runs it until it is in the background, where the end of the X server ends it. It keeps its output
// open: no one may wait for the end of that.
func (d *fixture) xclip(args ...string) {
	d.T.Helper()
	cmd := exec.Command("xclip", append([]string{"-silent", "-i", "-selection", "clipboard"}, args...)...)
	cmd.Env = d.Env
	if err := cmd.Run(); err != nil {
		d.T.Fatal(err)
	}
}

// own takes the clipboard in this process; values are by the targets' names. asked ends it and says how
// often each was asked for. A mute one does not answer.
func (d *fixture) own(mute bool, values map[string]string) (asked func() map[string]int) {
	d.T.Helper()
	m := d.maker()
	var names []string
	for name := range values {
		names = append(names, name)
	}
	atoms, err := m.atoms(context.Background(), append([]string{"CLIPBOARD", "TARGETS"}, names...)...)
	if err != nil {
		d.T.Fatal(err)
	}
	window := m.window("Owner", "Owner", human.Bounds{W: 10, H: 10}, true)
	m.do(request1(22, 0, window, atoms[0], 0)) // SetSelectionOwner; the first to ask may be heard at once
	counts, stop, done := map[string]int{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			var f []byte
			select {
			case <-stop:
				return
			case f = <-m.frames:
			}
			if f == nil || f[0]&127 != 30 || mute { // SelectionRequest
				continue
			}
			w := wordsOf(f[4:])
			when, requestor, selection, target, property := w[0], w[2], w[3], w[4], w[5]
			name := "TARGETS"
			var value []byte
			kind, format := uint32(atomAtom), byte(32)
			for i, a := range atoms[2:] {
				if a == target {
					name, value, kind, format = names[i], []byte(values[names[i]]), a, 8
				}
			}
			if name == "TARGETS" {
				for _, a := range atoms[1:] {
					value = binary.LittleEndian.AppendUint32(value, a)
				}
			}
			counts[name]++
			change := request1(opChangeProperty, 0, requestor, property, kind, uint32(format), uint32(len(value))*8/uint32(format))
			for change = append(change, value...); len(change)%4 != 0; {
				change = append(change, 0)
			}
			send := request1(25, 0, requestor, 0, eventSelectionNotify, when, requestor, selection, target, property, 0, 0) // SendEvent
			_, _ = m.send(change)
			_, _ = m.send(send)
		}
	}()
	d.T.Cleanup(func() {
		select {
		case <-done:
		default:
			close(stop)
			<-done
		}
	})
	return func() map[string]int { close(stop); <-done; return counts }
}

func TestClipboard(t *testing.T) {
	recordtest.Source(t, func(tb testing.TB) recordtest.SourceRig {
		d := newFixture(tb)
		n := 0
		return recordtest.SourceRig{
			Source: NewClipboard(d.Display, monotonic, true), Name: human.ClipboardSource, Clock: monotonic, Early: 5 * time.Millisecond,
			Provoke: func(testing.TB) []human.RecordedEvent {
				n++
				text := fmt.Sprint("copied ", n)
				d.clip(text)
				return []human.RecordedEvent{{Type: human.ClipboardSet, ContentKind: "text", Text: text}}
			},
		}
	})
}

func TestClipboardKinds(t *testing.T) {
	d := newFixture(t)
	r := listen(t, NewClipboard(d.Display, monotonic, true))
	seen := 0
	expect := func(what, kind, text, hidden string) {
		t.Helper()
		d.Wait(what, func() bool { return len(r.all()) > seen })
		e := r.all()[seen]
		seen++
		if e.Type != human.ClipboardSet || e.ContentKind != kind || e.Text != text || e.Hidden != hidden {
			t.Errorf("%s: %s", what, shown([]human.RecordedEvent{e}))
		}
	}
	d.clip("Grüße, 世界")
	expect("text", "text", "Grüße, 世界", "")
	d.clip("\x89PNG", "-t", "image/png")
	expect("an image", "image", "", "")
	d.clip("file:///tmp/a.txt\r\n", "-t", "text/uri-list")
	expect("files", "files", "", "")
	d.clip("what is this", "-t", "application/x-of-its-own")
	expect("something else", "other", "", "")
	d.clip("not the clipboard", "-selection", "primary")

	long := strings.Repeat("é€", 60_000) // 300 KB, in parts
	d.clip(long)
	d.Wait("a long text", func() bool { return len(r.all()) > seen })
	if got := r.all()[seen].Text; len(got) > maxClipboard || len(got) < maxClipboard-4 || !strings.HasPrefix(long, got) {
		t.Errorf("%d bytes of a long text, ending in %q", len(got), got[max(0, len(got)-6):])
	}
	seen++

	asked := d.own(false, map[string]string{"UTF8_STRING": "hunter2", secretHint: "secret", "text/plain": "hunter2"})
	expect("a password", "text", "", "secret")
	d.clip("and on")
	expect("text again", "text", "and on", "")
	if n := asked(); n["UTF8_STRING"]+n["text/plain"] > 0 || n["TARGETS"] == 0 {
		t.Errorf("of a secret was asked for %v", n)
	}

	d.own(false, map[string]string{"text/html": "<b>x</b>", "image/png": "PNG"})
	expect("a picture from a web page", "image", "", "")
	d.own(false, map[string]string{"UTF8_STRING": "/tmp/a", "x-special/gnome-copied-files": "copy\nfile:///tmp/a"})
	expect("files of a file manager", "files", "", "")
	d.own(false, map[string]string{"UTF8_STRING": "1\t2", "image/png": "PNG"})
	expect("cells, which are a picture as well", "text", "1\t2", "")
	d.own(true, map[string]string{"UTF8_STRING": "never"})
	expect("an owner that does not answer", "other", "", "")
	d.xclip("-loops", "1", "/dev/null") // goes away once it was asked
	expect("an empty text", "text", "", "")
	expect("an owner that went away", "empty", "", "")
	r.stop()
	for _, e := range r.all() {
		if strings.Contains(e.Text, "hunter2") || strings.Contains(e.Text, "not the clipboard") {
			t.Errorf("recorded %s", shown([]human.RecordedEvent{e}))
		}
	}
}

func TestClipboardWithoutContent(t *testing.T) {
	d := newFixture(t)
	r := listen(t, NewClipboard(d.Display, monotonic, false))
	asked := d.own(false, map[string]string{"UTF8_STRING": "private"})
	e := r.until("the change", func(human.RecordedEvent) bool { return true })
	r.stop()
	if e.ContentKind != "text" || e.Text != "" {
		t.Errorf("recorded %s", shown([]human.RecordedEvent{e}))
	}
	if n := asked(); n["UTF8_STRING"] > 0 {
		t.Errorf("it was asked for %v", n)
	}
}

// Of many changes at once each is reported, and none with another's text.
func TestClipboardChangesFast(t *testing.T) {
	d := newFixture(t)
	r := listen(t, NewClipboard(d.Display, monotonic, true))
	m := d.maker()
	atoms, err := m.atoms(t.Context(), "CLIPBOARD")
	if err != nil {
		t.Fatal(err)
	}
	window := m.window("Owner", "Owner", human.Bounds{W: 10, H: 10}, true)
	const changes = 200
	for range changes {
		m.do(request1(22, 0, window, atoms[0], 0))
	}
	m.sync()
	d.clip("the last")
	r.until("the last", func(e human.RecordedEvent) bool { return e.Text == "the last" })
	if n := len(r.stop()); n != changes+1 {
		t.Errorf("%d of %d changes", n, changes+1)
	}
}
