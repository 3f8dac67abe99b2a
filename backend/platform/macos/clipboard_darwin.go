package macos

import (
	"context"
	"strings"
	"time"

	"github.com/ebitengine/purego/objc"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// ask is how often the clipboard is asked whether it changed: the system tells no one.
const ask = 300 * time.Millisecond

// A Clipboard is a record.Source of changes of the clipboard. What a program marks as concealed or passing, as
// password managers do, is reported without its content, with Hidden set.
type Clipboard struct {
	clock   record.Clock
	content bool
}

// NewClipboard makes one; with content, it reports texts as well.
func NewClipboard(clock record.Clock, content bool) *Clipboard {
	return &Clipboard{clock: clock, content: content}
}

// Check says whether the clipboard can be asked.
func (c *Clipboard) Check(context.Context) human.SourceState {
	return permitted(human.SourceState{Source: human.ClipboardSource, Status: "complete"}, func() bool { return true }, "", "")
}

// Run tells of changes; see record.Source. Of two within 300 ms, the first is not seen.
func (c *Clipboard) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (seen uint64, err error) {
	if err := load(); err != nil {
		return 0, err
	}
	now := monotonic(c.clock)
	var count int
	look := func() (e human.RecordedEvent, changed bool) {
		pooled(func() {
			board := objc.ID(objc.GetClass("NSPasteboard")).Send(objc.RegisterName("generalPasteboard"))
			n := objc.Send[int](board, objc.RegisterName("changeCount"))
			if changed = n != count; changed {
				count = n
				e = c.read(board)
			}
		})
		return e, changed
	}
	look()
	ticker := time.NewTicker(ask)
	defer ticker.Stop()
	ready()
	for {
		select {
		case <-ctx.Done():
			return seen, nil
		case <-ticker.C:
		}
		if e, changed := look(); changed {
			e.At, e.Source, e.Type = now(), human.ClipboardSource, human.ClipboardSet
			seen++
			emit(e)
		}
	}
}

func (c *Clipboard) read(board objc.ID) human.RecordedEvent {
	// An NSArray and its NSStrings are Core Foundation's arrays and strings.
	types := ref(board.Send(objc.RegisterName("types")))
	has := map[string]bool{}
	if types != 0 {
		for i := range system.CFArrayGetCount(types) {
			has[text(system.CFArrayGetValue(types, i))] = true
		}
	}
	const plain = "public.utf8-plain-text"
	e := human.RecordedEvent{ContentKind: "other"}
	switch {
	case len(has) == 0:
		e.ContentKind = "empty"
	case has["public.file-url"]:
		e.ContentKind = "files"
	case has[plain]:
		e.ContentKind = "text"
	case has["public.png"], has["public.tiff"], has["public.jpeg"]:
		e.ContentKind = "image"
	}
	switch {
	// The marks that nspasteboard.org names.
	case has["org.nspasteboard.ConcealedType"], has["org.nspasteboard.TransientType"], has["com.agilebits.onepassword"]:
		e.Hidden = "secret"
	case c.content && e.ContentKind == "text":
		s := text(ref(board.Send(objc.RegisterName("stringForType:"), objc.ID(name(plain)))))
		e.Text = strings.ToValidUTF8(s[:min(len(s), maxValue)], "")
	}
	return e
}
