package human

import (
	"slices"
	"time"
)

// RecordingID names one recording, for ever. It sorts by the time it was begun.
type RecordingID string

// RecordingPrefix is how every RecordingID begins.
const RecordingPrefix = "rec_"

// RecordingState is where a recording stands. A discarded recording exists no more.
type RecordingState string

// The states of a recording.
const (
	RecordingRuns        RecordingState = "recording"
	RecordingPaused      RecordingState = "paused"
	RecordingStopped     RecordingState = "stopped"
	RecordingInterrupted RecordingState = "interrupted" // Deskbell died while it ran; all stored by then is readable
)

// SourceName is one of the things a recorder listens to.
type SourceName string

// The sources.
const (
	InputSource     SourceName = "input"     // pointer and keys
	WindowSource    SourceName = "windows"   // which window, application and process is active
	ElementSource   SourceName = "elements"  // the accessible element under the pointer and with the focus
	ScreenSource    SourceName = "screen"    // pictures
	FileSource      SourceName = "files"     // changes in folders the operator named
	ClipboardSource SourceName = "clipboard" // that it changed, and what kind it holds
	TerminalSource  SourceName = "terminal"  // commands of a terminal
	RecorderSource  SourceName = "recorder"  // the recorder's own marks: pauses, gaps, ticks of the checklist
)

// A SourceState says what a source can deliver, and in a recording what it did deliver.
type SourceState struct {
	Source SourceName `json:"source" enum:"input,windows,elements,screen,files,clipboard,browser,terminal"`
	Status string     `json:"status" enum:"complete,partial,missing,off" doc:"partial: with gaps or without a part; off: not asked for."`
	Code   string     `json:"code,omitempty" doc:"A word for the reason, for translation: wayland, no_display, no_accessibility_bus, no_permission, elevated, lost, waiting, declined, unsupported, no_browser."`
	Detail string     `json:"detail,omitempty" doc:"What is missing and why, in a sentence."`
	Fix    string     `json:"fix,omitempty" doc:"What to do about it."`
	Seen   uint64     `json:"seen,omitempty" doc:"Events counted at the source."`
	Stored uint64     `json:"stored,omitempty" doc:"Events of it in the store."`
	Lost   uint64     `json:"lost,omitempty" doc:"Events the source counted and the store has not."`

	Programs []ProgramElements `json:"programs,omitempty" doc:"Of elements. Of a recording: the programs that were pressed in. Before one: the programs with windows that give no elements."`
}

// ProgramElements is what one program gave of its elements. Where it gave none, of a press only its place is known.
type ProgramElements struct {
	Name    string `json:"name"`
	Presses uint64 `json:"presses" doc:"Looked up in it."`
	Seen    uint64 `json:"elements" doc:"Of the presses, those of which the element was seen."`
}

// A Gap is a stretch of a recording in which something was not recorded, and why.
type Gap struct {
	From   int64      `json:"from_ns" doc:"Nanoseconds from the start of the recording."`
	To     int64      `json:"to_ns"`
	Source SourceName `json:"source,omitempty" doc:"Absent: all of them."`
	Reason string     `json:"reason" enum:"paused,excluded,lost,overflow,crash,limit,unreported" doc:"unreported: under Wayland, no program said that its window was active."`
	Count  uint64     `json:"count,omitempty" doc:"How many events are missing, where that is known."`
}

// A Screen is one display. On X11 and Windows the unit is a physical pixel, on macOS a point; the origin
// is that of the whole desktop, so X and Y may be negative.
type Screen struct {
	X     int     `json:"x"`
	Y     int     `json:"y"`
	W     int     `json:"w"`
	H     int     `json:"h"`
	Scale float64 `json:"scale" doc:"Pixels of a picture for one unit."`
}

// RecordingCounts are what the recorder bar shows.
type RecordingCounts struct {
	Events   uint64 `json:"events"`
	Clicks   uint64 `json:"clicks"`
	Keys     uint64 `json:"keys"`
	Pictures uint64 `json:"pictures" doc:"All, equal ones included."`
	Equal    uint64 `json:"equal_pictures" doc:"Pictures equal to one that is stored already."`
	Masked   uint64 `json:"masked" doc:"Texts and fields that were hidden."`
	Black    uint64 `json:"black_pictures" doc:"Pictures that are all black: which secrets they might show could not be told, as places are not known."`
	Lost     uint64 `json:"lost"`
}

