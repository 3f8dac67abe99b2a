package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"os"
	"path/filepath"

	"deskbell/backend/human"
)

// maxDownloads bounds those that are followed at the same time.
const maxDownloads = 1000

// A download is one that is under way.
type download struct {
	name, url string
	at        int64 // when it began
	cause     uint64
	page      *human.WebPage
	hidden    bool
}

func (b *Browser) downloadBegins(e event) {
	var d struct {
		Frame string `json:"frameId"`
		ID    string `json:"guid"`
		URL   string `json:"url"`
		Name  string `json:"suggestedFilename"`
	}
	if json.Unmarshal(e.params, &d) != nil || len(b.downloads) >= maxDownloads {
		return
	}
	t, f := b.tabOf(d.Frame)
	if t == nil {
		return
	}
	page := t.pageOf(f)
	down := &download{name: filepath.Base(d.Name), at: e.at, url: b.maskURL(d.URL), page: &page, hidden: t.hidden(f, d.URL)}
	if down.cause = t.cause(e.at, soon); down.cause == 0 && t.main.url == "about:blank" && t.opener != "" {
		// A popup that only ever was a download.
		for _, o := range b.order {
			if o.name == t.opener {
				down.cause = o.cause(e.at, soon)
			}
		}
	}
	b.downloads[d.ID] = down
	if t.nav.at != 0 {
		t.goes(navigation{}) // it became a download
	}
}

// tabOf finds the tab of a frame; of one that is gone, the tab in front.
func (b *Browser) tabOf(id string) (*tab, *frame) {
	for _, t := range b.order {
		if f := t.frames[id]; f != nil {
			return t, f
		}
	}
	t := b.shown
	if t == nil && len(b.order) > 0 {
		t = b.order[0]
	}
	if t == nil {
		return nil, nil
	}
	return t, t.main
}

func (b *Browser) downloadGoesOn(e event) {
	var p struct {
		ID       string  `json:"guid"`
		Received float64 `json:"receivedBytes"`
		State    string  `json:"state"`
		Path     string  `json:"filePath"`
	}
	if json.Unmarshal(e.params, &p) != nil {
		return
	}
	d := b.downloads[p.ID]
	if d == nil || p.State != "completed" && p.State != "canceled" {
		return
	}
	delete(b.downloads, p.ID)
	if p.State == "completed" {
		b.hands.arrived(d.at, d.name, filepath.Base(p.Path))
	}
	if d.hidden {
		return
	}
	got := human.Transfer{Name: b.mask(cut(d.name, maxName)), URL: d.url, State: p.State, Size: int64(p.Received), Type: mime.TypeByExtension(filepath.Ext(d.name))}
	event := human.RecordedEvent{Type: human.PageDownload, At: e.at, Browsing: human.Browsing{Page: d.page, Cause: d.cause}}
	if p.State != "completed" || p.Path == "" {
		event.Transfers = []human.Transfer{got}
		b.emit(event)
		return
	}
	// The file stays where the person has it.
	b.do(func(ctx context.Context) {
		got.Name = b.mask(cut(filepath.Base(p.Path), maxName))
		if hash, size, err := hashOf(ctx, p.Path); err == nil {
			got.Hash, got.Size = hash, size
		} else {
			b.log.Warn("a download could not be read", "err", err)
		}
		event.Transfers = []human.Transfer{got}
		b.emit(event)
	})
}

// hashOf is the SHA-256 of a file in hex, and its size.
func hashOf(ctx context.Context, path string) (string, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, os.ErrInvalid
	}
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	size, err := io.Copy(sum, untilDone{ctx, file})
	if err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}

// untilDone reads until ctx ends.
type untilDone struct {
	ctx  context.Context
	from io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
