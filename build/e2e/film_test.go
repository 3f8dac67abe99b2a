//go:build window

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

// TestPicturesMove takes the README's moving picture: a script asks, the card appears, it is approved, the script continues.
func TestPicturesMove(t *testing.T) {
	folder := os.Getenv("DESKBELL_PICTURES")
	if folder == "" {
		t.Skip("`make screenshots` takes the pictures")
	}
	d := newFixture(t, desktoptest.Options{Compositor: true, Notifications: true})
	d.Env = append(d.Env, "DESKBELL_UI_THEME=light", "DESKBELL_UI_LANGUAGE=en", "DESKBELL_OPERATOR_NAME="+operator)
	d.paint("#dcdcd7")
	key := d.key("release-bot")
	d.start()

	project := filepath.Join(d.Home, "shop")
	d.Write(filepath.Join(project, "Makefile"), "deploy:\n\t@echo 'deployed to staging' && touch deployed\n")
	d.Write(filepath.Join(project, "rc"), "PS1='$ '\n")
	d.StartWith([]string{"DESKBELL_KEY=" + key, "PATH=" + filepath.Dir(d.bin) + ":" + os.Getenv("PATH")},
		"xterm", "-T", "shop", "-fa", "JetBrains Mono", "-fs", "10", "-bg", "#ffffff", "-fg", "#1a1a18", "-geometry", "66x14",
		"-e", "cd '"+project+"' && exec bash --rcfile rc")
	d.WaitActive("shop")
	w := d.WaitWindow("shop")
	d.Do("xdotool", "windowmove", "--sync", w.ID, "470", "70")

	f := film{d: d, frames: t.TempDir()}
	f.take(80)
	for _, words := range []string{"deskbell ring --type approve --details ", `'{"action":"make deploy","risk_level":"medium"}' `, `"Deploy to staging?" `, "&& make deploy"} {
		d.Type(words)
		f.take(50)
	}
	d.Key("Return")
	at := d.see(desktoptest.Button, "Approve").At
	f.take(160)
	x, y := (at.Min.X+at.Max.X)/2, (at.Min.Y+at.Max.Y)/2
	for n := 1; n <= 4; n++ {
		f.x, f.y = x-40*(4-n)-4, y+25*(4-n)
		d.Move(f.x, f.y)
		f.take(20)
	}
	f.take(100)
	d.Click(f.x, f.y)
	d.Wait("the script to deploy", func() bool { _, err := os.Stat(filepath.Join(project, "deployed")); return err == nil })
	f.take(150)
	d.WaitNoWindow("Deskbell")
	f.take(300)
	f.save(filepath.Join(folder, "answer.gif"))
}

// A film is a list of frames and how long each is shown.
type film struct {
	d      *fixture
	frames string
	args   []string
	x, y   int // where the pointer is drawn: a picture of the screen is without it
}

// take adds the screen as it is, for some hundredths of a second.
func (f *film) take(hundredths int) {
	f.d.T.Helper()
	frame := filepath.Join(f.frames, fmt.Sprintf("%02d.png", len(f.args)))
	f.d.Do("import", "-window", "root", "-crop", "990x340+450+0", "+repage", frame)
	if f.x != 0 {
		var arrow strings.Builder
		for _, p := range [][2]int{{0, 0}, {0, 16}, {4, 12}, {7, 18}, {9, 17}, {6, 11}, {11, 11}} {
			fmt.Fprintf(&arrow, " %d,%d", f.x-450+p[0], f.y+p[1])
		}
		f.d.Do("convert", frame, "-fill", "black", "-stroke", "white", "-draw", "polygon"+arrow.String(), frame)
	}
	f.args = append(f.args, "-delay", fmt.Sprint(hundredths), frame)
}

// save writes a GIF of at most 1.5 MB, which plays again and again.
func (f *film) save(path string) {
	f.d.T.Helper()
	f.d.Do("convert", append(f.args, "-loop", "0", "+dither", "-colors", "128", "-layers", "optimize", path)...)
	info, err := os.Stat(path)
	if err != nil {
		f.d.T.Fatal(err)
	}
	if info.Size() > 1_500_000 {
		f.d.T.Fatalf("%s has %d bytes", path, info.Size())
	}
}