// RecordingOptions are what the operator chose for one recording.
type RecordingOptions struct {
	Folders   []string `json:"folders,omitempty" doc:"Absolute paths; file operations in and under them are recorded."`
	Clipboard string   `json:"clipboard,omitempty" enum:"off,kind,content" doc:"Of changes of the clipboard: nothing, what kind (default), or text as well."`
	Pictures  *bool    `json:"pictures,omitempty" doc:"Absent: true."`
	// Desktop and Browser say what is recorded: the desktop alone where both are absent.
	Desktop *bool           `json:"desktop,omitempty" doc:"Record the whole desktop; absent: true, but with browser false."`
	Browser *BrowserOptions `json:"browser,omitempty" doc:"Open a browser and record what is done in it; absent: none."`
	// Terminal is set by Deskbell alone: a terminal's recording begins with it.
	Terminal *TerminalOptions `json:"terminal,omitempty" doc:"It is the recording of a terminal."`
}

// TerminalOptions say which terminal was recorded.
type TerminalOptions struct {
	Shell     string `json:"shell"`
	Folder    string `json:"folder" doc:"Where it was started."`
	Suggested int    `json:"suggested,omitempty" doc:"How many commands the request had."`
}

// RecordsDesktop says whether the desktop is recorded.
func (o RecordingOptions) RecordsDesktop() bool {
	if o.Desktop != nil {
		return *o.Desktop
	}
	return o.Browser == nil && o.Terminal == nil
}

// A Recording is one recorded stretch of work on an operation.
type Recording struct {
	ID          RecordingID      `json:"recording_id"`
	OperationID OperationID      `json:"operation_id"`
	By          string           `json:"by" doc:"The operator."`
	State       RecordingState   `json:"state" enum:"recording,paused,stopped,interrupted"`
	Reason      string           `json:"reason,omitempty" enum:"operator,limit,operation_ended,shutdown,crash,failed" doc:"Why it ended."`
	StartedAt   time.Time        `json:"started_at"`
	EndedAt     *time.Time       `json:"ended_at,omitempty"`
	Elapsed     int64            `json:"elapsed_ns" doc:"Nanoseconds recorded so far, pauses left out."`
	Span        int64            `json:"span_ns" doc:"Nanoseconds from the start to the last event, pauses included; the time of events runs to this."`
	System      string           `json:"system" doc:"Operating system and window system, such as linux/x11 or linux/wayland/gnome."`
	Screens     []Screen         `json:"screens"`
	Options     RecordingOptions `json:"options"`
	Sources     []SourceState    `json:"sources"`
	Counts      RecordingCounts  `json:"counts"`
	Complete    bool             `json:"complete" doc:"Once stopped: what the sources counted is what the store has, and nothing was missing."`
	Gaps        []Gap            `json:"gaps"`
	Bytes       int64            `json:"bytes" doc:"Bytes on disk."`
	MaxBytes    int64            `json:"max_bytes"`
	MaxElapsed  int64            `json:"max_elapsed_ns"`
	NearLimit   bool             `json:"near_limit" doc:"It will be stopped soon: a tenth of a limit is left, or two minutes."`

	PicturesRemoved *time.Time `json:"pictures_removed_at,omitempty" doc:"When retention removed its pictures and what its terminal printed."`
	Removed         *time.Time `json:"removed_at,omitempty" doc:"When retention removed all that was recorded. This header stays."`

	Holder string `json:"holder,omitempty" doc:"In a team: on whose desk it is, who agreed that it is read here; absent: on this one."`
}

// Running says whether the recording continues, paused or not.
func (r Recording) Running() bool { return r.State == RecordingRuns || r.State == RecordingPaused }

// An ExportOffer is a format that a recording can be exported in.
type ExportOffer struct {
	Format  string     `json:"format" doc:"As the export's format names it."`
	File    string     `json:"file" doc:"The name of the file."`
	Refused *Sentence  `json:"refused,omitempty" doc:"Why it cannot be had as the recording is edited now."`
	Says    []Sentence `json:"says,omitempty" doc:"What is left out or done in another way in this format, and the variables that whoever plays it has to set. The file says the same."`
}

