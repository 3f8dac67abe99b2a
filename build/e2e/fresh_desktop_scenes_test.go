//go:build window

package e2e

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/build/corpus/persons"
	"deskbell/build/e2e/desktoptest"
)

// Each scene is a person at work in one program. It leaves the program open, or closes it.
var allScenes = []func(w *temp, folder string){
	tidies, tidies, writesLetter, writesLetter, corrects, sets, develops, calculates, calculates, calculatesQt, signs, converts, commands,
}

// tidies works in the file manager.
func tidies(w *temp, folder string) {
	_ = w.starts("files", "files.gtk3.py", folder, w.in(folder), w.in(".trash"))
	for range 2 + w.chance.IntN(2) {
		w.perhaps(func() { w.moves(0) })
		names := w.filesOf(folder)
		if len(names) == 0 {
			return
		}
		name := pick(w, names...)
		switch w.chance.IntN(7) {
		case 0:
			w.renames(folder, name, names)
		case 1:
			w.hits(name)
			w.hits(w.say("Delete", "删除"), desktoptest.Button)
			w.gone(folder + "/" + name)
			w.file("deleted", name, "")
			w.perhaps(func() {
				w.hits(w.say("Restore", "还原"), desktoptest.Button)
				w.there(folder + "/" + name)
				w.file("created", name, "")
				w.truth.Undone = true
			})
		case 2:
			fresh := pick(w, "north", "south", "east") + strconv.Itoa(w.chance.IntN(100))
			w.hits(w.say("New folder…", "新建文件夹…"), desktoptest.Button)
			w.dialog(w.say("New folder", "新建文件夹"))
			w.writesIn(w.say("Name", "名称"), fresh)
			w.strikes("Enter")
			w.there(folder + "/" + fresh)
			w.file("created", fresh, "")
			w.truth.Files[len(w.truth.Files)-1].Dir = true
		case 3:
			w.shifts(folder, name)
		case 4:
			to := w.folderOf(folder)
			from, target := w.find(name).At, w.find(to+"/").At
			w.drag(from.Min.Add(image.Pt(30, 8)), target.Min.Add(image.Pt(20, 8)))
			w.there(folder + "/" + to + "/" + name)
			w.does(persons.Act{Does: human.Drag, On: name, To: to + "/"})
			w.file("moved", name, to)
		case 5:
			stem, end, _ := strings.Cut(name, ".")
			if _, err := os.Stat(w.in(folder + "/" + stem + " (2)." + end)); err == nil {
				break
			}
			w.hits(name)
			w.hits(w.say("Duplicate", "创建副本"), desktoptest.Button)
			w.there(folder + "/" + stem + " (2)." + end)
			w.file("created", stem+" (2)."+end, "")
		case 6:
			to := w.folderOf(folder)
			w.doubles(to + "/")
			w.shows(to)
			w.hits(w.say("Up", "上一级"), desktoptest.Button)
			w.shows(folder)
		}
	}
}

func (w *temp) renames(folder, name string, names []string) {
	fresh := w.fileName()
	w.hits(name)
	rename := func(to string) {
		w.hits(w.say("Rename…", "重命名…"), desktoptest.Button)
		w.dialog(w.say("Rename", "重命名"))
		w.over(w.say("Name", "名称"), to)
		if w.chance.IntN(2) == 0 {
			w.strikes("Enter")
		} else {
			w.hits(w.say("Rename", "重命名"), desktoptest.Button)
		}
	}
	w.perhaps(func() {
		w.hits(w.say("Rename…", "重命名…"), desktoptest.Button)
		w.dialog(w.say("Rename", "重命名"))
		w.strikes("Escape")
		w.truth.Canceled = append(w.truth.Canceled, w.say("Rename", "重命名"))
		w.shows(folder)
	})
	w.perhaps(func() {
		if other := pick(w, names...); other != name {
			rename(other)
			w.dialog(w.say("Already there", "已存在"))
			w.hits(w.say("OK", "确定"), desktoptest.Button)
			w.shows(folder)
			w.truth.Retried = true
		}
	})
	rename(fresh)
	w.there(folder + "/" + fresh)
	w.file("renamed", name, fresh)
}

// shifts moves a file by the dialog.
func (w *temp) shifts(folder, name string) {
	to := w.folderOf(folder)
	w.hits(name)
	move := func(to string) {
		w.hits(w.say("Move to…", "移动到…"), desktoptest.Button)
		w.dialog(w.say("Move", "移动"))
		w.over(w.say("Folder", "文件夹"), w.in(folder+"/"+to))
		w.hits(w.say("Move", "移动"), desktoptest.Button)
	}
	w.perhaps(func() {
		move("nowhere")
		w.dialog(w.say("Cannot move", "无法移动"))
		w.hits(w.say("OK", "确定"), desktoptest.Button)
		w.shows(folder)
		w.truth.Retried = true
	})
	move(to)
	w.there(folder + "/" + to + "/" + name)
	w.file("moved", name, to)
}

