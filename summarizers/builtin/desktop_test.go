package builtin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/find"
	"deskbell/summarizers/builtin/say"
)

// A worker makes the actions of a recording of the desktop, as they are derived from one.
type worker struct {
	in  summarizers.Input
	app *human.App
	win *human.Window
	at  int64
	n   int
}

func work(app string) *worker {
	w := &worker{in: summarizers.Input{Version: 1, Operation: human.Operation{ID: "op_1", Kind: human.Desktop, Description: "Do it"}}}
	w.in.Recordings = []summarizers.Recorded{{Recording: human.Recording{
		ID: "rec_1", StartedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Elapsed: 90e9, Span: 90e9, State: human.RecordingStopped, Complete: true,
	}}}
	return w.in_(app, app)
}

// in_ continues in a window of a program, without an action that tells of it.
func (w *worker) in_(app, title string) *worker {
	w.app, w.win = &human.App{Name: app, PID: 7}, &human.Window{ID: "w " + app, Title: title}
	return w
}

func (w *worker) add(a human.Action) *worker {
	w.n++
	w.at += 1e9
	a.ID, a.At, a.End = fmt.Sprintf("a%d", w.n), w.at, max(w.at, w.at+a.End)
	a.App, a.Window = w.app, w.win
	rec := &w.in.Recordings[len(w.in.Recordings)-1]
	rec.Actions = append(rec.Actions, a)
	return w
}

func (w *worker) wait(d time.Duration) *worker { w.at += int64(d); return w }

func (w *worker) click(role, name string, states ...string) *worker {
	return w.add(human.Action{Type: human.Click, Button: 1, Element: &human.Element{Role: role, Name: name, States: states}})
}

func (w *worker) typed(field, text string) *worker {
	return w.add(human.Action{Type: human.Typing, Count: len([]rune(text)), Element: &human.Element{Role: "textbox", Name: field}})
}

func (w *worker) secret(field string) *worker {
	return w.add(human.Action{Type: human.Typing, Hidden: "password", Element: &human.Element{Role: "textbox", Name: field, Secret: true}})
}

func (w *worker) key(key string, modifiers ...string) *worker {
	return w.add(human.Action{Type: human.Shortcut, Key: key, Modifiers: modifiers, Count: 1})
}

// window says that the title changed; what is done next has it.
func (w *worker) window(title string) *worker {
	w.win = &human.Window{ID: w.win.ID, Title: title}
	return w.add(human.Action{Type: human.Scroll, DeltaY: 1})
}

func (w *worker) titled(title string) *worker {
	w.win = &human.Window{ID: w.win.ID, Title: title}
	return w
}

func (w *worker) dialog(title string) *worker {
	w.win = &human.Window{ID: fmt.Sprintf("d%d", w.n), Title: title}
	return w.add(human.Action{Type: human.SwitchWindow, Element: &human.Element{Role: "dialog", Name: title}})
}

// back is where a dialog stood over.
func (w *worker) back(title string) *worker { return w.in_(w.app.Name, title) }

func (w *worker) opens(app string) *worker {
	return w.in_(app, app).add(human.Action{Type: human.OpenApp})
}

func (w *worker) closes() *worker { return w.add(human.Action{Type: human.CloseWindow}) }

func (w *worker) switches(app, title string) *worker {
	return w.in_(app, title).add(human.Action{Type: human.SwitchWindow})
}

func (w *worker) file(op, path, to string) *worker {
	return w.add(human.Action{Type: human.FileOperation, File: &human.FileChange{Op: op, Path: path, To: to}})
}

func (w *worker) note(text string) *worker {
	return w.add(human.Action{Type: human.Note, Text: text})
}

func (w *worker) gap(reason string, long time.Duration) *worker {
	w.add(human.Action{Type: human.Missing, Gap: &human.Gap{From: w.at, To: w.at + int64(long), Reason: reason}, End: int64(long)})
	w.at += int64(long)
	return w
}

func (w *worker) says(text string) *worker { w.in.Answer.HumanInput = text; return w }

