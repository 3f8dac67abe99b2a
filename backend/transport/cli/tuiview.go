package cli

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"deskbell/backend/human"
)

// Styles use the terminal's own sixteen colors, which its theme makes readable. Where NO_COLOR is set Bubble Tea leaves them out.
var (
	styleBar  = lipgloss.NewStyle().Reverse(true)
	styleDim  = lipgloss.NewStyle().Faint(true)
	styleBold = lipgloss.NewStyle().Bold(true)
	styleMark = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Cyan)
	styleBad  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	styleGood = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleRisk = map[human.Risk]lipgloss.Style{
		human.MediumRisk: lipgloss.NewStyle().Foreground(lipgloss.Yellow), human.HighRisk: lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red),
		human.CriticalRisk: lipgloss.NewStyle().Bold(true).Reverse(true).Foreground(lipgloss.Red),
	}
)

// View implements tea.Model.
func (d *inbox) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = fmt.Sprintf("Deskbell (%d)", d.mine)
	if d.width < 20 || d.height < 6 {
		v.Content = "Deskbell"
		return v
	}
	var body []string
	switch {
	case d.help:
		body = strings.Split(strings.TrimRight(d.words.help, "\n"), "\n")
	case d.open != nil:
		body = d.shown()
	default:
		body = d.rows()
	}
	foot := d.foot()
	room := max(1, d.height-2-len(foot))
	if len(body) > room {
		body = body[:room]
	}
	for len(body) < room {
		body = append(body, "")
	}
	lines := append([]string{d.bar()}, body...)
	lines = append(append(lines, foot...), d.status())
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, d.width, "…")
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

func (d *inbox) bar() string {
	live := d.words.live
	if d.away {
		live = d.words.away
	}
	text := " Deskbell"
	for i, name := range d.words.lists() {
		if n := len(d.lists[i]); i == waiting && d.mine < n {
			text += fmt.Sprintf("  %s %d/%d", name, d.mine, n)
		} else {
			text += fmt.Sprintf("  %s %d", name, n)
		}
	}
	text += "  " + live
	text = ansi.Truncate(text, d.width, "…")
	return styleBar.Render(text + strings.Repeat(" ", max(0, d.width-ansi.StringWidth(text))))
}

// status is the last line: what happened, else the keys.
func (d *inbox) status() string {
	if d.note != "" {
		if d.bad {
			return styleBad.Render("! " + d.note)
		}
		return styleGood.Render(d.note)
	}
	w := d.words
	switch {
	case d.help:
		return styleDim.Render(w.anyKey)
	case d.form != nil:
		return styleDim.Render(w.formKeys)
	case d.open == nil:
		return styleDim.Render(w.listKeys)
	}
	return styleDim.Render(w.pageKeys)
}

// actLines are the keys that answer what is open, above the status.
func (d *inbox) actLines() []string {
	op := d.open.op
	if d.form != nil || d.help || over(op) {
		return nil
	}
	lines := []string{""}
	for _, a := range d.acts() {
		key := a.key + " " + a.title
		last := len(lines) - 1
		switch {
		case lines[last] == "":
			lines[last] = key
		case ansi.StringWidth(lines[last]+"   "+key) > d.width:
			lines = append(lines, key)
		default:
			lines[last] += "   " + key
		}
	}
	for i := range lines {
		lines[i] = styleBold.Render(lines[i])
	}
	return append([]string{styleDim.Render(strings.Repeat("─", d.width))}, lines...)
}

