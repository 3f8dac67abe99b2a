package guide_test

import (
	"bytes"
	"encoding/json"
	"image"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
	"deskbell/backend/record/guide"
)

// shopping is what was done in a browser: an order, a popup, two fields picked.
func shopping(lang string) guide.Input {
	shop := func(path string) *human.WebPage {
		return &human.WebPage{Target: "t1", URL: "https://shop.example" + path, Title: "Shop & Co", W: 400, H: 300}
	}
	field := &human.Element{Role: "textbox", Name: "Name", Tag: "input/text", Selectors: [][]string{{"#name"}}}
	total := &human.Element{Role: "cell", Name: "Total", Tag: "td", Selectors: [][]string{{"x-cart", "#a|b"}}}
	list := []human.Action{
		{ID: "a1", Type: human.Navigate, Page: shop("/"), Navigation: &human.Navigation{Kind: "address", Status: 200}, After: "page"},
		{ID: "a2", Type: human.Click, Page: shop("/"), Button: 1, X: 60, Y: 50, Element: field, Before: "unseen"},
		{ID: "a3", Type: human.Typing, Page: shop("/"), Text: "Mei", Value: "Mei", Count: 3, Element: &human.Element{Role: "textbox", Name: "Name", Tag: "input/text", Selectors: field.Selectors, Bounds: human.Bounds{X: 50, Y: 40, W: 100, H: 20}}, After: "page"},
		{ID: "a4", Type: human.Click, Page: shop("/"), Button: 1, X: 200, Y: 150, Element: &human.Element{Role: "button", Name: "Send", Bounds: human.Bounds{X: 180, Y: 140, W: 60, H: 20}}, Before: "page"},
		{ID: "a5", Type: human.DialogEnded, Page: shop("/"), CausedBy: "a4", Dialog: &human.Dialog{Kind: "confirm", Message: "Really <b>send</b>?", Accepted: true}},
		{ID: "a6", Type: human.Navigate, Page: shop("/sent?x=•••"), CausedBy: "a5", Navigation: &human.Navigation{Kind: "form", Status: 200}, After: "unseen"},
		{ID: "a7", Type: human.Extract, Page: shop("/sent?x=•••"), Element: total, After: "old", Pick: &human.Pick{Field: "Total", Take: human.TakeElement, Text: "1.00"}},
		{ID: "a8", Type: human.Extract, Page: shop("/sent?x=•••"), Element: total, After: "crop", Pick: &human.Pick{Field: "Total", Take: human.TakeElement, Text: "12.50 <EUR>", Bounds: human.Bounds{X: 10, Y: 10, W: 40, H: 20}}},
		{ID: "a9", Type: human.Extract, Page: shop("/sent?x=•••"), Element: total, Pick: &human.Pick{Field: "Items", Take: human.TakeTable, Text: "[]", Header: true, Rows: [][]string{{"Item", "Price"}, {"Pen | red", "`1`"}}}},
	}
	for i := range list {
		list[i].Words = actions.Words(list[i], lang)
	}
	return guide.Input{
		Recording: human.Recording{ID: "rec_02", Complete: true}, Actions: list, Language: lang, Title: "Order",
		Picture: func(id string) (*record.Frame, error) {
			if id == "crop" {
				return &record.Frame{W: 60, H: 40, Scale: 1, Pix: bytes.Repeat([]byte{0xf8, 0xf8, 0xf8, 0}, 60*40)}, nil
			}
			return &record.Frame{W: 800, H: 600, Scale: 1, Pix: bytes.Repeat([]byte{0xf8, 0xf8, 0xf8, 0}, 800*600)}, nil
		},
	}
}

