//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/build/corpus"
	"deskbell/build/corpus/persons"
	"deskbell/build/e2e/desktoptest"
)

// TestFreshDesktop has persons work at desktops whom a seed makes up, and writes down their recordings beside what is true of
// them: DESKBELL_DESKTOP_SEED is a number, DESKBELL_DESKTOP_CASES how many (40), DESKBELL_DESKTOP_DIR the folder, which
// `go run ./build/corpus/persons/reading FOLDER` reads.
func TestFreshDesktop(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("DESKBELL_DESKTOP_SEED"), 10, 64)
	if err != nil {
		t.Skip("DESKBELL_DESKTOP_SEED is not a number")
	}
	count, dir := 40, os.Getenv("DESKBELL_DESKTOP_DIR")
	if n, err := strconv.Atoi(os.Getenv("DESKBELL_DESKTOP_CASES")); err == nil {
		count = n
	}
	if dir == "" {
		t.Fatal("DESKBELL_DESKTOP_DIR is not set")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range count {
		name := fmt.Sprintf("desk_%d_%02d", seed, i)
		t.Run(name, func(t *testing.T) {
			w := &temp{chance: rand.New(rand.NewPCG(seed, uint64(i))), dir: dir}
			w.work(t, name)
		})
	}
}

// A temp is a clerk who works by chance, and keeps account of it.
type temp struct {
	*clerk
	chance *rand.Rand
	dir    string
	zh     bool
	truth  persons.Truth
}

// work plans a case and does it.
func (w *temp) work(t *testing.T, name string) {
	w.zh = w.chance.IntN(3) == 0
	scenes := slices.Clone(allScenes)
	w.chance.Shuffle(len(scenes), func(i, j int) { scenes[i], scenes[j] = scenes[j], scenes[i] })
	scenes = scenes[:1+w.chance.IntN(2)]
	what := w.say("Do today's work at the desktop", "请完成今天桌面上的工作")
	c := deskCase{name: name, source: corpus.Desktop, kind: human.Desktop, what: what}
	w.clerk = newClerk(t, c)
	w.looking = 500 * time.Millisecond
	folder := pick(w, "work", "projects", "team-7", "archive-in")
	for range 2 + w.chance.IntN(3) {
		w.has(folder+"/"+w.fileName(), w.sentence()+"\n")
	}
	w.has(folder+"/"+pick(w, "old", "done", "paid")+"/", "")
	before := w.listing(folder)
	w.records(folder)
	for _, scene := range scenes {
		scene(w, folder)
	}
	w.rests()
	w.account(before, w.listing(folder))
	saved := w.end()
	w.expect(&saved)
	if err := corpus.Save(w.dir, saved); err != nil {
		t.Fatal(err)
	}
	if err := persons.Save(w.dir, name, w.truth); err != nil {
		t.Fatal(err)
	}
}

// expect writes into the request what is expected, which came about or did not.
func (w *temp) expect(c *corpus.Case) {
	var outcome string
	met := w.chance.IntN(3) > 0
	kept := slices.DeleteFunc(slices.Clone(w.truth.Files), func(f human.FileChange) bool { return f.Op == "deleted" || f.Dir })
	switch {
	case w.chance.IntN(5) == 0 || met && len(kept) == 0:
		return
	case met:
		f := kept[w.chance.IntN(len(kept))]
		switch f.Op {
		case "renamed":
			outcome = w.say(f.Path+" is renamed to "+f.To, f.Path+" 改名为 "+f.To)
		case "moved":
			outcome = w.say(f.Path+" is in the folder "+f.To, f.Path+" 在文件夹 "+f.To+" 里")
		case "created":
			outcome = w.say("There is a file "+f.Path, "有文件 "+f.Path)
		default:
			outcome = w.say(f.Path+" is changed and saved", f.Path+" 已修改并保存")
		}
		// What became of it later counts.
		met = !slices.ContainsFunc(w.truth.Files, func(g human.FileChange) bool {
			return g != f && (g.Path == f.Path && f.Op != "renamed" && f.Op != "moved" || g.Path == f.To) && (g.Op == "deleted" || g.Op == "renamed" || g.Op == "moved" && f.Op == "moved")
		})
	default:
		name := w.fileName()
		outcome = w.say("There is a file "+name, "有文件 "+name)
	}
	details, err := json.Marshal(map[string]any{"expected_outcome": outcome})
	if err != nil {
		w.T.Fatal(err)
	}
	c.Operation.Details = details
	w.truth.Met = &met
}

// listing is each file and folder below a folder, with what stands in it.
func (w *temp) listing(folder string) map[string]string {
	all := map[string]string{}
	top := w.in(folder)
	err := filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == top {
			return err
		}
		name, _ := filepath.Rel(top, path)
		if info.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return all
}

// account fails the test where the account kept does not lead from what was there before to what is there now.
func (w *temp) account(before, after map[string]string) {
	w.T.Helper()
	names := map[string]int{}
	for name := range before {
		names[filepath.Base(name)]++
	}
	for _, f := range w.truth.Files {
		switch f.Op {
		case "created":
			names[f.Path]++
		case "deleted":
			names[f.Path]--
		case "renamed":
			names[f.Path]--
			names[f.To]++
		}
	}
	for name := range after {
		names[filepath.Base(name)]--
	}
	for name, n := range names {
		if n != 0 {
			w.T.Errorf("the account says of %s that there are %d more than are there", name, n)
		}
	}
}

