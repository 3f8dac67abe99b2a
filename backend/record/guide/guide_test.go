package guide_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"image"
	_ "image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
	"deskbell/backend/record/guide"
)

// sample is a recording of a contract being exported, with all that a guide can have in it.
func sample(lang string) guide.Input {
	app := &human.App{Name: "Signer", PID: 7}
	win := &human.Window{ID: "w1", Title: "Contracts – Signer", Bounds: human.Bounds{X: 100, Y: 100, W: 600, H: 400}}
	at := func(s int) int64 { return int64(s) * int64(time.Second) }
	zero, one := 0, 1
	list := []human.Action{
		{ID: "a1", Type: human.OpenApp, At: at(4), App: app, Window: win, After: "p1", Step: &zero},
		{ID: "a2", Type: human.Typing, At: at(11), App: app, Window: win, Text: "mei.lin", Count: 7, Element: &human.Element{Role: "textbox", Name: "User", Bounds: human.Bounds{X: 300, Y: 220, W: 200, H: 30}}, After: "p2", Step: &zero},
		{ID: "a3", Type: human.Typing, At: at(16), App: app, Window: win, Hidden: "password", Element: &human.Element{Role: "textbox", Name: "Password", Secret: true, Bounds: human.Bounds{X: 300, Y: 270, W: 200, H: 30}}, After: "p3", Step: &zero},
		{ID: "a4", Type: human.Click, Button: 1, X: 340, Y: 330, At: at(19), App: app, Window: win, Element: &human.Element{Role: "button", Name: "Log in", Bounds: human.Bounds{X: 300, Y: 316, W: 80, H: 28}}, Before: "p3", After: "p4", Step: &zero},
		{ID: "a5", Type: human.DoubleClick, Button: 1, X: 400, Y: 300, At: at(52), App: app, Window: win, Element: &human.Element{Role: "row", Name: "K-0417 <script>alert(1)</script>", Bounds: human.Bounds{X: 120, Y: 290, W: 500, H: 24}}, Before: "p4", After: "p5", Step: &one},
		{ID: "a6", Type: human.Missing, At: at(60), End: at(90), Gap: &human.Gap{From: at(60), To: at(90), Reason: "excluded"}},
		{ID: "a7", Type: human.Drag, Button: 1, X: 200, Y: 400, ToX: 500, ToY: 250, At: at(100), App: app, Window: win, Before: "p5", After: "p1"},
		{ID: "a8", Type: human.Note, At: at(120), Text: "The audit page is off by default in version 8.2."},
		{ID: "a9", Type: human.FileOperation, At: at(160), File: &human.FileChange{Op: "created", Path: "/home/mei/contracts/2026/K-0417.pdf"}},
	}
	for i := range list {
		list[i].Words = actions.Words(list[i], lang)
	}
	return guide.Input{
		Recording: human.Recording{
			ID: "rec_01", By: "mei", StartedAt: time.Date(2026, 11, 21, 13, 26, 40, 0, time.UTC), Elapsed: at(167), State: human.RecordingStopped,
			Gaps: []human.Gap{{From: at(60), To: at(90), Reason: "excluded"}}, Counts: human.RecordingCounts{Masked: 2},
			Sources: []human.SourceState{{Source: human.ElementSource, Status: "partial", Detail: "Qt told no names"}},
		},
		Actions: list, Language: lang, Title: "Export the signed contract from the desktop client",
		Description: "It is needed as PDF/A, with the audit page.\nMind the version.",
		Steps:       []string{"Open Signer and log in", "Find contract K-0417"},
		Picture:     func(string) (*record.Frame, error) { return fixture(1), nil },
	}
}

// fixture is a gray desktop of 800 by 600 units with a window on it.
func fixture(scale int) *record.Frame {
	f := &record.Frame{W: 800 * scale, H: 600 * scale, Scale: float64(scale)}
	f.Pix = bytes.Repeat([]byte{0x50, 0x48, 0x40, 0}, f.W*f.H)
	for y := 100 * scale; y < 500*scale; y++ {
		for x := 100 * scale; x < 700*scale; x++ {
			copy(f.Pix[4*(y*f.W+x):], []byte{0xf8, 0xf8, 0xf8})
		}
	}
	return f
}

