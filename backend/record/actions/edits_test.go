package actions_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// secretive is a recording with everything in it that may have to stay.
func secretive() *tape {
	return signer().click(20, 20).picture("p1", "before", 2).on(logIn).picture("p2", "after", 3).
		focus(user).types("Rumpelstilz").value("Rumpelstilz!").picture("p3", "typing", 0).
		key("c", "ctrl").clip("text", "spinning gold").note("ask the queen")
}

func TestWhatAnAgentGets(t *testing.T) {
	list := secretive().actions("en")
	for name, tt := range map[string]struct {
		edits human.Edits
		lang  string
		want  []string
		no    []string // nowhere in what leaves
	}{
		"text is counted, and pictures stay": {human.Edits{}, "en",
			[]string{"Clicked button Log in", "Typed 11 characters into User", "Copied 13 characters in Contracts - Signer", "Note: ask the queen"},
			[]string{"Rumpel", "spinning", "p1", "p2", "p3"}},
		"text is shared when the operator says so": {human.Edits{ShareText: true}, "en",
			[]string{"Clicked button Log in", "Typed Rumpelstilz into User", "Copied 13 characters in Contracts - Signer", "Note: ask the queen"}, []string{"p1"}},
		"what is cut is gone, with its pictures": {human.Edits{Cuts: []string{"a2"}, SharePictures: true}, "en",
			[]string{"Typed 11 characters into User", "Copied 13 characters in Contracts - Signer", "Note: ask the queen"}, []string{"Log in", "p1", "p2"}},
		"what is masked says that something was done, and nothing of what": {human.Edits{MaskedTexts: []string{"a2", "a8"}, ShareText: true}, "en",
			[]string{"Clicked a button", "Typed into a field", "Copied 13 characters in Contracts - Signer", "Note: ask the queen"}, []string{"Log in", "Rumpel"}},
		"the operator's own words stand": {human.Edits{Words: map[string]string{"a8": "Name  of the\u202e guest"}}, "en",
			[]string{"Clicked button Log in", "Name of the⟨U+202E⟩ guest", "Copied 13 characters in Contracts - Signer", "Note: ask the queen"}, []string{"Rumpel"}},
		"in Chinese": {human.Edits{MaskedTexts: []string{"a2"}}, "zh-CN",
			[]string{"点击按钮", "在“User”中输入 11 个字符", "在“Contracts - Signer”中复制了 13 个字符", "备注：ask the queen"}, []string{"Rumpel"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := actions.ForAgent(secretive().actions(tt.lang), tt.edits, tt.lang)
			if !slices.Equal(words(got), tt.want) {
				t.Errorf("\n got %q\nwant %q", words(got), tt.want)
			}
			text, _ := json.Marshal(got)
			for _, no := range tt.no {
				if strings.Contains(string(text), no) {
					t.Errorf("%q leaves: %s", no, text)
				}
			}
		})
	}
	if got := words(list); !slices.Contains(got, "Typed Rumpelstilz into User") {
		t.Errorf("what was derived is changed by what leaves: %q", got)
	}
}

func TestTheOperatorSeesWhatIsCutAndMasked(t *testing.T) {
	list := actions.Apply(secretive().actions("en"), human.Edits{Cuts: []string{"a2", "a999"}, MaskedTexts: []string{"a8"}}, "en")
	if !list[0].Cut || list[0].Words != "Clicked button Log in" || list[1].Cut || !list[1].Masked || list[1].Text != "" || list[1].Hidden != "operator" {
		t.Errorf("%+v", list[:2])
	}
}

func TestPicturesOfWhatLeaves(t *testing.T) {
	list := secretive().actions("en")
	if got, want := actions.Pictures(list), []string{"p1", "p2", "p3"}; !slices.Equal(got, want) {
		t.Errorf("pictures %q, want %q", got, want)
	}
	if got, want := actions.Pictures(actions.Left(list, human.Edits{Cuts: []string{"a2"}}, "en")), []string{"p3"}; !slices.Equal(got, want) {
		t.Errorf("pictures after a cut %q, want %q", got, want)
	}
}

func TestAFieldCalledByWhatStandsInItDoesNotTellAnAgent(t *testing.T) {
	named := human.Element{Role: "combobox", Name: "Rumpelstilz!"}
	list := record().window("w1", "Rumpelstilz - Editor", "Editor", 7).focus(named).types("Rumpelstilz").actions("en")
	given := actions.ForAgent(list, human.Edits{}, "en")
	if text, _ := json.Marshal(given); strings.Contains(string(text), "Rumpel") || given[0].Words != "Typed 11 characters into a list" {
		t.Errorf("the agent is given %s", text)
	}
}

func TestAPictureOfACutActionIsInNoOther(t *testing.T) {
	list := signer().click(20, 20).picture("p1", "after", 2).wait(900).press(1, 90, 90).picture("p1", "before", 5).release(1, 90, 90).picture("p2", "after", 5).actions("en")
	given := actions.ForAgent(list, human.Edits{Cuts: []string{"a2"}, SharePictures: true}, "en")
	if len(given) != 1 || given[0].Before != "" || given[0].After != "p2" {
		t.Errorf("%+v", given)
	}
}

