package library

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// refer is a finding that rests on references.
func refer(text string, evidence ...human.Ref) human.Finding {
	return human.Finding{Kind: human.FoundNote, Text: text, Evidence: evidence}
}

func (d *fixture) ref(a human.Action) human.Ref {
	return human.Ref{Kind: human.RefAction, Recording: d.rec.ID, ID: a.ID}
}

// answer completes the operation with findings, and with attachments.
func (d *fixture) answer(attachments []string, all ...human.Finding) {
	d.t.Helper()
	_, err := d.queue.Complete(d.t.Context(), ada, d.op.ID, human.Answer{
		HumanInput: "done by hand", Decision: human.Approved, Attachments: attachments, Findings: all, Fields: map[string]string{"total": "42"},
		FieldSources: map[string]human.FieldSource{"total": {Recording: d.rec.ID, Action: d.of(human.Click, "Save").ID, Picked: "41", Corrected: true, URL: "https://shop.example/total", At: d.rec.StartedAt.Add(time.Minute)}},
	}, "")
	must(d.t, err)
}

func TestEvidenceOfEveryKind(t *testing.T) {
	d := newFixture(t)
	d.end()
	_, err := d.queue.Reply(t.Context(), ada, d.op.ID, "Which total?")
	must(t, err)
	save, typed := d.of(human.Click, "Save"), d.of(human.Typing, "")
	own := func(kind human.RefKind, id string) human.Ref { return human.Ref{Kind: kind, ID: id} }
	picture := human.Ref{Kind: human.RefPicture, Recording: d.rec.ID, ID: save.After}
	refs := []human.Ref{
		d.ref(save), d.ref(typed), picture, own(human.RefField, "total"), own(human.RefStep, "1"), own(human.RefMessage, "0"),
		own(human.RefAnswer, "human_input"), own(human.RefAnswer, "decision"), own(human.RefRequest, "description"), own(human.RefRequest, "action_sequence"),
		{Kind: human.RefCommand, Recording: d.rec.ID, ID: "c1"},
	}
	if all, err := d.AllEvidence(t.Context(), bot, d.op.ID, ""); err != nil || len(all) != 0 {
		t.Errorf("before the answer there is %+v, %v", all, err)
	}
	d.answer(nil, refer("all", refs...))
	d.edit(func(e *human.Edits) { e.SharePictures = true })
	all, err := d.AllEvidence(t.Context(), bot, d.op.ID, "en")
	must(t, err)
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprintf("%s %s %s|%s|%s|%d", e.Label, e.Kind, e.Text+e.Picked, e.Where, e.Missing, len(e.Pictures)))
		if e.Action != nil || e.Pictures == nil {
			t.Errorf("in a list: %+v", e)
		}
	}
	cannot := "evidence e11 of operation " + string(d.op.ID) + " cannot be read: recording rec_1 has no command c1"
	want := []string{
		"e1 action " + save.Words + "|Books: Accounts||2", "e2 action " + actions.ForAgent([]human.Action{typed}, human.Edits{}, "en")[0].Words + "|Books: Accounts||1",
		"e3 picture |||1", "e4 field 4241|https://shop.example/total||0", "e5 step Click Save|||0", "e6 message Which total?|||0", "e7 answer done by hand|||0",
		"e8 answer approve|||0", "e9 request save the report|||0", `e10 request ["Type the total","Click Save"]|||0`, "e11 command ||" + cannot + "|0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the agent gets\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	e, err := d.Evidence(t.Context(), bot, d.op.ID, "e1", "zh-CN")
	must(t, err)
	if e.Action == nil || e.Action.ID != save.ID || *e.Elapsed != save.At || !e.At.Equal(d.rec.StartedAt.Add(time.Duration(save.At))) || e.Text == save.Words {
		t.Errorf("the first, in Chinese: %+v", e)
	}
	// The recording itself, and its other pictures, were not given.
	_, err = d.Recording(t.Context(), bot, d.rec.ID)
	checkError(t, err, human.NotFound, "", "no recording")
	_, err = d.Picture(t.Context(), bot, d.rec.ID, save.After, Look{})
	checkError(t, err, human.NotFound, "", "no recording")
}

