package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	quality      = 70                           // of JPEG; text stays readable
	between      = 200 * time.Millisecond       // pictures of a page that moves are not taken closer than this
	settled      = 300 * time.Millisecond       // after an action, a page shows what came of it
	kept         = int64(3 * time.Second)       // how long pictures wait for the action they are from before
	shortly      = int64(time.Second)           // before an action, in which a page has seldom changed much
	answerWithin = 3 * time.Second              // with a page that is asked
	spread       = int64(20 * time.Millisecond) // how well the times of pictures are known
	inFlight     = 2                            // pictures on their way from which on Chromium may leave some out
	maxPixels    = 1 << 26
	maxAcross    = 2560 // pixels; larger viewports are scaled down
	maxDown      = 1600
)

// screenshots keeps the last pictures of one tab, so that there is one from before when something is done in it.
//
// DevTools' screencast sends one for each change of what is seen. It is asked for all of them: with everyNthFrame it
// leaves out single changes, after which nothing comes, so that the last picture would be one of long ago. Slow
// acknowledgement keeps the number down. It then leaves some out, too, while several are on their way, and where a tab comes to
// the front or another page into it. Both can be told: a last one is taken after that.
type screenshots struct {
	t    *tab
	came chan struct{} // a raw picture is there, or one has to be taken

	work sync.Mutex // held while pictures are worked on

	mu       sync.Mutex
	raw      []shot // not worked on, oldest first
	unacked  []int  // screencast's numbers
	shots    []*shot
	doubt    bool      // the last of them may be of before a change
	measured []measure // of late, oldest first
	next     *shooting // the action whose picture from after is waited for
	verdicts map[field][]verdict
	held     []heldPicture
}

// A shot is a picture with what has to be masked in it.
type shot struct {
	data  string // base64 of JPEG; "": it is not known what is secret in it, or the page is private
	at    int64  // monotonic ns; it was on the screen at some time from this
	until int64  // to this, when it came
	w, h  float64
	black []box
	typed []typedBox // fields that are black if their text is secret
	page  human.WebPage
	id    string // once stored; guarded by work
}

// A shooting is what is wanted of an action.
type shooting struct {
	ref   uint64
	at    int64 // monotonic ns, of the action
	due   int64 // when the picture from after is taken
	timer *time.Timer
}

// since is what the tab shows now, after what happened at a time: its newest picture if that is later and none was
// left out; else one taken now.
func (ss *screenshots) since(ctx context.Context, at int64) *shot {
	ss.update(ctx)
	ss.mu.Lock()
	all := len(ss.unacked) < inFlight && !ss.doubt
	ss.mu.Unlock()
	if s := ss.seen(math.MaxInt64); s != nil && s.at >= at && all && !ss.t.private() {
		return s
	}
	ss.work.Lock()
	defer ss.work.Unlock()
	return ss.refresh(ctx)
}

// seen is the last picture of what was on the screen at a time, or nil. Where that may not be shown, it is one from
// shortly before.
func (ss *screenshots) seen(at int64) *shot {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	var last *shot
	for _, s := range slices.Backward(ss.shots) {
		switch {
		case s.until > at:
		case s.data != "" && (last == nil || last.at-s.at < shortly):
			return s
		case last == nil:
			last = s
		}
	}
	return last
}

