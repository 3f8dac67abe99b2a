package record

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"deskbell/backend/human"
)

// Deps are the parts a Recorder stands on. A source that is nil is reported as missing.
type Deps struct {
	Store      Store
	Pictures   Pictures
	Operations Operations
	Clock      Clock

	Input     Source
	Windows   Windows
	Elements  Elements
	Guards    []Guard
	Screen    Screen
	Files     func(folders []string) Source
	Clipboard func(content bool) Source
	Browser   func(o human.BrowserOptions, clipboard bool, save SavePicture) Browser // clipboard: copied text may be recorded
	Masker    Masker                                                                 // nil hides every text
	Desk      func(Acting) (Desk, error)                                             // what acts on the desktop; nil: nothing does

	NewID   func() human.RecordingID
	Log     *slog.Logger // nil is slog's default
	System  string       // operating system and window system: linux/x11, windows, macos; which keys make text follows from it
	SelfPID int          // the process whose windows are left out, Deskbell's own
}

// Options are the operator's settings.
type Options struct {
	MaxElapsed time.Duration // of one recording, pauses left out; 0 is no limit
	MaxBytes   int64         // of one recording on disk; 0 is no limit
	Exclude    []string      // patterns of applications and windows that are not recorded; see DefaultExclude
	OwnKeys    []Chord       // keys that are for the recorder and no part of the work
}

// A Chord is a key pressed with modifiers, named as in human.RecordedEvent, whatever their case.
type Chord struct {
	Key       string
	Modifiers []string
}

// Discarded is the state in which Watch shows a discarded recording, once; no stored recording has it.
const Discarded human.RecordingState = "discarded"

// A Note is what the operator marks in a recording: a text, or a step of the checklist, or both.
type Note struct {
	Text string
	Step *int // index into details.action_sequence
	Done bool // the step was ticked, and not unticked
}

// checkOptions returns the options with their defaults.
func checkOptions(o human.RecordingOptions) (human.RecordingOptions, error) {
	o.Clipboard = cmp.Or(o.Clipboard, "kind")
	if !slices.Contains([]string{"off", "kind", "content"}, o.Clipboard) {
		return o, human.BadField("options.clipboard", "is %q; it is off, kind or content", o.Clipboard)
	}
	folders := slices.Clone(o.Folders)
	for i, f := range folders {
		if !filepath.IsAbs(f) {
			return o, human.BadField("options.folders", "has %q, which is not an absolute path", f)
		}
		folders[i] = filepath.Clean(f)
	}
	o.Folders = folders
	if o.Terminal != nil {
		return o, human.BadField("options.terminal", "is set by Deskbell alone; start the operation's terminal")
	}
	if o.Browser != nil {
		browser, err := checkBrowser(*o.Browser)
		if err != nil {
			return o, err
		}
		o.Browser = &browser
	} else if !o.RecordsDesktop() {
		return o, human.BadField("options.desktop", "is false, and no browser is given, so there is nothing to record")
	}
	return o, nil
}

// checkBrowser returns the options of a browser with their defaults.
func checkBrowser(o human.BrowserOptions) (human.BrowserOptions, error) {
	switch o.Profile {
	case "":
		o.Profile = "kept"
	case "kept", "throwaway":
	default:
		return o, human.BadField("options.browser.profile", "is %q; it is kept or throwaway", human.OneLine(o.Profile, 40))
	}
	if !opens(o.URL) {
		return o, human.BadField("options.browser.url", "is %q; only http and https addresses are opened", human.OneLine(o.URL, 200))
	}
	return o, nil
}

// opens says whether a browser may be sent to an address: one with a file's or a script's scheme comes from an agent.
func opens(address string) bool {
	if address == "" || address == "about:blank" {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// addressOf is the page an operation is about, empty where it names none that may be opened.
func addressOf(op human.Operation) string {
	var details struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(op.Details, &details) != nil || !opens(details.URL) {
		return ""
	}
	return details.URL
}
