package guide

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"deskbell/backend/human"
)

// Markdown writes the guide as a zip: guide.md, pictures/01.png and so on, which it shows, and attachments/NAME, which it lists. Readers of
// Markdown draw nothing over pictures, so that the marks are drawn into these copies; the recording's own
// pictures stay as they are. It may have written a part when it fails.
func Markdown(w io.Writer, in Input) error {
	g := newGuide(in)
	z := zip.NewWriter(w)
	add := func(name string, method uint16) (io.Writer, error) {
		h := &zip.FileHeader{Name: name, Method: method, Modified: in.Recording.StartedAt.UTC().Truncate(time.Second)}
		return z.CreateHeader(h)
	}
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n", escape(g.title()))
	fmt.Fprintf(&page, "%s\n\n", escape(strings.Join(g.meta(), " · ")))
	for _, p := range g.paragraphs() {
		fmt.Fprintf(&page, "%s\n\n", escape(p))
	}
	if len(g.Steps) == 0 {
		fmt.Fprintf(&page, "%s\n\n", escape(g.say.nothing))
	}
	for i := range g.Steps {
		s := &g.Steps[i]
		switch {
		case s.Heading != "":
			text := s.Heading
			if s.Caption != "" {
				text = s.Caption + ": " + text
			}
			fmt.Fprintf(&page, "## %s\n\n", escape(text))
			continue
		case s.Number == 0:
			fmt.Fprintf(&page, "> %s (%s)\n\n", escape(s.Words), s.Time)
			continue
		}
		if w := s.Where; w != nil {
			fmt.Fprintf(&page, "%s\n\n", strings.TrimSpace(escape(w.Title)+" "+code(w.URL)))
		}
		fmt.Fprintf(&page, "**%d.** %s (%s)\n\n", s.Number, escape(s.Words), s.Time)
		for _, e := range s.Effects {
			fmt.Fprintf(&page, "- %s (%s)\n", escape(e.Words), e.Time)
		}
		if len(s.Effects) > 0 {
			page.WriteString("\n")
		}
		shot, err := s.shot(true)
		if err != nil {
			return err
		}
		if shot == nil {
			continue
		}
		name := fmt.Sprintf("pictures/%02d.%s", s.Number, shot.Ext)
		file, err := add(name, zip.Store) // packed already
		if err != nil {
			return err
		}
		if _, err := file.Write(shot.Data); err != nil {
			return err
		}
		fmt.Fprintf(&page, "![%s](%s)\n\n", escape(shot.Alt), name)
		s.file = name
	}
	g.table(&page)
	if err := g.attachments(&page, add); err != nil {
		return err
	}
	fmt.Fprintf(&page, "---\n\n%s\n\n", escape(g.complete()))
	for _, gap := range g.gaps() {
		fmt.Fprintf(&page, "- %s\n", escape(gap))
	}
	for _, left := range g.left() {
		fmt.Fprintf(&page, "- %s\n", escape(left))
	}
	fmt.Fprintf(&page, "\n%s\n", escape(fmt.Sprintf(g.say.made, in.Recording.ID)))
	file, err := add("guide.md", zip.Deflate)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	if _, err := out.WriteString(page.String()); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// attachments adds the attached files, and lists them.
func (g *guide) attachments(page *strings.Builder, add func(string, uint16) (io.Writer, error)) error {
	if len(g.in.Files) == 0 {
		return nil
	}
	fmt.Fprintf(page, "## %s\n\n", g.say.attachments)
	taken := map[string]bool{}
	for _, f := range g.in.Files {
		about := []string{f.Media, fmt.Sprintf(g.say.bytes, f.Size), g.say.ofRequest}
		if f.Answer {
			about[2] = g.say.ofAnswer
		}
		data, err := f.Read()
		if human.KindOf(err) == human.NotFound {
			fmt.Fprintf(page, "- %s (%s)\n", escape(human.OneLine(f.Name, 200)), escape(strings.Join(append(about, g.say.gone), ", ")))
			continue
		}
		if err != nil {
			return err
		}
		name := f.FileName()
		ending := path.Ext(name)
		for n := 2; taken[strings.ToLower(name)]; n++ { // some file systems have no cases
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(f.FileName(), ending), n, ending)
		}
		taken[strings.ToLower(name)] = true
		file, err := add("attachments/"+name, zip.Deflate)
		if err != nil {
			return err
		}
		if _, err := file.Write(data); err != nil {
			return err
		}
		fmt.Fprintf(page, "- [%s](%s) (%s)\n", escape(human.OneLine(f.Name, 200)), "attachments/"+url.PathEscape(name), escape(strings.Join(about, ", ")))
	}
	page.WriteString("\n")
	return nil
}

// table writes the fields that were picked.
func (g *guide) table(page *strings.Builder) {
	fields := g.fields()
	if len(fields) == 0 {
		return
	}
	fmt.Fprintf(page, "## %s\n\n| %s | %s | %s |\n| --- | --- | --- |\n", g.say.fields, g.say.field, g.say.value, g.say.source)
	for _, f := range fields {
		value := escape(f.Value)
		switch {
		case f.Hidden:
			value = escape(g.say.hiddenMark)
		case len(f.Rows) > 0:
			value = cell(flat(f.Rows))
			if more := f.MoreRows(); more != "" {
				value += " " + escape(more)
			}
		}
		if f.file != "" {
			value += fmt.Sprintf(" ([%d](%s))", f.Step, f.file)
		}
		from := ""
		if f.Where != nil {
			from = strings.TrimSpace(escape(f.Where.Title) + " " + cell(f.Where.URL))
		}
		if f.Selector != "" {
			from += fmt.Sprintf(" (%s %s)", escape(g.say.selector), cell(f.Selector))
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", escape(f.Field), value, from)
	}
	page.WriteString("\n")
}

// cell is code in a cell of a table, which a bar would end.
func cell(text string) string { return strings.ReplaceAll(code(text), "|", `\|`) }

// code is a text as it is, as code: in more backticks than it has in a row.
func code(text string) string {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// escape keeps a text from being read as Markdown or HTML. It is one line already.
func escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>()#|!~&$^", r):
			b.WriteByte('\\')
		case strings.ContainsRune("+-.=", r) && (i == 0 || listNumber(text[:i])):
			b.WriteByte('\\')
		case r == ':' && strings.HasPrefix(text[i:], "://"), r == '@', r == '.' && strings.HasSuffix(text[:i], "www"):
			b.WriteByte('\\') // no link, either
		}
		b.WriteRune(r)
	}
	return b.String()
}

func listNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }
