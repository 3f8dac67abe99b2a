package record

import (
	"testing"

	"deskbell/backend/human"
)

// What hands do themselves is not a person's, and a pointer that is only touched is not moved.
func TestTakeover(t *testing.T) {
	moved := func(at int64, x int) human.RecordedEvent {
		return human.RecordedEvent{Type: human.PointerMoved, At: at, X: x, Y: 10}
	}
	key := func(at int64) human.RecordedEvent { return human.RecordedEvent{Type: human.KeyDown, At: at} }
	for name, c := range map[string]struct {
		acting [2]int64 // from and to
		heard  []human.RecordedEvent
		why    string
	}{
		"nothing":                   {},
		"it rests":                  {heard: []human.RecordedEvent{moved(1, 10), moved(2, 14)}},
		"it is moved":               {heard: []human.RecordedEvent{moved(1, 10), moved(2, 30)}, why: "you moved the pointer"},
		"a key":                     {heard: []human.RecordedEvent{key(5)}, why: "you pressed a key"},
		"Deskbell's own":            {acting: [2]int64{1, 1e9}, heard: []human.RecordedEvent{moved(2, 10), moved(3, 300), {Type: human.PointerDown, At: 4}, key(1e9 + lags)}},
		"a key after Deskbell's":    {acting: [2]int64{1, 1e9}, heard: []human.RecordedEvent{key(1e9 + lags + 1)}, why: "you pressed a key"},
		"moved from where it acted": {acting: [2]int64{1, 1e9}, heard: []human.RecordedEvent{moved(2, 300), moved(2e9, 330)}, why: "you moved the pointer"},
	} {
		t.Run(name, func(t *testing.T) {
			now := int64(0)
			h := deskHands{takeover: &takeover{clock: func() int64 { return now }}}
			h.hears(key(0)) // before they are at work it is none of theirs
			h.Resume()
			if now = c.acting[1]; now > 0 {
				h.acting()()
			}
			for _, e := range c.heard {
				h.hears(e)
			}
			why := ""
			if is := h.Interrupted(); is != nil {
				why = is.Text
			}
			if why != c.why {
				t.Errorf("it is %q, not %q", why, c.why)
			}
		})
	}
}
