// Package effects looks at what must be true outside of a page after a procedure has run: files, answers of servers, rows of SQLite
// databases, mail. It changes nothing.
package effects

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// What is looked at has bounds, so that a look ends.
const (
	patience    = 10 * time.Second
	maxAnswer   = 4 << 20  // bytes of an answer, or of a message
	maxFile     = 32 << 20 // bytes of a file that texts are looked for in
	maxMatches  = 10_000   // files, rows or messages
	maxRedirect = 10
)

// A Looker looks at effects. Its zero value is ready for use, by several goroutines.
type Looker struct {
	// Transport sends requests; nil: http.DefaultTransport.
	Transport http.RoundTripper
}

var _ procedure.Effects = Looker{}

// Look says what there is of an effect; see procedure.Effects. Neither what it says nor its errors have a secret.
func (l Looker) Look(ctx context.Context, e human.ProcedureEffect, secret func(name string) (string, error)) (procedure.Seen, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch e.Is {
	case "file":
		return file(ctx, e)
	case "http":
		return l.answer(ctx, e, secret)
	case "sql":
		return rows(ctx, e)
	case "mail":
		return mails(ctx, e)
	}
	return procedure.Seen{}, human.BadField("is", "%q cannot be looked at without a browser: choose file, http, sql or mail", e.Is)
}

// expand are the paths that a pattern stands for, in which * is anything but a slash.
func expand(ctx context.Context, pattern string) ([]string, error) {
	if !filepath.IsAbs(pattern) {
		return nil, human.BadField("path", "%q is no absolute path: write it from the root of this computer", pattern)
	}
	volume := filepath.VolumeName(pattern)
	found := []string{volume + string(filepath.Separator)}
	for _, name := range strings.Split(filepath.ToSlash(pattern[len(volume):]), "/") {
		if name == "" {
			continue
		}
		var next []string
		for _, dir := range found {
			if !strings.Contains(name, "*") {
				if p := filepath.Join(dir, name); exists(p) {
					next = append(next, p)
				}
				continue
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				continue // no folder
			}
			for _, entry := range entries {
				if ok, _ := path.Match(quoteMeta(name), entry.Name()); ok {
					next = append(next, filepath.Join(dir, entry.Name()))
				}
			}
			if ctx.Err() != nil || len(next) > maxMatches {
				return nil, human.Errorf(human.Exhausted, "there is too much at %s: name it more exactly", pattern)
			}
		}
		found = next
	}
	return found, nil
}

func exists(p string) bool { _, err := os.Stat(p); return err == nil }

// quoteMeta leaves * alone a wildcard.
func quoteMeta(name string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "?", `\?`).Replace(name)
}

func file(ctx context.Context, e human.ProcedureEffect) (procedure.Seen, error) {
	names, err := expand(ctx, e.Path)
	if err != nil {
		return procedure.Seen{}, err
	}
	var found, all []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait
			continue
		}
		digest := human.Digested(name, info.Size(), info.ModTime().UnixNano())
		all = append(all, digest)
		if len(e.Has) > 0 {
			if info.Size() > maxFile {
				return procedure.Seen{}, human.Errorf(human.Exhausted, "%s is larger than %d MB: texts are not looked for in it", name, maxFile>>20)
			}
			text, err := read(name, maxFile)
			if err != nil {
				return procedure.Seen{}, human.Wrap(human.Unavailable, err, "%s cannot be read: allow Deskbell to read it", name)
			}
			if !human.HasAll(text, e.Has) {
				continue
			}
		}
		found = append(found, digest)
	}
	return procedure.Seen{Items: found, All: all, Said: human.Sayf("%d of %d files at %s are as expected", len(found), len(names), e.Path)}, nil
}

func read(name string, limit int64) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit))
	return string(text), err
}

var errElsewhere = errors.New("redirected to another origin")

// answer asks a server.
func (l Looker) answer(ctx context.Context, e human.ProcedureEffect, secret func(string) (string, error)) (procedure.Seen, error) {
	at, err := url.Parse(e.URL)
	if err != nil || at.Host == "" || at.User != nil {
		return procedure.Seen{}, human.BadField("url", "the address of an effect cannot be read: write it as https://host/path")
	}
	if at.Scheme != "https" && (at.Scheme != "http" || !loopback(at.Hostname())) {
		return procedure.Seen{}, human.BadField("url", "an effect is looked at by https, and by http on this computer alone: change its address")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL, nil)
	if err != nil {
		return procedure.Seen{}, human.BadField("url", "the address of an effect cannot be read: write it as https://host/path")
	}
	for name, value := range e.Headers {
		if of, is := strings.CutPrefix(value, "SECRET:"); is {
			if value, err = secret(of); err != nil {
				return procedure.Seen{}, human.Errorf(human.KindOf(err), "the secret %s is not in this computer's key store: add it", of)
			}
		}
		request.Header.Set(name, value)
	}
	client := http.Client{Transport: l.Transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if next.URL.Scheme != at.Scheme || next.URL.Host != at.Host || len(via) >= maxRedirect {
			return errElsewhere
		}
		return nil
	}}
	response, err := client.Do(request)
	if errors.Is(err, errElsewhere) {
		return procedure.Seen{}, human.Errorf(human.Conflict, "%s leads to another site, which is not asked: change the address of the effect", at.Host)
	}
	if err != nil { // its words may hold a header that is no header
		return procedure.Seen{}, human.Errorf(human.Unavailable, "%s does not answer: check the address of the effect, and whether the server runs", at.Host)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return procedure.Seen{}, human.Errorf(human.Unavailable, "the answer of %s ended early: run it again", at.Host)
	}
	want := e.Status
	if want == 0 {
		want = http.StatusOK
	}
	switch {
	case response.StatusCode != want:
		return procedure.Seen{Said: human.Sayf("%s answered with status %d, not %d", at.Host, response.StatusCode, want)}, nil
	case !human.HasAll(string(body), e.Has):
		return procedure.Seen{Said: human.Sayf("the answer of %s does not have all that was expected", at.Host)}, nil
	}
	return procedure.Seen{Items: []string{human.Digested(string(body))}, Said: human.Sayf("%s answered as expected", at.Host)}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
