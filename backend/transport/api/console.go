package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"deskbell/backend/human"
)

// console serves the built frontend from memory, where it is embedded anyway.
type console struct{ files map[string]file }

type file struct {
	data      []byte
	media     string
	etag      string
	immutable bool // its name changes with its content
}

// media types are named here, since the system's own table may be changed by other programs (Windows).
var media = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon", ".jpg": "image/jpeg",
	".js": "text/javascript; charset=utf-8", ".json": "application/json", ".map": "application/json", ".png": "image/png",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".wasm": "application/wasm", ".webmanifest": "application/manifest+json",
	".webp": "image/webp", ".woff2": "font/woff2", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav",
}

func newConsole(from fs.FS) (*console, error) {
	c := &console{files: map[string]file{}}
	if from == nil {
		return c, nil
	}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		f := file{data: data, media: media[path.Ext(name)], etag: `"` + hex.EncodeToString(sum[:8]) + `"`, immutable: strings.HasPrefix(name, "assets/")}
		if f.media == "" {
			f.media = "application/octet-stream"
		}
		c.files[name] = f
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return c, err
}

// serve answers with one of the console's files. The page is at / alone: where it stands is in the address's fragment,
// which browsers do not send.
func (c *console) serve(w http.ResponseWriter, r *http.Request) {
	f, ok := c.files[strings.TrimPrefix(r.URL.Path, "/")]
	if r.URL.Path == "/" {
		f, ok = c.files["index.html"]
	}
	if !ok {
		send(w, problemOf(human.Errorf(human.NotFound, "nothing is at %s; the console is at /, the API under /api/, MCP at /mcp", r.URL.Path), r.Method))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		p := newProblem(http.StatusMethodNotAllowed, "only GET and HEAD work here; the API is below /api/")
		p.header = http.Header{"Allow": {"GET, HEAD"}}
		send(w, p)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("ETag", f.etag)
	if f.immutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
}