// rows are the list.
func (d *inbox) rows() []string {
	list := d.list()
	lines := []string{styleBold.Render(d.words.lists()[d.which]), ""}
	switch {
	case !d.loaded:
		return append(lines, d.words.reading)
	case len(list) == 0:
		return append(lines, []string{d.words.none, d.words.noneRunning, d.words.noneRecent}[d.which])
	}
	room := max(1, d.height-2-len(lines))
	first := max(0, min(d.at-room/2, len(list)-room))
	now := time.Now()
	for i := first; i < len(list) && i < first+room; i++ {
		op := list[i]
		left := d.tongue.state(op.State)
		switch {
		case underWay(op):
			left = d.tongue.pick(runStateWords[op.Run.State], string(op.Run.State))
		case op.State.Terminal():
		case op.Overdue:
			left = d.words.overdue
		case op.ClaimedBy != "":
			left = oneLine(op.ClaimedBy, 12)
		case op.ExpiresAt != nil:
			left = d.tongue.span(op.ExpiresAt.Sub(now))
		}
		mark := "  "
		if i == d.at {
			mark = styleMark.Render("> ")
		}
		risk := pad(d.tongue.pick(riskNames[op.Risk], "-"), 8)
		if style, is := styleRisk[op.Risk]; is {
			risk = style.Render(risk)
		}
		text := human.OneLine(op.Description, 200)
		age := d.tongue.span(now.Sub(op.CreatedAt))
		line := mark + pad(age, 7) + " " + risk + " "
		if d.width >= 70 {
			line = mark + pad(age, 7) + " " + pad(left, 11) + " " + risk + " " + pad(d.tongue.kind(op.Kind), 10) + " "
		}
		if d.width >= 100 {
			line += pad(oneLine(op.AgentID, 16), 16) + " "
		}
		text = oneLine(text, 200)
		switch {
		case i == d.at:
			text = styleBold.Render(text)
		case d.which == waiting && i >= d.mine:
			text = styleDim.Render(text)
		}
		lines = append(lines, line+text)
	}
	return lines
}

// pad cuts or fills a visible text to a width in cells.
func pad(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// body is how many lines the open request has.
func (d *inbox) body() int { return max(1, d.height-2-len(d.foot())) }

// foot is what stands below what is read: the form, or the keys that answer.
func (d *inbox) foot() []string {
	switch {
	case d.help:
		return nil
	case d.form != nil:
		return d.formLines()
	case d.open != nil:
		return d.actLines()
	}
	return nil
}

// lay sizes the form for the screen, and fits what is read.
func (d *inbox) lay() {
	if d.form != nil {
		for i := range d.form.fields {
			f := &d.form.fields[i]
			f.SetWidth(max(10, d.width-2))
			f.SetHeight(1)
			switch {
			case f.value != "":
				f.SetHeight(max(3, min(8, d.height/3)))
			case d.form.prompts():
				if f.must == "" && f.lines() && d.height > 16 {
					f.SetHeight(3)
				}
			case f.must == "" && len(d.form.fields) <= 2 && d.height > 16:
				f.SetHeight(3)
			}
		}
	}
	d.fit()
}

// fit breaks the open request's lines for the room that the form leaves.
func (d *inbox) fit() {
	switch {
	case d.reviewed != nil:
		d.lines = d.reviewed.laid(d.width - 1)
	case d.open != nil:
		d.lines = d.open.page.laid(d.width - 1)
	}
	d.scroll = max(0, min(d.scroll, len(d.lines)-d.body()))
}

// shown are the lines of what is read that fit the screen.
func (d *inbox) shown() []string {
	room := d.body()
	last := min(len(d.lines), d.scroll+room)
	lines := append([]string{}, d.lines[min(d.scroll, last):last]...)
	if more := len(d.lines) - last; more > 0 && room > 2 && len(lines) > 0 {
		lines[len(lines)-1] = styleDim.Render(fmt.Sprintf(d.words.more, more+1))
	}
	return lines
}

func (d *inbox) formLines() []string {
	title := d.form.title
	first, last := 0, len(d.form.fields)
	if d.form.prompts() {
		title += fmt.Sprintf(" %d/%d", d.form.at+1, last)
		first, last = d.form.at, d.form.at+1
	}
	lines := []string{styleBold.Render(strings.Repeat("─", 2) + " " + title + " ")}
	for i := first; i < last; i++ {
		f := &d.form.fields[i]
		label := f.label
		if f.must == "" {
			label += d.tongue.t(":", "：")
		}
		lines = append(lines, label)
		lines = append(lines, d.choices(f)...)
		lines = append(lines, strings.Split(f.View(), "\n")...)
		if f.wrong != "" {
			lines = append(lines, styleBad.Render("! "+f.wrong))
		}
	}
	return lines
}