// Edits are what the operator decided about a recording before it leaves. The recording itself stays as
// it is; everything that leaves is made with its edits.
type Edits struct {
	Version       uint64            `json:"version" doc:"The version changed; a change of another version is a conflict."`
	Cuts          []string          `json:"cuts" doc:"Ids of actions that are left out, with their pictures."`
	MaskedTexts   []string          `json:"masked_texts" doc:"Ids of actions whose text and element names are hidden."`
	Masks         []Mask            `json:"masks" doc:"Regions of pictures that are masked."`
	Words         map[string]string `json:"words,omitempty" doc:"The operator's own words for a step, by the action's id."`
	ShareText     bool              `json:"share_text" doc:"The agent gets what was typed, not only that it was."`
	SharePictures bool              `json:"share_pictures" doc:"The agent may read the pictures."`
	PicturesOf    []string          `json:"pictures_of,omitempty" doc:"Ids of actions whose pictures the agent may read, also where share_pictures is false."`
}

// Shares says whether the agent may read the pictures of an action.
func (e Edits) Shares(action string) bool {
	return e.SharePictures || slices.Contains(e.PicturesOf, action)
}

// A Mask is a region of one picture, or of all of them, in pixels of the picture.
type Mask struct {
	Picture string `json:"picture,omitempty" doc:"Its id; absent: every picture."`
	X       int    `json:"x"`
	Y       int    `json:"y"`
	W       int    `json:"w"`
	H       int    `json:"h"`
}

// RecordedType is what a recorded event says. Which fields are set follows from it.
type RecordedType string

// The types of recorded events.
const (
	PointerMoved    RecordedType = "move"           // X Y
	PointerDown     RecordedType = "press"          // Button X Y Modifiers
	PointerUp       RecordedType = "release"        // Button X Y Modifiers
	Scrolled        RecordedType = "scroll"         // X Y DeltaX DeltaY in notches, positive is right and down
	KeyDown         RecordedType = "key_down"       // Key and Modifiers, but neither where the key made text; Repeat
	KeyUp           RecordedType = "key_up"         // likewise
	TextTyped       RecordedType = "text"           // Text (masked), Count characters, CausedBy the first key_down, Until the last
	WindowActive    RecordedType = "window"         // App Window: it became the active one
	WindowOpened    RecordedType = "window_opened"  // App Window
	WindowClosed    RecordedType = "window_closed"  // App Window
	WindowRetitled  RecordedType = "window_changed" // App Window: title or bounds of the active one
	ElementSeen     RecordedType = "element"        // Element under the pointer at CausedBy, a press
	FocusMoved      RecordedType = "focus"          // Element that has the keyboard
	ElementChanged  RecordedType = "changed"        // Element whose application reports another state, choice or text: Text (masked), Count characters
	ValueRead       RecordedType = "value"          // Element, Text (masked): what stands in the field after typing ended
	PictureTaken    RecordedType = "picture"        // Picture, When, CausedBy where an event made it
	FileChanged     RecordedType = "file"           // File
	ClipboardSet    RecordedType = "clipboard"      // ContentKind; Text (masked) where allowed
	RecordingBegan  RecordedType = "started"        //
	RecordingHeld   RecordedType = "paused"         //
	RecordingGoesOn RecordedType = "resumed"        //
	Marked          RecordedType = "mark"           // Text, the operator's note; or Step and Done, a tick of the checklist
	GapOpened       RecordedType = "gap"            // Gap
	RecordingEnded  RecordedType = "ended"          // Text is the reason
	CommandBegan    RecordedType = "command_began"  // Command, without what is known at its end
	CommandEnded    RecordedType = "command_ended"  // Command, CausedBy the event of its beginning
)

