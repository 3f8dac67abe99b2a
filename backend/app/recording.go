package app

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"deskbell/backend/browser"
	"deskbell/backend/human"
	"deskbell/backend/platform/folders"
	"deskbell/backend/platform/input"
	"deskbell/backend/platform/window"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/record/masking"
	"deskbell/backend/record/replay"
	"deskbell/backend/store/pictures"
	"deskbell/backend/transport/cli"
)

// ToggleRecording pauses the recording that runs, goes on with a paused one, or begins one for the
// operation the operator has claimed: the one for the desktop that changed last, else any that did.
func (h *House) ToggleRecording(ctx context.Context) error {
	if h.recorder == nil {
		return errNoRecorder
	}
	current, runs := h.recorder.Current()
	var err error
	switch {
	case runs && current.State == human.RecordingPaused:
		_, err = h.recorder.Resume(ctx, h.operator(), current.ID)
	case runs:
		_, err = h.recorder.Pause(ctx, h.operator(), current.ID)
	default:
		var op human.OperationID
		if op, err = h.claimed(ctx); err == nil {
			_, err = h.recorder.Start(ctx, h.operator(), op, h.recordingOptions(human.RecordingOptions{}))
		}
	}
	return err
}

var errNoRecorder = human.Errorf(human.Unavailable, "recording is switched off; set recording.enabled to true and start Deskbell again")

// runRecorder serves until ctx ends.
func (h *House) runRecorder(ctx context.Context) {
	if h.recorder == nil {
		return
	}
	if err := h.recorder.Run(ctx); err != nil {
		h.log.Error("the recorder cannot read what a crash left behind", "err", err)
	}
}

// claimed is the operation that a recording is begun for when nobody says which.
func (h *House) claimed(ctx context.Context) (found human.OperationID, err error) {
	page, err := h.queue.List(ctx, h.operator(), queue.Filter{Open: true, Order: queue.Recent, Limit: queue.MaxPage})
	if err != nil {
		return "", err
	}
	for _, op := range page.Operations {
		if op.ClaimedBy != h.operator().Name {
			continue
		}
		if op.Kind == human.Desktop {
			return op.ID, nil
		}
		if found == "" {
			found = op.ID
		}
	}
	if found == "" {
		return "", human.Errorf(human.Conflict, "nothing is recorded yet: claim an operation first, so that the recording has something to belong to")
	}
	return found, nil
}

// StopRecording stops the recording that runs; without one it does nothing.
func (h *House) StopRecording(ctx context.Context) error {
	return h.current(func(id human.RecordingID) error {
		_, err := h.recorder.Stop(ctx, h.operator(), id)
		return err
	})
}

// DiscardRecording deletes the recording that runs; without one it does nothing.
func (h *House) DiscardRecording(ctx context.Context) error {
	return h.current(func(id human.RecordingID) error { return h.recorder.Discard(ctx, h.operator(), id) })
}

func (h *House) current(do func(human.RecordingID) error) error {
	if h.recorder == nil {
		return errNoRecorder
	}
	if current, runs := h.recorder.Current(); runs {
		return do(current.ID)
	}
	return nil
}

// WatchRecording reports whether the desktop is recorded, at each change, until ctx ends.
func (h *House) WatchRecording(ctx context.Context, changed func(window.Recording)) {
	if h.recorder == nil {
		<-ctx.Done()
		return
	}
	h.recorder.Watch(ctx, func(r human.Recording) {
		switch r.State {
		case human.RecordingRuns:
			changed(window.Recorded)
		case human.RecordingPaused:
			changed(window.RecordingPaused)
		default: // it was discarded, too
			changed(window.NotRecording)
		}
	})
}

// recordingOptions are those given, with the settings for what was left open.
func (h *House) recordingOptions(o human.RecordingOptions) human.RecordingOptions {
	s := h.config.Config.Settings().Recording
	if o.Folders == nil {
		for _, folder := range s.Folders {
			if rest, home := strings.CutPrefix(folder, "~"); home {
				if dir, err := os.UserHomeDir(); err == nil {
					folder = filepath.Join(dir, rest)
				}
			}
			o.Folders = append(o.Folders, folder)
		}
	}
	if o.Clipboard == "" {
		o.Clipboard = s.Clipboard
	}
	if o.Browser != nil && o.Browser.Profile == "" {
		web := *o.Browser
		web.Profile = h.config.Config.Settings().Browser.Profile
		o.Browser = &web
	}
	return o
}

