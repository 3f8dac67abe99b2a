package window

import (
	"strings"
	"testing"
	"time"
)

func TestQuiet(t *testing.T) {
	now := time.Date(2026, 11, 23, 14, 7, 0, 0, time.UTC)
	for span, want := range map[string]time.Time{
		"30m": now.Add(30 * time.Minute), "2h": now.Add(2 * time.Hour), "tomorrow": time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC),
		"": {}, "1s": {}, "-1h": {}, "169h": {}, "approve": {}, "9999999999h": {},
	} {
		if got, ok := QuietEnd(span, now); !got.Equal(want) || ok == want.IsZero() {
			t.Errorf("%q ends at %v, %v", span, got, ok)
		}
	}
	for _, tt := range []struct {
		q    Quiet
		want bool
	}{
		{Quiet{Until: now.Add(time.Minute)}, true}, {Quiet{Until: now}, false}, {Quiet{System: SystemQuiet}, false}, {Quiet{System: SystemQuiet, Follow: true}, true},
		{Quiet{System: SystemUnknown, Follow: true}, false}, {Quiet{System: SystemLoud, Follow: true, Until: now.Add(time.Hour)}, true},
	} {
		if tt.q.At(now).On != tt.want {
			t.Errorf("%+v", tt.q)
		}
	}
}

// The menu's entries have fixed places, so that an entry that is chosen while the menu changes does what it said.
func TestTrayMenu(t *testing.T) {
	now := time.Now()
	for _, locale := range []string{"en", "zh-CN"} {
		tray := Tray{Words: WordsFor(locale)}
		empty := tray.menu(TrayState{}, now)
		for _, s := range []TrayState{{Pending: 9}, {Recording: RecordingPaused}, {Recording: Recorded, Quiet: Quiet{On: true, Until: now.Add(time.Hour)}}} {
			all := tray.menu(s, now)
			if len(all) != len(empty) {
				t.Fatalf("%d entries with %+v, %d without", len(all), s, len(empty))
			}
			for i, e := range all {
				if e.line != empty[i].line || e.inner != empty[i].inner || e.Do != empty[i].Do {
					t.Errorf("entry %d is %+v, and was %+v", i, e, empty[i])
				}
			}
		}
		for _, c := range WordsFor(locale).quietFor {
			if strings.TrimSpace(c) == "" {
				t.Error("a length has no name")
			}
		}
	}
}

func TestTrayStatus(t *testing.T) {
	now := time.Now()
	titles := func(locale string, keys Abilities, s Status) string {
		var all []string
		for _, e := range (Tray{Words: WordsFor(locale), Keys: keys}).menu(TrayState{Status: s}, now) {
			all = append(all, e.title)
		}
		return strings.Join(all, "\n") + "\n"
	}
	for _, tt := range []struct {
		locale   string
		keys     Abilities
		s        Status
		has, not string
	}{
		{"en", Abilities{}, Status{}, "Gatekeeper\nAgents: none connected\n", "\t"},
		{"en", Abilities{Hotkey: true}, Status{Policy: "balanced", Agents: 4}, "Gatekeeper: balanced, asks at medium risk and above\nAgents: 4 connected\n", "available"},
		{"en", Abilities{Hotkey: true}, Status{}, "Open Deskbell\tCtrl+Alt+B\n", "Alt+R"},
		{"en", Abilities{RecordKeys: true}, Status{Newer: "1.2.0\u202e"}, "Version 1.2.0 is available…\n", "\u202e"},
		{"zh-CN", Abilities{RecordKeys: true}, Status{Policy: "permissive", Agents: 1, Newer: "1.2.0"}, "守门人：宽松，高风险或超出本机时询问\n智能体：已连接 1 个\n新版本 1.2.0 可用…\n", "Alt+B"},
		{"zh", Abilities{RecordKeys: true}, Status{Policy: "of a later version"}, "守门人\n智能体：尚未连接\n", "later"},
	} {
		got := titles(tt.locale, tt.keys, tt.s)
		if !strings.Contains(got, tt.has) || strings.Contains(got, tt.not) {
			t.Errorf("%s %+v %+v: %q", tt.locale, tt.keys, tt.s, got)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\tthree": "one two three", "\x1b[31mred": "[31mred", "a\u202eb\u2066c\u200bd\u00ade": "abcde", "  ": "", "数据 ok": "数据 ok",
		strings.Repeat("界", 50): strings.Repeat("界", 9) + "…",
	} {
		if got := Plain(text, 10); got != human10(want) {
			t.Errorf("%q is %q, want %q", text, got, human10(want))
		}
	}
}

func human10(text string) string {
	if r := []rune(text); len(r) > 10 {
		return string(r[:9]) + "…"
	}
	return text
}