func (w *temp) gone(name string) {
	w.T.Helper()
	w.Wait(name+" to be gone", func() bool { _, err := os.Stat(w.in(name)); return os.IsNotExist(err) })
	w.pause()
}

// filesOf and folderOf are what is there now.
func (w *temp) filesOf(folder string) (names []string) {
	entries, err := os.ReadDir(w.in(folder))
	if err != nil {
		w.T.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && !strings.HasSuffix(e.Name(), ".ini") && !strings.HasSuffix(e.Name(), ".pdf") {
			names = append(names, e.Name())
		}
	}
	return names
}

func (w *temp) folderOf(folder string) string {
	entries, err := os.ReadDir(w.in(folder))
	if err != nil {
		w.T.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			return e.Name()
		}
	}
	return ""
}

// writesLetter writes a new text.
func writesLetter(w *temp, folder string) {
	document := w.say("Document", "文档")
	program := w.starts("editor", "editor.gtk3.py", w.say("Untitled", "未命名"), w.in(folder))
	w.writesIn(document, w.sentence())
	w.perhaps(func() { w.moves(0) })
	w.perhaps(func() { w.resizes() })
	w.perhaps(func() {
		w.strikes("Enter")
		w.writesIn(document, w.sentence())
	})
	w.perhaps(func() {
		w.takes(w.say("Format", "格式"), w.say("Font…", "字体…"))
		w.dialog(w.say("Font", "字体"))
		w.hits(w.say("Cancel", "取消"), desktoptest.Button)
		w.truth.Canceled = append(w.truth.Canceled, w.say("Font", "字体"))
		w.shows("*")
	})
	if w.chance.IntN(4) == 0 { // it is thrown away
		w.takes(w.say("File", "文件"), w.say("Quit", "退出"))
		w.dialog(w.say("Unsaved changes", "未保存的更改"))
		w.hits(w.say("Discard", "不保存"), desktoptest.Button)
		w.ended(program)
		w.truth.Dropped = true
		return
	}
	name := w.fileName()
	save := func() {
		if w.chance.IntN(2) == 0 {
			w.strikes("s", "ctrl")
		} else {
			w.takes(w.say("File", "文件"), w.say("Save As…", "另存为…"))
		}
		w.dialog(w.say("Save file", "保存文件"))
	}
	w.perhaps(func() {
		save()
		w.strikes("Escape")
		w.truth.Canceled = append(w.truth.Canceled, w.say("Save file", "保存文件"))
		w.shows("*")
	})
	save()
	w.over(w.say("Name", "名称"), w.in(folder+"/"+name))
	w.strikes("Enter")
	w.there(folder + "/" + name)
	w.file("created", name, "")
	w.shows(name)
	w.perhaps(func() {
		w.writesIn(document, " "+pick(w, "P.S.", "Thanks"))
		w.truth.Unsaved = append(w.truth.Unsaved, name)
	})
}

// corrects changes a text that is there.
func corrects(w *temp, folder string) {
	names := w.filesOf(folder)
	if len(names) == 0 {
		return
	}
	name, document := pick(w, names...), w.say("Document", "文档")
	program := w.starts("editor", "editor.gtk3.py", name, w.in(folder), w.in(folder+"/"+name))
	w.strikes("End", "ctrl")
	w.writesIn(document, w.sentence())
	w.perhaps(func() {
		w.takes(w.say("Edit", "编辑"), w.say("Undo", "撤销"))
		w.truth.Undone = true
		w.writesIn(document, w.sentence())
	})
	w.perhaps(func() { // the context menu of the text
		at := w.find(document).At
		w.Move(at.Min.X+60, at.Min.Y+60)
		w.Do("xdotool", "click", "3")
		w.pause()
		w.does(persons.Act{Does: human.Click, On: document, Button: 3})
		w.hits(w.say("Select All", "Select All"), menuItem)
		w.strikes("End", "ctrl")
	})
	switch w.chance.IntN(3) {
	case 0:
		w.takes(w.say("File", "文件"), w.say("Save", "保存"))
		w.shows(name)
		w.file("changed", name, "")
	case 1:
		w.strikes("s", "ctrl")
		w.shows(name)
		w.file("changed", name, "")
	default:
		w.strikes("q", "ctrl")
		w.dialog(w.say("Unsaved changes", "未保存的更改"))
		if w.chance.IntN(2) == 0 {
			w.hits(w.say("Discard", "不保存"), desktoptest.Button)
			w.truth.Dropped = true
		} else {
			w.hits(w.say("Save", "保存"), desktoptest.Button)
			w.file("changed", name, "")
		}
		w.ended(program)
	}
}

