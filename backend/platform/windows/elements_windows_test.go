package windows_test

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	win "deskbell/backend/platform/windows"
	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
)

// underWine says whether this is Wine, whose UI Automation had no part for clients in version 8.
func underWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

func TestElementsSayWhenTheyAreMissing(t *testing.T) {
	if !underWine() {
		t.Skip("UI Automation is part of Windows")
	}
	e := win.NewElements(clock)
	defer func() { _ = e.Close() }()
	got := e.Check(t.Context())
	if got.Source != human.ElementSource || got.Status != "missing" || got.Code != "unsupported" || got.Detail == "" || got.Fix == "" {
		t.Errorf("said %+v", got)
	}
	if _, err := e.At(t.Context(), 1, 1, record.Placed{}); human.KindOf(err) != human.Unavailable {
		t.Errorf("said %v", err)
	}
}

func TestElementsOfAWindow(t *testing.T) {
	if underWine() {
		t.Skip("Wine has no UI Automation for clients")
	}
	s := newStage(t)
	main := s.window(t, "STATIC", "main", overlapped|visible, 0, 10, 10, 400, 300)
	press := s.window(t, "BUTTON", "Press me", child|visible, main, 10, 10, 100, 30)
	field := s.window(t, "EDIT", "text", child|visible|border, main, 10, 50, 100, 30)
	secret := s.window(t, "EDIT", "hidden", child|visible|border|password, main, 10, 90, 100, 30)
	s.foreground(main)
	placed := func() record.Placed {
		visible, err := win.NewWindows(clock).Visible(t.Context())
		if err != nil || len(visible) == 0 {
			t.Fatal(visible, err)
		}
		return visible[0]
	}()
	e := win.NewElements(clock)
	defer func() { _ = e.Close() }()
	var r [4]int32
	_, _, _ = user32.NewProc("GetWindowRect").Call(uintptr(press), uintptr(unsafe.Pointer(&r)))
	button, err := e.At(t.Context(), int(r[0])+5, int(r[1])+5, placed)
	if err != nil || button.Role != "button" || button.Name != "Press me" || len(button.Ancestry) == 0 {
		t.Errorf("the button is %+v: %v", button, err)
	}
	s.on(func() { _, _, _ = procSetFocus.Call(uintptr(field)) })
	focused, err := e.Focused(t.Context(), placed)
	if err != nil || focused.Role != "textbox" || focused.Secret {
		t.Errorf("the field is %+v: %v", focused, err)
	}
	if text, err := e.Value(t.Context(), focused); err != nil || text != "text" {
		t.Errorf("its value is %q: %v", text, err)
	}
	s.on(func() { _, _, _ = procSetFocus.Call(uintptr(secret)) })
	focused, err = e.Focused(t.Context(), placed)
	if err != nil || !focused.Secret {
		t.Errorf("the field for passwords is %+v: %v", focused, err)
	}
	focused.Secret = false // even when a caller forgets
	if text, err := e.Value(t.Context(), focused); human.KindOf(err) != human.Denied {
		t.Errorf("its value is %q: %v", text, err)
	}
	recordtest.Source(t, func(t testing.TB) recordtest.SourceRig {
		return recordtest.SourceRig{Source: win.NewElements(clock), Name: human.ElementSource, Clock: clock,
			Provoke: func(testing.TB) []human.RecordedEvent {
				s.on(func() { _, _, _ = procSetFocus.Call(uintptr(field)) })
				s.on(func() { _, _, _ = procSetFocus.Call(uintptr(secret)) })
				return []human.RecordedEvent{{Source: human.ElementSource, Type: human.FocusMoved, Element: &human.Element{Secret: true}}}
			}}
	})
}
