package browser

import (
	"context"
	"encoding/json"

	"deskbell/backend/human"
)

// opened is called when a tab is heard; ctx ends when it is gone. Like the others it is called where events are
// handled: it must not wait for the browser, but may begin a goroutine by t.do.
func (t *tab) opened(ctx context.Context) {}

// closed is called when the tab is gone.
func (t *tab) closed() {}

// event is called with every event of every session of the tab.
func (t *tab) event(session, method string, params json.RawMessage) {}

// beforeAction is called with what a person did in a page before it is delivered, and may change it.
func (b *Browser) beforeAction(t *tab, e *human.RecordedEvent) {}

// afterAction is called once the event has its Ref.
func (b *Browser) afterAction(t *tab, ref uint64) {}

// Pick implements record.Browser.
func (b *Browser) Pick(ctx context.Context, p human.PickRequest) error {
	return human.Errorf(human.Unavailable, "Nothing can be picked from pages.")
}
