package window

// A Tray describes the icon in the panel. The texts are the operator's language's; Count says how many
// ring, for the menu and the tooltip. The entries of the recorder are there only while it records.
type Tray struct {
	Open, Quit                 string
	Recording, Paused          string // what the menu and the tooltip say while it records
	Pause, GoOn, Stop, Discard string
	Count                      func(pending int) string
	OnOpen, OnQuit             func()
	OnPause, OnStop, OnDiscard func() // OnPause also continues with a paused one
}

// Recording is what the tray shows of the recorder.
type Recording uint8

// The three ways.
const (
	NotRecording Recording = iota
	Recorded               // it runs
	RecordingPaused
)