func (w *temp) say(en, zh string) string {
	if w.zh {
		return zh
	}
	return en
}

func pick[T any](w *temp, of ...T) T { return of[w.chance.IntN(len(of))] }

func (w *temp) fileName() string {
	return pick(w, "budget", "minutes", "invoice", "route", "stock", "letter", "plan", "rota", "quote") + "-" + strconv.Itoa(w.chance.IntN(900)+100) + pick(w, ".txt", ".csv", ".md")
}

func (w *temp) sentence() string {
	return pick(w, "Call", "Ask", "Remind", "Pay", "Visit") + " " + pick(w, "Mei", "Jonas", "the harbour office", "Dr Weiss", "the printer") + " " +
		pick(w, "before noon", "on Friday", "about the keys", "for 240 sheets", "again")
}

func (w *temp) does(d persons.Act) { w.truth.Acts = append(w.truth.Acts, d) }

// hits presses an element.
func (w *temp) hits(name string, roles ...desktoptest.Role) {
	w.T.Helper()
	w.press(name, roles...)
	w.does(persons.Act{Does: human.Click, On: name})
}

// writesIn types a text into what has the keyboard.
func (w *temp) writesIn(field, text string) {
	w.T.Helper()
	w.types(text)
	w.does(persons.Act{Does: human.Typing, On: field, Text: text})
}

// strikes presses a key that makes no text.
func (w *temp) strikes(key string, modifiers ...string) {
	w.T.Helper()
	x := map[string]string{"Enter": "Return"}[key]
	if x == "" {
		x = key
	}
	w.keys(strings.Join(append(slices.Clone(modifiers), x), "+"))
	d := persons.Act{Does: human.Shortcut, Key: key, Modifiers: modifiers}
	if slices.Equal(modifiers, []string{"ctrl"}) {
		switch key {
		case "c", "x":
			d.Does = human.Copy
		case "v":
			d.Does = human.Paste
		}
	}
	w.does(d)
}

// over replaces what stands in the field that has the keyboard.
func (w *temp) over(field, text string) {
	w.T.Helper()
	w.strikes("a", "ctrl")
	w.writesIn(field, text)
}

// takes opens a menu and takes an entry of it.
func (w *temp) takes(head, entry string) {
	w.T.Helper()
	w.hits(head, menu, menuItem)
	w.hits(entry, menuItem)
}

// starts opens an application.
func (w *temp) starts(called, app, title string, arguments ...string) *desktoptest.Program {
	w.T.Helper()
	if w.zh {
		arguments = append([]string{"--zh"}, arguments...)
	}
	p := w.opens(called, app, title, arguments...)
	w.does(persons.Act{Does: human.OpenApp, On: title})
	return p
}

// dialog waits for a dialog that came up.
func (w *temp) dialog(title string) {
	w.T.Helper()
	w.shows(title)
	w.does(persons.Act{Does: human.SwitchWindow, On: title})
	w.truth.Dialogs = append(w.truth.Dialogs, title)
}

func (w *temp) file(op, path, to string) {
	w.truth.Files = append(w.truth.Files, human.FileChange{Op: op, Path: path, To: to})
}

// doubles double-clicks an element.
func (w *temp) doubles(name string) {
	w.T.Helper()
	w.twice(name)
	w.does(persons.Act{Does: human.DoubleClick, On: name})
}

// active is the active window.
func (w *temp) active() (b desktoptest.Window) {
	w.T.Helper()
	b.ID = w.Do("xdotool", "getactivewindow")
	for line := range strings.Lines(w.Do("xwininfo", "-id", b.ID)) {
		for name, into := range map[string]*int{"Absolute upper-left X:": &b.X, "Absolute upper-left Y:": &b.Y, "Width:": &b.W, "Height:": &b.H} {
			if value, found := strings.CutPrefix(strings.TrimSpace(line), name); found {
				_, _ = fmt.Sscan(value, into)
			}
		}
	}
	return b
}

// moves drags the active window by its title bar; csd is how far below the window's top that is, where the program draws
// it itself.
func (w *temp) moves(csd int) {
	w.T.Helper()
	at := w.active()
	from := image.Pt(at.X+at.W/3, at.Y-9+csd)
	by := image.Pt(30+w.chance.IntN(80), 20+w.chance.IntN(60))
	w.drag(from, from.Add(by))
	w.Wait("the window to be elsewhere", func() bool { now := w.active(); return now.X != at.X || now.Y != at.Y })
	w.does(persons.Act{Does: human.MoveWindow})
}

// resizes drags the active window's lower right corner.
func (w *temp) resizes() {
	w.T.Helper()
	at := w.active()
	from := image.Pt(at.X+at.W, at.Y+at.H+2)
	w.drag(from, from.Add(image.Pt(40+w.chance.IntN(40), 30)))
	w.Wait("the window to be larger", func() bool { now := w.active(); return now.W > at.W })
	w.does(persons.Act{Does: human.ResizeWindow})
}

// perhaps does something now and then that leads nowhere.
func (w *temp) perhaps(do func()) {
	if w.chance.IntN(3) == 0 {
		do()
	}
}
