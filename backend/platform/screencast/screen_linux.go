// Package screencast takes pictures under Wayland: through the desktop's ScreenCast portal, which asks the person what may be
// seen, and PipeWire, whose library is loaded when it is needed.
package screencast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// patience is how long to wait for a first picture before it is asked for again: a window that does not change sends none at
// times.
const patience = time.Second

// Options say what may be shown.
type Options struct {
	Dir       string // where the desktop's word is kept by which it does not ask again; "": it is not kept
	OneWindow bool   // never a whole monitor
}

// A Screen implements record.Screen. While Watch runs, one window or monitor can be seen that the person has chosen, and none
// else ever. Its pictures have no places.
type Screen struct {
	o Options

	mu     sync.Mutex
	stream *stream // nil: nothing can be seen
	window bool    // it is one window
	why    error   // nothing can be seen
}

// New returns a screen. The person is not asked before Watch.
func New(o Options) *Screen { return &Screen{o: o} }

func missing(detail, fix string) human.SourceState {
	return human.SourceState{Source: human.ScreenSource, Status: "missing", Code: "wayland", Detail: detail, Fix: fix}
}

// Check says what can be seen here. It asks the desktop, and not the person.
func (s *Screen) Check(ctx context.Context) human.SourceState {
	if loadable() != nil {
		return missing("This is a Wayland session, in which pictures come through PipeWire, and its library libpipewire-0.3.so.0 is missing.",
			"Install the package libpipewire-0.3-0 (Debian, Ubuntu) or pipewire-libs (Fedora), then try again.")
	}
	kinds, err := s.kinds(ctx)
	switch {
	case err != nil:
		return missing("This is a Wayland session, in which pictures come through the desktop's ScreenCast portal, and there is none.",
			"Install xdg-desktop-portal and the portal of your desktop, such as xdg-desktop-portal-gnome, then log out and in.")
	case kinds == 0:
		return missing("Pictures are left out: this desktop shows whole monitors only, on which excluded windows cannot be told apart and masked.",
			"Empty the list of excluded applications in the settings.")
	}
	state := human.SourceState{
		Source: human.ScreenSource, Status: "partial", Code: "wayland",
		Detail: "This is a Wayland session: the desktop asks you which window pictures may show. Places are not known, so a picture is all black where it might show a secret: while it is not known where the keyboard is, and once a password field was used or a secret was written.",
		Fix:    "Choose the window that you work in when the desktop asks.",
	}
	if kinds&monitors != 0 {
		state.Detail = "This is a Wayland session: the desktop asks you which window or monitor pictures may show. Places are not known, so a picture is all black where it might show a secret: while it is not known where the keyboard is, and once a password field was used or a secret was written."
	}
	return state
}

// kinds are what may be shown here, of what the desktop has.
func (s *Screen) kinds(ctx context.Context) (uint32, error) {
	p, err := dialPortal(ctx)
	if err != nil {
		return 0, err
	}
	defer p.close()
	has, err := p.property(ctx, "AvailableSourceTypes")
	if s.o.OneWindow {
		return has & windows, err
	}
	return has & (windows | monitors), err
}

// Screens returns none: which there are is not known.
func (s *Screen) Screens(context.Context) ([]human.Screen, error) { return nil, nil }

// Watch has the person asked, unless they agreed before, and lets Grab see what they chose until ctx ends.
func (s *Screen) Watch(ctx context.Context, ready func(), changed func()) error {
	s.see(nil, false, errWaits)
	err := s.watch(ctx, ready, changed)
	if ctx.Err() != nil {
		err = nil
	}
	s.see(nil, false, err)
	return err
}

var errWaits error = human.Wrap(human.Unavailable, record.ErrScreenWaits, "The desktop shows nothing yet; it may be asking what pictures may show")