// sets changes settings in Qt.
func sets(w *temp, folder string) {
	program := w.starts("Settings", "settings.qt.py", w.say("Settings", "设置"), w.in(folder+"/settings.ini"))
	apply := w.say("Apply", "应用")
	if w.chance.IntN(5) == 0 {
		w.truth.Idle = append(w.truth.Idle, w.say("Settings", "设置"))
		w.hits(w.say("Cancel", "取消"), desktoptest.Button)
		w.ended(program)
		return
	}
	box := w.say(pick(w, "Start at login", "Check for updates"), "检查更新")
	w.hits(box, checkBox)
	w.truth.Settings = append(w.truth.Settings, box)
	w.perhaps(func() { w.moves(0) })
	w.perhaps(func() {
		w.hits(w.say("Theme", "主题"), comboBox)
		w.hits(w.say("Dark", "深色"))
		w.truth.Settings = append(w.truth.Settings, "Theme")
	})
	w.perhaps(func() {
		port := w.say("Port", "端口")
		w.hits(w.say("Network", "网络"))
		w.hits(w.say("Use a proxy", "使用代理"), checkBox)
		w.hits(w.say("Host", "主机"), textField)
		w.writesIn(w.say("Host", "主机"), "proxy"+strconv.Itoa(w.chance.IntN(9))+".corp.example")
		w.hits(port, textField)
		w.writesIn(port, pick(w, "70000", "80 80"))
		w.hits(apply, desktoptest.Button)
		w.dialog(w.say("Invalid port", "端口无效"))
		w.hits(w.say("OK", "确定"), desktoptest.Button)
		w.shows(w.say("Settings", "设置"))
		w.hits(port, textField)
		w.over(port, pick(w, "3128", "8080"))
		w.truth.Retried = true
	})
	_, err := os.Stat(w.in(folder + "/settings.ini"))
	w.hits(apply, desktoptest.Button)
	w.there(folder + "/settings.ini")
	op := "created"
	if err == nil {
		op = "changed"
	}
	w.file(op, "settings.ini", "")
}

// develops fixes a program in the IDE.
func develops(w *temp, folder string) {
	w.has(folder+"-code/calc.py", "def add(a, b):\n    return a - b\n")
	w.has(folder+"-code/test_calc.py", "import unittest\n\nfrom calc import add\n\n\nclass Sums(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(add(1, 2), 3)\n")
	_ = w.starts("Code", "ide.qt.py", "Code")
	w.takes(w.say("File", "文件"), w.say("Open Folder…", "打开文件夹…"))
	w.dialog(w.say("Open Folder", "打开文件夹"))
	w.writesIn(w.say("Folder", "文件夹"), w.in(folder+"-code"))
	w.hits(w.say("Open", "打开"), desktoptest.Button)
	w.shows(folder + "-code")
	w.doubles("calc.py")
	w.shows("calc.py")
	source := w.say("Source", "源代码")
	w.hits(source)
	w.strikes("End", "ctrl")
	w.writesIn(source, "# "+w.sentence())
	w.strikes("s", "ctrl")
	w.reads(folder+"-code/calc.py", "#")
	w.hits(w.say("Run tests", "运行测试"), desktoptest.Button)
	w.dialog(w.say("Tests failed", "测试失败"))
	w.hits(w.say("OK", "确定"), desktoptest.Button)
}

// calculates works out sums in GTK 3, with keys and with buttons.
func calculates(w *temp, _ string) {
	label := w.chance.IntN(2) == 0
	arguments := []string{}
	display := w.say("Display", "显示")
	if label {
		arguments, display = append(arguments, "--label"), ""
	}
	title := w.say("Calculator", "计算器")
	_ = w.starts("calculator", "calc.gtk3.py", title, arguments...)
	w.perhaps(func() { w.moves(20) })
	for range 1 + w.chance.IntN(2) {
		w.sums(display)
	}
	w.perhaps(func() { w.punches("=", w.say("Clear", "清除")) })
}