// A RecordedEvent is one raw event. It never changes once it is stored; actions are derived from it.
type RecordedEvent struct {
	Seq         uint64       `json:"seq" doc:"From 1, without gaps."`
	At          int64        `json:"t_mono_ns" doc:"Nanoseconds from the start of the recording on the machine's monotonic clock; when it happened, as the system stamped it where it does."`
	Source      SourceName   `json:"source"`
	Type        RecordedType `json:"type"`
	X           int          `json:"x,omitempty"`
	Y           int          `json:"y,omitempty"`
	Button      int          `json:"button,omitempty" doc:"1 left, 2 middle, 3 right, 8 back, 9 forward."`
	DeltaX      float64      `json:"delta_x,omitempty"`
	DeltaY      float64      `json:"delta_y,omitempty"`
	Modifiers   []string     `json:"modifiers,omitempty" doc:"Of ctrl, alt, shift, meta, in this order."`
	Key         string       `json:"key,omitempty" doc:"A key that makes no text, or one pressed with ctrl, alt or meta: W3C UI Events key values (Enter, Tab, ArrowLeft, F5, c)."`
	Repeat      bool         `json:"repeat,omitempty"`
	Text        string       `json:"text,omitempty"`
	Count       int          `json:"count,omitempty"`
	Until       uint64       `json:"until,omitempty"`
	App         *App         `json:"app,omitempty"`
	Window      *Window      `json:"window,omitempty"`
	Element     *Element     `json:"element,omitempty"`
	Picture     string       `json:"picture,omitempty" doc:"Its id: SHA-256 of its size and pixels, in hex."`
	When        string       `json:"when,omitempty" enum:"before,after,window,typing,scroll,start,end"`
	File        *FileChange  `json:"file,omitempty"`
	ContentKind string       `json:"content_kind,omitempty" enum:"text,image,files,other,empty"`
	Step        *int         `json:"step,omitempty" doc:"Index into details.action_sequence."`
	Done        bool         `json:"done,omitempty"`
	Gap         *Gap         `json:"gap,omitempty"`
	Hidden      string       `json:"hidden,omitempty" enum:"password,secure_input,secret,excluded,unknown_field,operator" doc:"Why something was hidden."`
	SecretID    int          `json:"secret_id,omitempty" doc:"Number of the hidden text: within a recording, equal texts have equal numbers. Absent where that is not known."`
	Reported    bool         `json:"reported,omitempty" doc:"An application reported it over accessibility; no input was seen."`
	CausedBy    uint64       `json:"caused_by,omitempty" doc:"seq of the event this one belongs to."`
	Browsing
	Command *ShellCommand `json:"command,omitempty"`
}

// A ShellCommand is a command that was run in a terminal. How long it took is in its action's times.
type ShellCommand struct {
	Text       string `json:"text,omitempty" doc:"As it was run, secrets masked; absent where the shell did not keep it."`
	Folder     string `json:"folder,omitempty" doc:"Where it was run."`
	Exit       *int   `json:"exit_code,omitempty" doc:"Absent while it runs, or where it is not known."`
	Output     string `json:"output,omitempty" doc:"The first and last lines of what it printed, masked; a line with an ellipsis stands for what was left out. An agent gets it where the operator shares text, else the last line of a command that failed."`
	Lines      int    `json:"output_lines" doc:"Of its output."`
	Bytes      int64  `json:"output_bytes"`
	Screen     bool   `json:"screen,omitempty" doc:"It drew on the whole screen, like an editor: its output is no text."`
	Masked     int    `json:"masked,omitempty" doc:"Secrets hidden in it and its output."`
	Suggestion *int   `json:"suggestion,omitempty" doc:"Index of the request's command that it is."`
	Edited     bool   `json:"edited,omitempty" doc:"It is that one with changes."`
}

// An App is a program with windows.
type App struct {
	Name string `json:"name" doc:"As people know it, where the system says; else the executable's name."`
	PID  int    `json:"pid,omitempty"`
	Exe  string `json:"exe,omitempty" doc:"The executable's file name, without its folder."`
}

// A Window is a top-level window. Bounds are of its client area, in the units of Screen.
type Window struct {
	ID     string `json:"id" doc:"The system's own, as text."`
	Title  string `json:"title"`
	Bounds Bounds `json:"bounds"`
}

