package library

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // exports may have them
	"image/png"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
	"deskbell/backend/record/replay"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/sqlite"
)

var (
	ada      = human.Actor{Role: human.Operator, Name: "ada"}
	bot      = human.Actor{Role: human.Agent, Name: "bot"}
	stranger = human.Actor{Role: human.Agent, Name: "stranger"}
)

// A fixture is a library over a real file, with a recording of an operation of bot's that ada has claimed.
type fixture struct {
	*Library
	t        *testing.T
	store    *sqlite.Store
	queue    *queue.Queue
	pictures *pictures.Store
	op       human.Operation
	rec      human.Recording
	seq      uint64
	shots    []string // ids of pictures, in the order they were taken
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	d := &fixture{t: t, store: store, queue: queue.New(store, store, queue.Options{}), pictures: pictures.New(dir)}
	must(t, d.queue.Load(t.Context()))
	d.Library = New(Deps{Store: store.Recordings(), Pictures: d.pictures, Operations: d.queue, Encode: pictures.Encode})
	d.op, _, err = d.queue.Ring(t.Context(), human.Request{
		Kind: human.Desktop, Description: "save the report", AgentID: "bot", Priority: 5,
		Details: json.RawMessage(`{"action_sequence":["Type the total","Click Save"],"expected_outcome":"it is saved"}`),
	}, false)
	must(t, err)
	_, err = d.queue.Claim(t.Context(), ada, d.op.ID)
	must(t, err)
	d.rec = human.Recording{
		ID: "rec_1", OperationID: d.op.ID, By: "ada", State: human.RecordingRuns, System: "linux/x11",
		StartedAt: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Options: human.RecordingOptions{Folders: []string{"/home/ada/private"}},
	}
	must(t, store.Recordings().Create(t.Context(), d.rec))
	_, err = d.queue.RecordingBegan(t.Context(), ada, d.op.ID, d.rec.ID)
	must(t, err)
	d.work()
	return d
}

// add stores events, one after the other.
func (d *fixture) add(events ...human.RecordedEvent) (first uint64) {
	d.t.Helper()
	first = d.seq + 1
	for i := range events {
		d.seq++
		events[i].Seq, events[i].At = d.seq, int64(d.seq)*int64(time.Second)
	}
	must(d.t, d.store.Recordings().Append(d.t.Context(), d.rec, events))
	return first
}

// shot stores a picture, 8 by 4, in one colour.
func (d *fixture) shot(colour byte) string {
	d.t.Helper()
	w, err := d.pictures.Writer(d.rec.ID)
	must(d.t, err)
	id, _, _, err := w.Put(&record.Frame{W: 8, H: 4, Scale: 1, Pix: bytes.Repeat([]byte{colour, colour, colour, 0}, 8*4)})
	must(d.t, err)
	must(d.t, w.Close())
	d.shots = append(d.shots, id)
	return id
}

// click is a click on a button, with a picture before and one after; it returns the seq of its press.
func (d *fixture) click(name string, before, after byte) uint64 {
	d.t.Helper()
	press := d.seq + 1
	element := &human.Element{Role: "button", Name: name, Bounds: human.Bounds{X: 990, Y: 990, W: 50, H: 20}}
	return d.add(
		human.RecordedEvent{Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 1000, Y: 1000},
		human.RecordedEvent{Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 1000, Y: 1000},
		human.RecordedEvent{Source: human.ElementSource, Type: human.ElementSeen, Element: element, CausedBy: press},
		human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: d.shot(before), When: "before", CausedBy: press},
		human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: d.shot(after), When: "after", CausedBy: press},
	)
}

// work is what the recording has: a window, a word typed, two clicks.
func (d *fixture) work() {
	d.add(
		human.RecordedEvent{Source: human.RecorderSource, Type: human.RecordingBegan},
		human.RecordedEvent{Source: human.WindowSource, Type: human.WindowActive,
			App: &human.App{Name: "Books", PID: 7}, Window: &human.Window{ID: "1", Title: "Accounts", Bounds: human.Bounds{W: 800, H: 600}}},
	)
	key := d.add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyDown}, human.RecordedEvent{Source: human.InputSource, Type: human.KeyUp})
	d.add(human.RecordedEvent{Source: human.InputSource, Type: human.TextTyped, Text: "quagga total", Count: 12, CausedBy: key, Until: key})
	d.click("Private", 1, 2)
	d.click("Save", 3, 4)
}

