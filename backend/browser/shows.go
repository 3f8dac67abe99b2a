package browser

import (
	"slices"
	"strings"

	"deskbell/backend/human"
)

// What was typed is known again on later pages by mostTyped texts, the latest, of shortestTyped bytes or more: a shorter one stands there by chance.
const (
	mostTyped     = 200
	shortestTyped = 3
)

// shows notes what is typed and chosen, and which of that stands on a page when something is pressed there. What else the page says is not kept.
func (b *Browser) shows(e *human.RecordedEvent) {
	b.namesMu.Lock()
	defer b.namesMu.Unlock()
	switch e.Type {
	case human.PageInput:
		if e.Hidden == "" {
			b.typed = typedToo(b.typed, e.Text)
		}
	case human.PageChoice:
		for _, v := range e.Values {
			b.typed = typedToo(b.typed, v)
		}
	case human.PagePress, human.PageKey:
		var lines []string
		for line := range strings.Lines(e.Text) {
			lines = append(lines, flat(line))
		}
		e.Text = ""
		if e.Element == nil {
			return
		}
		said := strings.Join(lines, " ")
		for _, text := range b.typed {
			if human.HasAll(said, []string{text}) {
				e.Element.Shows = append(e.Element.Shows, human.Digested(text))
			}
			if slices.Contains(lines, text) {
				e.Element.Shows = append(e.Element.Shows, human.DigestedLine(text))
			}
		}
	}
}

func typedToo(all []string, text string) []string {
	text = flat(text)
	if len(text) < shortestTyped || text == "checked" || text == "unchecked" || strings.Contains(text, "•") || slices.Contains(all, text) {
		return all
	}
	return append(all, text)[max(0, len(all)+1-mostTyped):]
}
