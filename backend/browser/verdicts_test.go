package browser

import (
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// keyed presses a key that makes no text.
func (v *visit) keyed(key string) {
	v.Helper()
	t := v.b.front()
	for _, kind := range []string{"keyDown", "keyUp"} {
		if err := t.conn.call(v.Context(), t.session, "Input.dispatchKeyEvent", object{"type": kind, "key": key}, nil); err != nil {
			v.Fatal(err)
		}
	}
}

// Each field is blue while it is empty, and red once something stands in it: what is secret in the end is red in no
// picture, what is not is red in some.
func TestWhatATextIsInTheEndDecidesItsPictures(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": `<style>body { margin: 0; background: white }
		.f { position: absolute; left: 20px; width: 500px; height: 40px; border: 0; padding: 0; margin: 0; outline: 0; background: red; color: red; font: 8px sans-serif; resize: none }
		.f:placeholder-shown, .f:empty:not(input):not(textarea) { background: blue } #dots { -webkit-text-security: disc }</style>
		<input class=f placeholder=" " aria-label=Card style="top: 0"><textarea class=f placeholder=" " aria-label=Key style="top: 50px"></textarea>
		<input class=f placeholder=" " aria-label=Setting style="top: 100px"><input class=f id=dots placeholder=" " aria-label=Dots style="top: 150px">
		<div class=f contenteditable aria-label=Rich style="top: 200px"></div><input class=f placeholder=" " aria-label=Order style="top: 250px">
		<input class=f placeholder=" " aria-label=Phone style="top: 300px"><input class=f type=password placeholder=" " aria-label=Password style="top: 350px">`}))
	github := put("ghp_", "Zk3Jq8sVw2Lx9Tn4Rb7Yc1Md6Hf5Pg0QaUeX")
	fields := []struct {
		name   string
		typed  []string // with pauses between
		hidden string
	}{
		{"Card", []string{"41", "11 1111", " 1111 1111"}, "secret"},
		{"Key", []string{"g", "hp_Zk3Jq8", github[10:]}, "secret"},
		{"Setting", []string{"api_key = ", "'Zk3Jq8sVw2Lx9Tn4Rb7Yc1Md6Hf5Pg0Q'"}, "secret"}, // by the app's masker alone
		{"Dots", []string{"plain", "word"}, "password"},
		{"Rich", []string{"sk", put("_live_", "4eC39HqLyjWDarjtT1zdp7dc")}, "secret"},
		{"Order", []string{"2024", "11057", "7"}, ""},
		{"Phone", []string{"+49 30 1234567"}, ""},
		{"Password", []string{"hunter2", "-3f9a"}, "password"},
	}
	for i, f := range fields {
		v.look(func(p record.Frame) bool { return like(at(p, 300, 50*i+20), blue) || like(at(p, 300, 50*i+20), black) })
		v.click(100, float64(50*i+20))
		for _, text := range f.typed {
			v.typing(text)
			v.rest(time.Second) // longer than a pause
			v.keyed("Escape")   // has pictures taken
		}
	}
	v.click(800, 600)
	ids := map[string]int{}
	for _, f := range fields {
		e := v.wait("what stands in "+f.name, func(e human.RecordedEvent) bool { return e.Type == human.PageInput && e.Element.Name == f.name })
		all := v.all(func(e human.RecordedEvent) bool { return e.Type == human.PageInput && e.Element.Name == f.name })
		for _, e := range all {
			if e.Hidden != f.hidden && f.name != "Setting" { // its name comes before it
				t.Errorf("%s is hidden as %q in one event, %q; want %q", f.name, e.Hidden, e.Text, f.hidden)
			}
		}
		if e = all[len(all)-1]; e.Hidden != f.hidden || (f.hidden == "") != (e.SecretID == 0) {
			t.Errorf("%s is %q, hidden as %q, number %d; want it hidden as %q", f.name, e.Text, e.Hidden, e.SecretID, f.hidden)
		}
		ids[f.name] = e.SecretID
	}
	// A busy machine is late with what the page shows: one more picture, of all of it.
	v.look(func(p record.Frame) bool { return like(at(p, 300, 50*6+20), red) })
	v.keyed("Escape")
	v.rest(2 * settled)
	if _, err := v.stop(); err != nil {
		t.Fatal(err)
	}
	if len(v.frames) < 10 {
		t.Fatalf("%d pictures were taken", len(v.frames))
	}
	for i, f := range fields {
		legible, masked := 0, 0
		for _, p := range v.frames {
			switch got := at(p, 300, 50*i+20); {
			case like(got, red):
				legible++
			case got == black:
				masked++
			}
		}
		if f.hidden != "" && (legible > 0 || masked == 0) || f.hidden == "" && (legible == 0 || masked > 0) {
			t.Errorf("%s, %q: legible in %d pictures, black in %d of %d", f.name, f.hidden, legible, masked, len(v.frames))
		}
	}
	if slices.Contains([]int{ids["Card"], ids["Key"], ids["Rich"], ids["Dots"]}, ids["Password"]) {
		t.Errorf("different secrets have one number: %v", ids)
	}
}

func TestEqualSecretsHaveOneNumber(t *testing.T) {
	form := `<input type=password autofocus onkeydown="if (event.key === 'Enter') location = this.dataset.next" data-next=`
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": form + `/b>`, "/b": form + `/c>`, "/c": form + `/d>`, "/d": "Done"}))
	for i, password := range []string{"hunter2-3f9a", "other-3f9a", "hunter2-3f9a"} {
		v.until("the field", func() bool {
			return v.ask("document.activeElement?.type === 'password' && location.pathname") == []string{`"/"`, `"/b"`, `"/c"`}[i]
		})
		v.typing(password)
		v.keyed("Enter")
		v.until("the next page", func() bool { return v.ask("location.pathname") == []string{`"/b"`, `"/c"`, `"/d"`}[i] })
	}
	v.until("all three", func() bool { return len(v.of(human.PageInput)) >= 3 })
	last := map[string]int{}
	for _, e := range v.of(human.PageInput) {
		last[e.Page.URL[len(v.site.URL):]] = e.SecretID
	}
	if last["/"] == 0 || last["/"] != last["/c"] || last["/"] == last["/b"] {
		t.Errorf("the numbers are %v; want one for the first and third, another for the second", last)
	}
}