func TestWhoMayNotReadEvidence(t *testing.T) {
	d := newFixture(t)
	d.end()
	private, save := d.of(human.Click, "Private"), d.of(human.Click, "Save")
	d.answer(nil, refer("one", d.ref(private)), refer("two", d.ref(save), human.Ref{Kind: human.RefPicture, Recording: d.rec.ID, ID: private.Before}))
	ctx, id := t.Context(), d.op.ID
	read := func(by human.Actor, label string) error {
		_, err := d.Evidence(ctx, by, id, label, "")
		_, pictureErr := d.EvidencePicture(ctx, by, id, label, "", Look{})
		if err != nil && fmt.Sprint(err) != fmt.Sprint(pictureErr) {
			t.Errorf("%s reads %s: %v, and its picture: %v", by.Name, label, err, pictureErr)
		}
		return err
	}
	_, elsewhere := d.queue.Get(ctx, stranger, id)
	if err := read(stranger, "e1"); fmt.Sprint(err) != fmt.Sprint(elsewhere) {
		t.Errorf("a stranger: %v, elsewhere %v", err, elsewhere)
	}
	_, err := d.AllEvidence(ctx, stranger, id, "")
	checkError(t, err, human.NotFound, "", "you have no operation")
	for _, label := range []string{"e0", "e4", "e01", "e+1", "1", "", "f1", "e1 ", "e99999999999999999999"} {
		checkError(t, read(bot, label), human.NotFound, "", "its answer has e1 to e3")
	}
	checkError(t, read(bot, "e3"), human.NotFound, "", "shares no pictures")
	if _, err := d.EvidencePicture(ctx, bot, id, "e1", "before", Look{}); true {
		checkError(t, err, human.NotFound, "", "shares no pictures")
	}
	if e, err := d.Evidence(ctx, bot, id, "e1", ""); err != nil || len(e.Pictures) != 0 || e.Missing == "" || e.Action.Before != "" {
		t.Errorf("pictures that are not shared: %+v, %v", e, err)
	}
	d.edit(func(e *human.Edits) { e.Cuts, e.SharePictures = []string{private.ID}, true })
	checkError(t, read(bot, "e1"), human.NotFound, "", "the operator left it out")
	checkError(t, read(bot, "e3"), human.NotFound, "", "the operator left it out")
	must(t, read(bot, "e2"))
	must(t, read(ada, "e1"))
	must(t, read(ada, "e3"))
	for field, try := range map[string]struct {
		which string
		look  Look
	}{"which": {"beside", Look{}}, "format": {"", Look{Format: "gif"}}, "width": {"", Look{Width: -1}}} {
		_, err := d.EvidencePicture(ctx, bot, id, "e2", try.which, try.look)
		checkError(t, err, human.Invalid, field, "")
	}
	_, err = d.EvidencePicture(ctx, bot, id, "e2", "picture", Look{})
	checkError(t, err, human.NotFound, "", "no such picture")
	_, err = d.Evidence(ctx, bot, id, "e2", "fr")
	checkError(t, err, human.Invalid, "language", "zh-CN")
	must(t, d.Delete(ctx, ada, d.rec.ID))
	checkError(t, read(bot, "e2"), human.NotFound, "", "not there any more")
	checkError(t, read(ada, "e2"), human.NotFound, "", "not there any more")
}

