package record

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

const (
	openTime = 40 * time.Second // for a browser to begin
	refsKept = 1 << 12          // events of the browser that a later one may belong to
)

// browserEvents takes what happens in the browser. Only the loop uses it.
type browserEvents struct {
	status  *status
	writer  *writer
	privacy *privacy
	refs    map[uint64]uint64 // the seqs of its events, by their Ref
}

// take takes an event of the browser. What is secret was hidden in the page; known shapes are looked for again.
func (b *browserEvents) take(e human.RecordedEvent) {
	e.CausedBy = b.refs[e.Cause]
	masked := e.Hidden != ""
	if e.Type != human.PageDOM {
		masked = b.hide(&e) || masked
	}
	counts := &b.status.rec.Counts
	switch e.Type {
	case human.PageClick:
		counts.Clicks++
	case human.PageKey:
		counts.Keys++
	case human.PageInput:
		counts.Keys += uint64(max(0, e.Count))
	}
	if masked {
		counts.Masked++
	}
	ref := e.Ref
	e.Ref, e.Cause = 0, 0
	seq := b.writer.add(e)
	if ref != 0 {
		b.refs[ref] = seq
		if ref > refsKept {
			delete(b.refs, ref-refsKept)
		}
	}
}

// hide masks known secret shapes in an event's texts, and says whether there were any. Hidden says so of what was put in,
// not of the page's title or an element's name beside it.
func (b *browserEvents) hide(e *human.RecordedEvent) bool {
	hidden := false
	text := func(s *string) {
		masked, found := b.privacy.mask.text(*s)
		*s, hidden = masked, hidden || found
	}
	element := func(el *human.Element) *human.Element {
		if el == nil {
			return nil
		}
		masked, n := b.privacy.mask.element(*el)
		hidden = hidden || n > 0
		return &masked
	}
	text(&e.Text)
	for i := range e.Values {
		text(&e.Values[i])
	}
	if hidden && e.Hidden == "" {
		e.Hidden = "secret"
	}
	e.Element, e.Target = element(e.Element), element(e.Target)
	if e.Page != nil {
		page := *e.Page
		text(&page.Title)
		e.Page = &page
	}
	return hidden
}

// An album stores the pictures a browser takes itself. It is safe for concurrent use; it takes none while the recording
// is paused or once it ends.
type album struct {
	loop     *loop
	status   *status
	pictures Pictures
	held     atomic.Bool

	mu     sync.Mutex
	writer PictureWriter
	closed bool
}

// save is a SavePicture.
func (a *album) save(f *Frame) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return "", human.Errorf(human.Conflict, "recording %s has ended", a.loop.id)
	case a.held.Load():
		return "", human.Errorf(human.Conflict, "recording %s is paused", a.loop.id)
	case a.writer == nil:
		writer, err := a.pictures.Writer(a.loop.id)
		if err != nil {
			return "", err
		}
		a.writer = writer
	}
	id, fresh, bytes, err := a.writer.Put(f)
	if err != nil {
		return "", err
	}
	a.loop.post(func() { a.status.countPicture(fresh, bytes) })
	return id, nil
}

// close ends what stores pictures.
func (a *album) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if a.writer == nil {
		return nil
	}
	err := a.writer.Sync()
	_ = a.writer.Close()
	return err
}

// A browserControl steers the browser of a running recording. It is safe for concurrent use once it is opened.
type browserControl struct {
	loop    *loop
	sources *sources
	browser Browser // nil: the recording has none
	feed    *feed
}

// begins waits until the browser is open and heard.
func (c *browserControl) begins(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	return c.feed.begins(ctx)
}

// show brings the browser to the front, and opens it again when it was closed.
func (c *browserControl) show(ctx context.Context) error {
	closed := false
	if err := c.loop.do(ctx, func() error {
		if c.sources.stopping {
			return human.Errorf(human.Conflict, "recording %s is being stopped", c.loop.id)
		}
		if closed = !c.feed.up; closed {
			c.reopen()
		}
		return nil
	}); err != nil {
		return err
	}
	if !closed {
		return c.browser.Show(ctx)
	}
	return c.begins(ctx)
}

// reopen has a browser that was closed opened again.
func (c *browserControl) reopen() {
	select { // how it ended
	case err := <-c.feed.first:
		c.sources.log.Debug("the browser is opened again", "recording", c.loop.id, "ended", err)
	default:
	}
	select {
	case c.feed.again <- struct{}{}:
	default: // it is being opened
	}
}