// end stops the recording.
func (d *fixture) end() {
	d.t.Helper()
	d.rec.State = human.RecordingStopped
	d.add(human.RecordedEvent{Source: human.RecorderSource, Type: human.RecordingEnded, Text: "operator"})
}

// release gives the recording to the operation's agent.
func (d *fixture) release() {
	d.t.Helper()
	_, err := d.queue.Complete(d.t.Context(), ada, d.op.ID, human.Answer{HumanInput: "done", Attachments: []string{string(d.rec.ID)}}, "")
	must(d.t, err)
}

func (d *fixture) actions(by human.Actor, after string) Actions {
	d.t.Helper()
	found, err := d.Actions(d.t.Context(), by, d.rec.ID, "en", after)
	must(d.t, err)
	return found
}

// of is the action of a type on an element or, where name is "", any.
func (d *fixture) of(kind human.ActionType, name string) human.Action {
	d.t.Helper()
	all := d.actions(ada, "").Actions
	i := slices.IndexFunc(all, func(a human.Action) bool {
		return a.Type == kind && (name == "" || a.Element != nil && a.Element.Name == name)
	})
	if i < 0 {
		d.t.Fatalf("no %s %s among %s", kind, name, words(all))
	}
	return all[i]
}

func (d *fixture) edit(change func(*human.Edits)) {
	d.t.Helper()
	e, err := d.Edits(d.t.Context(), ada, d.rec.ID)
	must(d.t, err)
	change(&e)
	_, err = d.SetEdits(d.t.Context(), ada, d.rec.ID, e)
	must(d.t, err)
}

