package browser

import (
	"encoding/json"

	"deskbell/backend/human"
)

// A dialog is a JavaScript dialog that is open.
type dialog struct {
	kind, message string
	cause         uint64
	frame         *frame
	answered      bool // by Deskbell
}

// dialogOpens is called when a page asks the person something, who answers in the browser's own window.
func (t *tab) dialogOpens(e event) {
	var o struct {
		Frame   string `json:"frameId"`
		Message string `json:"message"`
		Type    string `json:"type"`
	}
	if json.Unmarshal(e.params, &o) != nil || t.dialog != nil {
		return
	}
	f := t.frames[o.Frame]
	if f == nil {
		f = t.main
	}
	t.b.change(func() { t.dialog = &dialog{kind: o.Type, message: o.Message, cause: t.cause(e.at, soon), frame: f} })
	t.b.hands.wake()
}

func (t *tab) dialogCloses(e event) {
	var c struct {
		Accepted bool   `json:"result"`
		Input    string `json:"userInput"`
	}
	d := t.dialog
	t.b.change(func() { t.dialog = nil })
	t.b.hands.wake()
	if json.Unmarshal(e.params, &c) != nil || d == nil || t.hidden(d.frame, "") {
		return
	}
	page := t.pageOf(d.frame)
	dialog := human.Dialog{Kind: d.kind, Message: t.b.mask(cut(d.message, maxName*4)), Accepted: c.Accepted}
	if c.Accepted && d.kind == "prompt" {
		dialog.Input = t.b.mask(cut(c.Input, maxName*4))
	}
	ref := t.b.emit(human.RecordedEvent{Type: human.PageDialog, At: e.at, Browsing: human.Browsing{Page: &page, Dialog: &dialog, Cause: d.cause}})
	t.last = action{ref: ref, at: e.at, kind: human.PageDialog}
}
