package actions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

// How much of a name or a text a line of words carries, in characters.
const (
	longestName = 48
	longestText = 60
)

// Words says in one line what was done, in English or ("zh", "zh-CN") Simplified Chinese. Names of windows,
// elements and files are shown with nothing in them that a reader would not see or that would turn the line
// round. Typed text is in the words where the action has it and it is not hidden.
func Words(a human.Action, lang string) string {
	if chinese(lang) {
		return zhWords(a)
	}
	return enWords(a)
}

func chinese(lang string) bool { return strings.HasPrefix(strings.ToLower(lang), "zh") }

// Name makes a text from elsewhere fit for one line: spaces for line breaks, code points in brackets for
// what cannot be seen, and the middle left out of a long one.
func Name(s string) string { return clean(s, longestName) }

// Line is Name for texts that may be longer: at most longest characters.
func Line(s string, longest int) string { return clean(s, longest) }

func clean(s string, longest int) string {
	var b strings.Builder
	space, n := false, 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
			n++
		}
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune('�')
		case unicode.IsPrint(r) && !unseen(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		if n++; n > longest*4 { // no need to look at a page to show a line of it
			b.WriteString("…")
			break
		}
	}
	out := []rune(b.String())
	if len(out) <= longest {
		return string(out)
	}
	// The end often tells files and pages apart.
	tail := longest / 4
	return strings.TrimSpace(string(out[:longest-tail-1])) + "…" + strings.TrimSpace(string(out[len(out)-tail:]))
}