// Bounds are a rectangle on the desktop, in the units of Screen.
type Bounds struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// Contains says whether the point lies within.
func (b Bounds) Contains(x, y int) bool {
	return x >= b.X && y >= b.Y && x < b.X+b.W && y < b.Y+b.H
}

// An Element is an accessible object, as it was when it was looked at. Roles are ARIA's where ARIA has
// the role (button, textbox, menuitem), else the platform's own in lower case.
type Element struct {
	Role     string    `json:"role"`
	Name     string    `json:"name,omitempty" doc:"Its accessible name; of an element of a page that has none (named: otherwise), what people know it by."`
	Named    string    `json:"named,omitempty" enum:"otherwise" doc:"The name is no accessible name: it is its text, placeholder, icon, human-made id or the like."`
	Beside   string    `json:"beside,omitempty" doc:"What stands beside an element of a page that has no name, or shares it: the text before it, the header of its row or column, the heading of its part of the page. Of what something is dropped on, that heading alone."`
	Bounds   Bounds    `json:"bounds"`
	States   []string  `json:"states,omitempty" doc:"Of focused, checked, selected, expanded, disabled, editable, multiline."`
	Ancestry []Element `json:"ancestry,omitempty" doc:"From its parent to the window, with role and name only."`
	Tag      string    `json:"tag,omitempty" doc:"Of an element of a page: its HTML tag, in lower case, and of an input its type: input/email."`
	// Selectors find an element of a page again; each was unique when it was recorded. Each is a list that
	// descends through shadow hosts, mostly of one. They are written as @puppeteer/replay takes them.
	Selectors [][]string `json:"selectors,omitempty" doc:"The best first: a test id, aria/NAME[role=\"ROLE\"], placeholder, label, alt, text/, title, CSS id, CSS path. Each a list descending through shadow roots."`
	Secret    bool       `json:"secret,omitempty" doc:"A field for passwords; its text is never read."`
	Hidden    string     `json:"hidden,omitempty" doc:"Why its name is masked."`
	Inside    string     `json:"inside,omitempty" enum:"dialog,complementary" doc:"Of an element of a page: the kind of part that it lies in, where that stands apart from the rest of the page."`
	Form      []Filled   `json:"form,omitzero" doc:"Of what is pressed in a page: what is filled in, ticked and chosen in the form around it. Absent: there is no form, or it is too large."`
	Shows     []string   `json:"shows,omitempty" doc:"Of what is pressed in a page: fingerprints of what was typed or chosen before and stands on the page, outside of fields, and others of what is the whole of a line there."`
	Says      []string   `json:"says,omitzero" doc:"Of what is pressed in a page: the lines of text around it, without rows of data, labels and numbers. Absent: there are many."`
	Ref       string     `json:"-"` // how the adapter finds it again while it lives
}

// Filled is a field that holds something, or a box that is ticked.
type Filled struct {
	Role     string `json:"role"`
	Name     string `json:"name" doc:"Its name or, without one, what stands beside it."`
	Holds    string `json:"holds,omitempty" doc:"Of a list to choose from: the labels of what is chosen. Absent: anything."`
	Optional bool   `json:"optional,omitempty" doc:"Of a procedure: it may be left as it is without."`
}

// A FileChange is one change in a folder that is watched.
type FileChange struct {
	Op   string `json:"op" enum:"created,changed,renamed,deleted"`
	Path string `json:"path"`
	To   string `json:"to,omitempty" doc:"The new path of a renamed one."`
	Dir  bool   `json:"dir,omitempty"`
	Size int64  `json:"size,omitempty"`
}

// ActionType is what a person did.
type ActionType string

// The types of actions.
const (
	Click         ActionType = "click"
	DoubleClick   ActionType = "double_click"
	TripleClick   ActionType = "triple_click"
	Drag          ActionType = "drag"
	Scroll        ActionType = "scroll"
	Typing        ActionType = "type"
	Shortcut      ActionType = "shortcut" // also single keys that make no text: Enter, Escape, F5
	Paste         ActionType = "paste"
	Copy          ActionType = "copy"
	SwitchWindow  ActionType = "switch_window"
	OpenApp       ActionType = "open_app"
	CloseWindow   ActionType = "close_window"
	MoveWindow    ActionType = "move_window"   // by its title bar
	ResizeWindow  ActionType = "resize_window" // by its edge
	FileOperation ActionType = "file"
	ValueChange   ActionType = "change" // an application reported another text, choice or state; no key was seen
	Focus         ActionType = "focus"  // an application reported where the keyboard is
	Note          ActionType = "note"   // the operator marked this moment
	Missing       ActionType = "gap"
	CommandRun    ActionType = "command" // in a terminal
)

