package browser

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Picture implements record.Hands.
func (b *Browser) Picture(ctx context.Context) (id string, page human.WebPage) {
	t := b.front()
	if t == nil {
		return "", page
	}
	b.mu.Lock()
	ss := t.sources.screenshots
	b.mu.Unlock()
	if ss == nil {
		return "", page
	}
	s := ss.since(ctx, b.now())
	if s == nil || s.data == "" {
		if s = ss.seen(math.MaxInt64); s == nil { // a dialog may hold the page
			return "", page
		}
	}
	if s.data == "" {
		return "", page
	}
	ss.work.Lock()
	defer ss.work.Unlock()
	// A stop waits for no verdict: what is typed in a field that is not judged yet is black here, and not where the same picture is held.
	own := *s
	ss.keep(0, "after", &own)
	return own.id, own.page
}

// Holds implements record.Hands.
func (b *Browser) Holds(ctx context.Context, c human.ProcedureCheckpoint, since int64) (*record.Mismatch, error) {
	a := &act{b: b, looking: true}
	err := a.holds(ctx, c, since)
	if m := (*record.Mismatch)(nil); errors.As(err, &m) {
		return m, nil
	}
	return nil, err
}

func (a *act) holds(ctx context.Context, c human.ProcedureCheckpoint, since int64) error {
	b := a.b
	if err := a.dialogs(); err != nil {
		return err
	}
	switch c.Is {
	case "download":
		b.hands.mu.Lock()
		defer b.hands.mu.Unlock()
		if slices.ContainsFunc(b.hands.files, func(f arrival) bool {
			return f.began >= since && (matches(c.Text, f.names[0]) || matches(c.Text, f.names[1]))
		}) {
			return nil
		}
		return mismatch(human.Sayf("The file %s is downloaded.", c.Text), human.Sayf("No such file has arrived."))
	case "closed":
		b.mu.Lock()
		defer b.mu.Unlock()
		if slices.ContainsFunc(b.order, func(t *tab) bool { return t.name == c.Page }) {
			return mismatch(human.Sayf("The tab %s is closed.", c.Page), human.Sayf("It is open."))
		}
		if !b.wasOpen(c.Page) {
			return mismatch(human.Sayf("The tab %s is closed.", c.Page), human.Sayf("It has not opened."))
		}
		return nil
	}
	if err := a.tab(c.Page); err != nil {
		return err
	}
	if c.Is == "opened" {
		b.mu.Lock()
		defer b.mu.Unlock()
		if a.t.since < since {
			return mismatch(human.Sayf("The tab %s opens.", c.Page), human.Sayf("It was open before."))
		}
		return nil
	}
	at, err := a.frame(c.Frame)
	if err != nil {
		return err
	}
	switch c.Is {
	case "address":
		if shown := b.maskURL(at.url); !matches(c.Text, at.url) && !matches(c.Text, shown) {
			return mismatch(human.Sayf("The address is %s", c.Text), human.Sayf("It is now %s", shown))
		}
		return nil
	case "title":
		var title string
		if err := a.ask(ctx, at, "document.title", &title); err != nil {
			return err
		}
		if flat(title) != flat(c.Text) && flat(b.mask(title)) != flat(c.Text) {
			return mismatch(human.Sayf("The title is %q", c.Text), human.Sayf("It is now %q", b.mask(cut(title, maxName))))
		}
		return nil
	case "text", "line":
		var there bool
		if err := a.ask(ctx, at, fmt.Sprintf("hands.says(%s, %t)", quote(c.Text), c.Is == "line"), &there); err != nil {
			return err
		}
		switch {
		case !there && c.Is == "line":
			return mismatch(human.Sayf("The page has %q, with nothing else in its line", c.Text), human.Sayf("It has no such line."))
		case !there:
			return mismatch(human.Sayf("The page says %q", c.Text), human.Sayf("It does not say so."))
		}
		return nil
	case "element", "gone", "value":
		if c.Target != nil {
			return a.stands(ctx, at, c)
		}
	}
	return human.Errorf(human.Invalid, "A checkpoint of the kind %q cannot be looked at.", c.Is)
}

// Rows implements record.Hands.
func (b *Browser) Rows(ctx context.Context) ([][]string, error) {
	a := &act{b: b, looking: true}
	if err := a.tab(""); err != nil {
		return nil, err
	}
	at, err := a.frame(nil)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	return rows, a.ask(ctx, at, "hands.rows()", &rows)
}

// stands looks at a checkpoint of an element.
func (a *act) stands(ctx context.Context, at place, c human.ProcedureCheckpoint) error {
	expression := "hands.stands(" + quote(c.Target)
	if c.Is == "value" {
		expression += ", " + quote(c.Text)
	}
	var is struct {
		There string `json:"there"`
		Near  string `json:"near"`
		Many  int    `json:"many"`
		Same  bool   `json:"same"`
		Value string `json:"value"`
	}
	if err := a.ask(ctx, at, expression+")", &is); err != nil {
		return err
	}
	target := named(c.Target)
	found := spot{Near: is.Near, Many: is.Many, Wait: "missing"}
	if is.Many > 0 {
		found.Wait = "many"
	}
	switch {
	case c.Is == "gone" && is.There == "" && is.Many == 0:
		return nil
	case c.Is == "gone":
		return mismatch(human.Sayf("%s is gone.", target), human.Sayf("It is there."))
	case is.There == "":
		return found.lacks(c.Target, nil)
	case c.Is == "element" || is.Same:
		return nil
	case is.Value == "":
		return mismatch(human.Sayf("%s holds %q", target, c.Text), human.Sayf("It holds something else."))
	}
	m := mismatch(human.Sayf("%s holds %q", target, c.Text), human.Sayf("It holds %q", is.Value))
	m.Holds = is.Value
	return m
}
