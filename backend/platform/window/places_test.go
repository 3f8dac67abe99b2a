package window

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInside(t *testing.T) {
	one := []Rect{{0, 0, 1440, 900}}
	two := []Rect{{0, 0, 1440, 900}, {1440, 0, 1920, 1080}}
	for _, tt := range []struct {
		r    Rect
		on   []Rect
		want Rect
	}{
		{Rect{100, 50, 800, 600}, one, Rect{100, 50, 800, 600}},
		{Rect{1700, 100, 1280, 832}, two, Rect{1700, 100, 1280, 832}},
		{Rect{1700, 100, 1280, 832}, one, Rect{160, 68, 1280, 832}}, // its monitor has gone
		{Rect{-500, -300, 3000, 3000}, one, Rect{0, 0, 1440, 900}},
		{Rect{1300, 850, 800, 600}, two, Rect{1440, 480, 800, 600}}, // most of it was on the second
		{Rect{5000, 5000, 10, 10}, two, Rect{1430, 890, 10, 10}},
		{Rect{-1 << 40, 1 << 40, 800, 600}, one, Rect{0, 300, 800, 600}},
	} {
		if got := Inside(tt.r, tt.on); got != tt.want {
			t.Errorf("%v on %v is %v, want %v", tt.r, tt.on, got, tt.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "window.json")
	laptop, desk := []Rect{{0, 0, 1440, 900}}, []Rect{{1440, 0, 1920, 1080}, {0, 0, 1440, 900}}
	p := &Places{File: file}
	if _, ok := p.Find(laptop); ok {
		t.Error("a place before there was one")
	}
	at, wide := Place{Rect{10, 20, 800, 600}, false}, Place{Rect{1500, 20, 1000, 700}, true}
	for err := range map[error]bool{p.Keep(laptop, at): true, p.Keep(desk, wide): true} {
		if err != nil {
			t.Error(err)
		}
	}
	again := &Places{File: file}
	if got, ok := again.Find(laptop); !ok || got != at {
		t.Errorf("on the laptop: %+v %v", got, ok)
	}
	if got, ok := again.Find([]Rect{desk[1], desk[0]}); !ok || got != wide {
		t.Errorf("at the desk: %+v %v", got, ok)
	}
	for _, bad := range []string{"", "{", "null", "[]", `{"1440x900+0+0":{"W":-5}}`} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &Places{File: file}
		if got, ok := p.Find(laptop); ok {
			t.Errorf("from %q: %+v", bad, got)
		}
		if err := p.Keep(laptop, at); err != nil {
			t.Error(err)
		}
	}
}