// An Action is what a person did, derived from the raw events whose ids it names.
type Action struct {
	ID         string        `json:"action_id" doc:"a and the seq of its first event; the same however often it is derived."`
	Type       ActionType    `json:"type" enum:"click,double_click,triple_click,drag,scroll,type,shortcut,paste,copy,switch_window,open_app,close_window,move_window,resize_window,file,change,focus,note,gap,open_page,close_page,switch_page,navigate,choose,check,hover,media,dialog,message,upload,download,pick,command"`
	At         int64         `json:"at_ns" doc:"Nanoseconds from the start of the recording."`
	End        int64         `json:"end_ns"`
	Seqs       []uint64      `json:"child_seqs" doc:"The raw events it was derived from."`
	Button     int           `json:"button,omitempty"`
	Modifiers  []string      `json:"modifiers,omitempty"`
	Key        string        `json:"key,omitempty"`
	X          int           `json:"x,omitempty"`
	Y          int           `json:"y,omitempty"`
	ToX        int           `json:"to_x,omitempty"`
	ToY        int           `json:"to_y,omitempty"`
	DeltaX     float64       `json:"delta_x,omitempty"`
	DeltaY     float64       `json:"delta_y,omitempty"`
	Text       string        `json:"text,omitempty" doc:"What was typed, as meant; masked where it was secret; absent for an agent unless shared."`
	Value      string        `json:"value,omitempty" doc:"What stood in the field afterwards."`
	Count      int           `json:"count,omitempty" doc:"Characters typed, notches scrolled, or times a key was pressed."`
	Hidden     string        `json:"hidden,omitempty" doc:"Why the text is hidden."`
	SecretID   int           `json:"secret_id,omitempty" doc:"Number of the hidden text: within a recording, equal texts have equal numbers. Absent where that is not known."`
	Element    *Element      `json:"element,omitempty"`
	Target     *Element      `json:"target,omitempty" doc:"Where a drag ended."`
	App        *App          `json:"app,omitempty"`
	Window     *Window       `json:"window,omitempty"`
	File       *FileChange   `json:"file,omitempty"`
	Gap        *Gap          `json:"gap,omitempty"`
	Page       *WebPage      `json:"page,omitempty" doc:"Of an action in a browser; its X, Y and bounds are then from the top left of the page's viewport, which is all of its pictures."`
	Navigation *Navigation   `json:"navigation,omitempty"`
	Dialog     *Dialog       `json:"dialog,omitempty"`
	Transfers  []Transfer    `json:"transfers,omitempty"`
	Answers    []WebAnswer   `json:"answers,omitempty" doc:"What its site answered, good or bad, to what the page sent because of this action without going elsewhere: at most three, of requests that change something."`
	Pick       *Pick         `json:"pick,omitempty"`
	Values     []string      `json:"values,omitempty" doc:"Options chosen, or checked or unchecked."`
	Command    *ShellCommand `json:"command,omitempty" doc:"Of an action of type command."`
	CausedBy   string        `json:"caused_by,omitempty" doc:"Id of the action that led to it: the click a navigation, popup, dialog or download came from."`
	Before     string        `json:"before,omitempty" doc:"Id of the picture before it."`
	After      string        `json:"after,omitempty" doc:"Id of the picture after it."`
	Step       *int          `json:"step,omitempty" doc:"The step of the checklist it was done in."`
	Words      string        `json:"words" doc:"One line for people, in the language asked for."`
	Reported   bool          `json:"reported,omitempty" doc:"A program reported it over accessibility: no input was seen, so who did it and how is not known."`
	Cut        bool          `json:"cut,omitempty" doc:"The operator left it out."`
	Masked     bool          `json:"masked,omitempty" doc:"The operator hid its text."`
}