// surfed is a recording of a browser with everything in it that may have to stay.
func surfed() *surf {
	named := human.Element{Role: "textbox", Name: "Search", Tag: "input/text", Selectors: [][]string{{`aria/Search[value="Rumpelstilz"]`}, {"#q"}}}
	s := browse().input(named, "Rumpelstilz").choice(born, "1812-12-20").choice(country, "Germany").dialog("prompt", "Your name?", "Rapunzel", true)
	return s.pick("plan_name", "Scale 2026", plan).file(human.PageUpload, &cv, "cv.pdf", "").click(billing).goes("link", "https://a.example/secret-path", "Prices")
}

func TestWhatAnAgentGetsOfABrowser(t *testing.T) {
	ids := map[string]string{}
	for _, a := range surfed().actions("en") {
		ids[a.Words] = a.ID
	}
	const input, date, list, prompt, pick, file, click, nav = "Typed Rumpelstilz into Search", "Chose 1812-12-20 in Birthday", "Chose Germany in Country",
		"Answered Rapunzel to \"Your name?\"", "Picked plan_name", "Uploaded cv.pdf to CV", "Clicked link Billing", "Went to Prices (a.example)"
	all := []string{input, date, list, prompt, pick, file, click, nav}
	kept := []string{"Typed 11 characters into Search", "Changed Birthday", list, `Answered OK to "Your name?"`, pick, file, click, nav}
	for name, tt := range map[string]struct {
		edits human.Edits
		want  []string
		has   []string
		no    []string // nowhere in what leaves
	}{
		"what was typed stays, what was picked goes, with addresses": {human.Edits{}, kept, []string{"Scale 2026", "secret-path", "#q", "Germany"}, []string{"Rumpel", "1812", "Rapunzel", "crop-plan_name"}},
		"all goes when it is shared":                                 {human.Edits{ShareText: true, SharePictures: true}, all, []string{"Rumpel", "1812", "Rapunzel", "crop-plan_name"}, nil},
		"what is masked says nothing of the page": {
			human.Edits{ShareText: true, SharePictures: true, MaskedTexts: []string{ids[input], ids[date], ids[list], ids[prompt], ids[pick], ids[file], ids[click], ids[nav]}},
			[]string{"Typed into a field", "Changed a field", "Changed a list", "Answered OK to a dialog", pick, "Uploaded a file to a button", "Clicked a link", "Went to another page"},
			[]string{"plan_name"}, []string{"Rumpel", "1812", "Germany", "Rapunzel", "Your name", "Scale 2026", "cv.pdf", "CV", "Billing", "secret-path", "Prices", "#q", "crop-"}},
		"what led to something is not named once it is cut": {human.Edits{Cuts: []string{ids[click]}}, append(slices.Clone(kept[:6]), nav), nil, []string{"Billing", ids[click] + `"`}},
		"the operator's own words":                          {human.Edits{Words: map[string]string{ids[date]: "The day"}}, slices.Concat(kept[:1], []string{"The day"}, kept[2:]), nil, []string{"1812"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := actions.ForAgent(surfed().actions("en"), tt.edits, "en")
			if !slices.Equal(words(got)[1:], tt.want) {
				t.Errorf("\n got %q\nwant %q", words(got)[1:], tt.want)
			}
			text, _ := json.Marshal(got)
			for _, has := range tt.has {
				if !strings.Contains(string(text), has) {
					t.Errorf("%q does not leave: %s", has, text)
				}
			}
			for _, no := range tt.no {
				if strings.Contains(string(text), no) {
					t.Errorf("%q leaves: %s", no, text)
				}
			}
		})
	}
}

// A page may repeat in a message what was typed; an agent that is not to have that does not get it there, either (H10).
func TestMessagesRepeatNothingThatIsNotShared(t *testing.T) {
	list := browse().input(field, "K-0417").click(send).says("Nothing was found for K-0417").actions("en")
	for share, want := range map[bool]string{false: "Nothing was found for …", true: "Nothing was found for K-0417"} {
		given := actions.ForAgent(list, human.Edits{ShareText: share}, "en")
		last := given[len(given)-1]
		if last.Dialog == nil || last.Dialog.Message != want || last.Words != `The page showed "`+want+`"` {
			t.Errorf("shared %t: %q, %+v", share, last.Words, last.Dialog)
		}
	}
}

// Once something is hidden, no other action has a fingerprint of what was typed.
func TestNoFingerprintOfWhatIsHidden(t *testing.T) {
	list := []human.Action{{ID: "a1", Type: human.Typing, Value: "4711"}, {ID: "a2", Type: human.Click, Element: &human.Element{Role: "button", Name: "Pay", Shows: []string{human.Digested("4711")}, Says: []string{"Order of Ann"}}}}
	for _, edits := range []human.Edits{{MaskedTexts: []string{"a1"}}, {Cuts: []string{"a1"}}, {Masks: []human.Mask{{W: 4, H: 4}}}} {
		if left := actions.Apply(list, edits, "en"); len(left[1].Element.Shows)+len(left[1].Element.Says) != 0 || left[1].Element.Name != "Pay" {
			t.Errorf("%+v leaves %+v", edits, left[1].Element)
		}
	}
	if left := actions.Apply(list, human.Edits{}, "en"); len(left[1].Element.Shows) != 1 || len(left[1].Element.Says) != 1 {
		t.Errorf("nothing is hidden, and %+v is left", left[1].Element)
	}
	if left := actions.ForAgent(list, human.Edits{ShareText: true}, "en"); left[1].Element.Shows != nil || left[1].Element.Says != nil || left[1].Element.Form != nil {
		t.Errorf("an agent gets %+v", left[1].Element)
	}
}
