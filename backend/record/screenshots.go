package record

import (
	"errors"
	"log/slog"

	"deskbell/backend/human"
)

const (
	bufferLength = 4 // pictures held back in memory while it is not known what was typed in them
	savingLength = 4 // pictures on their way to the disk
)

// A screenshot is a picture that was taken for a wish and is not stored yet.
type screenshot struct {
	wish
	shot  *shot
	at    int64          // when the screen was so
	cover []human.Bounds // more of the desktop that it must not show
	black bool           // it must show nothing
}

// screenshots has pictures taken of what happens, holds them back until it is known what they must not show, and has
// them stored. Only the loop uses it, but for watch and save.
type screenshots struct {
	loop     *loop
	log      *slog.Logger
	status   *status
	writer   *writer
	sources  *sources
	privacy  *privacy
	unplaced *unplaced

	feed   *feed
	camera *camera         // nil: no pictures are taken
	wishes map[string]wish // for when things have settled, by their sort
	last   int64           // when one was last asked of the camera
	taking int             // that the camera was asked for
	buffer []screenshot    // held back
	disk   chan screenshot // to be stored
	saving int             // in disk or being stored
}

// open begins to take pictures. looked is called by the loop with the windows on the screen each time they were read.
func (s *screenshots) open(c *camera, f *feed, pictures PictureWriter, looked func([]Placed)) {
	c.taken = func(w wish, shot *shot, at int64, err error) {
		if !s.loop.post(func() { s.taken(w, shot, at, err) }) && err == nil {
			c.release(shot)
		}
	}
	c.looked = func(visible []Placed) {
		s.loop.post(func() { looked(visible) })
	}
	s.camera, s.feed, s.disk = c, f, make(chan screenshot, savingLength)
	s.unplaced.open(c)
	s.loop.workers.Go(func() { s.save(pictures) })
}

// start has the camera run, and hear of changes on the screen until the sources are stopped.
func (s *screenshots) start() {
	s.loop.workers.Go(func() { s.camera.serve(s.loop.working) })
	s.sources.running.Go(s.watch)
}

// watch keeps the camera informed of changes on the screen until the sources are stopped.
func (s *screenshots) watch() {
	listening := s.sources.listening
	for {
		err := s.camera.screen.Watch(listening, func() {
			s.camera.watching.Store(true)
			s.camera.touched()
			s.feed.report(nil)
			s.loop.post(s.again)
		}, s.camera.touched)
		if listening.Err() != nil {
			return // the last picture may still be served from the last frame
		}
		s.camera.watching.Store(false)
		denied, lost := human.KindOf(err) == human.Denied, errors.Is(err, ErrScreenLost)
		if denied || lost {
			s.feed.report(err)
			s.loop.post(func() { s.sources.lost(s.feed, err) })
		}
		s.feed.report(nil) // pictures can still be had
		if denied || !lost && human.KindOf(err) == human.Unavailable {
			return
		}
		s.log.Warn("changes of the screen are not reported any more", "recording", s.loop.id, "err", err)
		if !s.sources.waitToRetry() {
			return
		}
	}
}

// again takes a picture when the screen can be seen that could not be seen before.
func (s *screenshots) again() {
	if s.status.gaps[gapKey("lost", s.feed.name)] != nil && !s.status.paused() && !s.sources.stopping {
		s.takeNow("start")
	}
}

// forget gives up what is wished for.
func (s *screenshots) forget() { clear(s.wishes) }

// hold stops taking pictures, and begins again.
func (s *screenshots) hold(held bool) {
	if held {
		s.forget()
	}
	if s.camera != nil {
		s.camera.hold(held)
	}
}

// activated informs the camera of another active window or title.
func (s *screenshots) activated(p Placed, is kind, changed bool) {
	if s.camera == nil {
		return
	}
	if changed {
		s.camera.touched()
	}
	if is == excluded {
		s.camera.active.Store(&p)
	} else {
		s.camera.active.Store(nil)
	}
}

// wish has a picture taken when things have settled. A later wish of the same sort takes its place.
func (s *screenshots) wish(when, sort string, cause uint64, after int64) {
	if s.camera != nil {
		s.wishes[sort] = wish{when: when, cause: cause, due: s.loop.now() + after}
	}
}

// due is when a picture is to be taken next.
func (s *screenshots) due() int64 {
	at := never
	for _, w := range s.wishes {
		at = min(at, w.due)
	}
	return at
}

// before takes a picture of what was on the screen before an event, which may be what a click before it was to show.
func (s *screenshots) before(event uint64, at int64) {
	s.take(wish{when: "before", cause: event, before: at + s.loop.began})
}

// hurry fulfills the wish for a picture after a click with the screen as it was at a time.
func (s *screenshots) hurry(at int64) {
	if w, ok := s.wishes["click"]; ok {
		delete(s.wishes, "click")
		w.before = at + s.loop.began
		s.take(w)
	}
}

// takeDue takes the pictures that are due.
func (s *screenshots) takeDue() {
	now := s.loop.now()
	for sort, w := range s.wishes {
		if w.due <= now {
			delete(s.wishes, sort)
			s.take(w)
		}
	}
}

