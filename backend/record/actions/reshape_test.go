package actions_test

import (
	"slices"
	"testing"

	"deskbell/backend/human"
)

// stands says where the window is now.
func (t *tape) stands(id, title, app string, pid int, b human.Bounds) *tape {
	ev := windowEvent(human.WindowRetitled, id, title, app, pid)
	ev.Window.Bounds = b
	return t.add(ev)
}

func TestWindowsAreMovedAndResized(t *testing.T) {
	// The window of signer stands at 100, 100 and is 800 by 600 large.
	contracts := func(tape *tape, x, y, w, h int) *tape {
		return tape.stands("w1", "Contracts - Signer", "Signer", 7, human.Bounds{X: x, Y: y, W: w, H: h})
	}
	title := func() *tape { return signer().press(1, 300, 90).on(logIn).move(330, 100).move(400, 150) }
	for name, tt := range map[string]struct {
		tape   *tape
		en, zh string
	}{
		"by the title bar":                      {contracts(title().release(1, 400, 150), 200, 160, 800, 600), "Moved window Contracts - Signer", "移动了窗口“Contracts - Signer”"},
		"and looked at on the way":              {contracts(contracts(title(), 170, 140, 800, 600).move(500, 300).release(1, 500, 300), 300, 310, 800, 600), "Moved window Contracts - Signer", ""},
		"by a title bar that the program draws": {contracts(signer().press(1, 300, 110).on(logIn).move(400, 150).release(1, 400, 150), 200, 140, 800, 600), "Moved window Contracts - Signer", ""},
		"into the top of the screen":            {contracts(signer().press(1, 300, 90).move(300, 40).release(1, 300, 0), 0, 0, 1440, 870), "Moved window Contracts - Signer", ""},
		"by its corner":                         {contracts(signer().press(1, 899, 700).on(logIn).move(950, 740).release(1, 1000, 760), 100, 100, 900, 660), "Resized window Contracts - Signer", "调整了窗口“Contracts - Signer”的大小"},
		"by its left edge":                      {contracts(signer().press(1, 99, 400).move(50, 400).release(1, 20, 405), 20, 100, 880, 600), "Resized window Contracts - Signer", ""},
		"but not by a drag that it does not follow": {
			contracts(signer().press(1, 300, 300).on(logIn).move(500, 500).release(1, 500, 500), 100, 100, 800, 300), "Dragged in button Log in", ""},
		"nor where it stays": {
			contracts(signer().press(1, 300, 300).on(logIn).move(500, 500).release(1, 500, 500), 100, 100, 800, 600), "Dragged in button Log in", ""},
		"nor by a drag of long ago": {
			contracts(signer().press(1, 300, 300).on(logIn).move(400, 350).release(1, 400, 350).wait(4000), 200, 150, 800, 600), "Dragged in button Log in", ""},
	} {
		t.Run(name, func(t *testing.T) {
			list := tt.tape.actions("en")
			if got := words(list); !slices.Equal(got, []string{tt.en}) {
				t.Fatalf("got %q, want %q", got, tt.en)
			}
			if reshaped := list[0].Type != human.Drag; reshaped && (list[0].Element != nil || list[0].Window.Bounds != human.Bounds{X: 100, Y: 100, W: 800, H: 600}) {
				t.Errorf("it is of %+v in %+v, not of the window as it stood", list[0].Element, list[0].Window)
			}
			if tt.zh != "" {
				if got := words(tt.tape.actions("zh-CN")); !slices.Equal(got, []string{tt.zh}) {
					t.Errorf("got %q, want %q", got, tt.zh)
				}
			}
		})
	}
}

func TestADoubleClickThatBringsAWindowToTheFrontIsOne(t *testing.T) {
	tape := signer().window("d2", "Inbox", "Mail", 8).wait(5000).click(120, 120).on(logIn).window("w1", "Contracts - Signer", "Signer", 7).click(120, 120)
	if got, want := words(tape.actions("en")), []string{"Switched to Inbox", "Double-clicked button Log in", "Switched to Contracts - Signer"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