// frame takes an event of the screencast. It does not block.
func (ss *screenshots) frame(params json.RawMessage) {
	var p struct {
		Data string `json:"data"`
		Meta struct {
			Width float64 `json:"deviceWidth"`
			At    float64 `json:"timestamp"` // seconds since 1970
		} `json:"metadata"`
		Number int `json:"sessionId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	wall, mono := ss.t.b.o.Clock()
	at := mono
	if p.Meta.At > 0 {
		at = min(mono, mono-wall.UnixNano()+int64(p.Meta.At*1e9))
	}
	ss.mu.Lock()
	ss.unacked = append(ss.unacked, p.Number)
	ss.raw = append(ss.raw, shot{data: p.Data, at: at, until: mono})
	if n := len(ss.raw); n > 2*inFlight {
		ss.raw = slices.Delete(ss.raw, 0, n-2*inFlight)
	}
	ss.mu.Unlock()
	ss.wake()
}

// changed has a picture taken once no more come, as the last one may be left out. It does not block.
func (ss *screenshots) changed() {
	ss.mu.Lock()
	ss.doubt = true
	ss.mu.Unlock()
	ss.wake()
}

func (ss *screenshots) wake() {
	select {
	case ss.came <- struct{}{}:
	default:
	}
}

// watch runs the screencast until ctx ends.
func (ss *screenshots) watch(ctx context.Context) {
	c, session := ss.t.conn, ss.t.session
	c.send(session, "Page.startScreencast", object{"format": "jpeg", "quality": quality, "maxWidth": maxAcross, "maxHeight": maxDown})
	pause := func(d time.Duration) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	ss.changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ss.came:
		}
		tries := time.Duration(0)
		for again := true; again; {
			began := time.Now()
			ss.update(ctx)
			rest := max(between, 10*time.Since(began)) // looking for secret fields costs the page something
			if !pause(min(rest, 3*between)) {
				return
			}
			ss.mu.Lock()
			numbers := ss.unacked
			ss.unacked = nil
			ss.mu.Unlock()
			for _, n := range numbers {
				c.send(session, "Page.screencastFrameAck", object{"sessionId": n})
			}
			// A page that was about to change could not be asked. It may be still now.
			unsure := ss.unsure()
			if again = unsure || len(numbers) >= inFlight; !again {
				break
			}
			if tries++; !unsure {
				tries = 1
			}
			if !pause(between * min(tries, 10)) {
				return
			}
			ss.mu.Lock()
			idle := len(ss.raw) == 0
			ss.mu.Unlock()
			if idle {
				ss.work.Lock()
				ss.refresh(ctx)
				ss.work.Unlock()
			}
		}
	}
}

// unsure says that the tab is in front and may be shown, but there is no picture of it as it is.
func (ss *screenshots) unsure() bool {
	ss.mu.Lock()
	n := len(ss.shots)
	unknown := ss.doubt || n > 0 && ss.shots[n-1].data == ""
	ss.mu.Unlock()
	return unknown && ss.t.b.front() == ss.t && !ss.t.private()
}

// update works on what has come.
func (ss *screenshots) update(ctx context.Context) {
	ss.work.Lock()
	defer ss.work.Unlock()
	ss.mu.Lock()
	raw := ss.raw
	ss.raw = nil
	ss.mu.Unlock()
	if len(raw) == 0 {
		return
	}
	now := ss.measure(ctx)
	unsure := false
	for i := range raw {
		s := &raw[i]
		var ok bool
		if s.black, s.typed, ok = ss.between(s.at-spread, now.at); ok {
			s.w, s.h, s.page = now.w, now.h, now.page
		} else {
			s.data, unsure = "", !now.private
		}
		ss.add(s)
	}
	if unsure {
		ss.refresh(ctx)
	}
}

// refresh takes a picture of what is seen now. Secret fields are looked for before and after, so that one that comes
// or moves in between is hidden, too. work is held.
func (ss *screenshots) refresh(ctx context.Context) *shot {
	ctx, cancel := context.WithTimeout(ctx, answerWithin) // a page that is held by a dialog does not answer
	defer cancel()
	ss.mu.Lock()
	ss.doubt = false
	ss.mu.Unlock()
	before := ss.measure(ctx)
	now := ss.t.b.now()
	s := &shot{at: now, until: now}
	if before.ok {
		var picture struct {
			Data string `json:"data"`
		}
		err := ss.t.conn.call(ctx, ss.t.session, "Page.captureScreenshot", object{"format": "jpeg", "quality": quality, "optimizeForSpeed": true}, &picture)
		s.until = ss.t.b.now()
		after := ss.measure(ctx)
		if black, typed, ok := ss.between(before.at, after.at); ok && err == nil {
			s.data, s.black, s.typed, s.w, s.h, s.page = picture.Data, black, typed, after.w, after.h, after.page
		}
	}
	ss.add(s)
	return s
}

func (ss *screenshots) add(s *shot) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.shots = append(ss.shots, s)
	old := 0
	for old < len(ss.shots)-2 && ss.shots[old+1].at < s.at-kept {
		old++
	}
	ss.shots = slices.Delete(ss.shots, 0, old)
}

// action has pictures taken of an action that was just delivered: of before it, where it is a press, and once the
// page has come to rest. An action that follows ends the wait.
func (ss *screenshots) action(ref uint64, what human.RecordedType, at int64) {
	b := ss.t.b
	now := b.now()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if (what == human.PageClick || what == human.PageMessage) && ss.next != nil { // of the press whose pictures are under way
		ss.next.due = now + int64(settled)
		ss.next.timer.Reset(settled)
		return
	}
	last := ss.next
	w := &shooting{ref: ref, at: at, due: now + int64(settled)}
	first := what == human.PagePress || what == human.PageKey
	ss.next = w
	w.timer = time.AfterFunc(settled, func() {
		ss.mu.Lock()
		due := ss.next == w
		if due {
			ss.next = nil
		}
		ss.mu.Unlock()
		if due {
			ss.t.b.do(func(context.Context) { ss.print(w.ref, "after", ss.since(ss.t.ctx, w.at)) })
		}
	})
	cutShort := last != nil && last.timer.Stop()
	if !first && !cutShort {
		return
	}
	b.do(func(context.Context) { // the action may have closed the tab
		ss.update(ss.t.ctx)
		if cutShort {
			ss.print(last.ref, "after", ss.seen(w.at))
		}
		if first {
			ss.print(w.ref, "before", ss.seen(w.at))
		}
	})
}

// finish takes the picture that is waited for now.
func (ss *screenshots) finish() {
	ss.mu.Lock()
	last := ss.next
	ss.next = nil
	ss.mu.Unlock()
	if last != nil && last.timer.Stop() {
		ss.print(last.ref, "after", ss.since(ss.t.ctx, last.at))
	}
}

// print stores a picture for an action, unless there is none that may be shown.
func (ss *screenshots) print(ref uint64, when string, s *shot) {
	if s == nil || s.data == "" || ss.hold(ref, when, s) {
		return
	}
	ss.work.Lock()
	defer ss.work.Unlock()
	ss.keep(ref, when, s)
}

// keep stores a picture and reports it. work is held.
func (ss *screenshots) keep(ref uint64, when string, s *shot) {
	b := ss.t.b
	if s.id == "" {
		f, err := ss.develop(s)
		if err == nil {
			s.id, err = b.save(f)
		}
		if err != nil {
			b.log.Debug("no picture of a page", "err", err)
			return
		}
	}
	page := s.page
	b.emit(human.RecordedEvent{At: s.at, Type: human.PictureTaken, Picture: s.id, When: when, Browsing: human.Browsing{Page: &page, Cause: ref}})
}

// develop makes the picture, with what is secret masked, and what may be.
func (ss *screenshots) develop(s *shot) (*record.Frame, error) {
	ss.mu.Lock()
	typed, _ := ss.judged(s)
	ss.mu.Unlock()
	raw, err := base64.StdEncoding.DecodeString(s.data)
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "The browser sent a picture that cannot be read.")
	}
	f, err := decodeJPEG(raw)
	if err != nil {
		return nil, err
	}
	f.At = s.at
	if s.w > 0 {
		f.Scale = float64(f.W) / s.w
	}
	for _, b := range slices.Concat(s.black, typed) {
		f.Black(b.bounds())
	}
	return f, nil
}

// decodeJPEG makes a frame of a JPEG.
func decodeJPEG(raw []byte) (*record.Frame, error) {
	size, err := jpeg.DecodeConfig(bytes.NewReader(raw))
	if err != nil || size.Width*size.Height > maxPixels {
		return nil, human.Wrap(human.Internal, err, "The browser sent a picture that cannot be read.")
	}
	decoded, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "The browser sent a picture that cannot be read.")
	}
	r := decoded.Bounds()
	f := &record.Frame{W: r.Dx(), H: r.Dy(), Scale: 1, Pix: make([]byte, 4*r.Dx()*r.Dy())}
	i := 0
	put := func(red, green, blue byte) {
		f.Pix[i], f.Pix[i+1], f.Pix[i+2], f.Pix[i+3] = blue, green, red, 0xff
		i += 4
	}
	colours, quick := decoded.(*image.YCbCr)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if quick {
				c, d := colours.YOffset(x, y), colours.COffset(x, y)
				put(color.YCbCrToRGB(colours.Y[c], colours.Cb[d], colours.Cr[d]))
			} else {
				c := color.RGBAModel.Convert(decoded.At(x, y)).(color.RGBA)
				put(c.R, c.G, c.B)
			}
		}
	}
	return f, nil
}