func words(all []human.Action) string {
	var lines []string
	for _, a := range all {
		lines = append(lines, fmt.Sprintf("%s %s: %s", a.ID, a.Type, a.Words))
	}
	return strings.Join(lines, "\n")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkError checks an error's kind, field and words.
func checkError(t *testing.T, err error, kind human.ErrorKind, field, says string) {
	t.Helper()
	e, _ := err.(*human.Error) //nolint:errorlint // nothing here wraps
	if e == nil || e.Kind != kind || e.Field != field || !strings.Contains(e.Msg, says) {
		t.Errorf("error %v (kind %d), want kind %d, field %q, saying %q", err, human.KindOf(err), kind, field, says)
	}
}

func TestWhatWasNotReleasedIsNotThere(t *testing.T) {
	for name, c := range map[string]struct {
		by      human.Actor
		prepare func(*fixture)
	}{
		"before the end": {bot, func(*fixture) {}},
		"an answer without it": {bot, func(d *fixture) {
			_, _ = d.queue.Complete(t.Context(), ada, d.op.ID, human.Answer{HumanInput: "done"}, "")
		}},
		"another agent's":            {stranger, (*fixture).release},
		"an operation that declined": {bot, func(d *fixture) { _, _ = d.queue.Decline(t.Context(), ada, d.op.ID, "no") }},
		"no such recording":          {bot, func(d *fixture) { d.release(); d.rec.ID = "rec_none" }},
		"deleted": {ada, func(d *fixture) {
			d.end()
			must(t, d.Delete(t.Context(), ada, d.rec.ID))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			d.edit(func(e *human.Edits) { e.SharePictures, e.ShareText = true, true })
			c.prepare(d)
			replays := NewReplays(d.Library, nil)
			ctx, id := t.Context(), d.rec.ID
			for call, do := range map[string]func() error{
				"recording": func() error { _, err := d.Recording(ctx, c.by, id); return err },
				"actions":   func() error { _, err := d.Actions(ctx, c.by, id, "", ""); return err },
				"events":    func() error { _, err := d.Events(ctx, c.by, id, 0, 0); return err },
				"edits":     func() error { _, err := d.Edits(ctx, c.by, id); return err },
				"set edits": func() error { _, err := d.SetEdits(ctx, c.by, id, human.Edits{}); return err },
				"picture":   func() error { _, err := d.Picture(ctx, c.by, id, d.shots[0], Look{}); return err },
				"export":    func() error { _, err := d.Export(ctx, c.by, id, JSON, ""); return err },
				"delete":    func() error { return d.Delete(ctx, c.by, id) },
				"replay":    func() error { _, err := replays.Start(ctx, c.by, id, ReplayRequest{}); return err },
				"state":     func() error { _, err := replays.State(ctx, c.by, id); return err },
				"stop":      func() error { _, err := replays.Stop(ctx, c.by, id); return err },
			} {
				t.Run(call, func(t *testing.T) { checkError(t, do(), human.NotFound, "", "there is no recording "+string(id)) })
			}
		})
	}
}

func TestWhatAnAgentMayNotDoWithWhatItWasGiven(t *testing.T) {
	d := newFixture(t)
	d.edit(func(e *human.Edits) { e.SharePictures, e.ShareText = true, true })
	d.end()
	d.release()
	ctx := t.Context()
	_, err := d.Events(ctx, bot, d.rec.ID, 0, 0)
	checkError(t, err, human.NotFound, "", "no recording")
	_, err = d.Edits(ctx, bot, d.rec.ID)
	checkError(t, err, human.NotFound, "", "no recording")
	checkError(t, d.Delete(ctx, bot, d.rec.ID), human.NotFound, "", "no recording")
	_, err = d.Recordings(ctx, bot, "", 0, "")
	checkError(t, err, human.Denied, "", "only an operator")
	r, err := d.Recording(ctx, bot, d.rec.ID)
	if err != nil || len(r.Options.Folders) > 0 {
		t.Errorf("an agent reads %+v, %v: which folders were watched is the operator's", r.Options, err)
	}
}

func TestTypedTextLeavesToOperatorsOnly(t *testing.T) {
	d := newFixture(t)
	d.end()
	d.release()
	typed := d.of(human.Typing, "")
	if typed.Text != "quagga total" || !strings.Contains(typed.Words, "quagga") {
		t.Fatalf("the operator reads %+v", typed)
	}
	everything := func(by human.Actor) string {
		t.Helper()
		data, err := json.Marshal(d.actions(by, ""))
		must(t, err)
		all := string(data)
		for _, format := range []string{HTML, Markdown, JSON} {
			e, err := d.Export(t.Context(), by, d.rec.ID, format, "en")
			must(t, err)
			var file bytes.Buffer
			must(t, e.Write(&file))
			all += unzipped(t, format, file.Bytes())
		}
		return all
	}
	if text := everything(bot); strings.Contains(text, "quagga") {
		t.Errorf("the agent reads what was typed: %s", text)
	}
	if text := everything(ada); !strings.Contains(text, "quagga") {
		t.Error("the operator's exports have lost what was typed")
	}
	d.edit(func(e *human.Edits) { e.ShareText = true })
	if text := everything(bot); strings.Count(text, "quagga") < 4 {
		t.Errorf("what is shared is missing somewhere: %s", text)
	}
	d.edit(func(e *human.Edits) { e.MaskedTexts = []string{typed.ID} })
	for _, by := range []human.Actor{bot, ada} {
		if text := everything(by); strings.Contains(text, "quagga") {
			t.Errorf("%s reads what was masked: %s", by.Name, text)
		}
	}
}

// unzipped is the text of an export.
func unzipped(t *testing.T, format string, file []byte) string {
	t.Helper()
	if format != Markdown {
		return string(file)
	}
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	must(t, err)
	var text strings.Builder
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, ".md") {
			r, err := f.Open()
			must(t, err)
			_, err = io.Copy(&text, r)
			must(t, err)
		}
	}
	return text.String()
}

func TestCutActionsAreMarkedForOperatorsAndGoneForAgents(t *testing.T) {
	d := newFixture(t)
	d.end()
	d.release()
	private := d.of(human.Click, "Private")
	d.edit(func(e *human.Edits) { e.Cuts, e.SharePictures = []string{private.ID}, true })
	if again := d.of(human.Click, "Private"); !again.Cut {
		t.Error("the operator does not see that it is cut")
	}
	given := d.actions(bot, "").Actions
	if len(given) != len(d.actions(ada, "").Actions)-1 || strings.Contains(words(given), "Private") {
		t.Errorf("the agent reads\n%s", words(given))
	}
	if n := d.actions(bot, "").Suggestions; n != nil {
		t.Errorf("the agent reads guesses at the checklist: %+v", n)
	}
	for i, want := range []bool{false, false, true, true} { // the first two pictures are of the cut click
		_, err := d.Picture(t.Context(), bot, d.rec.ID, d.shots[i], Look{})
		if got := err == nil; got != want {
			t.Errorf("picture %d: %v", i, err)
		}
		if err != nil {
			checkError(t, err, human.NotFound, "", "has no picture")
		}
		_, err = d.Picture(t.Context(), ada, d.rec.ID, d.shots[i], Look{})
		must(t, err)
	}
	d.edit(func(e *human.Edits) { e.SharePictures = false })
	_, err := d.Picture(t.Context(), bot, d.rec.ID, d.shots[2], Look{})
	checkError(t, err, human.NotFound, "", "has no picture")
}

