package record

import (
	"context"
	"encoding/json"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

const (
	openTime = 40 * time.Second // for a browser to begin
	maxField = 200              // bytes of a field's name
	refsKept = 1 << 12          // events of the browser that a later one may belong to
)

// browsing is what a recording keeps of its browser.
type browsing struct {
	browser Browser
	feed    *feed
	album   album
	refs    map[uint64]uint64 // the seqs of its events, by their Ref
}

// checkBrowser returns the options of a browser with their defaults.
func checkBrowser(o human.BrowserOptions) (human.BrowserOptions, error) {
	switch o.Profile {
	case "":
		o.Profile = "kept"
	case "kept", "throwaway":
	default:
		return o, human.BadField("options.browser.profile", "is %q; it is kept or throwaway", human.OneLine(o.Profile, 40))
	}
	if !opens(o.URL) {
		return o, human.BadField("options.browser.url", "is %q; only http and https addresses are opened", human.OneLine(o.URL, 200))
	}
	return o, nil
}

// opens says whether a browser may be sent to an address: one with a file's or a script's scheme comes from an agent.
func opens(address string) bool {
	if address == "" || address == "about:blank" {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// addressOf is the page an operation is about, empty where it names none that may be opened.
func addressOf(op human.Operation) string {
	var details struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(op.Details, &details) != nil || !opens(details.URL) {
		return ""
	}
	return details.URL
}

// An album stores the pictures a browser took. It is safe for concurrent use; it takes none while the recording
// is paused or once it ends.
type album struct {
	mu     sync.Mutex
	writer PictureWriter
	shut   bool
	held   atomic.Bool
}

// keep is a Keeper.
func (s *session) keep(f *Frame) (string, error) {
	a := &s.web.album
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.shut:
		return "", human.Errorf(human.Conflict, "recording %s has ended", s.id)
	case a.held.Load():
		return "", human.Errorf(human.Conflict, "recording %s is paused", s.id)
	case a.writer == nil:
		writer, err := s.deps.Pictures.Writer(s.id)
		if err != nil {
			return "", err
		}
		a.writer = writer
	}
	id, fresh, bytes, err := a.writer.Put(f)
	if err != nil {
		return "", err
	}
	s.post(func() {
		s.rec.Counts.Pictures++
		if !fresh {
			s.rec.Counts.Equal++
		}
		s.rec.Bytes += bytes
	})
	return id, nil
}

// close ends what keeps pictures.
func (a *album) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shut = true
	if a.writer == nil {
		return nil
	}
	err := a.writer.Sync()
	_ = a.writer.Close()
	return err
}

// browse takes an event of the browser. What is secret was hidden in the page; known shapes are looked for again.
func (s *session) browse(it item, pausing bool) {
	if pausing {
		s.leaveOut(it)
		return
	}
	e := it.event
	e.CausedBy = s.web.refs[e.Cause]
	hidden := uint64(0)
	hide := func(text *string) {
		if t, found := s.mask.text(*text); found {
			*text = t
			hidden++
		}
	}
	element := func(el *human.Element) *human.Element {
		if el == nil {
			return nil
		}
		masked, n := s.mask.element(*el)
		hidden += n
		return &masked
	}
	if e.Type != human.PageDOM {
		hide(&e.Text)
		e.Element, e.Target = element(e.Element), element(e.Target)
		for i := range e.Values {
			hide(&e.Values[i])
		}
		if e.Page != nil {
			page := *e.Page
			hide(&page.Title)
			e.Page = &page
		}
		if e.Hidden == "" && hidden > 0 {
			e.Hidden = "secret"
		}
	}
	switch e.Type {
	case human.PageClick:
		s.rec.Counts.Clicks++
	case human.PageKey:
		s.rec.Counts.Keys++
	case human.PageInput:
		s.rec.Counts.Keys += uint64(max(0, e.Count))
	}
	if e.Hidden != "" {
		s.rec.Counts.Masked++
	}
	ref := e.Ref
	e.Ref, e.Cause = 0, 0
	seq := s.store(e)
	if ref != 0 {
		s.web.refs[ref] = seq
		if ref > refsKept {
			delete(s.web.refs, ref-refsKept)
		}
	}
}

// roam runs the browser until the recording's sources are stopped. One that was closed or lost is opened again only
// when it is asked for: a person may have closed it on purpose.
func (s *session) roam(f *feed) {
	for {
		err := s.runOnce(f)
		if s.listening.Err() != nil {
			return
		}
		s.post(func() {
			if err != nil {
				s.lost(f, err)
			}
			f.up = false
			s.publish()
		})
		select {
		case <-s.listening.Done():
			return
		case <-f.again:
		}
	}
}

// browserBegins waits until the browser is open and heard.
func (s *session) browserBegins(ctx context.Context, state human.SourceState) error {
	if state.Status == "missing" {
		return human.Errorf(human.Unavailable, "no browser can be opened. %s %s", state.Detail, state.Fix)
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	return s.web.feed.begins(ctx)
}

// browserOf is the running recording's browser.
func (r *Recorder) browserOf(by human.Actor, id human.RecordingID) (*session, error) {
	s, err := r.find(by, id)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, human.Errorf(human.Conflict, "recording %s does not run", id)
	case s.web.browser == nil:
		return nil, human.Errorf(human.Conflict, "recording %s has no browser", id)
	}
	return s, nil
}

// Pick has the operator point at something in the recorded browser. It returns when the page waits for them, or
// for a selection, when it was taken; what they took is an event of the recording. One with no Field ends a pick
// that waits. Conflict when there is no browser, or the recording is paused.
func (r *Recorder) Pick(ctx context.Context, by human.Actor, id human.RecordingID, p human.PickRequest) error {
	if len(p.Field) > maxField {
		return human.BadField("field", "is longer than %d bytes", maxField)
	}
	switch p.Take {
	case "":
		p.Take = human.TakeElement
	case human.TakeElement, human.TakeSelection, human.TakeTable, human.TakeList:
	default:
		return human.BadField("take", "%q is not one of element, selection, table, list", human.OneLine(p.Take, 40))
	}
	s, err := r.browserOf(by, id)
	if err != nil {
		return err
	}
	if s.web.album.held.Load() && p.Field != "" {
		return human.Errorf(human.Conflict, "recording %s is paused; go on recording, then pick", id)
	}
	return s.web.browser.Pick(ctx, p)
}

// ShowBrowser brings the recorded browser to the front, and opens it again when it was closed. It returns when
// that is done.
func (r *Recorder) ShowBrowser(ctx context.Context, by human.Actor, id human.RecordingID) error {
	s, err := r.browserOf(by, id)
	if err != nil {
		return err
	}
	closed := false
	if err := s.do(ctx, func() error {
		if s.stopping {
			return human.Errorf(human.Conflict, "recording %s is being stopped", s.id)
		}
		if closed = !s.web.feed.up; closed {
			select { // how it ended
			case err := <-s.web.feed.first:
				s.log.Debug("the browser is opened again", "recording", s.id, "ended", err)
			default:
			}
			select {
			case s.web.feed.again <- struct{}{}:
			default: // it is being opened
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if !closed {
		return s.web.browser.Show(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	return s.web.feed.begins(ctx)
}
