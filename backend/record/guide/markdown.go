package guide

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Markdown writes the guide as a zip: guide.md, and pictures/01.png and so on, which it shows. Readers of
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
		fmt.Fprintf(&page, "**%d.** %s (%s)\n\n", s.Number, escape(s.Words), s.Time)
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
		fmt.Fprintf(&page, "![%s](%s)\n\n", escape(s.Alt()), name)
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
