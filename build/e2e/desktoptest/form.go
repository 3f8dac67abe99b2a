//go:build linux

package desktoptest

import (
	"encoding/json"
	"fmt"
	"image"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Apps is the folder of the applications that tests work in.
func Apps() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../testdata/apps")
}

// A Form is one of the forms of Apps. It writes down what is in it and where its parts are.
type Form struct {
	*Program
	d    *Desktop
	file string // of what it writes down
}

// StartForm starts the form of a file of Apps, such as "form.gtk3.py", with more in its environment. What it saves is in
// the folder. A page is shown by Chromium, in the whole screen, with these flags.
func (d *Desktop) StartForm(name, folder string, env []string, flags ...string) *Form {
	d.T.Helper()
	f := &Form{d: d, file: filepath.Join(folder, name+".json")}
	if err := os.Remove(f.file); err != nil && !os.IsNotExist(err) {
		d.T.Fatal(err)
	}
	path := filepath.Join(Apps(), name)
	switch {
	case strings.HasSuffix(name, ".html"):
		f.Program = d.StartWith(env, "chromium", append(flags, "--no-sandbox", "--disable-gpu", "--no-first-run", "--password-store=basic",
			"--kiosk", "--user-data-dir="+filepath.Join(d.Home, "chromium"), f.serve())...)
	case strings.HasPrefix(name, "form.webkit"):
		f.Program = d.StartWith(env, path, f.serve())
	default:
		f.Program = d.StartWith(env, path, f.file, folder)
	}
	return f
}

// serve serves the form as a page, which posts what it would write down.
func (f *Form) serve() (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.ServeFile(w, r, filepath.Join(Apps(), "form.html"))
			return
		}
		state, err := io.ReadAll(r.Body)
		if err == nil {
			err = os.WriteFile(f.file+".part", state, 0o600)
		}
		if err == nil {
			err = os.Rename(f.file+".part", f.file)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	f.d.T.Cleanup(server.Close)
	return server.URL + "/form.html"
}

// State is what the form wrote down last, nil before it did.
func (f *Form) State() (state map[string]any) {
	f.d.T.Helper()
	text, err := os.ReadFile(f.file)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		f.d.T.Fatal(err)
	}
	return state
}

// Await waits until the form says something of itself.
func (f *Form) Await(key string, want any) {
	f.d.T.Helper()
	f.d.Wait(fmt.Sprintf("%s of %s to be %v", key, filepath.Base(f.file), want), func() bool { return fmt.Sprint(f.State()[key]) == fmt.Sprint(want) })
}

// Place waits until the form says where a part of it is, in its toolkit's units from the top left of its window.
func (f *Form) Place(part string) (at image.Rectangle) {
	f.d.T.Helper()
	f.d.Wait("the place of "+part, func() bool {
		places, _ := f.State()["places"].(map[string]any)
		box, _ := places[part].([]any)
		if len(box) != 4 {
			return false
		}
		var n [4]int
		for i, v := range box {
			length, _ := v.(float64)
			n[i] = int(math.Round(length))
		}
		at = image.Rect(n[0], n[1], n[0]+n[2], n[1]+n[3])
		return !at.Empty()
	})
	return at
}