func html(t *testing.T, in guide.Input) string {
	t.Helper()
	var b strings.Builder
	if err := guide.HTML(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageHasEverythingInItAndNothingForeign(t *testing.T) {
	page := html(t, sample("en"))
	for _, want := range []string{
		"<h1>Export the signed contract from the desktop client</h1>", "<span>Step 1</span> Open Signer and log in", "Find contract K-0417", "Outside the checklist",
		"Opened Signer", "Typed mei.lin into User", "Typed into Password", "Clicked button Log in", "Double-clicked row K-0417", "Note: The audit page",
		"Created K-0417.pdf in ~/contracts/2026", "Not recorded: an excluded program or window", "Recorded by mei", "2026-11-21 13:26 UTC", "02:47 long",
		"Not complete: 1 stretch was not recorded.", "01:00 – 01:30", "2 texts and fields were hidden while recording.", "In part: names of elements: Qt told no names",
		"recording rec_01", `src="data:image/png;base64,`, "&lt;script&gt;", "default-src &#39;none&#39;", "prefers-color-scheme: dark", `<html lang="en">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, no := range []string{"<script", "http://", "https://", "<link", "url(", "@import", " style=", "ZgotmplZ", "onload"} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	zh := html(t, sample("zh-CN"))
	for _, want := range []string{`<html lang="zh-CN">`, "打开了 Signer", "在“User”中输入 mei.lin", "不完整：有 1 段未录制。", "清单之外的操作", "由 Deskbell 根据录制 rec_01 生成。"} {
		if !strings.Contains(zh, want) {
			t.Errorf("the Chinese page lacks %q", want)
		}
	}
}

func TestWhatTheOperatorLeftOutIsNotInAnyExport(t *testing.T) {
	in := sample("en")
	in.Edits = human.Edits{Cuts: []string{"a4", "a-gone"}, MaskedTexts: []string{"a2", "a5"}, Masks: []human.Mask{{W: 5, H: 5}}}
	asked := map[string]bool{}
	in.Picture = func(id string) (*record.Frame, error) { asked[id] = true; return fixture(1), nil }
	page := html(t, in)
	var zipped, plain bytes.Buffer
	if err := guide.Markdown(&zipped, in); err != nil {
		t.Fatal(err)
	}
	if err := guide.JSON(&plain, in); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"page": page, "markdown": unzip(t, zipped.Bytes())["guide.md"], "json": plain.String()} {
		for _, no := range []string{"Log in", "mei.lin", "K-0417 &lt;", "alert", `"a4"`} {
			if strings.Contains(text, no) {
				t.Errorf("%s has %q", name, no)
			}
		}
	}
	if asked["p3"] || asked["p4"] {
		t.Errorf("pictures of the cut action were asked for: %v", asked)
	}
	for _, want := range []string{"1 action was left out by the operator.", "The texts of 2 actions were hidden by the operator.", "1 region of pictures was masked."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var out struct {
		Actions []human.Action
		Left    struct {
			Cut int `json:"actions_cut"`
		} `json:"left_out"`
	}
	if err := json.Unmarshal(plain.Bytes(), &out); err != nil || len(out.Actions) != 8 || out.Left.Cut != 1 {
		t.Errorf("the JSON has %d actions, %d cut: %v", len(out.Actions), out.Left.Cut, err)
	}
}

func unzip(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
	}
	return out
}

func TestMarkdownHasItsPicturesWithTheMarksDrawn(t *testing.T) {
	for _, scale := range []int{1, 2} {
		in := sample("en")
		frame := fixture(scale)
		before := bytes.Clone(frame.Pix)
		in.Picture = func(string) (*record.Frame, error) { return frame, nil }
		var b bytes.Buffer
		if err := guide.Markdown(&b, in); err != nil {
			t.Fatal(err)
		}
		files := unzip(t, b.Bytes())
		page := files["guide.md"]
		for _, want := range []string{"# Export the signed contract", "## Step 1: Open Signer and log in", "**4.** Clicked button Log in (00:19)", "](pictures/04.png)", `K-0417 \<script\>alert\(1\)`, "> Not recorded: an excluded program"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
		img, _, err := image.Decode(strings.NewReader(files["pictures/04.png"]))
		if err != nil {
			t.Fatal(err)
		}
		// The window with what is around it: 92,64 to 708,508.
		if got, want := img.Bounds().Size(), image.Pt(616*scale, 444*scale); got != want {
			t.Fatalf("at scale %d the picture is %v, want %v", scale, got, want)
		}
		x, y := (340-92)*scale, (330-64)*scale
		if r, g, _, _ := img.At(x+15, y).RGBA(); r>>8 < 180 || g>>8 > 80 {
			t.Errorf("at scale %d no ring is drawn around the click: %v", scale, img.At(x+15, y))
		}
		if r, g, b, _ := img.At(x, y).RGBA(); r>>8 != 0xf8 || g>>8 != 0xf8 || b>>8 != 0xf8 {
			t.Errorf("what was clicked is covered: %v", img.At(x, y))
		}
		if !bytes.Equal(frame.Pix, before) {
			t.Error("the mark was drawn into the recording's picture")
		}
	}
}

func TestAPictureThatIsGoneIsLeftOutAndOneThatFailsEndsIt(t *testing.T) {
	in := sample("en")
	in.Picture = func(string) (*record.Frame, error) { return nil, human.Errorf(human.NotFound, "no such picture") }
	if page := html(t, in); strings.Contains(page, "<img") || !strings.Contains(page, "Opened Signer") {
		t.Error("without its pictures the page should have its words and no pictures")
	}
	broken := errors.New("disk gone")
	in.Picture = func(string) (*record.Frame, error) { return nil, broken }
	if err := guide.HTML(io.Discard, in); !errors.Is(err, broken) {
		t.Errorf("the page says %v", err)
	}
	if err := guide.Markdown(io.Discard, in); !errors.Is(err, broken) {
		t.Errorf("the zip says %v", err)
	}
	in.Picture = nil
	html(t, in)
}

func TestPicturesOfAnyShapeAreSafe(t *testing.T) {
	for name, f := range map[string]*record.Frame{
		"none": nil, "empty": {}, "too little in it": {W: 100, H: 100, Pix: make([]byte, 8)}, "one pixel": {W: 1, H: 1, Pix: make([]byte, 4)},
		"elsewhere": {X: -5000, Y: -5000, W: 20, H: 20, Scale: 1, Pix: make([]byte, 1600)}, "a broken row at the end": {W: 1441, H: 3, Scale: 1.5, Pix: make([]byte, 4*1441*3)},
	} {
		in := sample("en")
		in.Picture = func(string) (*record.Frame, error) { return f, nil }
		t.Run(name, func(t *testing.T) {
			html(t, in)
			if err := guide.Markdown(io.Discard, in); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAClickIntoAFieldIsShownByWhatWasTypedThere(t *testing.T) {
	in := sample("en")
	typed := in.Actions[1]
	click := human.Action{ID: "a1b", Type: human.Click, Button: 1, X: 310, Y: 230, Element: typed.Element, Window: typed.Window, Before: "p9", Words: "Clicked field User"}
	in.Actions = slices.Insert(in.Actions, 1, click)
	asked := map[string]bool{}
	in.Picture = func(id string) (*record.Frame, error) { asked[id] = true; return fixture(1), nil }
	if page := html(t, in); !strings.Contains(page, "Clicked field User") || asked["p9"] || !asked["p2"] {
		t.Errorf("pictures shown: %v", asked)
	}
}

func TestARecordingInWhichNothingWasDone(t *testing.T) {
	page := html(t, guide.Input{Recording: human.Recording{Complete: true}})
	for _, want := range []string{"<h1>Step guide</h1>", "Nothing was done in this recording.", "Complete: everything"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