func TestAGuideOfWhatWasDoneInABrowser(t *testing.T) {
	in := shopping("en")
	asked := map[string]int{}
	from := in.Picture
	in.Picture = func(id string) (*record.Frame, error) { asked[id]++; return from(id) }
	page := html(t, in)
	if asked["unseen"] != 0 || asked["old"] != 0 || asked["crop"] != 1 {
		t.Errorf("these pictures were asked for: %v", asked)
	}
	for _, want := range []string{
		"<span>Shop &amp; Co</span> <code>https://shop.example/</code>", "<code>https://shop.example/sent?x=•••</code>",
		`<ul class="effects" aria-label="What came of it">`, "Really &lt;b&gt;send&lt;/b&gt;?", "Picked fields", `<th scope="row">Total</th>`, "12.50 &lt;EUR&gt;",
		`<th scope="col">Item</th>`, "<td>Pen | red</td>", "<code>x-cart &gt;&gt;&gt; #a|b</code>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if n := strings.Count(page, `<p class="where">`); n != 2 {
		t.Errorf("the page that was worked on is named %d times, not when it changes", n)
	}
	if strings.Contains(page, ">1.00<") || strings.Count(page, "<section") != 7 {
		t.Errorf("what was picked first is a field, or what came of an action a step:\n%s", page)
	}
	// The click, at twice the pixels: 200,150 is at 401,301.
	if !strings.Contains(page, `cx="401.0" cy="301.0"`) || !strings.Contains(page, `<rect x="359.0" y="279.0" width="124.0" height="44.0"`) {
		t.Errorf("the click is marked elsewhere:\n%s", page)
	}
	if zh := html(t, shopping("zh-CN")); !strings.Contains(zh, "采集的字段") || !strings.Contains(zh, "由此引起") {
		t.Error("the Chinese page is not Chinese")
	}
}

func TestFieldsInMarkdownAndJSON(t *testing.T) {
	var zipped, plain bytes.Buffer
	if err := guide.Markdown(&zipped, shopping("en")); err != nil {
		t.Fatal(err)
	}
	files := unzip(t, zipped.Bytes())
	page := files["guide.md"]
	for _, want := range []string{
		"Shop \\& Co `https://shop.example/`", "\n- ", `12\.50 \<EUR\>`, "| Items | ``[[\"Item\",\"Price\"],[\"Pen \\| red\",\"`1`\"]]`` |", "(Selector `x-cart >>> #a\\|b`)", "](pictures/06.png))",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	img, _, err := image.Decode(strings.NewReader(files["pictures/06.png"]))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, _, _ := img.At(20, 8).RGBA(); img.Bounds().Dx() != 60 || r>>8 < 180 || g>>8 > 80 {
		t.Errorf("the crop is %v and has no frame at the top of what was picked: %v", img.Bounds(), img.At(20, 8))
	}
	if err := guide.JSON(&plain, shopping("en")); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Fields []struct {
			Field, Value, URL, Selector, Picture string
			Action                               string `json:"action_id"`
		}
	}
	if err := json.Unmarshal(plain.Bytes(), &out); err != nil || len(out.Fields) != 2 || out.Fields[0].Value != "12.50 <EUR>" || out.Fields[0].Action != "a8" || out.Fields[0].Picture != "crop" || out.Fields[1].URL == "" {
		t.Errorf("the fields are %+v: %v", out.Fields, err)
	}
}

func TestAHiddenFieldIsInNoGuide(t *testing.T) {
	in := shopping("en")
	in.Edits.MaskedTexts = []string{"a8", "a9"}
	in.Edits.Cuts = []string{"a7"}
	var zipped, plain bytes.Buffer
	if err := guide.Markdown(&zipped, in); err != nil {
		t.Fatal(err)
	}
	if err := guide.JSON(&plain, in); err != nil {
		t.Fatal(err)
	}
	page := html(t, in)
	for name, text := range map[string]string{"page": page, "markdown": unzip(t, zipped.Bytes())["guide.md"], "json": plain.String()} {
		for _, no := range []string{"12.50", "Pen", "x-cart", "1.00"} {
			if strings.Contains(text, no) {
				t.Errorf("%s has %q:\n%s", name, no, text)
			}
		}
	}
	if !strings.Contains(page, `<span class="chip">hidden</span>`) {
		t.Errorf("it is not said that they are hidden:\n%s", page)
	}
}