// takeNow takes a picture of the screen as it is.
func (s *screenshots) takeNow(when string) { s.take(wish{when: when, before: never}) }

// takeLast takes the pictures that are still wished for, and one of the end.
func (s *screenshots) takeLast() {
	for _, w := range s.wishes {
		w.before = never
		s.take(w)
	}
	s.forget()
	s.takeNow("end")
}

// take asks the camera for a picture. It does not wait.
func (s *screenshots) take(w wish) {
	if s.camera == nil {
		return
	}
	s.feed.made++
	s.last = s.loop.now()
	select {
	case s.camera.wishes <- w:
		s.taking++
	default:
		s.dropped()
	}
}

// dropped notes that a picture was lost because pictures are wanted faster than they can be stored.
func (s *screenshots) dropped() { s.writer.lose(human.ScreenSource, s.loop.now(), 1) }

// taken takes a picture from the camera.
func (s *screenshots) taken(w wish, shot *shot, at int64, err error) {
	s.taking--
	switch {
	case err != nil:
		s.failed(err)
	case s.writer.useless():
		s.camera.release(shot)
	default:
		s.sources.found(s.feed)
		s.buffer = append(s.buffer, screenshot{wish: w, shot: shot, at: at})
	}
}

// failed notes that a picture could not be taken or stored.
func (s *screenshots) failed(err error) {
	s.status.rec.Counts.Lost++
	s.sources.lost(s.feed, err)
}

// letGo has buffered pictures stored, in their order, once all that was typed by then is decided on: a field whose text
// was secret is masked in them. undecided returns where in a picture, taken at a time, text stands that is not
// decided on. When too many are buffered, the oldest goes with those places masked. Where no place is known, all of it is.
func (s *screenshots) letGo(undecided func(at int64) []human.Bounds) {
	oldest := s.loop.woke + s.loop.began - 10*late // one that is taken may not be here yet
	if len(s.buffer) > 0 {
		oldest = min(oldest, s.buffer[0].at)
	}
	s.unplaced.watch(oldest)
	for len(s.buffer) > 0 {
		x := s.buffer[0]
		var wait, room bool
		if frame := &x.shot.frame; frame.Unplaced {
			x.black, wait = s.unplaced.judge(x.at, frame.Many)
			x.black = x.black || wait
			room = s.different() <= unplacedBuffer
		} else {
			x.cover = undecided(frame.At)
			wait, room = len(x.cover) > 0, len(s.buffer) <= bufferLength
		}
		if wait && room {
			return
		}
		s.buffer = s.buffer[1:]
		x.cover = append(x.cover, places(s.privacy.regions, x.shot.visible)...)
		select {
		case s.disk <- x:
			s.saving++
		default:
			s.camera.release(x.shot)
			s.dropped()
		}
	}
}

// different is how many shots are in the buffer.
func (s *screenshots) different() (n int) {
	for i, x := range s.buffer {
		if i == 0 || x.shot != s.buffer[i-1].shot {
			n++
		}
	}
	return n
}

// save stores pictures, one after the other, until the recording has ended. It alone paints over shots that others may
// hold, and knows their ids.
func (s *screenshots) save(pictures PictureWriter) {
	defer func() {
		if err := pictures.Sync(); err != nil {
			s.log.Error("pictures may not outlast a loss of power", "recording", s.loop.id, "err", err)
		}
		_ = pictures.Close()
	}()
	for {
		var x screenshot
		select {
		case <-s.loop.working.Done():
			return
		case x = <-s.disk:
		}
		fresh, bytes := false, int64(0)
		var err error
		id, at := x.shot.id, x.shot.frame.At
		switch {
		case x.black: // others that show the same may be shown
			id, fresh, bytes, err = pictures.Put(blackLike(&x.shot.frame))
		case id == "":
			for _, b := range x.cover {
				x.shot.frame.Black(b)
			}
			id, fresh, bytes, err = pictures.Put(&x.shot.frame)
			x.shot.id = id
		}
		s.camera.release(x.shot)
		s.loop.post(func() {
			if x.black && err == nil {
				s.status.rec.Counts.Black++
			}
			s.saved(x.wish, id, at, fresh, bytes, err)
		})
	}
}

func (s *screenshots) saved(w wish, id string, at int64, fresh bool, bytes int64, err error) {
	s.saving--
	if err != nil {
		s.failed(err)
		return
	}
	s.status.countPicture(fresh, bytes)
	s.writer.add(human.RecordedEvent{
		At: max(0, at-s.loop.began), Source: human.ScreenSource, Type: human.PictureTaken, Picture: id, When: w.when, CausedBy: w.cause,
	})
}

// underWay is how many pictures are on their way into the recording.
func (s *screenshots) underWay() int { return s.taking + len(s.buffer) + s.saving }

// drop gives up what is buffered.
func (s *screenshots) drop() {
	for _, x := range s.buffer {
		s.camera.release(x.shot)
	}
	s.buffer = nil
}