// sums works out one with keys.
func (w *temp) sums(display string) {
	a, b := 10+w.chance.IntN(900), 2+w.chance.IntN(90)
	sum, value := fmt.Sprintf("%d+%d", a, b), a+b
	if w.chance.IntN(2) == 0 {
		sum, value = fmt.Sprintf("%d*%d", a, b), a*b
	}
	if w.chance.IntN(2) == 0 {
		w.types(sum + "=")
		w.does(persons.Act{Does: human.Typing, On: display, Text: sum + "=", Shows: strconv.Itoa(value)})
		return
	}
	w.types(sum)
	w.does(persons.Act{Does: human.Typing, On: display, Text: sum, Shows: strconv.Itoa(value)})
	w.strikes("Enter")
}

// punches works out one with buttons.
func (w *temp) punches(equals, clear string) {
	w.hits(clear, desktoptest.Button)
	for _, key := range []string{strconv.Itoa(1 + w.chance.IntN(9)), pick(w, "+", "*"), strconv.Itoa(1 + w.chance.IntN(9)), equals} {
		w.hits(key, desktoptest.Button)
	}
}

// calculatesQt does so in Qt.
func calculatesQt(w *temp, _ string) {
	_ = w.starts("Calculator", "calc.qt.py", w.say("Calculator", "计算器"))
	w.perhaps(func() { w.moves(0) })
	w.sums("")
	w.perhaps(func() { w.punches("=", w.say("Clear", "清除")) })
}

// signs logs in to the signer and exports a contract.
func signs(w *temp, folder string) {
	in, main := w.say("Log in", "登录"), w.say("Signer", "签署工具")
	program := w.starts("signer", "signer.gtk3.py", in, w.in(folder))
	w.writesIn(w.say("User", "用户名"), "anna")
	w.keys("Tab")
	w.types(signerPassword)
	w.does(persons.Act{Does: human.Typing, On: w.say("Password", "密码"), Hidden: len(signerPassword)})
	w.hits(in, desktoptest.Button)
	w.shows(main)
	w.does(persons.Act{Does: human.SwitchWindow, On: main})
	contract := "K-041" + strconv.Itoa(5+w.chance.IntN(4))
	w.hits(contract)
	w.shows(contract)
	w.takes(w.say("File", "文件"), w.say("Export as…", "导出为…"))
	w.dialog(w.say("Export", "导出"))
	w.perhaps(func() {
		w.hits("PDF/A-1")
		w.hits(w.say("Export", "导出"), desktoptest.Button)
		w.dialog(w.say("Export failed", "导出失败"))
		w.hits(w.say("OK", "确定"), desktoptest.Button)
		w.shows(w.say("Export", "导出"))
		w.truth.Retried = true
	})
	if w.chance.IntN(4) == 0 {
		w.strikes("Escape")
		w.truth.Canceled = append(w.truth.Canceled, w.say("Export", "导出"))
	} else {
		w.hits("PDF/A-2")
		w.hits(w.say("Export", "导出"), desktoptest.Button)
		w.there(folder + "/" + contract + ".pdf")
		w.file("created", contract+".pdf", "")
	}
	w.shows(contract)
	w.perhaps(func() {
		w.takes(w.say("File", "文件"), w.say("Close", "关闭"))
		w.ended(program)
	})
}

// converts works in GTK 4.
func converts(w *temp, folder string) {
	names := w.filesOf(folder)
	if len(names) == 0 {
		return
	}
	name := pick(w, names...)
	target := strings.TrimSuffix(name, filepath.Ext(name)) + ".out"
	_ = w.starts("Converter", "convert.gtk4.py", name+" – "+w.say("Converter", "转换器"), w.in(folder+"/"+name), w.in(folder+"/"+target))
	w.clicksIn(28, 29)
	w.does(persons.Act{Does: human.Click, On: w.say("High quality", "高质量")})
	w.truth.Settings = append(w.truth.Settings, w.say("High quality", "高质量"))
	w.clicksIn(240, 103)
	w.does(persons.Act{Does: human.Click, On: w.say("Convert", "开始转换")})
	w.there(folder + "/" + target)
	w.file("created", target, "")
	w.shows(w.say("Done", "完成"))
}

// commands works in a terminal, which gives no elements.
func commands(w *temp, folder string) {
	w.StartWith([]string{"PS1=$ "}, "xterm", "-T", "Terminal", "-geometry", "80x14+40+400", "-e", "sh", "-c", "cd "+w.in(folder)+" && exec bash --norc")
	w.shows("Terminal")
	w.does(persons.Act{Does: human.OpenApp, On: "Terminal"})
	w.truth.Blind = append(w.truth.Blind, w.say("Terminal", "终端"))
	name := w.fileName()
	w.writesIn("", "touch "+name)
	w.strikes("Enter")
	w.there(folder + "/" + name)
	w.file("created", name, "")
	w.perhaps(func() { w.moves(0) })
}