func TestEvidenceNamesNoOtherAction(t *testing.T) {
	d := newFixture(t)
	press := d.add(
		human.RecordedEvent{Source: human.BrowserSource, Type: human.PagePress, Button: 1, Element: &human.Element{Role: "link", Name: "Next"}, Browsing: human.Browsing{Page: &human.WebPage{Target: "t1", URL: "https://shop.example/"}}},
		human.RecordedEvent{Source: human.BrowserSource, Type: human.PageClick, Button: 1, Count: 1, Element: &human.Element{Role: "link", Name: "Next"}, Browsing: human.Browsing{Page: &human.WebPage{Target: "t1", URL: "https://shop.example/"}}},
	)
	d.add(human.RecordedEvent{Source: human.BrowserSource, Type: human.PageNavigated, CausedBy: press + 1, Browsing: human.Browsing{
		Page: &human.WebPage{Target: "t1", URL: "https://shop.example/next", Title: "Next"}, Navigation: &human.Navigation{Kind: "link", Status: 404}}})
	d.add(human.RecordedEvent{Source: human.BrowserSource, Type: human.PagePicked, Browsing: human.Browsing{
		Page: &human.WebPage{Target: "t1", URL: "https://shop.example/next"}, Pick: &human.Pick{Field: "price", Take: human.TakeElement, Text: "12 EUR"}}})
	d.end()
	went := d.of(human.Navigate, "")
	if went.CausedBy == "" {
		t.Fatalf("no cause: %+v", went)
	}
	picked := d.of(human.Extract, "")
	d.answer(nil, refer("x", d.ref(went), d.ref(picked)))
	for _, want := range []string{"12 EUR", ""} {
		hidden := want == ""
		if hidden {
			d.edit(func(e *human.Edits) { e.MaskedTexts = []string{picked.ID} })
		}
		if e, err := d.Evidence(t.Context(), bot, d.op.ID, "e2", ""); err != nil || e.Picked != want {
			t.Errorf("hidden: %t, the agent reads that %q was picked, %v", hidden, e.Picked, err)
		}
	}
	if e, err := d.Evidence(t.Context(), bot, d.op.ID, "e1", ""); err != nil || e.Action.CausedBy != "" || e.Where != "Next: https://shop.example/next" {
		t.Errorf("the agent reads %+v of %+v, %v", e.Action, e, err)
	}
	if e, err := d.Evidence(t.Context(), ada, d.op.ID, "e1", ""); err != nil || e.Action.CausedBy != went.CausedBy {
		t.Errorf("the operator reads %+v, %v", e.Action, err)
	}
}

func TestThePictureOfACutActionIsNoEvidenceOfAnother(t *testing.T) {
	d := newFixture(t)
	press := d.seq + 1
	d.add(
		human.RecordedEvent{Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 3, Y: 3},
		human.RecordedEvent{Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 3, Y: 3},
		human.RecordedEvent{Source: human.ElementSource, Type: human.ElementSeen, Element: &human.Element{Role: "button", Name: "Next"}, CausedBy: press},
		human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: d.shots[1], When: "before", CausedBy: press}, // the one after Private
	)
	d.end()
	d.answer(nil, refer("x", d.ref(d.of(human.Click, "Next"))))
	d.edit(func(e *human.Edits) { e.SharePictures = true })
	if e, err := d.Evidence(t.Context(), bot, d.op.ID, "e1", ""); err != nil || len(e.Pictures) != 1 || e.Pictures[0].ID != d.shots[1] {
		t.Fatalf("before the cut: %+v, %v", e, err)
	}
	d.edit(func(e *human.Edits) { e.Cuts = []string{d.of(human.Click, "Private").ID} })
	if e, err := d.Evidence(t.Context(), bot, d.op.ID, "e1", ""); err != nil || len(e.Pictures) != 0 || e.Action.Before != "" {
		t.Errorf("after it: %+v, %v", e, err)
	}
	_, err := d.EvidencePicture(t.Context(), bot, d.op.ID, "e1", "before", Look{})
	checkError(t, err, human.NotFound, "", "no such picture")
}