func TestMasksAreInEveryPictureThatLeaves(t *testing.T) {
	d := newFixture(t)
	d.end()
	d.release()
	d.edit(func(e *human.Edits) {
		e.SharePictures = true
		e.Masks = []human.Mask{{X: -3, Y: 2, W: 5, H: 100}, {Picture: d.shots[2], X: 7, Y: 0, W: 1, H: 1}}
	})
	black := func(by human.Actor, picture string, look Look) (at []string) {
		t.Helper()
		p, err := d.Picture(t.Context(), by, d.rec.ID, picture, look)
		must(t, err)
		var buf bytes.Buffer
		must(t, p.Encode(&buf))
		img, err := png.Decode(&buf)
		must(t, err)
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if r, g, b, _ := img.At(x, y).RGBA(); r+g+b == 0 {
					at = append(at, fmt.Sprint(x, ",", y))
				}
			}
		}
		return at
	}
	everywhere := []string{"0,2", "1,2", "0,3", "1,3"}
	for name, c := range map[string]struct {
		by      human.Actor
		picture string
		look    Look
		want    []string
	}{
		"raw for the operator":     {ada, d.shots[2], Look{}, nil},
		"as it leaves":             {ada, d.shots[3], Look{Masked: true}, everywhere},
		"with a mask of its own":   {ada, d.shots[2], Look{Masked: true}, append([]string{"7,0"}, everywhere...)},
		"always so for the agent":  {bot, d.shots[3], Look{}, everywhere},
		"and what it did not want": {bot, d.shots[2], Look{Masked: false}, append([]string{"7,0"}, everywhere...)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := black(c.by, c.picture, c.look); !slices.Equal(got, c.want) {
				t.Errorf("black at %v, want %v", got, c.want)
			}
		})
	}
	d.deps.Pictures = &keeping{Pictures: d.pictures, frames: map[string]*record.Frame{}}
	black(ada, d.shots[2], Look{Masked: true})
	if got := black(ada, d.shots[2], Look{}); got != nil {
		t.Errorf("masking changed the picture itself: black at %v", got)
	}

	e, err := d.Export(t.Context(), ada, d.rec.ID, Markdown, "en")
	must(t, err)
	var file bytes.Buffer
	must(t, e.Write(&file))
	z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	must(t, err)
	exported := 0
	for _, f := range z.File {
		r, err := f.Open()
		must(t, err)
		img, _, err := image.Decode(r)
		if err != nil {
			continue // the page
		}
		exported++
		if r, g, b, _ := img.At(1, 3).RGBA(); r+g+b != 0 {
			t.Errorf("%s in an export is not masked: %v %v", f.Name, img.Bounds(), img.At(1, 3))
		}
	}
	if exported == 0 {
		t.Error("the export has no pictures")
	}
}

// keeping pictures give out the same frame again and again.
type keeping struct {
	record.Pictures
	frames map[string]*record.Frame
}

func (k *keeping) Read(ctx context.Context, id human.RecordingID, picture string) (*record.Frame, error) {
	if k.frames[picture] == nil {
		f, err := k.Pictures.Read(ctx, id, picture)
		if err != nil {
			return nil, err
		}
		k.frames[picture] = f
	}
	return k.frames[picture], nil
}

