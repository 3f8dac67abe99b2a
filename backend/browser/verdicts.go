package browser

import (
	"context"
	"slices"
	"time"

	"deskbell/backend/human"
)

const (
	judgedWithin = 30 * time.Second // for a field to be left or to rest, until when pictures of it wait in memory
	maxHeld      = 24               // pictures that wait, of one tab
	maxJudged    = 500              // fields whose verdicts are kept, of one tab
	maxVerdicts  = 64               // that are kept of one field
)

// A field is one that was typed in, as the page script counts them.
type field struct {
	document
	number uint64
}

// A typedBox is where a field stood that was typed in, and how often that was.
type typedBox struct {
	field   field
	version uint64
	box     box
}

// A verdict is what the text of a field was judged to be, once it was typed in so often.
type verdict struct {
	version uint64
	secret  bool
}

// A heldPicture waits for verdicts.
type heldPicture struct {
	ref   uint64
	when  string
	shot  *shot
	until int64 // monotonic ns; then what is not judged is black
}

// judge takes in what the text of a field is, as the page and the masker of the app see it, and numbers secrets: equal
// ones have one number.
func (t *tab) judge(f *frame, m *message) {
	for i := range m.Events {
		e := &m.Events[i]
		if e.Type != human.PageInput {
			continue
		}
		if masked := t.b.mask(e.Text); masked != e.Text {
			e.Text, e.Hidden, m.Hidden = masked, "secret", true
		}
		if e.Hidden != "" && e.Hidden != "unknown_field" && m.Same != 0 {
			e.SecretID = t.b.numbered(m.Same)
		}
	}
	ss := t.sources.screenshots
	if ss == nil || m.Field == 0 {
		return
	}
	t.b.namesMu.Lock()
	told := t.b.secretIDs[m.Same] > 0 // when its text was told
	t.b.namesMu.Unlock()
	id := field{document{f.id, m.Origin}, m.Field}
	ss.mu.Lock()
	if ss.verdicts == nil || len(ss.verdicts) > maxJudged {
		ss.verdicts = map[field][]verdict{}
	}
	of := ss.verdicts[id]
	of = append(of, verdict{m.Version, m.Hidden || told})
	ss.verdicts[id] = of[max(0, len(of)-maxVerdicts):]
	waits := len(ss.held) > 0
	ss.mu.Unlock()
	if waits {
		t.b.do(func(context.Context) { ss.release(false) })
	}
}

// numbered is the number of a secret within the recording.
func (b *Browser) numbered(same float64) int {
	b.namesMu.Lock()
	defer b.namesMu.Unlock()
	if b.secretIDs == nil {
		b.secretIDs = map[float64]int{}
	}
	if b.secretIDs[same] == 0 {
		b.secretIDs[same] = len(b.secretIDs) + 1
	}
	return b.secretIDs[same]
}

// judged returns what of the typed fields of a picture is secret. known is false while a verdict is to come. mu is held.
func (ss *screenshots) judged(s *shot) (black []box, known bool) {
	known = true
	for _, at := range s.typed {
		all := ss.verdicts[at.field]
		i := slices.IndexFunc(all, func(v verdict) bool { return v.version >= at.version })
		switch {
		case i < 0:
			known = false
			black = append(black, at.box)
		case all[i].secret, all[i].version > at.version && i > 0 && all[i-1].secret: // a part of it may have stood there
			black = append(black, at.box)
		}
	}
	return black, known
}

// hold keeps a picture in memory until the fields in it that were typed in are judged, and says whether it has to wait.
func (ss *screenshots) hold(ref uint64, when string, s *shot) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if _, known := ss.judged(s); known {
		return false
	}
	ss.held = append(ss.held, heldPicture{ref, when, s, ss.t.b.now() + int64(judgedWithin)})
	if len(ss.held) > maxHeld {
		ss.held[0].until = 0
	}
	time.AfterFunc(judgedWithin, func() { ss.t.b.do(func(context.Context) { ss.release(false) }) })
	return true
}

// release stores the pictures whose fields are judged or that waited long enough; all of them, if all is set.
func (ss *screenshots) release(all bool) {
	ss.work.Lock()
	defer ss.work.Unlock()
	now := ss.t.b.now()
	var ready []heldPicture
	ss.mu.Lock()
	ss.held = slices.DeleteFunc(ss.held, func(h heldPicture) bool {
		_, known := ss.judged(h.shot)
		if !known && !all && now < h.until {
			return false
		}
		ready = append(ready, h)
		return true
	})
	ss.mu.Unlock()
	for _, h := range ready {
		ss.keep(h.ref, h.when, h.shot)
	}
}
