package windows_test

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"deskbell/backend/human"
	"deskbell/backend/platform/windows"
	"deskbell/backend/record/recordtest"
)

// inject makes events as a mouse and a keyboard do.
type mouseInput struct {
	kind        uint32
	_           uint32
	dx, dy      int32
	data, flags uint32
	time        uint32
	extra       uintptr
}

type keyInput struct {
	kind     uint32
	_        uint32
	vk, scan uint16
	flags    uint32
	time     uint32
	extra    uintptr
	_        [8]byte // as long as mouseInput
}

func mouse(t testing.TB, m mouseInput) {
	t.Helper()
	if n, _, err := procSendInput.Call(1, uintptr(unsafe.Pointer(&m)), unsafe.Sizeof(m)); n != 1 {
		t.Fatalf("SendInput: %v", err)
	}
}

func key(t testing.TB, vk uint16, up bool) {
	t.Helper()
	k := keyInput{kind: 1, vk: vk}
	if up {
		k.flags = 2
	}
	if n, _, err := procSendInput.Call(1, uintptr(unsafe.Pointer(&k)), unsafe.Sizeof(k)); n != 1 {
		t.Fatalf("SendInput: %v", err)
	}
}

func press(t testing.TB, keys ...uint16) {
	t.Helper()
	for _, k := range keys {
		key(t, k, false)
	}
	for i := range keys {
		key(t, keys[len(keys)-1-i], true)
	}
}

const move, leftDown, leftUp, rightDown, rightUp, wheel, hwheel = 0x1, 0x2, 0x4, 0x8, 0x10, 0x800, 0x1000

func TestInputConformance(t *testing.T) {
	recordtest.Source(t, func(t testing.TB) recordtest.SourceRig {
		s := newStage(t)
		s.foreground(s.window(t, "EDIT", "", overlapped|visible, 0, 10, 10, 200, 100))
		return recordtest.SourceRig{
			Source: windows.NewInput(clock), Name: human.InputSource, Clock: clock,
			Provoke: func(t testing.TB) []human.RecordedEvent {
				mouse(t, mouseInput{flags: move, dx: 3})
				mouse(t, mouseInput{flags: leftDown})
				mouse(t, mouseInput{flags: leftUp})
				mouse(t, mouseInput{flags: rightDown})
				mouse(t, mouseInput{flags: rightUp})
				back := -60 // half a notch towards the person
				mouse(t, mouseInput{flags: wheel, data: uint32(back)})
				mouse(t, mouseInput{flags: hwheel, data: 120})
				press(t, 'A')
				press(t, 0xA0, 'B') // Shift
				press(t, 0xA2, 'C') // Ctrl
				press(t, 0x0D)
				in := human.InputSource
				return []human.RecordedEvent{
					{Source: in, Type: human.PointerMoved},
					{Source: in, Type: human.PointerDown, Button: 1},
					{Source: in, Type: human.PointerUp, Button: 1},
					{Source: in, Type: human.PointerDown, Button: 3},
					{Source: in, Type: human.PointerUp, Button: 3},
					{Source: in, Type: human.Scrolled, DeltaY: 0.5},
					{Source: in, Type: human.Scrolled, DeltaX: 1},
					{Source: in, Type: human.KeyDown, Key: "a", Text: "a"},
					{Source: in, Type: human.KeyUp, Key: "a"},
					{Source: in, Type: human.KeyDown, Key: "Shift", Modifiers: []string{"shift"}},
					{Source: in, Type: human.KeyDown, Key: "B", Text: "B", Modifiers: []string{"shift"}},
					{Source: in, Type: human.KeyUp, Key: "B"},
					{Source: in, Type: human.KeyUp, Key: "Shift"},
					{Source: in, Type: human.KeyDown, Key: "Control", Modifiers: []string{"ctrl"}},
					{Source: in, Type: human.KeyDown, Key: "c", Modifiers: []string{"ctrl"}},
					{Source: in, Type: human.KeyUp, Key: "c"},
					{Source: in, Type: human.KeyUp, Key: "Control"},
					{Source: in, Type: human.KeyDown, Key: "Enter"},
					{Source: in, Type: human.KeyUp, Key: "Enter"},
				}
			},
		}
	})
}

// A shortcut and a key without text tell no text; a key that is held repeats.
func TestKeysWithoutText(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var got []human.RecordedEvent
	seen, err := windows.NewInput(clock).Run(ctx, func() {
		go func() {
			press(t, 0xA2, 'V')
			key(t, 0x28, false)
			key(t, 0x28, false)
			key(t, 0x28, true)
			press(t, 0x74)
		}()
	}, func(e human.RecordedEvent) {
		got = append(got, e)
		if e.Type == human.KeyUp && e.Key == "F5" {
			cancel()
		}
	})
	if err != nil || seen != uint64(len(got)) || len(got) != 9 {
		t.Fatalf("counted %d, told %d: %v", seen, len(got), err)
	}
	for _, e := range got {
		if e.Text != "" {
			t.Errorf("text %q of %s", e.Text, e.Key)
		}
	}
	if got[4].Key != "ArrowDown" || got[4].Repeat || got[5].Key != "ArrowDown" || !got[5].Repeat {
		t.Errorf("a key that is held is told as %+v, %+v", got[4], got[5])
	}
}

func TestOneReaderOfInput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := windows.NewInput(clock).Run(ctx, func() {
		_, err := windows.NewInput(clock).Run(ctx, func() { t.Error("ready a second time") }, func(human.RecordedEvent) {})
		if human.KindOf(err) != human.Conflict {
			t.Errorf("said %v", err)
		}
		cancel()
	}, func(human.RecordedEvent) {})
	if err != nil {
		t.Error(err)
	}
}

// No event is lost and none comes late, however many there are.
func TestInputAtSpeed(t *testing.T) {
	const n = 5000
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	count := 0
	var first, last int64
	_, err := windows.NewInput(clock).Run(ctx, func() {
		go func() {
			for i := range n {
				mouse(t, mouseInput{flags: move, dx: int32(1 - i%2*2)})
			}
		}()
	}, func(e human.RecordedEvent) {
		if e.Type != human.PointerMoved {
			return
		}
		if count++; count == 1 {
			first = e.At
		}
		last = e.At
		if count == n {
			cancel()
		}
	})
	if err != nil || count != n {
		t.Errorf("%d of %d moves came: %v", count, n, err)
	}
	t.Logf("%d moves in %v", count, time.Duration(last-first))
}
