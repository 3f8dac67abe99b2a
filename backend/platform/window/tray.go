package window

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/human"
)

// A Tray describes the icon in the panel: its texts, in the operator's language, and what happens when an entry of its menu is
// chosen. Chosen is called on a goroutine of its own.
type Tray struct {
	Words  Words
	Keys   Abilities // of which the hot keys are named beside what they do
	Chosen func(Choice)
	Opened func() // the menu is about to be read; called on a goroutine of its own, and not by every panel
}

// A Choice is an entry of the tray's menu.
type Choice struct {
	Do Command
	To string // of OpenCommand: a human.Destination's text; of QuietCommand: one of QuietTimes, or "" to end it
}

// A Command is what an entry does.
type Command uint8

// The commands.
const (
	OpenCommand Command = iota
	QuietCommand
	CriticalCommand // whether critical requests are shown anyway: the other way round
	RecordCommand   // begin a recording, or pause the one that runs, or continue it
	StopCommand
	DiscardCommand
	QuitCommand
)

// trayRequests is how many requests the menu names.
const trayRequests = 3

// TrayState is what the tray shows.
type TrayState struct {
	Pending   int
	Waiting   []human.Operation // the most urgent first; more than trayRequests are counted
	Recording Recording
	Quiet     Quiet
	Status    Status
}

// Status is what the tray says of the rest of the program. Nothing in it can be changed from the menu: any program of this user
// can choose an entry of it.
type Status struct {
	Policy string // of the gatekeeper: permissive, balanced or strict; "" is not known
	Agents int    // how many are connected
	Newer  string // the version that can be installed; "" without
}

// Recording is what the tray shows of the recorder.
type Recording uint8

// The three ways.
const (
	NotRecording Recording = iota
	Recorded               // it runs
	RecordingPaused
)

// An entry is what the menu shows at one place; "" hides it.
type entry struct {
	Choice
	title string
	// dead ones cannot be chosen; a line stands above it; it stands in the menu of the last entry that is none of these.
	dead, line, inner, checkable, checked bool
}

// menu are the entries of the tray's menu, always as many, in the same order.
func (t Tray) menu(s TrayState, now time.Time) []entry {
	w := t.Words
	head := w.Waiting(s.Pending)
	all := []entry{{title: head, dead: true}}
	for i := range trayRequests {
		var e entry
		if i < len(s.Waiting) {
			op := s.Waiting[i]
			e = entry{title: w.request(op), Choice: Choice{OpenCommand, string(op.ID)}}
		}
		all = append(all, e)
	}
	more := entry{Choice: Choice{OpenCommand, "inbox"}}
	if n := s.Pending - min(len(s.Waiting), trayRequests); n > 0 && len(s.Waiting) > 0 {
		more.title = fmt.Sprintf(w.more, n)
	}
	quiet := w.Quiet
	off := entry{inner: true, Choice: Choice{QuietCommand, ""}}
	if s.Quiet.On {
		quiet = w.QuietNow(s.Quiet, now)
	}
	if !s.Quiet.Until.IsZero() && s.Quiet.Until.After(now) {
		off.title = w.quietOff
	}
	all = append(all, more, entry{title: t.key(w.OpenApp, BellKey), Choice: Choice{Do: OpenCommand}, line: true}, entry{title: quiet}, off)
	for i, span := range QuietTimes {
		all = append(all, entry{title: w.quietFor[i], inner: true, Choice: Choice{QuietCommand, span}})
	}
	all = append(all, entry{title: w.critical, inner: true, checkable: true, checked: s.Quiet.Critical, Choice: Choice{Do: CriticalCommand}})
	record, says, stop, discard := w.record, "", "", ""
	switch s.Recording {
	case Recorded:
		says, record, stop, discard = w.Recording, w.Pause, t.key(w.Stop, StopKey), w.Discard
	case RecordingPaused:
		says, record, stop, discard = w.Paused, w.GoOn, t.key(w.Stop, StopKey), w.Discard
	}
	newer := ""
	if s.Status.Newer != "" {
		newer = fmt.Sprintf(w.newer, Plain(s.Status.Newer, 24))
	}
	return append(all,
		entry{title: says, dead: true}, entry{title: t.key(record, RecordKey), Choice: Choice{Do: RecordCommand}},
		entry{title: stop, Choice: Choice{Do: StopCommand}}, entry{title: discard, Choice: Choice{Do: DiscardCommand}},
		entry{title: w.policy(s.Status.Policy), Choice: Choice{OpenCommand, "gatekeeper"}, line: true},
		entry{title: w.connected(s.Status.Agents), Choice: Choice{OpenCommand, "agents"}},
		entry{title: newer, Choice: Choice{OpenCommand, "settings"}, line: true},
		entry{title: w.settings, Choice: Choice{OpenCommand, "settings"}}, entry{title: w.Quit, Choice: Choice{Do: QuitCommand}},
	)
}

// key is a title with the hot key that does the same, where it works. Menus show what follows a tab in a column of its own, or
// after a gap.
func (t Tray) key(title string, key Hotkey) string {
	works, name := t.Keys.RecordKeys, "Ctrl+Alt+R"
	switch key {
	case BellKey:
		works, name = t.Keys.Hotkey, "Ctrl+Alt+B"
	case StopKey:
		name = "Ctrl+Alt+Shift+R"
	}
	if !works {
		return title
	}
	return title + "\t" + name
}

// tip is what the icon says under the pointer.
func (t Tray) tip(s TrayState, now time.Time) string {
	tip := t.Words.Waiting(s.Pending)
	if s.Quiet.On {
		tip += ". " + t.Words.QuietNow(s.Quiet, now)
	}
	switch s.Recording {
	case Recorded:
		tip = t.Words.Recording + ". " + tip
	case RecordingPaused:
		tip = t.Words.Paused + ". " + tip
	}
	return "Deskbell: " + tip
}

// Plain is text of an agent as a system's menu may show it: one line of at most n characters, without what is not to be seen.
func Plain(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800' {
			return -1 // controls, those of the direction of writing, and letters without a shape
		}
		return r
	}, text)
	return human.Shorten(strings.Join(strings.Fields(text), " "), n)
}
