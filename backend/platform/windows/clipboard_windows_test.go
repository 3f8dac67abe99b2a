package windows_test

import (
	"context"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	win "deskbell/backend/platform/windows"
	"deskbell/backend/record/recordtest"
)

var (
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")

	procOpenClipboard  = user32.NewProc("OpenClipboard")
	procCloseClipboard = user32.NewProc("CloseClipboard")
	procEmptyClipboard = user32.NewProc("EmptyClipboard")
	procSetData        = user32.NewProc("SetClipboardData")
	procRegisterFormat = user32.NewProc("RegisterClipboardFormatW")
	procGlobalAlloc    = kernel32.NewProc("GlobalAlloc")
	procGlobalLock     = kernel32.NewProc("GlobalLock")
	procGlobalUnlock   = kernel32.NewProc("GlobalUnlock")
)

// put sets the clipboard, as a program does that owns a window: formats with their bytes.
func put(t testing.TB, s *stage, owner windows.HWND, formats map[uintptr][]byte) {
	t.Helper()
	eventually(t, "the clipboard can be set", func() (done bool) {
		s.on(func() {
			if ok, _, _ := procOpenClipboard.Call(uintptr(owner)); ok == 0 {
				return
			}
			defer func() { _, _, _ = procCloseClipboard.Call() }()
			_, _, _ = procEmptyClipboard.Call()
			for format, data := range formats {
				const movable = 2
				h, _, _ := procGlobalAlloc.Call(movable, uintptr(len(data)))
				p, _, _ := procGlobalLock.Call(h)
				copy(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), len(data)), data)
				_, _, _ = procGlobalUnlock.Call(h)
				if set, _, err := procSetData.Call(format, h); set == 0 {
					t.Errorf("SetClipboardData: %v", err)
				}
			}
			done = true
		})
		return done
	})
}

func utf16Bytes(text string) []byte {
	u, err := windows.UTF16FromString(text)
	if err != nil {
		panic(err)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&u[0])), 2*len(u))
}

func registered(name string) uintptr {
	f, _, _ := procRegisterFormat.Call(wide(name))
	return f
}

const unicodeText, dib, files = 13, 8, 15

func TestClipboardConformance(t *testing.T) {
	recordtest.Source(t, func(t testing.TB) recordtest.SourceRig {
		s := newStage(t)
		owner := s.window(t, "STATIC", "owner", overlapped, 0, 0, 0, 10, 10)
		n := 0
		return recordtest.SourceRig{
			Source: win.NewClipboard(clock, true), Name: human.ClipboardSource, Clock: clock,
			Provoke: func(t testing.TB) []human.RecordedEvent {
				n++
				text := fmt.Sprintf("Grüße %d 你好 😀", n)
				put(t, s, owner, map[uintptr][]byte{unicodeText: utf16Bytes(text)})
				<-time.After(100 * time.Millisecond) // a change that is followed at once is seen as one
				put(t, s, owner, map[uintptr][]byte{dib: make([]byte, 64)})
				return []human.RecordedEvent{
					{Source: human.ClipboardSource, Type: human.ClipboardSet, ContentKind: "text", Text: text},
					{Source: human.ClipboardSource, Type: human.ClipboardSet, ContentKind: "image"},
				}
			},
		}
	})
}

func TestWhatTheClipboardTells(t *testing.T) {
	s := newStage(t)
	owner := s.window(t, "STATIC", "owner", overlapped, 0, 0, 0, 10, 10)
	text := utf16Bytes("text")
	for name, tt := range map[string]struct {
		content bool
		formats map[uintptr][]byte
		want    human.RecordedEvent
	}{
		"text, and it is allowed":    {true, map[uintptr][]byte{unicodeText: text}, human.RecordedEvent{ContentKind: "text", Text: "text"}},
		"text, and it is not":        {false, map[uintptr][]byte{unicodeText: text}, human.RecordedEvent{ContentKind: "text"}},
		"a picture":                  {true, map[uintptr][]byte{dib: make([]byte, 64)}, human.RecordedEvent{ContentKind: "image"}},
		"files":                      {true, map[uintptr][]byte{files: make([]byte, 32)}, human.RecordedEvent{ContentKind: "files"}},
		"something else":             {true, map[uintptr][]byte{registered("Deskbell test"): {1}}, human.RecordedEvent{ContentKind: "other"}},
		"nothing":                    {true, nil, human.RecordedEvent{ContentKind: "empty"}},
		"excluded from monitoring":   {true, map[uintptr][]byte{unicodeText: text, registered("ExcludeClipboardContentFromMonitorProcessing"): {1}}, human.RecordedEvent{ContentKind: "text", Hidden: "secret"}},
		"not for the history":        {true, map[uintptr][]byte{unicodeText: text, registered("CanIncludeInClipboardHistory"): {0, 0, 0, 0}}, human.RecordedEvent{ContentKind: "text", Hidden: "secret"}},
		"for the history, it says":   {true, map[uintptr][]byte{unicodeText: text, registered("CanIncludeInClipboardHistory"): {1, 0, 0, 0}}, human.RecordedEvent{ContentKind: "text", Text: "text"}},
		"ignored by old conventions": {true, map[uintptr][]byte{unicodeText: text, registered("Clipboard Viewer Ignore"): {1}}, human.RecordedEvent{ContentKind: "text", Hidden: "secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, s, owner, map[uintptr][]byte{registered("Deskbell before"): {1}}) // so that any of them is a change
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var got []human.RecordedEvent
			_, err := win.NewClipboard(clock, tt.content).Run(ctx, func() { go put(t, s, owner, tt.formats) }, func(e human.RecordedEvent) {
				got = append(got, e)
				cancel()
			})
			if err != nil || len(got) == 0 {
				t.Fatalf("told %+v: %v", got, err)
			}
			if e := got[0]; e.ContentKind != tt.want.ContentKind || e.Text != tt.want.Text || e.Hidden != tt.want.Hidden {
				t.Errorf("told %+v", e)
			}
		})
	}
}
