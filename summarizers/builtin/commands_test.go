package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

// A shell makes the commands of a terminal's recording.
type shell struct {
	in summarizers.Input
	at int64
}

func typing() *shell {
	return &shell{in: summarizers.Input{Version: 1, Operation: human.Operation{ID: "op_1", Kind: human.Bash, Description: "Build it"}, Recordings: []summarizers.Recorded{{
		Recording: human.Recording{ID: "rec_1", StartedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)},
	}}}}
}

func (s *shell) run(line string, exit int, took time.Duration, output string) *shell {
	c := summarizers.Command{ID: "c" + string(rune('1'+len(s.in.Recordings[0].Commands))), At: s.at, End: s.at + int64(took), Line: line, Output: output}
	if exit >= 0 {
		c.Exit = &exit
	}
	s.at += int64(took) + 1e9
	s.in.Recordings[0].Commands = append(s.in.Recordings[0].Commands, c)
	return s
}

func TestWhatIsFoundInATerminal(t *testing.T) {
	const second = time.Second
	for name, tt := range map[string]struct {
		shell  *shell
		en, zh string
	}{
		"what worked needs no words": {typing().run("make build", 0, second, "ok"), "", ""},
		"a command that failed": {
			typing().run("make test", 2, second, "ok a\nFAIL b: 3 of 12\n"),
			"error: “make test” failed with exit code 2; it printed “FAIL b: 3 of 12”", "error: “make test”执行失败，退出码 2，输出为“FAIL b: 3 of 12”"},
		"run until it passed": {
			typing().run("make test", 2, second, "FAIL").run("vim a.go", 0, second, "").run("make test", 1, second, "FAIL").run("make  test", 0, second, "ok"),
			"detour: It took 3 runs of “make test” until it passed", "detour: “make test”运行 3 次后才通过"},
		"failed at last": {
			typing().run("make test", 0, second, "").run("make test", 1, second, "FAIL"),
			"error: “make test” failed with exit code 1; it printed “FAIL”", ""},
		"failed again and again": {
			typing().run("make test", 1, second, "").run("make test", 3, second, ""),
			"error: “make test” failed twice, at last with exit code 3", "error: “make test”失败 2 次，最后一次退出码 3"},
		"a no is no error": {
			typing().run("grep x y", 1, second, "").run("diff a b", 1, second, "1c1").run("git diff --quiet | grep x", 1, second, "").run("test -f a", 1, second, ""), "", ""},
		"but it can be": {typing().run("grep x y", 2, second, "grep: y: No such file"), "error: “grep x y” failed with exit code 2; it printed “grep: y: No such file”", ""},
		"stopped":       {typing().run("sleep 100", 130, second, "^C"), "detour: “sleep 100” was stopped with Ctrl+C (exit code 130)", ""},
		"not ended":     {typing().run("tail -f log", -1, second, ""), "unseen: How “tail -f log” ended is not known", ""},
		"a long one": {
			typing().run("ls", 0, second, "").run("ls", 0, second, "").run("ls", 0, second, "").run("make image", 0, 95*second, ""),
			"slow: “make image” took 1 min 35 s", "slow: “make image”用时 1 分 35 秒"},
	} {
		t.Run(name, func(t *testing.T) {
			for lang, want := range map[string]string{say.English: tt.en, say.Chinese: tt.zh} {
				in := tt.shell.in
				in.Language = lang
				all := slices.DeleteFunc(report(t, terminal(), in).Findings, func(f human.Finding) bool { return f.Kind == human.FoundOutcome })
				if strings.HasPrefix(tt.en, "error") && len(all) != len(report(t, terminal(), in).Findings) {
					t.Error("a command that failed has two findings")
				}
				if got := said(all); want != "" && got != want || want == "" && tt.en == "" && got != "" {
					t.Errorf("%s\n got %s\nwant %s", lang, got, want)
				}
				for _, s := range []summarizers.Summarizer{terminal(), joined()} {
					if r := report(t, s, in); lang == say.English && tt.en != "" && !strings.Contains(said(r.Findings), tt.en) {
						t.Errorf("%s finds %s", s.About().Name, said(r.Findings))
					}
				}
			}
		})
	}
}

// What became of what the agent suggested, and how the terminal was left, is reported with the commands it rests on.
func TestTheReportOfATerminal(t *testing.T) {
	s := typing().run("terraform force-unlock 42", 1, time.Second, "Lock is held").run("terraform force-unlock -force 42", 0, time.Second, "unlocked").
		run("make plan", 0, time.Second, "No changes").run("whoami", 0, time.Second, "ci")
	s.in.Operation.Details = json.RawMessage(`{"commands":["terraform force-unlock 42","make plan","make apply"]}`)
	s.in.Suggested = []string{"terraform force-unlock 42", "make plan", "make apply"}
	all := s.in.Recordings[0].Commands
	for i, which := range []int{0, 0, 1} {
		all[i].Suggestion, all[i].Edited = &which, i == 1
	}
	for i := range all {
		all[i].Dir = "/srv/infra"
	}
	for lang, want := range map[string][]string{
		say.English: {
			"outcome: Ran “whoami” in /srv/infra; exit code 0; it printed “ci” [c4]",
			"error: “terraform force-unlock 42” failed with exit code 1; it printed “Lock is held” [c1]",
			"undone: Suggested commands that were not run: “make apply” [commands]",
			"done: Run as suggested, with exit code 0: “make plan” [c3]",
			"note: The suggested command “terraform force-unlock 42” was changed before it was run: “terraform force-unlock -force 42” [c2 commands]",
		},
		say.Chinese: {
			"outcome: 在 /srv/infra 中运行了“whoami”，退出码 0，输出为“ci” [c4]",
			"error: “terraform force-unlock 42”执行失败，退出码 1，输出为“Lock is held” [c1]",
			"undone: 未运行的建议命令：“make apply” [commands]",
			"done: 按建议运行且退出码为 0：“make plan” [c3]",
			"note: 建议的命令“terraform force-unlock 42”修改后才运行：“terraform force-unlock -force 42” [c2 commands]",
		},
	} {
		s.in.Language = lang
		r := report(t, terminal(), s.in)
		var got []string
		for _, f := range r.Findings {
			ids := make([]string, len(f.Evidence))
			for i, ref := range f.Evidence {
				ids[i] = ref.ID
			}
			got = append(got, fmt.Sprintf("%s: %s [%s]", f.Kind, f.Text, strings.Join(ids, " ")))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %s\nwant %s", lang, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		t.Logf("%s\n\n%s", r.Line, r.Text)
		if !strings.Contains(r.Text, "/srv/infra") || !strings.Contains(r.Text, "make plan") {
			t.Errorf("%s: the account is %s", lang, r.Text)
		}
	}
}