func (s *Screen) watch(ctx context.Context, ready func(), changed func()) error {
	if err := loadable(); err != nil {
		return human.Wrap(human.Unavailable, err, "PipeWire's library is missing")
	}
	kinds, err := s.kinds(ctx)
	if err != nil {
		return lost(err)
	}
	p, err := dialPortal(ctx)
	if err != nil {
		return lost(err)
	}
	defer p.close()
	what, next, err := p.start(ctx, kinds, s.consent())
	if no := (unanswered{}); errors.As(err, &no) {
		if no.code == 1 {
			return human.Wrap(human.Denied, err, "You did not allow pictures when the desktop asked; start a new recording to be asked again")
		}
		return human.Wrap(human.Denied, err, "The desktop shows nothing, and does not say why")
	}
	if err != nil {
		return lost(err)
	}
	s.keep(next)
	if s.o.OneWindow && !what.window {
		return human.Errorf(human.Denied, "The desktop shows more than one window, on which excluded ones cannot be told apart")
	}
	return s.show(ctx, p, what, ready, changed)
}

// show lets Grab see something until ctx ends or it can be seen no more.
func (s *Screen) show(ctx context.Context, p *portal, what shown, ready func(), changed func()) error {
	for {
		connection, err := p.connect(ctx)
		if err != nil {
			return lost(err)
		}
		stream, err := openStream(connection, what.node)
		if err != nil {
			return lost(err)
		}
		s.see(stream, what.window, nil)
		if err := s.follow(ctx, p, stream, ready, changed); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// follow tells of pictures as they come. It returns nil when there was none for a while since the stream began.
func (s *Screen) follow(ctx context.Context, p *portal, stream *stream, ready func(), changed func()) error {
	first := time.NewTimer(patience)
	defer first.Stop()
	shown := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-first.C:
			if !shown {
				return nil
			}
		case signal, ok := <-p.signals:
			if !ok || signal.Sender == p.owner && signal.Path == p.session && strings.HasSuffix(signal.Name, ".Closed") {
				return lost(errors.New("the desktop ended it"))
			}
		case <-stream.news:
			if err := stream.ended(); err != nil {
				return lost(err)
			}
			switch {
			case stream.count() == 0:
			case shown:
				changed()
			default:
				shown = true
				ready()
			}
		}
	}
}

// see has Grab look at a stream, or say why there is none, and closes the one before.
func (s *Screen) see(next *stream, window bool, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		s.stream.close()
	}
	s.stream, s.window, s.why = next, window, why
}

func lost(err error) error {
	return human.Wrap(human.Unavailable, errors.Join(record.ErrScreenLost, err), "Nothing can be seen any more through the desktop's portal")
}

// Grab copies the newest picture.
func (s *Screen) Grab(_ context.Context, f *record.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return cmp.Or(s.why, errWaits)
	}
	pix, w, h, ok := s.stream.picture(f.Pix)
	if f.Pix = pix; !ok {
		return errWaits
	}
	f.X, f.Y, f.W, f.H, f.Scale, f.Unplaced, f.Many = 0, 0, w, h, 1, true, !s.window
	return nil
}

// Close has nothing to close: Watch does that.
func (s *Screen) Close() error { return nil }

// file is where the desktop's word is kept. It is no secret of the person's, but who has it is not asked.
func (s *Screen) file() string { return filepath.Join(s.o.Dir, "screencast") }

func (s *Screen) consent() string {
	if s.o.Dir == "" {
		return ""
	}
	data, err := os.ReadFile(s.file())
	if err != nil {
		return ""
	}
	kind, consent, _ := strings.Cut(string(data), " ")
	if kind != s.kind() { // it may be for a monitor that may not be shown any more
		return ""
	}
	return consent
}

func (s *Screen) kind() string { return fmt.Sprintf("window=%t", s.o.OneWindow) }

func (s *Screen) keep(consent string) {
	if s.o.Dir != "" && consent != "" {
		_ = os.WriteFile(s.file(), []byte(s.kind()+" "+consent), 0o600) // without it the person is asked again
	}
}

var _ record.Screen = (*Screen)(nil)