// downloads adds a click that had pictures and brought a file at once, after which the page showed nothing new.
func (d *fixture) downloads() (before, after string) {
	event := func(kind human.RecordedType, b human.Browsing) human.RecordedEvent {
		b.Page = &human.WebPage{Target: "t1", URL: "https://shop.example/", Title: "Shop", W: 800, H: 600}
		return human.RecordedEvent{Source: human.BrowserSource, Type: kind, Browsing: b}
	}
	d.rec.Options.Browser = &human.BrowserOptions{}
	d.add(event(human.PageOpened, human.Browsing{}), event(human.PageNavigated, human.Browsing{Navigation: &human.Navigation{Kind: "address", Status: 200}}))
	press, click := event(human.PagePress, human.Browsing{}), event(human.PageClick, human.Browsing{})
	for _, e := range []*human.RecordedEvent{&press, &click} {
		e.Element, e.Button = &human.Element{Role: "link", Name: "Prices", Tag: "a"}, 1
	}
	click.Count = 1
	picture := func(when string, colour byte) human.RecordedEvent {
		return human.RecordedEvent{Source: human.BrowserSource, Type: human.PictureTaken, Picture: d.shot(colour), When: when, CausedBy: d.seq + 1}
	}
	one, two := picture("before", 5), picture("after", 6)
	d.add(press, one, click, two, event(human.PageDownload, human.Browsing{Transfers: []human.Transfer{{Name: "prices.csv", State: "completed", Size: 18}}}))
	return one.Picture, two.Picture
}

// A file that came at once has no picture of its own, and is in those of the click that it came of, where that may be known.
func TestEvidenceOfADownloadThatCameAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		by            human.Actor
		released, cut bool
		pictures      int
	}{"of an agent": {bot, true, false, 2}, "of the operator": {ada, false, false, 2}, "that was not released": {bot, false, false, 0}, "with the click cut out": {bot, true, true, 0}} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			before, after := d.downloads()
			d.end()
			got, clicked := d.of(human.Download, ""), d.of(human.Click, "Prices")
			if got.CausedBy != clicked.ID || got.Before+got.After != "" {
				t.Fatalf("it is %+v, of %s", got, clicked.ID)
			}
			var attached []string
			if tt.released {
				attached = []string{string(d.rec.ID)}
			}
			d.answer(attached, refer("x", d.ref(got)))
			read := func() Evidence {
				e, err := d.Evidence(t.Context(), tt.by, d.op.ID, "e1", "")
				must(t, err)
				return e
			}
			if e := read(); tt.by == bot && (len(e.Pictures) > 0 || tt.released && e.Missing != "its operator shares no pictures") {
				t.Errorf("before its pictures are shared: %+v, %q", e.Pictures, e.Missing)
			}
			d.edit(func(e *human.Edits) {
				if e.SharePictures = true; tt.cut {
					e.Cuts = []string{clicked.ID}
				}
			})
			want := []EvidencePicture{{"before", before}, {"after", after}}[:tt.pictures]
			if e := read(); !slices.Equal(e.Pictures, want) || e.Missing != "" {
				t.Errorf("it has %+v, %q", e.Pictures, e.Missing)
			}
			_, err := d.EvidencePicture(t.Context(), tt.by, d.op.ID, "e1", "after", Look{})
			if (err == nil) != (tt.pictures > 0) {
				t.Errorf("its picture: %v", err)
			}
		})
	}
}

// claims is a queue that says one thing of every operation.
type claims struct {
	lost
	op human.Operation
}

func (c claims) Get(context.Context, human.Actor, human.OperationID) (human.Operation, error) {
	return c.op, nil
}

func TestEvidenceIsOfTheOperationsOwnRecordings(t *testing.T) {
	d := newFixture(t)
	d.end()
	save := d.of(human.Click, "Save")
	d.deps.Operations = claims{op: human.Operation{ID: "op_another", AgentID: "bot", Recordings: []human.RecordingID{d.rec.ID}, Result: &human.Result{Answer: human.Answer{
		Findings: []human.Finding{refer("x", d.ref(save), human.Ref{Kind: human.RefPicture, Recording: d.rec.ID, ID: save.After})},
	}}}}
	for _, label := range []string{"e1", "e2"} {
		_, err := d.Evidence(t.Context(), bot, "op_another", label, "")
		checkError(t, err, human.NotFound, "", "recording rec_1 is not there any more")
	}
}

