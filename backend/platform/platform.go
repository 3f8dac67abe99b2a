// Package platform chooses, of what the packages below it offer, what this operating system and session have.
package platform

import (
	"io"
	"os"
	"strings"
	"time"

	"deskbell/backend/platform/folders"
	"deskbell/backend/platform/input"
	"deskbell/backend/queue/stepup"
	"deskbell/backend/record"
	"deskbell/backend/record/replay"
)

// Now is the clock of recordings: the time of day, and the monotonic clock that the system stamps its events with.
func Now() (wall time.Time, mono int64) { return time.Now(), monotonic() }

// Options say what a recorder may listen to.
type Options struct {
	Dir       string // the data folder: its files are not watched, and what consent the desktop remembers is kept in it
	Excluding bool   // there are applications that are not recorded
}

// Sources are what a recorder listens to on this system, with its clock and this process. Nothing is heard before a
// recording begins.
func Sources(o Options) record.Deps {
	deps := sources(o)
	deps.Clock, deps.SelfPID = Now, os.Getpid()
	deps.Files = func(paths []string) record.Source { return folders.New(Now, paths, o.Dir) }
	return deps
}

// Capturer takes single pictures of the desktop of this session. Under Wayland the desktop asks each time what one may show.
func Capturer() *record.Capturer {
	deps := sources(Options{})
	return &record.Capturer{Screen: deps.Screen, Windows: deps.Windows, SelfPID: os.Getpid(), Asks: strings.HasPrefix(deps.System, "linux/wayland")}
}

// Close releases what sources hold between recordings. What cannot be closed any more is gone already.
func Close(deps record.Deps) {
	if c, ok := deps.Elements.(io.Closer); ok {
		_ = c.Close()
	}
	if deps.Screen != nil {
		_ = deps.Screen.Close()
	}
}

// A SystemCheck is the system's own proof that the person at this machine is its user.
type SystemCheck interface {
	stepup.System
	io.Closer
}

// NewSystemCheck makes this system's. It connects when it is first used.
func NewSystemCheck() SystemCheck { return systemCheck() }

// Player acts on this desktop, to play recordings back.
func Player(deps record.Deps) (replay.Player, error) {
	p, err := input.New(deps.Windows, deps.Elements)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Desk acts on this desktop, to do procedures.
func Desk(deps record.Deps, acting record.Acting) (record.Desk, error) {
	d, err := input.NewDesk(deps.Windows, deps.Elements, acting)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// OwnKeys are those that Deskbell's window takes in any program (see package window): no part of what is recorded.
var OwnKeys = []record.Chord{{Key: "r", Modifiers: []string{"ctrl", "alt"}}, {Key: "r", Modifiers: []string{"ctrl", "alt", "shift"}}}
