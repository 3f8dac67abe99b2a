package actions

import (
	"cmp"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

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
		if cleared(a) {
			return "清空" + cmp.Or(zhField(a.Element), "输入框")
		}
		sent := ""
		if a.Page != nil && a.Key == "Enter" {
			sent = "，并按下回车"
		}
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
		verb := "输入"
		if filled(a) {
			verb = "自动填入"
		}
		switch text := shown(a); {
		case text != "":
			return where + verb + " " + text + sent
		case a.Hidden == "" && a.Count > 0:
			return where + verb + " " + strconv.Itoa(a.Count) + " 个字符" + sent
		}
		return where + verb + "（内容已隐藏）" + sent
	case human.Shortcut:
		words := "按下 " + keys(a, zhKeys)
		if pressedOn(a) {
			words = "在" + zhElement(a.Element) + "上" + words
		}
		if a.Count > 1 {
			words += " " + strconv.Itoa(a.Count) + " 次"
		}
		return words
	case human.Copy:
		verb := "复制"
		if cut(a) {
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
	if a.Page != nil {
		return zhPage(a)
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