func TestEvidencePicturesAreMaskedForEverybody(t *testing.T) {
	d := newFixture(t)
	d.end()
	save := d.of(human.Click, "Save")
	d.answer(nil, refer("x", d.ref(save)))
	d.edit(func(e *human.Edits) { e.SharePictures, e.Masks = true, []human.Mask{{Picture: save.After, W: 4, H: 4}} })
	for _, by := range []human.Actor{bot, ada} {
		for which, black := range map[string]bool{"": true, "after": true, "before": false} {
			p, err := d.EvidencePicture(t.Context(), by, d.op.ID, "e1", which, Look{Format: "jpeg"})
			must(t, err)
			var buf bytes.Buffer
			must(t, p.Encode(&buf))
			img, kind, err := image.Decode(&buf)
			must(t, err)
			left, _, _, _ := img.At(0, 0).RGBA()
			if kind != "jpeg" || (left == 0) != black {
				t.Errorf("%s's picture %q is a %s whose left is %d", by.Name, which, kind, left)
			}
		}
	}
}

// TestEvidenceGivesOnlyWhatLeaves holds evidence against what an agent gets of a recording, whatever the operator
// cut, hid and shares: the same actions and pictures, and nothing of what was typed or cut.
func TestEvidenceGivesOnlyWhatLeaves(t *testing.T) {
	d := newFixture(t)
	press := d.seq + 1
	d.add(
		human.RecordedEvent{Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 3, Y: 3},
		human.RecordedEvent{Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 3, Y: 3},
		human.RecordedEvent{Source: human.ElementSource, Type: human.ElementSeen, Element: &human.Element{Role: "textbox", Name: "Reference"}, CausedBy: press},
		human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: d.shots[1], When: "before", CausedBy: press}, // the one after Private
	)
	key := d.add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyDown}, human.RecordedEvent{Source: human.InputSource, Type: human.KeyUp})
	d.add(human.RecordedEvent{Source: human.InputSource, Type: human.TextTyped, Text: "okapi number", Count: 12, CausedBy: key, Until: key})
	d.end()
	all := d.actions(ada, "").Actions
	secrets := map[string]string{"quagga": d.of(human.Typing, "").ID, "okapi": all[len(all)-1].ID, "Private": d.of(human.Click, "Private").ID}
	if last := all[len(all)-1]; last.Text != "okapi number" {
		t.Fatalf("the last action is %s", last.Words)
	}
	var refs []human.Ref
	var ids []string
	for _, a := range all {
		refs, ids = append(refs, d.ref(a)), append(ids, a.ID)
	}
	for _, p := range actions.Pictures(all) {
		refs = append(refs, human.Ref{Kind: human.RefPicture, Recording: d.rec.ID, ID: p})
	}
	d.answer(nil, refer("everything", refs...))
	rapid.Check(t, func(t *rapid.T) {
		some := func(label string) []string {
			return slices.DeleteFunc(slices.Clone(ids), func(string) bool { return !rapid.Bool().Draw(t, label) })
		}
		stored, err := d.Edits(d.t.Context(), ada, d.rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		edits, err := d.SetEdits(d.t.Context(), ada, d.rec.ID, human.Edits{
			Version: stored.Version, Cuts: some("cut"), MaskedTexts: some("masked"),
			ShareText: rapid.Bool().Draw(t, "text"), SharePictures: rapid.Bool().Draw(t, "pictures"), PicturesOf: some("picture"),
		})
		if err != nil {
			t.Fatal(err)
		}
		given := actions.ForAgent(all, edits, "en")
		pictures := actions.Pictures(given)
		for _, a := range given {
			if !edits.SharePictures && !slices.Contains(edits.PicturesOf, a.ID) && a.Before+a.After != "" {
				t.Fatalf("%s leaves with pictures, of which %v have some", a.ID, edits.PicturesOf)
			}
		}
		list, err := d.AllEvidence(d.t.Context(), bot, d.op.ID, "en")
		if err != nil || len(list) != len(refs) {
			t.Fatalf("%d of %d, %v", len(list), len(refs), err)
		}
		for i, r := range refs {
			e, err := d.Evidence(d.t.Context(), bot, d.op.ID, list[i].Label, "en")
			at := slices.IndexFunc(given, func(a human.Action) bool { return r.Kind == human.RefAction && a.ID == r.ID })
			may := at >= 0 || r.Kind == human.RefPicture && slices.Contains(pictures, r.ID)
			if (err == nil) != may || list[i].Text != e.Text || !may && list[i].Missing == "" {
				t.Fatalf("%s %s: %v, in the list %+v; may be read: %t", r.Kind, r.ID, err, list[i], may)
			}
			if at >= 0 {
				want, got := given[at], *e.Action
				want.CausedBy = ""
				if !reflect.DeepEqual(want, got) || e.Text != want.Words {
					t.Fatalf("%s is given as\n%+v\nand leaves as\n%+v", r.ID, got, want)
				}
			}
			for _, p := range e.Pictures {
				if !slices.Contains(pictures, p.ID) {
					t.Fatalf("%s gives the picture %s, which does not leave", r.ID, p.ID)
				}
			}
		}
		data, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		for word, action := range secrets {
			typed := word != "Private"
			hidden := slices.Contains(edits.Cuts, action) || typed && (!edits.ShareText || slices.Contains(edits.MaskedTexts, action))
			if hidden && strings.Contains(string(data), word) {
				t.Fatalf("%q is shown with %+v: %s", word, edits, data)
			}
		}
	})
}