// unseen finds letters and marks that print as nothing.
func unseen(r rune) bool {
	switch {
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x17B4, r == 0x17B5:
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// elementName is what the element is called, "" where it has no name or that is hidden. One in which a secret
// was masked is told.
func elementName(e *human.Element) string {
	if e == nil || e.Hidden != "" && e.Hidden != "secret" {
		return ""
	}
	return Name(e.Name)
}

func windowName(a human.Action) string {
	if a.Window != nil {
		if name := Name(a.Window.Title); name != "" {
			return name
		}
	}
	return appName(a)
}

func appName(a human.Action) string {
	if a.App == nil {
		return ""
	}
	if name := Name(a.App.Name); name != "" {
		return name
	}
	return Name(a.App.Exe)
}

// openedName is what an opened application is called: as people know it, else by its window.
func openedName(a human.Action) string {
	if name := appName(a); name != "" {
		return name
	}
	return windowName(a)
}

// menuPath is File > Export as… for an item of a menu whose menus are known, else "".
func menuPath(e *human.Element) string {
	if e == nil || !strings.HasPrefix(e.Role, "menuitem") || elementName(e) == "" {
		return ""
	}
	path := elementName(e)
	found := false
	for i := range e.Ancestry {
		up := &e.Ancestry[i]
		if !isMenu(up.Role) {
			if up.Role == "menubar" || found {
				break
			}
			continue
		}
		// Some toolkits name a menu twice: the item that opens it, and the menu it opens.
		if name := elementName(up); name != "" && !strings.HasPrefix(path, name+" > ") {
			path = name + " > " + path
			found = true
		}
	}
	if !found {
		return ""
	}
	return path
}

// keys are the keys of a shortcut as people write them: Ctrl+Shift+S.
func keys(a human.Action, names map[string]string) string {
	var parts []string
	for _, m := range a.Modifiers {
		parts = append(parts, title(m))
	}
	key := a.Key
	if name, ok := names[key]; ok {
		key = name
	} else if len([]rune(key)) == 1 {
		key = strings.ToUpper(key)
	}
	return strings.Join(append(parts, Name(key)), "+")
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func shown(a human.Action) string {
	if a.Hidden != "" && a.Hidden != "secret" {
		return ""
	}
	return clean(a.Text, longestText)
}

// where a scroll went: the direction it went farther in.
func direction(a human.Action) string {
	x, y := a.DeltaX, a.DeltaY
	if x*x > y*y {
		if x < 0 {
			return "left"
		}
		return "right"
	}
	if y < 0 {
		return "up"
	}
	return "down"
}

// --- English

var enRoles = map[string]string{
	"textbox": "field", "searchbox": "search field", "combobox": "list", "listbox": "list", "listitem": "item", "option": "option",
	"gridcell": "cell", "columnheader": "column", "rowheader": "row header", "menuitem": "menu item", "menuitemcheckbox": "menu item",
	"menuitemradio": "menu item", "radio": "option", "checkbox": "checkbox", "spinbutton": "number field", "progressbar": "progress bar",
	"tab": "tab", "tabpanel": "page", "treeitem": "item", "treegrid": "table", "img": "picture", "scrollbar": "scroll bar", "statusbar": "status bar",
	"toolbar": "toolbar", "menubar": "menu bar", "document": "page", "link": "link", "heading": "heading", "togglebutton": "button",
	"drawing area": "canvas",
}

// plainRoles say nothing to a reader: their name stands alone.
var plainRoles = map[string]bool{
	"": true, "generic": true, "group": true, "filler": true, "panel": true, "unknown": true, "none": true, "presentation": true,
	"paragraph": true, "label": true, "static": true, "text": true, "section": true, "application": true, "frame": true, "pane": true,
	"redundant object": true, "viewport": true, "scroll pane": true, "layered pane": true, "client": true, "custom": true,
}

func enElement(e *human.Element) string {
	if e == nil {
		return ""
	}
	role := enRoles[e.Role]
	if role == "" && !plainRoles[e.Role] {
		role = Name(e.Role)
	}
	name := elementName(e)
	switch {
	case name == "" && role == "":
		return ""
	case name == "":
		return article(role)
	case role == "":
		return name
	}
	return role + " " + name
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// enField names a field without saying that it is one.
func enField(e *human.Element) string {
	if name := elementName(e); name != "" {
		return name
	}
	return enElement(e)
}

var enKeys = map[string]string{
	"ArrowLeft": "Left", "ArrowRight": "Right", "ArrowUp": "Up", "ArrowDown": "Down", "PageUp": "Page Up", "PageDown": "Page Down",
	" ": "Space", "Escape": "Escape", "ContextMenu": "Menu", "PrintScreen": "Print Screen",
}

func enWords(a human.Action) string {
	in := func(words string) string {
		if name := windowName(a); name != "" {
			return words + " in " + name
		}
		return words
	}
	with := ""
	if len(a.Modifiers) > 0 {
		with = " with " + strings.TrimSuffix(keys(human.Action{Modifiers: a.Modifiers}, nil), "+")
	}
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		verb := map[human.ActionType]string{human.Click: "Clicked", human.DoubleClick: "Double-clicked", human.TripleClick: "Triple-clicked"}[a.Type]
		switch a.Button {
		case 2, 3:
			side := map[int]string{2: "Middle", 3: "Right"}[a.Button]
			verb = side + "-" + strings.ToLower(verb[:1]) + verb[1:]
		case 8:
			return in("Pressed the mouse's Back button")
		case 9:
			return in("Pressed the mouse's Forward button")
		}
		if a.Button == 1 && a.Type == human.Click && with == "" {
			if path := menuPath(a.Element); path != "" {
				return "Menu " + path
			}
			if a.Element != nil && a.Element.Role == "menu" && elementName(a.Element) != "" {
				return "Opened menu " + elementName(a.Element)
			}
		}
		if what := enElement(a.Element); what != "" {
			return verb + " " + what + with
		}
		return in(verb) + with
	case human.Drag:
		from, to := enElement(a.Element), enElement(a.Target)
		switch {
		case from != "" && to != "" && from != to:
			return "Dragged " + from + " to " + to + with
		case from != "" && (to == from || a.Target == nil):
			return "Dragged in " + from + with
		case from != "":
			return "Dragged " + from + with
		}
		return in("Dragged") + with
	case human.Scroll:
		words := "Scrolled " + direction(a) + with
		if what := enElement(a.Element); what != "" {
			return words + " in " + what
		}
		return in(words)
	case human.Typing:
		what := "Typed"
		switch text := shown(a); {
		case text != "":
			what += " " + text
		case a.Hidden == "" && a.Count > 0:
			what += " " + enCount(a.Count, "character")
		}
		if field := enField(a.Element); field != "" {
			return what + " into " + field
		}
		if name := windowName(a); name != "" {
			return what + " into " + name
		}
		if what == "Typed" {
			return "Typed something hidden"
		}
		return what
	case human.Shortcut:
		words := "Pressed " + keys(a, enKeys)
		if a.Count > 1 {
			words += " " + enCount(a.Count, "time")
		}
		return words
	case human.Copy:
		verb := "Copied"
		if strings.EqualFold(a.Key, "x") {
			verb = "Cut"
		}
		if a.Count > 0 && a.Hidden == "" {
			return in(verb + " " + enCount(a.Count, "character"))
		}
		return in(verb)
	case human.Paste:
		words := "Pasted"
		if a.Count > 0 && a.Hidden == "" {
			words += " " + enCount(a.Count, "character")
		}
		if field := enField(a.Element); field != "" {
			return words + " into " + field
		}
		return in(words)
	case human.SwitchWindow:
		if a.Element != nil {
			role := "Window"
			if a.Element.Role == "dialog" {
				role = "Dialog"
			}
			if name := elementName(a.Element); name != "" {
				return role + " " + name
			}
			return role + " opened"
		}
		if name := windowName(a); name != "" {
			return "Switched to " + name
		}
		return "Switched to another window"
	case human.OpenApp:
		if name := openedName(a); name != "" {
			return "Opened " + name
		}
		return "Opened a program"
	case human.CloseWindow:
		if name := elementName(a.Element); name != "" {
			return "Closed dialog " + name
		}
		if name := windowName(a); name != "" {
			return "Closed " + name
		}
		return "Closed a window"
	case human.FileOperation:
		return enFile(a.File)
	case human.Note:
		return "Note: " + clean(a.Text, 200)
	case human.Missing:
		return enGap(a.Gap)
	}
	return title(strings.ReplaceAll(Name(string(a.Type)), "_", " "))
}

func enCount(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

func enFile(f *human.FileChange) string {
	if f == nil {
		return "Changed a file"
	}
	in := func(words string) string {
		if dir := Name(folder(f.Path)); dir != "" {
			return words + " in " + dir
		}
		return words
	}
	name := Name(base(f.Path))
	if f.Dir {
		name = "folder " + name
	}
	switch f.Op {
	case "created":
		return in("Created " + name)
	case "deleted":
		return in("Deleted " + name)
	case "renamed":
		if from, to := folder(f.Path), folder(f.To); from != to {
			return "Moved " + name + " to " + Name(to)
		}
		return in("Renamed " + name + " to " + Name(base(f.To)))
	}
	return in("Saved " + name)
}

func enGap(g *human.Gap) string {
	if g == nil {
		return "Not recorded"
	}
	switch g.Reason {
	case "paused":
		return "Recording paused"
	case "excluded":
		return "Not recorded: an excluded program or window"
	case "lost", "overflow":
		if g.Count > 0 {
			return "Not recorded: " + enCount(int(g.Count), "event") + " lost"
		}
		return "Not recorded: events were lost"
	case "crash":
		return "Not recorded: Deskbell had ended"
	case "limit":
		return "Not recorded: a limit was reached"
	}
	return "Not recorded"
}

// --- Simplified Chinese

var zhRoles = map[string]string{
	"button": "按钮", "togglebutton": "按钮", "textbox": "输入框", "searchbox": "搜索框", "combobox": "下拉框", "listbox": "列表", "list": "列表",
	"listitem": "列表项", "option": "选项", "radio": "单选项", "checkbox": "复选框", "switch": "开关", "spinbutton": "数字框", "slider": "滑块",
	"link": "链接", "tab": "标签页", "tablist": "标签栏", "tabpanel": "页面", "tree": "树", "treeitem": "节点", "treegrid": "表格", "table": "表格",
	"grid": "表格", "row": "行", "cell": "单元格", "gridcell": "单元格", "columnheader": "列标题", "rowheader": "行标题", "menu": "菜单",
	"menubar": "菜单栏", "menuitem": "菜单项", "menuitemcheckbox": "菜单项", "menuitemradio": "菜单项", "toolbar": "工具栏", "statusbar": "状态栏",
	"scrollbar": "滚动条", "progressbar": "进度条", "img": "图片", "image": "图片", "heading": "标题", "document": "页面", "dialog": "对话框",
	"window": "窗口", "terminal": "终端", "canvas": "画布", "icon": "图标", "separator": "分隔条", "tooltip": "提示", "alert": "警告",
	"drawing area": "画布",
}

func zhQuote(name string) string { return "“" + name + "”" }

func zhElement(e *human.Element) string {
	if e == nil {
		return ""
	}
	role := zhRoles[e.Role]
	if role == "" && !plainRoles[e.Role] {
		role = Name(e.Role)
	}
	if name := elementName(e); name != "" {
		return role + zhQuote(name)
	}
	return role
}

func zhField(e *human.Element) string {
	if name := elementName(e); name != "" {
		return zhQuote(name)
	}
	return zhElement(e)
}

var zhKeys = map[string]string{
	"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", " ": "空格", "Escape": "Esc", "Enter": "回车",
	"PageUp": "Page Up", "PageDown": "Page Down", "Backspace": "退格", "ContextMenu": "菜单", "PrintScreen": "Print Screen",
}

func zhWords(a human.Action) string {
	in := func(words string) string {
		if name := windowName(a); name != "" {
			return "在" + zhQuote(name) + "中" + words
		}
		return words
	}
	with := ""
	if len(a.Modifiers) > 0 {
		with = "按住 " + strings.TrimSuffix(keys(human.Action{Modifiers: a.Modifiers}, nil), "+") + " "
	}
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		verb := map[human.ActionType]string{human.Click: "点击", human.DoubleClick: "双击", human.TripleClick: "三击"}[a.Type]
		switch a.Button {
		case 2:
			verb = "用中键" + verb
		case 3:
			verb = map[human.ActionType]string{human.Click: "右键点击", human.DoubleClick: "右键双击", human.TripleClick: "右键三击"}[a.Type]
		case 8:
			return in("按下鼠标后退键")
		case 9:
			return in("按下鼠标前进键")
		}
		if a.Button == 1 && a.Type == human.Click && with == "" {
			if path := menuPath(a.Element); path != "" {
				return "选择菜单“" + path + "”"
			}
			if a.Element != nil && a.Element.Role == "menu" && elementName(a.Element) != "" {
				return "打开菜单" + zhQuote(elementName(a.Element))
			}
		}
		if what := zhElement(a.Element); what != "" {
			return with + verb + what
		}
		return in(with + verb)
	case human.Drag:
		from, to := zhElement(a.Element), zhElement(a.Target)
		switch {
		case from != "" && to != "" && from != to:
			return with + "将" + from + "拖到" + to
		case from != "" && (to == from || a.Target == nil):
			return "在" + from + "中" + with + "拖动"
		case from != "":
			return with + "拖动" + from
		}
		return in(with + "拖动")
	case human.Scroll:
		words := with + map[string]string{"up": "向上滚动", "down": "向下滚动", "left": "向左滚动", "right": "向右滚动"}[direction(a)]
		if what := zhElement(a.Element); what != "" {
			return "在" + what + "中" + words
		}
		return in(words)
	case human.Typing:
		field := zhField(a.Element)
		if field == "" {
			if name := windowName(a); name != "" {
				field = zhQuote(name)
			}
		}
		where := ""
		if field != "" {
			where = "在" + field + "中"
		}
		switch text := shown(a); {
		case text != "":
			return where + "输入 " + text
		case a.Hidden == "" && a.Count > 0:
			return where + "输入 " + strconv.Itoa(a.Count) + " 个字符"
		}
		return where + "输入（内容已隐藏）"
	case human.Shortcut:
		words := "按下 " + keys(a, zhKeys)
		if a.Count > 1 {
			words += " " + strconv.Itoa(a.Count) + " 次"
		}
		return words
	case human.Copy:
		verb := "复制"
		if strings.EqualFold(a.Key, "x") {
			verb = "剪切"
		}
		if a.Count > 0 && a.Hidden == "" {
			return in(verb + "了 " + strconv.Itoa(a.Count) + " 个字符")
		}
		return in(verb + "了内容")
	case human.Paste:
		words := "粘贴"
		if a.Count > 0 && a.Hidden == "" {
			words += "了 " + strconv.Itoa(a.Count) + " 个字符"
		} else {
			words += "了内容"
		}
		if field := zhField(a.Element); field != "" {
			return "在" + field + "中" + words
		}
		return in(words)
	case human.SwitchWindow:
		if a.Element != nil {
			role := "窗口"
			if a.Element.Role == "dialog" {
				role = "对话框"
			}
			if name := elementName(a.Element); name != "" {
				return role + zhQuote(name) + "打开"
			}
			return "打开了一个" + role
		}
		if name := windowName(a); name != "" {
			return "切换到" + zhQuote(name)
		}
		return "切换到另一个窗口"
	case human.OpenApp:
		if name := openedName(a); name != "" {
			return "打开了 " + name
		}
		return "打开了一个程序"
	case human.CloseWindow:
		if name := elementName(a.Element); name != "" {
			return "关闭对话框" + zhQuote(name)
		}
		if name := windowName(a); name != "" {
			return "关闭" + zhQuote(name)
		}
		return "关闭了一个窗口"
	case human.FileOperation:
		return zhFile(a.File)
	case human.Note:
		return "备注：" + clean(a.Text, 200)
	case human.Missing:
		return zhGap(a.Gap)
	}
	return Name(string(a.Type))
}

func zhFile(f *human.FileChange) string {
	if f == nil {
		return "更改了一个文件"
	}
	in := func(words string) string {
		if dir := Name(folder(f.Path)); dir != "" {
			return "在 " + dir + " 中" + words
		}
		return words
	}
	kind := ""
	if f.Dir {
		kind = "文件夹"
	}
	name := kind + " " + Name(base(f.Path))
	switch f.Op {
	case "created":
		return in("新建了" + name)
	case "deleted":
		return in("删除了" + name)
	case "renamed":
		if from, to := folder(f.Path), folder(f.To); from != to {
			return "将" + name + " 移到 " + Name(to)
		}
		return in("将" + name + " 重命名为 " + Name(base(f.To)))
	}
	return in("保存了" + name)
}

func zhGap(g *human.Gap) string {
	if g == nil {
		return "未录制"
	}
	switch g.Reason {
	case "paused":
		return "录制已暂停"
	case "excluded":
		return "未录制：已排除的程序或窗口"
	case "lost", "overflow":
		if g.Count > 0 {
			return "未录制：丢失 " + utoa(g.Count) + " 个事件"
		}
		return "未录制：有事件丢失"
	case "crash":
		return "未录制：Deskbell 当时已退出"
	case "limit":
		return "未录制：已达到上限"
	}
	return "未录制"
}