func (w *worker) steps(done ...bool) *worker {
	for i, d := range done {
		w.in.Checklist = append(w.in.Checklist, summarizers.Step{Text: "Step " + string(rune('A'+i)), Done: d})
	}
	return w
}

// input is what a summarizer gets, with words in a language.
func (w *worker) input(lang string) summarizers.Input { return worded(w.in, lang) }

// worded is an input with the words of its actions in a language.
func worded(in summarizers.Input, lang string) summarizers.Input {
	in.Language = lang
	recorded := in.Recordings
	in.Recordings = nil
	for _, rec := range recorded {
		all := make([]human.Action, len(rec.Actions))
		for i, a := range rec.Actions {
			a.Words = actions.Words(a, lang)
			all[i] = a
		}
		rec.Actions = all
		in.Recordings = append(in.Recordings, rec)
	}
	return in
}

// report is the whole of a summarizer's, held against its input.
func report(t *testing.T, s summarizers.Summarizer, in summarizers.Input) human.Report {
	t.Helper()
	r, err := s.Summarize(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	checked, dropped := summarizers.Check(in, r)
	for _, d := range dropped {
		t.Errorf("dropped %q: %s", d.Text, d.Why)
	}
	return checked
}

func said(all []human.Finding) string {
	var out []string
	for _, f := range all {
		out = append(out, string(f.Kind)+": "+f.Text)
	}
	return strings.Join(out, "\n")
}

func TestWhatIsFoundOnTheDesktop(t *testing.T) {
	for name, tt := range map[string]struct {
		desk   *worker
		en, zh string
	}{
		"a file that was made": {
			work("Editor").file("created", "/home/mei/a.txt", "").file("changed", "/home/mei/a.txt", ""),
			"done: Created /home/mei/a.txt", "done: 新建了文件 /home/mei/a.txt"},
		"files renamed, moved, deleted": {
			work("Files").file("renamed", "/d/a.txt", "/d/b.txt").file("renamed", "/d/c.txt", "/e/c.txt").file("deleted", "/d/x.txt", ""),
			"done: Renamed a.txt to b.txt in /d\ndone: Moved /d/c.txt to /e\ndone: Deleted /d/x.txt",
			"done: 在 /d 中将文件 a.txt 重命名为 b.txt\ndone: 将文件 /d/c.txt 移到了 /e\ndone: 删除了文件 /d/x.txt"},
		"a file saved in the wrong place": {
			work("Editor").file("created", "/d/downloads/a.txt", "").wait(time.Minute).file("renamed", "/d/downloads/a.txt", "/d/reports/a.txt"),
			"done: Created /d/downloads/a.txt, then moved it to /d/reports/a.txt\nslow: Pause: for 1 min 1 s nothing was done, after this: created a.txt in /d/downloads",
			""},
		"a file that came and went": {
			work("Editor").file("created", "/d/a.txt", "").file("deleted", "/d/a.txt", ""),
			"detour: Created /d/a.txt and deleted it again", "detour: 新建了 /d/a.txt，随后又删除"},
		"a file that went and came": {
			work("Files").file("deleted", "/d/a.txt", "").click("button", "还原").file("created", "/d/a.txt", ""),
			"detour: Deleted /d/a.txt and brought it back", "detour: 删除了 /d/a.txt，随后又恢复"},
		"a file that is saved by writing it anew": {
			work("Editor").key("s", "ctrl").file("deleted", "/d/a.txt", "").file("created", "/d/a.txt", ""),
			"done: Saved changes to /d/a.txt", "done: 保存了文件 /d/a.txt 的修改"},
		"a folder": {
			func() *worker {
				w := work("Files")
				return w.add(human.Action{Type: human.FileOperation, File: &human.FileChange{Op: "created", Path: "/d/new", Dir: true}})
			}(), "done: Created folder /d/new", "done: 新建了文件夹 /d/new"},
		"many files": {
			func() *worker {
				w := work("Files")
				for i := range 11 {
					w.file("created", fmt.Sprintf("/d/%c.txt", 'a'+i), "")
				}
				return w
			}(), "done: Created 11 files in /d: a.txt, b.txt, c.txt, d.txt, e.txt, f.txt, g.txt, h.txt and more", "done: 在 /d 中新建了 11 个文件：a.txt、b.txt、c.txt、d.txt、e.txt、f.txt、g.txt、h.txt等"},
		"an error, after what, and how it was answered": {
			work("Signer").click("button", "Export").dialog("Export failed").click("button", "OK"),
			"error: Dialog “Export failed” came up after this: clicked button Export; it was answered with “OK”",
			"error: 点击按钮“Export”后，出现对话框“Export failed”，选择了“OK”"},
		"the same error twice, and another try": {
			work("Signer").click("button", "Export").dialog("导出失败").click("button", "确定").back("Signer").click("radio", "PDF/A-2").
				click("button", "Export").dialog("导出失败").click("button", "确定"),
			"error: Dialog “导出失败” came up more than once after this: clicked button Export; it was answered with “确定”\n" +
				"detour: Tried again after “导出失败” came up: clicked button Export; in between: clicked option PDF/A-2; it came up again\n" +
				"done: Clicked settings in “Signer”: “PDF/A-2”",
			""},
		"a message in a dialog of another name": {
			work("Signer").click("button", "Save").dialog("Signer").click("label", "The disk is full").click("button", "OK"),
			"error: Dialog “Signer” came up after this: clicked button Save; it said “The disk is full”; it was answered with “OK”", ""},
		"a page about errors is none": {
			work("Reader").switches("Reader", "Error handling - Reader").opens("Browser").in_("Browser", "Errors in Go - Browser").click("link", "errors.log").click("tab", "Errors"),
			"", ""},
		"a program that hangs": {
			work("Editor").click("button", "B").window("a.txt - Editor (Not Responding)"),
			"error: A program did not respond: “a.txt - Editor (Not Responding)”", "error: 有程序没有响应：“a.txt - Editor (Not Responding)”"},
		"a program that is gone": {
			work("Converter").click("button", "C").titled("Converting - Converter").wait(5 * time.Second).closes().opens("Converter"),
			"error: The window “Converting - Converter” of Converter was gone without having been closed by hand, and Converter was opened again",
			"error: Converter 的窗口“Converting - Converter”在没有手动关闭的情况下消失，之后又重新打开了 Converter"},
		"one that was closed by hand is not": {
			work("Converter").click("button", "C").wait(5*time.Second).key("q", "ctrl").closes().opens("Converter"), "", ""},
		"nor is one of which a part was not recorded": {
			work("Converter").click("button", "C").wait(5*time.Second).gap("excluded", time.Second).closes().opens("Converter"),
			"unseen: An excluded program or window was in front for 1 s; nothing of that was recorded", ""},
		"nor one that was told to go": {
			work("Converter").dialog("Save?").click("button", "OK").back("Converter").wait(5 * time.Second).closes().opens("Converter"), "", ""},
		"a mail about an error": {
			work("Mail").dialog("Re: Error in the invoice").click("button", "Close"), "", ""},
		"opened for nothing": {
			work("Files").opens("Calculator").key("F4", "alt").closes().switches("Files", "Files"),
			"detour: Opened Calculator and closed it again; nothing was done in it", "detour: 打开了 Calculator，什么也没做又关闭了"},
		"left with a button": {
			work("Files").opens("Settings").click("button", "Cancel").closes(),
			"detour: Opened Settings and left it again with “Cancel”; nothing was done in it", "detour: 打开了 Settings，什么也没做又用“Cancel”离开了"},
		"a button that only begins like one that leaves": {
			work("Files").opens("Shop").click("button", "Cancel order").closes(),
			"done: Clicked “Cancel order” in Shop", ""},
		"what was done in a gap is not known": {
			work("Files").opens("Calculator").gap("excluded", 2*time.Second).key("F4", "alt").closes(),
			"unseen: An excluded program or window was in front for 2 s; nothing of that was recorded", ""},
		"where no input is recorded, nothing is said of what was not done": {
			func() *worker {
				w := work("Files").opens("Calculator").wait(5*time.Minute).closes().typed("Name", "A").typed("Phone", "1")
				w.in.Recordings[0].Sources = []human.SourceState{{Source: human.InputSource, Status: "missing", Code: "wayland"}}
				return w
			}(), "unseen: Not recorded at all: pointer and keys\ndone: Text was typed into “Name” and “Phone” in “Calculator”", ""},
		"a window closed, and nothing else": {
			work("Editor").switches("Settings", "Settings").key("F4", "alt").closes().in_("Editor", "Editor"),
			"done: Closed “Settings”", "done: 关闭了“Settings”"},
		"not for nothing": {
			work("Files").opens("Calculator").click("button", "7").key("F4", "alt").closes(), "", ""},
		"nor where it is not known": {
			work("Files").opens("Paint").add(human.Action{Type: human.Click, Button: 1}).wait(10 * time.Second).closes(), "", ""},
		"undone": {
			work("Editor").typed("Text", "hello").key("z", "ctrl").key("z", "ctrl"),
			"detour: Something was undone in “Editor”: pressed Ctrl+Z; the last thing before was: typed 5 characters into Text",
			"detour: 在“Editor”中撤销了操作：按下 Ctrl+Z，此前的操作：在“Text”中输入 5 个字符"},
		"Ctrl+Z in a terminal stops a program": {work("XTerm").key("z", "ctrl"), "", ""},
		"a dialog cancelled": {
			work("Editor").click("menuitem", "Options").dialog("Page setup").click("button", "Cancel").back("Editor"),
			"detour: The dialog “Page setup” was opened and cancelled", "detour: 打开了对话框“Page setup”，随后取消"},
		"a dialog closed is not": {
			work("Editor").dialog("About").click("button", "Close").back("Editor"), "", ""},
		"another try, as a button says": {
			work("Mail").click("button", "Retry").click("button", "Retry"),
			"detour: Tried again with “Retry” (2 times)", "detour: 用“Retry”再次尝试（2 次）"},
		"the same again and again": {
			work("Mail").click("button", "Send and receive").click("button", "Send and receive"),
			"detour: Did the same 2 times in a row: clicked button Send and receive\ndone: Clicked “Send and receive” in Mail", ""},
		"buttons that are for that": {
			work("Reader").click("button", "Next").click("button", "Next").click("button", "Next").click("button", "Zoom in").click("button", "Zoom in").click("button", "Zoom in"), "", ""},
		"an unsaved document": {
			work("Editor").titled("*notes.txt - Editor").typed("Text", "hello").switches("Files", "Files"),
			"undone: Not saved when it was last seen, by the mark in its title: “*notes.txt - Editor”",
			"undone: 最后看到时尚未保存（标题带有未保存标记）：“*notes.txt - Editor”"},
		"one that was saved": {
			work("Editor").titled("*notes.txt - Editor").typed("Text", "hello").key("s", "ctrl"), "", ""},
		"by another way": {
			work("Editor").titled("*notes.txt - Editor").typed("Text", "hello").file("changed", "/d/notes.txt", ""),
			"done: Saved changes to /d/notes.txt", ""},
		"changes thrown away": {
			work("Editor").titled("*notes.txt - Editor").typed("Text", "x").dialog("Save changes?").click("button", "Don't Save"),
			"undone: Changes were not kept: “Don't Save” was clicked in “Save changes?”", "undone: 未保留更改：在“Save changes?”中点击了“Don't Save”"},
		"a dialog left open": {
			work("Editor").dialog("Page setup").click("textbox", "Width"),
			"undone: The dialog “Page setup” was still open at the end of the recording", "undone: 录制结束时对话框“Page setup”仍然打开"},
		"a form never sent": {
			work("CRM").typed("Name", "A").typed("Phone", "1"),
			"undone: “Name” and “Phone” in “CRM” were filled in, and nothing was done there afterwards that sends or saves them\ndone: Text was typed into “Name” and “Phone” in “CRM”",
			"undone: 填写了“CRM”中的“Name”和“Phone”，之后没有提交或保存的操作\ndone: 在“CRM”的“Name”和“Phone”中输入了文字"},
		"a form that was": {
			work("CRM").typed("Name", "A").typed("Phone", "1").click("button", "Save"),
			"done: Clicked “Save” in CRM\ndone: Text was typed into “Name” and “Phone” in “CRM”", ""},
		"a login is no form": {work("CRM").typed("User", "A").typed("Domain", "x").secret("Password").click("button", "Log in"), "", ""},
		"settings": {
			work("Settings").click("checkbox", "Wrap lines").click("radio", "Dark").click("radio", "Light"),
			"done: Clicked settings in “Settings”: “Wrap lines” and “Light”", "done: 在“Settings”中点击了设置项“Wrap lines”和“Light”"},
		"steps that were not ticked": {work("Editor").steps(true, false), "undone: Not ticked: Step B", "undone: 未勾选：Step B"},
		"none of them ticked": {
			work("Editor").steps(false, false), "undone: No step of the checklist was ticked: “Step A”, “Step B”", "undone: 清单中的步骤一项都没有勾选：“Step A”、“Step B”"},
		"a wait": {
			work("Signer").click("cell", "a").click("cell", "b").click("cell", "c").click("button", "X").wait(44*time.Second).file("created", "/d/a.pdf", ""),
			"done: Created /d/a.pdf\nslow: Waited 45 s, from this: clicked button X, until this: created a.pdf in /d",
			"done: 新建了文件 /d/a.pdf\nslow: 从点击按钮“X”到在 /d 中新建了 a.pdf，等待了 45 秒"},
		"a pause is not work": {
			work("Signer").click("cell", "a").click("cell", "b").wait(3*time.Minute).click("cell", "c"),
			"slow: Pause: for 3 min 1 s nothing was done, after this: clicked cell b", "slow: 停顿：3 分 1 秒内没有任何操作，此前：点击单元格“b”"},
		"a pause of the recording is no pause of work": {
			work("Signer").click("cell", "a").gap("paused", 3*time.Minute).click("cell", "b"),
			"unseen: The recording was paused for 3 min 0 s; what was done then is not known", "unseen: 录制曾暂停 3 分 0 秒，期间的操作不得而知"},
		"what was excluded": {
			work("Signer").gap("excluded", 20*time.Second).gap("excluded", 10*time.Second),
			"unseen: An excluded program or window was in front 2 times; nothing of that was recorded", "unseen: 有被排除的程序或窗口处于前台 2 次，这部分没有录制"},
		"a note": {work("Signer").note("off by default"), "note: Noted on the way: off by default", "note: 操作者的备注：off by default"},
	} {
		t.Run(name, func(t *testing.T) {
			for lang, want := range map[string]string{say.English: tt.en, say.Chinese: tt.zh} {
				if lang == say.Chinese && want == "" && tt.en != "" {
					want = "-"
				}
				in := tt.desk.input(lang)
				all := slices.DeleteFunc(report(t, desktop(), in).Findings, func(f human.Finding) bool { return f.Confidence == find.Minor })
				if got := lines(said(all)); want != "-" && got != lines(want) {
					t.Errorf("%s\n got %s\nwant %s", lang, said(all), want)
				}
				for _, s := range []summarizers.Summarizer{desktop(), joined()} {
					r := report(t, s, in)
					if r.Line == "" {
						t.Errorf("%s says nothing in its line", s.About().Name)
					}
				}
			}
		})
	}
}

// lines are in no order: the report puts findings into the order of their weight.
func lines(s string) string {
	all := strings.Split(s, "\n")
	for i := range all {
		for j := i; j > 0 && cmp.Less(all[j], all[j-1]); j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	return strings.Join(all, "\n")
}
