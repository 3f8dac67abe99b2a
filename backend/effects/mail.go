package effects

import (
	"context"
	"encoding/base64"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// mails looks into folders of mail: Maildirs, and those of files that end in .eml.
func mails(ctx context.Context, e human.ProcedureEffect) (procedure.Seen, error) {
	folders, err := expand(ctx, e.Path)
	if err != nil {
		return procedure.Seen{}, err
	}
	var found, all []string
	for _, folder := range folders {
		for _, in := range []string{"", "new", "cur"} {
			entries, _ := os.ReadDir(filepath.Join(folder, in)) // a folder that is not there has no mail
			for _, entry := range entries {
				if !entry.Type().IsRegular() || in == "" && !strings.EqualFold(filepath.Ext(entry.Name()), ".eml") {
					continue
				}
				if ctx.Err() != nil || len(all) == maxMatches {
					return procedure.Seen{}, human.Errorf(human.Exhausted, "there is too much mail at %s: name a smaller folder", e.Path)
				}
				raw, err := read(filepath.Join(folder, in, entry.Name()), maxAnswer)
				digest := human.Digested(raw)
				all = append(all, digest)
				if err == nil && human.HasAll(words(raw), e.Has) {
					found = append(found, digest)
				}
			}
		}
	}
	if len(folders) == 0 {
		return procedure.Seen{}, human.Errorf(human.NotFound, "there is no folder at %s: check the path", e.Path)
	}
	return procedure.Seen{Items: found, All: all, Said: human.Sayf("%d of %d messages in %s are as expected", len(found), len(all), e.Path)}, nil
}

// words are the subject, who a message is from and to, whom an answer to it goes to, and its text, decoded; "" where it is none.
func words(raw string) string {
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return ""
	}
	var b strings.Builder
	var decoder mime.WordDecoder
	for _, name := range []string{"Subject", "From", "To", "Cc", "Bcc", "Reply-To"} {
		value := m.Header.Get(name)
		if decoded, err := decoder.DecodeHeader(value); err == nil {
			value = decoded
		}
		b.WriteString(value + "\n")
	}
	body(&b, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body, 0)
	return b.String()
}

// deepest is how many parts within parts are read.
const deepest = 8

var tags = regexp.MustCompile(`<[^>]*>`)

// body writes the text of a part and of the parts in it.
func body(b *strings.Builder, kind, encoding string, r io.Reader, depth int) {
	media, parameters, err := mime.ParseMediaType(kind)
	if kind == "" || err != nil {
		media = "text/plain"
	}
	if strings.HasPrefix(media, "multipart/") {
		parts := multipart.NewReader(r, parameters["boundary"])
		for depth < deepest {
			part, err := parts.NextRawPart()
			if err != nil {
				return
			}
			body(b, part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part, depth+1)
		}
		return
	}
	if !strings.HasPrefix(media, "text/") {
		return
	}
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, r)
	case "quoted-printable":
		r = quotedprintable.NewReader(r)
	}
	text, _ := io.ReadAll(r) // what was read before an error is text, too
	if charset := strings.ToLower(parameters["charset"]); charset == "iso-8859-1" || charset == "latin1" {
		text = latin1(text)
	}
	if media == "text/html" {
		text = []byte(html.UnescapeString(tags.ReplaceAllString(string(text), "")))
	}
	b.Write(text)
	b.WriteByte('\n')
}

// latin1 is a text of ISO 8859-1 in UTF-8.
func latin1(text []byte) []byte {
	runes := make([]rune, len(text))
	for i, c := range text {
		runes[i] = rune(c)
	}
	return []byte(string(runes))
}