// endRecordings stops the recording of an operation that ended, until ctx ends.
func (h *House) endRecordings(ctx context.Context) {
	if h.recorder == nil {
		return
	}
	head, err := h.queue.Head(ctx)
	if err != nil {
		h.log.Error("recordings do not stop with their operations", "err", err)
		return
	}
	for e, err := range h.queue.Follow(ctx, h.operator(), head) {
		if err != nil {
			if ctx.Err() == nil {
				h.log.Error("recordings do not stop with their operations", "err", err)
			}
			return
		}
		switch e.Event.Type {
		case human.Finished, human.Withdrawn, human.TurnedDown:
			if err := h.recorder.OperationEnded(ctx, e.ID); err != nil {
				h.log.Error("a recording did not stop with its operation", "operation", e.ID, "err", err)
			}
		}
	}
}

// player acts on this desktop, for playing recordings back.
func (h *House) player(context.Context) (replay.Player, error) {
	p, err := input.New(h.senses.Windows, h.senses.Elements)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// openRecorder puts the recorder together from what this system has. Nothing is recorded before somebody asks.
func (h *House) openRecorder() {
	h.senses = senses()
	s := h.settings.Recording
	if !s.Enabled {
		return
	}
	deps := h.senses
	deps.Store, deps.Pictures, deps.Operations = h.store.Recordings(), h.pictures, h.queue
	deps.Clock, deps.Log, deps.SelfPID = now, h.log, os.Getpid()
	deps.NewID = newRecordingID
	deps.Masker = masking.New()
	deps.Files = func(paths []string) record.Source { return folders.New(now, paths, h.config.Dir) }
	web := h.settings.Browser
	deps.Browser = func(o human.BrowserOptions, clipboard bool, keep record.SavePicture) record.Browser {
		return browser.New(browser.Options{
			Clock: now, Path: web.Path, ProfileDir: filepath.Join(h.config.Dir, "browser"), Exclude: web.Exclude,
			Parameters: web.Parameters, Masker: deps.Masker, Clipboard: clipboard, RRWeb: h.rrweb, Log: h.log,
		}, o, keep)
	}
	exclude := s.Exclude
	if s.ExcludeDefaults {
		exclude = slices.Concat(record.DefaultExclude, exclude)
	}
	h.recorder = record.New(deps, record.Options{
		MaxElapsed: time.Duration(s.MaxMinutes) * time.Minute, MaxBytes: int64(s.MaxMegabytes) * 1e6, Exclude: exclude,
		// Those of package desktop, in any window.
		OwnKeys: []record.Chord{{Key: "r", Modifiers: []string{"ctrl", "alt"}}, {Key: "r", Modifiers: []string{"ctrl", "alt", "shift"}}},
	})
}

// rrweb is the source of rrweb's recorder, which the page's build leaves beside the page.
func (h *House) rrweb() (string, error) {
	if h.config.Console == nil {
		return "", human.Errorf(human.Unavailable, "pages cannot be filmed: this Deskbell was built without its own page")
	}
	script, err := fs.ReadFile(h.config.Console, "rrweb-record.js")
	if err != nil {
		return "", human.Wrap(human.Unavailable, err, "pages cannot be filmed: this Deskbell was built without rrweb")
	}
	return string(script), nil
}

func newRecordingID() human.RecordingID {
	return human.RecordingID(human.RecordingPrefix + strings.ToLower(ulid.Make().String()))
}

// withDefaults is the recorder as the API sees it: what a request leaves open is as in the settings.
type withDefaults struct {
	*record.Recorder
	house *House
}

func (r withDefaults) Start(ctx context.Context, by human.Actor, op human.OperationID, o human.RecordingOptions) (human.Recording, error) {
	return r.Recorder.Start(ctx, by, op, r.house.recordingOptions(o))
}

// sources says what could be recorded in this session, without a house.
func sources(ctx context.Context, p cli.Place) []human.SourceState {
	path := ""
	if p.Config != nil {
		path = p.Config.Settings().Browser.Path
	}
	deps := senses()
	defer letGo(deps)
	deps.Clock = now
	deps.Pictures = pictures.New(os.TempDir()) // which it makes nothing in
	deps.Files = func(paths []string) record.Source { return folders.New(now, paths, "") }
	deps.Browser = func(o human.BrowserOptions, _ bool, _ record.SavePicture) record.Browser {
		return browser.New(browser.Options{Clock: now, Path: path}, o, nil)
	}
	return record.New(deps, record.Options{}).Ready(ctx)
}

// letGo closes what senses hold between recordings. What cannot be closed any more is gone already.
func letGo(deps record.Deps) {
	if c, ok := deps.Elements.(io.Closer); ok {
		_ = c.Close()
	}
	if deps.Screen != nil {
		_ = deps.Screen.Close()
	}
}

// now is the clock of recordings: the time of day and the system's monotonic clock.
func now() (wall time.Time, mono int64) { return time.Now(), monotonic() }

// pause blocks for a time, or until ctx ends; then it returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
