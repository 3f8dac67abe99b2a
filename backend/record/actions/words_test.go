package actions

import (
	"maps"
	"slices"
	"testing"

	"deskbell/backend/human"
)

func TestBothLanguagesSayTheSame(t *testing.T) {
	en, zh := slices.Sorted(maps.Keys(english.text)), slices.Sorted(maps.Keys(simplifiedChinese.text))
	if !slices.Equal(en, zh) {
		t.Errorf("the tables of words have different keys:\n%q\n%q", en, zh)
	}
}

func TestWhatStandsBesideIsSaid(t *testing.T) {
	click := func(e human.Element) human.Action {
		return human.Action{Type: human.Click, Button: 1, Element: &e, Page: &human.WebPage{Title: "Shop"}}
	}
	for name, tt := range map[string]struct {
		element human.Element
		en, zh  string
	}{
		"without a name":     {human.Element{Role: "button", Beside: "Total"}, "Clicked a button beside Total", "点击“Total”旁的按钮"},
		"with a shared name": {human.Element{Role: "button", Name: "Delete", Beside: "Ada"}, "Clicked button Delete beside Ada", "点击“Ada”旁的按钮“Delete”"},
		"nothing is known":   {human.Element{Role: "generic", Beside: "Total"}, "Clicked something beside Total", "点击“Total”旁的内容"},
		"hidden":             {human.Element{Role: "button", Hidden: "operator", Beside: "Ada"}, "Clicked a button", "点击按钮"},
	} {
		if en, zh := Words(click(tt.element), "en"), Words(click(tt.element), "zh"); en != tt.en || zh != tt.zh {
			t.Errorf("%s: %q, %q", name, en, zh)
		}
	}
}
