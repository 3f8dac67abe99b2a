package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"deskbell/backend/human"
)

// The terminal says effects as the window does, in both languages, and has each of its texts in both.
func TestTheTerminalSpeaksAsTheWindow(t *testing.T) {
	for i, locale := range []string{"en", "zh-CN"} {
		raw, err := os.ReadFile("../../../frontend/messages/permission/" + locale + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]any
		if err := json.Unmarshal(raw, &said); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for key, text := range said {
			if verb, is := strings.CutPrefix(key, "verb_"); is {
				want[verb], _ = text.(string)
			}
		}
		have := map[string]string{}
		for verb, words := range verbWords {
			have[string(verb)] = words[i]
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s: the terminal says %v, the window %v", locale, have, want)
		}
	}
	for _, w := range []phrases{english, chinese} {
		v := reflect.ValueOf(w)
		for i := range v.NumField() {
			if v.Field(i).String() == "" {
				t.Errorf("%s has no %s", w.waiting, v.Type().Field(i).Name)
			}
		}
		for line := range strings.Lines(w.help) {
			if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > 79 {
				t.Errorf("%d wide: %s", n, line)
			}
		}
	}
}

// Lines break at a width in cells, whatever is in them, and nothing of them is lost.
func TestLinesBreakAtTheirWidth(t *testing.T) {
	for _, text := range []string{"a short one", strings.Repeat("删除旧的文件", 30), strings.Repeat("word ", 60), strings.Repeat("x", 300), "⟨U+202E⟩" + strings.Repeat("é中", 90), "中"} {
		for _, exact := range []bool{true, false} {
			for _, width := range []int{10, 11, 79} {
				p := readout{lines: []pageLine{{text: text, hang: 2, exact: exact}}}
				var all strings.Builder
				for i, line := range p.laid(width) {
					if n := ansi.StringWidth(line); n > width {
						t.Errorf("%d wide of %d: %q", n, width, line)
					}
					if i > 0 {
						line = strings.TrimPrefix(line, "  ")
					}
					all.WriteString(line)
				}
				got, want := all.String(), text
				if !exact {
					got, want = strings.ReplaceAll(got, " ", ""), strings.ReplaceAll(want, " ", "")
				}
				if got != want {
					t.Errorf("of %q there is %q", want, got)
				}
			}
		}
	}
}

// A call may be denied whatever is offered, and changed where it may be allowed.
func TestChoicesOfACall(t *testing.T) {
	keys := func(actions ...human.ChoiceAction) (keys string) {
		var v human.Verdict
		for _, a := range actions {
			v.Choices = append(v.Choices, human.Choice{Action: a})
		}
		for _, c := range permissionChoices(v) {
			keys += c.key
		}
		return keys
	}
	for want, got := range map[string]string{
		"dea":   keys(),
		"d":     keys(human.ChooseDeny),
		"dibea": keys(human.ChooseDeny, human.ChooseInstead, human.ChooseBackup, human.ChooseDifference, human.ChooseAllow),
		"di":    keys(human.ChooseInstead),
	} {
		if got != want {
			t.Errorf("the keys are %s, not %s", got, want)
		}
	}
}

// Who answers sees that there are files, on every page, and what came with an answer.
func TestThePageNamesFiles(t *testing.T) {
	file := human.Attachment{ID: "att_1", Name: "shot\x1b[2J.png", Media: "image/png", Size: 1200}
	op := human.Operation{ID: "op_1", Attachments: []human.Attachment{file}, Result: &human.Result{Answer: human.Answer{Files: []human.Attachment{file}}}}
	for name, show := range map[string]func(*readout, human.Operation){"the request": (*readout).bottom, "the answer": (*readout).answer} {
		var p readout
		show(&p, op)
		text := strings.Join(p.laid(79), "\n")
		if !strings.Contains(text, "Files") || !strings.Contains(text, "- shot⟨U+001B⟩[2J.png (image/png, 2 kB)") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A request of a team that this desk left is shown as that, with nothing to do.
func TestThePageOfWhatIsFrozen(t *testing.T) {
	op := human.Operation{State: human.Pending, Kind: human.Feedback}
	for _, frozen := range []bool{false, true} {
		op.Frozen = frozen
		d := &inbox{words: english, open: &opened{op: op}, width: 80}
		d.open.page.top(op, "which color?", op.CreatedAt)
		said := strings.Contains(fmt.Sprint(d.open.page.lines), "before this desk left its team")
		if acts := d.actLines(); said != frozen || (len(acts) == 0) != frozen {
			t.Errorf("frozen %t: %t, %q", frozen, said, acts)
		}
	}
}