// TestSharedPicturesOfActions: an agent may read the pictures of the actions that were shared, and of no others.
func TestSharedPicturesOfActions(t *testing.T) {
	d := newFixture(t)
	d.end()
	save, private := d.of(human.Click, "Save"), d.of(human.Click, "Private")
	d.answer(nil, refer("both", d.ref(save), d.ref(private)))
	of := func(label string) int {
		t.Helper()
		e, err := d.Evidence(t.Context(), bot, d.op.ID, label, "en")
		must(t, err)
		return len(e.Pictures)
	}
	if of("e1")+of("e2") != 0 {
		t.Error("pictures leave though none are shared")
	}
	must(t, d.Share(t.Context(), ada, d.rec.ID, []string{save.ID}))
	must(t, d.Share(t.Context(), ada, d.rec.ID, []string{save.ID}))
	if of("e1") == 0 || of("e2") != 0 {
		t.Errorf("%d and %d pictures leave", of("e1"), of("e2"))
	}
	if _, err := d.EvidencePicture(t.Context(), bot, d.op.ID, "e1", "", Look{Format: "jpeg"}); err != nil {
		t.Errorf("a picture that is shared cannot be read: %v", err)
	}
	if e, err := d.Edits(t.Context(), ada, d.rec.ID); err != nil || !slices.Equal(e.PicturesOf, []string{save.ID}) {
		t.Errorf("%+v, %v", e, err)
	}
	if err := d.Share(t.Context(), bot, d.rec.ID, []string{private.ID}); err == nil {
		t.Error("an agent shares a picture with itself")
	}
	if err := d.Share(t.Context(), ada, d.rec.ID, []string{"nothing"}); human.KindOf(err) != human.Invalid {
		t.Errorf("pictures of what is no action: %v", err)
	}
	d.edit(func(e *human.Edits) { e.Cuts = []string{save.ID} })
	if _, err := d.Evidence(t.Context(), bot, d.op.ID, "e1", "en"); err == nil {
		t.Error("what was removed is shared")
	}
}
