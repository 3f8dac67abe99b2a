package record

import (
	"time"

	"deskbell/backend/human"
)

// How long after the last of what was done a picture is taken, so that what it caused can be seen.
const (
	afterClick  = int64(200 * time.Millisecond)
	afterSwitch = int64(300 * time.Millisecond)
	afterScroll = int64(400 * time.Millisecond)
	afterTyping = typingPause
)

const (
	heldLength = 4 // pictures held back in memory while it is not known what was typed in them
	filmLength = 4 // pictures on their way to the disk
)

// An exposure is a picture that was taken for a wish and is not stored yet.
type exposure struct {
	wish
	shot  *shot
	cover []human.Bounds // more of the desktop that it must not show
}

// wish has a picture taken when things have settled. A later wish of the same sort takes its place.
func (s *session) wish(when, sort string, cause uint64, after int64) {
	if s.camera == nil {
		return
	}
	s.wishes[sort] = wish{when: when, cause: cause, due: s.now() + after}
}

// hurry fulfils the wish for a picture after a click with the screen as it was at a time.
func (s *session) hurry(at int64) {
	if w, ok := s.wishes["click"]; ok {
		delete(s.wishes, "click")
		w.before = at + s.began
		s.shoot(w)
	}
}

func (s *session) shootDue() {
	now := s.now()
	for sort, w := range s.wishes {
		if w.due <= now {
			delete(s.wishes, sort)
			s.shoot(w)
		}
	}
}

// shoot asks the camera for a picture. It does not wait.
func (s *session) shoot(w wish) {
	if s.camera == nil {
		return
	}
	s.feed(human.ScreenSource).made++
	s.lastPicture = s.now()
	select {
	case s.camera.wishes <- w:
		s.shooting++
	default:
		s.dropped()
	}
}

// dropped notes that a picture was lost because pictures are wanted faster than they can be stored.
func (s *session) dropped() {
	now := s.now()
	s.rec.Counts.Lost++
	s.gap(human.Gap{From: now, To: now, Source: human.ScreenSource, Reason: "overflow", Count: 1})
}

// taken takes a picture from the camera.
func (s *session) taken(w wish, shot *shot, err error) {
	s.shooting--
	f := s.feed(human.ScreenSource)
	switch {
	case err != nil:
		s.rec.Counts.Lost++
		s.lost(f, err)
		return
	case s.discard || s.failure != nil:
		s.camera.release(shot)
		return
	}
	s.found(f)
	s.held = append(s.held, exposure{wish: w, shot: shot})
	s.expose()
}

// expose lets go of held pictures, in their order, once all that was typed by then is decided on: a field whose
// text was secret is blacked out in them. When too many are held, the oldest goes with the fields blacked out
// that are not decided on.
func (s *session) expose() {
	for len(s.held) > 0 {
		x := s.held[0]
		waits := false
		for _, r := range s.runs {
			if r.from+s.began > x.shot.frame.At {
				continue
			}
			if len(s.held) <= heldLength {
				waits = true
				break
			}
			if r.told != nil {
				x.cover = append(x.cover, r.told.Bounds)
			} else {
				x.cover = append(x.cover, r.in.Window.Bounds)
			}
		}
		if waits {
			return
		}
		s.held = s.held[1:]
		x.cover = append(x.cover, places(s.fields, x.shot.visible)...)
		select {
		case s.film <- x:
			s.filming++
		default:
			s.camera.release(x.shot)
			s.dropped()
		}
	}
}

// develop stores pictures, one after the other, until the recording has ended. It alone paints over shots that
// others may hold, and knows their ids.
func (s *session) develop(writer PictureWriter) {
	defer func() {
		if err := writer.Sync(); err != nil {
			s.log.Error("pictures may not outlast a loss of power", "recording", s.id, "err", err)
		}
		_ = writer.Close()
	}()
	for {
		var x exposure
		select {
		case <-s.working.Done():
			return
		case x = <-s.film:
		}
		fresh, bytes := false, int64(0)
		var err error
		if x.shot.id == "" {
			for _, b := range x.cover {
				x.shot.frame.Black(b)
			}
			x.shot.id, fresh, bytes, err = writer.Put(&x.shot.frame)
		}
		id, at := x.shot.id, x.shot.frame.At
		s.camera.release(x.shot)
		s.post(func() { s.developed(x.wish, id, at, fresh, bytes, err) })
	}
}

func (s *session) developed(w wish, id string, at int64, fresh bool, bytes int64, err error) {
	s.filming--
	if err != nil {
		s.rec.Counts.Lost++
		s.lost(s.feed(human.ScreenSource), err)
		return
	}
	s.rec.Counts.Pictures++
	if !fresh {
		s.rec.Counts.Equal++
	}
	s.rec.Bytes += bytes
	s.store(human.RecordedEvent{
		At: max(0, at-s.began), Source: human.ScreenSource, Type: human.PictureTaken, Picture: id, When: w.when, CausedBy: w.cause,
	})
}
