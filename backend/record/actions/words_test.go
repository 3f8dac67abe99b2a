package actions

import (
	"maps"
	"slices"
	"testing"
)

func TestBothLanguagesSayTheSame(t *testing.T) {
	en, zh := slices.Sorted(maps.Keys(english.text)), slices.Sorted(maps.Keys(simplifiedChinese.text))
	if !slices.Equal(en, zh) {
		t.Errorf("the tables of words have different keys:\n%q\n%q", en, zh)
	}
}