func TestAPicturesTagFollowsItsBytes(t *testing.T) {
	d := newFixture(t)
	tag := func(by human.Actor, look Look) string {
		t.Helper()
		p, err := d.Picture(t.Context(), by, d.rec.ID, d.shots[0], look)
		must(t, err)
		return p.Tag
	}
	plain := tag(ada, Look{})
	for _, look := range []Look{{Width: 4}, {Format: "jpeg"}} {
		if tag(ada, look) == plain {
			t.Errorf("%+v has the tag of the plain picture", look)
		}
	}
	if tag(ada, Look{Masked: true}) != plain || tag(ada, Look{Format: "png"}) != plain {
		t.Error("equal bytes have two tags")
	}
	d.edit(func(e *human.Edits) { e.Masks = []human.Mask{{X: 0, Y: 0, W: 1, H: 1}} })
	if tag(ada, Look{Masked: true}) == plain || tag(ada, Look{}) != plain {
		t.Error("a mask does not show in the tag, or shows where it is not drawn")
	}
	for name, c := range map[string]struct {
		picture string
		look    Look
		kind    human.ErrorKind
		field   string
	}{
		"no such picture": {strings.Repeat("0", 64), Look{}, human.NotFound, ""},
		"a path":          {"../../deskbell.db", Look{}, human.NotFound, ""},
		"a format":        {d.shots[0], Look{Format: "bmp"}, human.Invalid, "format"},
		"a width":         {d.shots[0], Look{Width: -1}, human.Invalid, "width"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := d.Picture(t.Context(), ada, d.rec.ID, c.picture, c.look)
			if err == nil {
				err = p.Encode(new(bytes.Buffer))
			}
			checkError(t, err, c.kind, c.field, "")
		})
	}
}

func TestReadingOnCostsOnlyWhatHasCome(t *testing.T) {
	d := newFixture(t)
	counted := &countingStore{Store: d.deps.Store}
	d.deps.Store = counted
	first := d.actions(ada, "")
	if counted.events != int(d.seq) {
		t.Fatalf("the first read took %d events of %d", counted.events, d.seq)
	}
	counted.events = 0
	d.click("More", 5, 6)
	again := d.actions(ada, "")
	if counted.events != 5 {
		t.Errorf("reading on took %d events, want 5", counted.events)
	}
	if len(again.Actions) != len(first.Actions)+1 {
		t.Errorf("then there are\n%s", words(again.Actions))
	}
	counted.events = 0
	d.actions(ada, "")
	d.actions(human.Actor{Role: human.Operator, Name: "bea"}, "")
	if counted.events != 0 {
		t.Errorf("with nothing new %d events were read", counted.events)
	}
	if _, err := d.Actions(t.Context(), ada, d.rec.ID, "zh-CN", ""); err != nil || counted.events != int(d.seq) {
		t.Errorf("another language took %d events: %v", counted.events, err)
	}
	// What is given out is a copy.
	again.Actions[0].Words = "changed"
	if d.actions(ada, "").Actions[0].Words == "changed" {
		t.Error("what one caller does to its actions shows for another")
	}
}

// A countingStore counts the events that are read, and fails once after a number of them, where that is not 0.
type countingStore struct {
	record.Store
	events int
	fails  int
}

