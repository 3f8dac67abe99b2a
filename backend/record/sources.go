package record

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

const (
	checkTime = 3 * time.Second // for a source to say what it can do, and to begin
	retryTime = 5 * time.Second // between attempts to open a lost source again
	queueSize = 8192            // events between the sources and the recorder; at 2,000 a second, four seconds
)

// asked is one source as New's caller gave it, with what this recording wants of it.
type asked struct {
	name   human.SourceName
	off    bool
	source Source                                      // nil for the screen, and where there is none
	check  func(ctx context.Context) human.SourceState // nil: there is none
}

// sources lists the seven, in the order they are shown. Pictures that the browser takes itself go to keep.
func (d Deps) sources(o human.RecordingOptions, keep Keeper) []asked {
	no := !o.RecordsDesktop()
	noPictures := o.Pictures != nil && !*o.Pictures
	all := []asked{
		{name: human.InputSource, off: no, source: d.Input},
		{name: human.WindowSource, off: no},
		{name: human.ElementSource, off: no},
		{name: human.ScreenSource, off: no || noPictures},
		{name: human.FileSource, off: no || len(o.Folders) == 0},
		{name: human.ClipboardSource, off: no || o.Clipboard == "off"},
		{name: human.BrowserSource, off: o.Browser == nil},
	}
	if d.Windows != nil {
		all[1].source = d.Windows
	}
	if d.Elements != nil {
		all[2].source = d.Elements
	}
	if d.Screen != nil && d.Pictures != nil {
		all[3].check = d.Screen.Check
	}
	if d.Files != nil && !all[4].off {
		all[4].source = d.Files(o.Folders)
	}
	if d.Clipboard != nil && !all[5].off {
		all[5].source = d.Clipboard(o.Clipboard == "content")
	}
	if d.Browser != nil && o.Browser != nil {
		if noPictures {
			keep = nil
		}
		all[6].source = d.Browser(*o.Browser, o.Clipboard == "content", keep)
	}
	for i := range all {
		if s := all[i].source; s != nil {
			all[i].check = s.Check
		}
	}
	return all
}

// check asks every source what it can deliver. One that does not answer in time is missing.
func check(ctx context.Context, all []asked, system string, fence fence) []human.SourceState {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	states := make([]human.SourceState, len(all))
	var answers sync.WaitGroup
	for i, a := range all {
		states[i] = human.SourceState{
			Source: a.name, Status: "missing", Code: "unsupported", Detail: "Deskbell cannot record this on " + system + ".",
		}
		switch {
		case a.off:
			states[i] = human.SourceState{Source: a.name, Status: "off"}
		case a.check != nil:
			answers.Go(func() {
				answer := make(chan human.SourceState, 1)
				go func() { answer <- a.check(ctx) }() // ends with ctx, by its promise
				select {
				case states[i] = <-answer:
					states[i].Source = a.name
				case <-ctx.Done():
					states[i].Code, states[i].Detail = "lost", "It did not answer within three seconds."
					states[i].Fix = "Try again; if it stays so, log out and in."
				}
			})
		}
	}
	answers.Wait()
	for i := range states {
		switch s := &states[i]; {
		case s.Source == human.ScreenSource && s.Status != "off" && s.Status != "missing" && states[1].Status == "missing" && len(fence.patterns) > 0:
			*s = human.SourceState{
				Source: s.Source, Status: "missing", Code: "unsupported",
				Detail: "Pictures are left out, because excluded windows cannot be told apart and blacked out.",
				Fix:    "Make the windows source work, or empty the list of excluded applications in the settings.",
			}
		case s.Source == human.ElementSource && s.Status == "missing":
			s.Detail += " Typed text is hidden, because password fields cannot be told from others."
		}
	}
	return states
}

// A feed is a source in a running recording.
type feed struct {
	asked
	first   chan error    // how its first attempt to begin went
	again   chan struct{} // of a browser: it is asked for, closed as it is
	emitted atomic.Uint64 // events it delivered
	dropped atomic.Uint64 // of these, those the queue had no room for
	seen    atomic.Uint64 // events at its origin, as its runs said that have ended

	// Owned by the recording's goroutine.
	state   human.SourceState
	up      bool
	made    uint64 // events in its name that the recorder made: elements looked up, pictures
	leftOut uint64 // events left out on purpose: excluded, paused
	told    uint64 // of dropped, those that a gap tells of
}

// begins waits until the source listens, or is known not to.
func (f *feed) begins(ctx context.Context) error {
	select {
	case err := <-f.first:
		return err
	default:
	}
	select {
	case err := <-f.first:
		return err
	case <-ctx.Done():
		return human.Errorf(human.Unavailable, "the %s source did not begin in time", f.name)
	}
}

// listen runs a source until the recording's sources are stopped, and opens it again when it is lost.
func (s *session) listen(f *feed) {
	for {
		err := s.runOnce(f)
		if s.listening.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the source ended by itself")
		}
		s.post(func() { s.lost(f, err) })
		select {
		case <-s.listening.Done():
			return
		case <-time.After(retryTime):
		}
	}
}

// runOnce runs a source until it ends.
func (s *session) runOnce(f *feed) error {
	report := func(err error) {
		select {
		case f.first <- err:
		default:
		}
	}
	seen, err := f.source.Run(s.listening, func() {
		s.post(func() { s.found(f) })
		report(nil)
	}, func(e human.RecordedEvent) {
		e.Source = f.name
		f.emitted.Add(1)
		select {
		case s.queue <- item{f, e}:
		default:
			f.dropped.Add(1)
		}
	})
	f.seen.Add(seen)
	if s.listening.Err() != nil {
		report(s.listening.Err())
	} else {
		report(cmp.Or(err, errors.New("the source ended by itself")))
	}
	return err
}

// watch keeps the camera told of changes on the screen until the recording's sources are stopped.
func (s *session) watch(f *feed) {
	for {
		err := s.camera.screen.Watch(s.listening, func() {
			s.camera.watching.Store(true)
			s.camera.touched()
			select {
			case f.first <- nil:
			default:
			}
		}, s.camera.touched)
		if s.listening.Err() != nil {
			return // the last picture may still be served from the last frame
		}
		s.camera.watching.Store(false)
		select {
		case f.first <- nil: // pictures can be had all the same
		default:
		}
		if human.KindOf(err) == human.Unavailable {
			return
		}
		s.log.Warn("changes of the screen are not told any more", "recording", s.id, "err", err)
		select {
		case <-s.listening.Done():
			return
		case <-time.After(retryTime):
		}
	}
}
