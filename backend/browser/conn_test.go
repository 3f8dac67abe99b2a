package browser

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/chromedp/cdproto"
)

// A wire is a transport whose other end the test plays.
type wire struct {
	sent chan *cdproto.Message
	come chan *cdproto.Message
	gone chan struct{}
}

func newWire() *wire {
	return &wire{sent: make(chan *cdproto.Message, 10), come: make(chan *cdproto.Message), gone: make(chan struct{})}
}

func (w *wire) Read(_ context.Context, m *cdproto.Message) error {
	select {
	case got := <-w.come:
		*m = *got
		return nil
	case <-w.gone:
		return io.EOF
	}
}

func (w *wire) Write(_ context.Context, m *cdproto.Message) error {
	select {
	case <-w.gone:
		return io.ErrClosedPipe
	case w.sent <- m:
		return nil
	}
}

func (w *wire) Close() error { close(w.gone); return nil }

func TestAnswersComeInOrderWithEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		c := newConn(w, func() int64 { return 7 })
		var order []string
		c.ask("s", "Page.getFrameTree", nil, func(raw json.RawMessage, err error) {
			order = append(order, string(raw))
			if err != nil {
				t.Error(err)
			}
		})
		asked := <-w.sent
		w.come <- &cdproto.Message{SessionID: "s", Method: "Page.frameAttached", Params: []byte(`1`)}
		w.come <- &cdproto.Message{ID: asked.ID, Result: []byte(`2`)}
		w.come <- &cdproto.Message{ID: 99, Result: []byte(`"nobody asked"`)}
		w.come <- &cdproto.Message{SessionID: "s", Method: "Page.frameAttached", Params: []byte(`3`)}
		synctest.Wait()
		for _, e := range c.take() {
			if e.answer != nil {
				e.answer()
				continue
			}
			order = append(order, string(e.params))
			if e.session != "s" || e.method != "Page.frameAttached" || e.at != 7 {
				t.Errorf("an event came as %+v", e)
			}
		}
		if !slices.Equal(order, []string{"1", "2", "3"}) {
			t.Errorf("they came as %v", order)
		}
		c.close()
	})
}

func TestCallsEndWithTheirSessionAndTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		c := newConn(w, func() int64 { return 0 })
		ended := make(chan error, 3)
		go func() { ended <- c.call(t.Context(), "frame", "Runtime.evaluate", nil, nil) }()
		<-w.sent
		synctest.Wait()
		c.forget("frame")
		if err := <-ended; !errors.Is(err, errDetached) {
			t.Errorf("a call to a frame that is gone: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- c.call(ctx, "", "Browser.getVersion", nil, nil) }()
		<-w.sent
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a call that was given up: %v", err)
		}
		go func() { ended <- c.call(t.Context(), "", "Browser.getVersion", nil, nil) }()
		<-w.sent
		synctest.Wait()
		c.close()
		if err := <-ended; err == nil {
			t.Error("a call outlived its connection")
		}
		if err := c.call(t.Context(), "", "Browser.getVersion", nil, nil); err == nil {
			t.Error("a call without a connection succeeded")
		}
	})
}