func (c *countingStore) Events(ctx context.Context, id human.RecordingID, after uint64) iter.Seq2[human.RecordedEvent, error] {
	return func(yield func(human.RecordedEvent, error) bool) {
		for e, err := range c.Store.Events(ctx, id, after) {
			if c.events++; c.events == c.fails {
				yield(e, human.Errorf(human.Unavailable, "the disk is asleep"))
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestAReadingThatBrokeIsTakenUpAgain(t *testing.T) {
	d := newFixture(t)
	want := words(d.actions(ada, "").Actions)
	for after := 2; after <= int(d.seq); after++ {
		books := New(d.deps)
		books.deps.Store = &countingStore{Store: d.deps.Store, fails: after}
		_, err := books.Actions(t.Context(), ada, d.rec.ID, "", "")
		checkError(t, err, human.Unavailable, "", "asleep")
		found, err := books.Actions(t.Context(), ada, d.rec.ID, "", "")
		if got := words(found.Actions); err != nil || got != want {
			t.Errorf("broken off at event %d it reads\n%s\n%v", after, got, err)
		}
	}
}

func TestActionsAfterOne(t *testing.T) {
	d := newFixture(t)
	all := d.actions(ada, "").Actions
	for i, a := range all {
		if got := d.actions(ada, a.ID).Actions; words(got) != words(all[i+1:]) {
			t.Errorf("after %s come\n%s", a.ID, words(got))
		}
	}
	last := all[len(all)-1]
	d.edit(func(e *human.Edits) { e.Cuts = []string{all[0].ID} })
	d.end()
	d.release()
	if got := d.actions(bot, all[0].ID).Actions; len(got) == 0 || got[len(got)-1].ID != last.ID || words(got) != words(d.actions(bot, "").Actions) {
		t.Errorf("after an action that is cut the agent gets\n%s", words(got))
	}
	if got := following(slices.Clone(all), "a4", 4); len(got) != 2 || got[0].ID != all[1].ID {
		t.Errorf("after an action that became part of another come\n%s", words(got))
	}
	if got := following(slices.Clone(all), all[1].ID+"0", mustSeq(t, all[1].ID)); len(got) != 1 {
		t.Errorf("after one that began with another come\n%s", words(got))
	}
	for after, field := range map[string]string{"17": "after", "a": "after", "ax": "after", "a-1": "after"} {
		_, err := d.Actions(t.Context(), ada, d.rec.ID, "", after)
		checkError(t, err, human.Invalid, field, "not the id of an action")
	}
	_, err := d.Actions(t.Context(), ada, d.rec.ID, "fr", "")
	checkError(t, err, human.Invalid, "language", "zh-CN")
}

func mustSeq(t *testing.T, id string) uint64 {
	t.Helper()
	seq, err := seqOf(id)
	must(t, err)
	return seq
}

func TestSuggestionsFollowTheChecklist(t *testing.T) {
	d := newFixture(t)
	save := d.of(human.Click, "Save")
	has := func() bool {
		return slices.ContainsFunc(d.actions(ada, "").Suggestions, func(s actions.Suggestion) bool { return s.Step == 1 && s.ActionID == save.ID })
	}
	if !has() {
		t.Fatalf("no suggestion that %s is the second step: %+v", save.Words, d.actions(ada, "").Suggestions)
	}
	d.edit(func(e *human.Edits) { e.Cuts = []string{save.ID} })
	if has() {
		t.Error("an action that is cut is still suggested")
	}
}

func TestEventsComeInPages(t *testing.T) {
	d := newFixture(t)
	var got []uint64
	page, err := d.Events(t.Context(), ada, d.rec.ID, 0, 4)
	for {
		must(t, err)
		if len(page.Events) > 4 {
			t.Fatalf("a page of 4 has %d events", len(page.Events))
		}
		for _, e := range page.Events {
			got = append(got, e.Seq)
		}
		if page.Next == 0 {
			break
		}
		page, err = d.Events(t.Context(), ada, d.rec.ID, page.Next, 4)
	}
	if len(got) != int(d.seq) || !slices.IsSorted(got) || got[0] != 1 {
		t.Errorf("the pages have %v of %d events", got, d.seq)
	}
	page, err = d.Events(t.Context(), ada, d.rec.ID, 0, int(d.seq))
	if err != nil || page.Next != 0 {
		t.Errorf("a page with the very last says that there is more: %d, %v", page.Next, err)
	}

	// The events of a page's film are large, so that a page of them is short, though never empty.
	last := d.seq
	film := json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)
	for range 3 {
		d.add(human.RecordedEvent{Source: human.BrowserSource, Type: human.PageDOM, Browsing: human.Browsing{DOM: film}})
	}
	for n := range uint64(3) {
		page, err = d.Events(t.Context(), ada, d.rec.ID, last+n, 100)
		if err != nil || len(page.Events) != 1 || (page.Next != 0) != (n < 2) || len(page.Events[0].DOM) != len(film) {
			t.Fatalf("a page of a film has %d events and goes on after %d, %v", len(page.Events), page.Next, err)
		}
	}
}

func TestEditsMustNameWhatIsThere(t *testing.T) {
	d := newFixture(t)
	save := d.of(human.Click, "Save").ID
	good := human.Edits{
		Cuts: []string{save, save}, MaskedTexts: []string{save}, Words: map[string]string{save: "Press it"},
		Masks: []human.Mask{{W: 1, H: 1}, {Picture: d.shots[0], X: 7, Y: 3, W: 10, H: 10}},
	}
	for name, c := range map[string]struct {
		change func(*human.Edits)
		field  string
		says   string
	}{
		"a cut of nothing":        {func(e *human.Edits) { e.Cuts = []string{"a9999"} }, "cuts", `"a9999"`},
		"a cut that is no id":     {func(e *human.Edits) { e.Cuts = []string{"'; --"} }, "cuts", "no action"},
		"a mask of no text":       {func(e *human.Edits) { e.MaskedTexts = []string{"a9999"} }, "masked_texts", "no action"},
		"words for nothing":       {func(e *human.Edits) { e.Words = map[string]string{"a9999": "x"} }, "words", "no action"},
		"too many words":          {func(e *human.Edits) { e.Words = map[string]string{save: strings.Repeat("x", 2001)} }, "words", "limit"},
		"a negative width":        {func(e *human.Edits) { e.Masks = []human.Mask{{W: -1, H: 1}} }, "masks", "number 1"},
		"no height":               {func(e *human.Edits) { e.Masks = append(e.Masks, human.Mask{W: 1}) }, "masks", "number 3"},
		"right of every picture":  {func(e *human.Edits) { e.Masks = []human.Mask{{X: 8, W: 1, H: 1}} }, "masks", "outside"},
		"left of every picture":   {func(e *human.Edits) { e.Masks = []human.Mask{{X: -5, W: 5, H: 1}} }, "masks", "outside"},
		"below its picture":       {func(e *human.Edits) { e.Masks = []human.Mask{{Picture: d.shots[0], Y: 4, W: 1, H: 1}} }, "masks", "outside"},
		"far away":                {func(e *human.Edits) { e.Masks = []human.Mask{{X: 1 << 62, W: 1 << 62, H: 1}} }, "masks", "outside"},
		"a picture that is not":   {func(e *human.Edits) { e.Masks = []human.Mask{{Picture: strings.Repeat("0", 64), W: 1, H: 1}} }, "masks", "no picture"},
		"a picture that is no id": {func(e *human.Edits) { e.Masks = []human.Mask{{Picture: "../x", W: 1, H: 1}} }, "masks", "not the id"},
		"more masks than can be":  {func(e *human.Edits) { e.Masks = make([]human.Mask, 1001) }, "masks", "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			e := good
			e.Masks = slices.Clone(good.Masks)
			c.change(&e)
			_, err := d.SetEdits(t.Context(), ada, d.rec.ID, e)
			checkError(t, err, human.Invalid, c.field, c.says)
		})
	}
	stored, err := d.SetEdits(t.Context(), ada, d.rec.ID, good)
	if err != nil || stored.Version != 1 || len(stored.Cuts) != 1 {
		t.Fatalf("good edits: %+v, %v", stored, err)
	}
	_, err = d.SetEdits(t.Context(), ada, d.rec.ID, good)
	if human.KindOf(err) != human.Conflict {
		t.Errorf("edits of an old version: %v", err)
	}
	if got := d.of(human.Click, "").Words; got == "Press it" {
		t.Errorf("the first click is called %q", got)
	}
	if all := d.actions(ada, "").Actions; !strings.Contains(words(all), "Press it") {
		t.Errorf("the operator's words are not used:\n%s", words(all))
	}
}

func TestEditsOfAnActionThatBecameAnother(t *testing.T) {
	d := newFixture(t)
	must(t, func() error {
		_, err := d.store.Recordings().SetEdits(t.Context(), d.rec.ID, human.Edits{Cuts: []string{"a4242"}})
		return err
	}())
	d.edit(func(e *human.Edits) { e.SharePictures = true }) // must not fail for what was removed when it was still there
}

func TestDeleting(t *testing.T) {
	d := newFixture(t)
	checkError(t, d.Delete(t.Context(), ada, d.rec.ID), human.Conflict, "", "stop it first")
	d.rec.State = human.RecordingPaused
	d.add(human.RecordedEvent{Source: human.RecorderSource, Type: human.RecordingHeld})
	checkError(t, d.Delete(t.Context(), ada, d.rec.ID), human.Conflict, "", "stop it first")
	d.end()
	d.release()
	d.actions(ada, "")
	must(t, d.Delete(t.Context(), ada, d.rec.ID))
	op, err := d.queue.Get(t.Context(), ada, d.op.ID)
	if err != nil || len(op.Recordings) != 0 {
		t.Errorf("the operation still names %v: %v", op.Recordings, err)
	}
	if _, err := d.pictures.Read(t.Context(), d.rec.ID, d.shots[0]); human.KindOf(err) != human.NotFound {
		t.Errorf("a picture is still there: %v", err)
	}
	if len(d.books) != 0 {
		t.Error("what was read of it is still in memory")
	}
	if page, err := d.Recordings(t.Context(), ada, "", 0, ""); err != nil || len(page.Recordings) != 0 {
		t.Errorf("it is still listed: %+v, %v", page, err)
	}
	checkError(t, d.Delete(t.Context(), ada, d.rec.ID), human.NotFound, "", "no recording")
}

// lost is a queue that knows nothing of the operation any more.
type lost struct{}

func (lost) Get(context.Context, human.Actor, human.OperationID) (human.Operation, error) {
	return human.Operation{}, human.Errorf(human.NotFound, "no operation")
}

func (lost) RecordingDropped(context.Context, human.Actor, human.OperationID, human.RecordingID) error {
	return human.Errorf(human.NotFound, "no operation")
}

func TestARecordingOutlivesItsOperation(t *testing.T) {
	d := newFixture(t)
	d.end()
	d.release()
	d.deps.Operations = lost{}
	if got := d.actions(ada, ""); len(got.Actions) == 0 {
		t.Error("the operator reads nothing")
	}
	e, err := d.Export(t.Context(), ada, d.rec.ID, HTML, "zh-CN")
	must(t, err)
	must(t, e.Write(new(bytes.Buffer)))
	_, err = d.Recording(t.Context(), bot, d.rec.ID)
	checkError(t, err, human.NotFound, "", "no recording")
	must(t, d.Delete(t.Context(), ada, d.rec.ID))
}

func TestAPageIsNotReplayedOnTheDesktop(t *testing.T) {
	d := newFixture(t)
	d.rec.Options = human.RecordingOptions{Browser: &human.BrowserOptions{}}
	d.end()
	_, err := NewReplays(d.Library, nil).Start(t.Context(), ada, d.rec.ID, ReplayRequest{})
	checkError(t, err, human.Conflict, "", "Playwright")
}

func TestOneReplayAtATime(t *testing.T) {
	d := newFixture(t)
	d.end()
	var list []human.Action
	going, fail := make(chan struct{}), make(chan error, 1)
	p := NewReplays(d.Library, func(ctx context.Context, l []human.Action, _ float64, progress func(replay.Played)) error {
		list = l
		progress(replay.Played{ActionID: l[0].ID, State: "playing"})
		progress(replay.Played{ActionID: l[0].ID, State: "done"})
		going <- struct{}{}
		select {
		case err := <-fail:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	ctx, id := t.Context(), d.rec.ID
	start := func(r ReplayRequest) ReplayState {
		t.Helper()
		s, err := p.Start(ctx, ada, id, r)
		must(t, err)
		<-going
		return s
	}
	all := d.actions(ada, "").Actions
	typed, private := d.of(human.Typing, ""), d.of(human.Click, "Private")
	d.edit(func(e *human.Edits) { e.Cuts, e.MaskedTexts = []string{private.ID}, []string{typed.ID} })

	if s := start(ReplayRequest{}); s.Total != len(all)-1 || s.State != ReplayPlaying {
		t.Errorf("it begins as %+v", s)
	}
	if i := slices.IndexFunc(list, func(a human.Action) bool { return a.ID == typed.ID }); i < 0 || list[i].Text != "quagga total" {
		t.Error("what is hidden from others cannot be played by its owner")
	}
	_, err := p.Start(ctx, ada, id, ReplayRequest{})
	checkError(t, err, human.Conflict, "", "stop that first")
	if s, err := p.Stop(ctx, ada, id); err != nil || s.State != ReplayStopped || s.Done != 1 {
		t.Errorf("stopped it is %+v, %v", s, err)
	}
	// The cut one is played where it is asked for, in the order of the recording.
	start(ReplayRequest{Actions: []string{private.ID, typed.ID}})
	if len(list) != 2 || list[0].ID != typed.ID || list[1].ID != private.ID {
		t.Errorf("asked for two, it plays\n%s", words(list))
	}
	fail <- human.Errorf(human.Conflict, "the window is gone")
	<-p.ended
	if s, err := p.State(ctx, ada, id); err != nil || s.State != ReplayFailed || s.Detail != "the window is gone" {
		t.Errorf("failed it is %+v, %v", s, err)
	}
	for field, r := range map[string]ReplayRequest{"speed": {Speed: 11}, "actions": {Actions: []string{"a9999"}}} {
		_, err := p.Start(ctx, ada, id, r)
		checkError(t, err, human.Invalid, field, "")
	}
	start(ReplayRequest{})
	p.Close()
	if s, _ := p.State(ctx, ada, id); s.State != ReplayStopped {
		t.Errorf("after the close it is %+v", s)
	}
	_, err = p.Start(ctx, ada, id, ReplayRequest{})
	checkError(t, err, human.Unavailable, "", "shutting down")
}
