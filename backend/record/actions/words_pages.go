package actions

import (
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// cleared says whether a field was left empty.
func cleared(a human.Action) bool {
	return a.Page != nil && a.Type == human.Typing && a.Value == "" && a.Count == 0 && a.Hidden == ""
}

// pressedOn says whether a key was pressed on something that it may have worked, like a button.
func pressedOn(a human.Action) bool {
	if a.Page == nil || a.Key != "Enter" && a.Key != " " || elementName(a.Element) == "" {
		return false
	}
	switch a.Element.Role {
	case "document", "textbox", "searchbox", "heading", "main", "article":
		return false
	}
	return !plainRoles[a.Element.Role]
}

// --- English

// enPage says what is done in browsers only.
func enPage(a human.Action) string {
	at := place(a)
	or := func(words, name, without string) string {
		if name == "" {
			return without
		}
		return words + name
	}
	switch a.Type {
	case human.OpenPage:
		switch {
		case a.Page.Opener != "":
			return or("Opened popup ", pageName(a.Page), "Opened a popup")
		case a.Navigation != nil && a.Navigation.Failed != "":
			return enWent(a)
		}
		return or("Opened ", host(a.Page.URL), "Opened a tab")
	case human.ClosePage:
		if a.Page.Opener != "" {
			return or("Closed popup ", pageName(a.Page), "Closed a popup")
		}
		return or("Closed tab ", pageName(a.Page), "Closed a tab")
	case human.SwitchPage:
		return or("Switched to tab ", pageName(a.Page), "Switched to another tab")
	case human.Navigate:
		return enWent(a)
	case human.Choose:
		field := enField(a.Element)
		switch chosen := values(a); {
		case chosen == "":
			return or("Changed ", field, "Changed a choice")
		case field == "":
			return "Chose " + chosen
		default:
			return "Chose " + chosen + " in " + field
		}
	case human.Check:
		field := enField(a.Element)
		switch {
		case len(a.Values) == 0:
			return or("Changed ", field, "Changed a checkbox")
		case isRadio(a.Element):
			return or("Chose ", field, "Chose an option")
		case a.Values[0] == "unchecked":
			return or("Unchecked ", field, "Unchecked a checkbox")
		}
		return or("Checked ", field, "Checked a checkbox")
	case human.Hover:
		return or("Hovered over ", enElement(a.Element), or("Hovered in ", at, "Hovered"))
	case human.DialogEnded:
		return enDialog(a.Dialog)
	case human.Upload:
		words := enFiles("Uploaded ", a)
		return words + or(" to ", enField(a.Element), "")
	case human.Download:
		if len(a.Transfers) > 0 && a.Transfers[0].State == "canceled" {
			return enFiles("Canceled the download of ", a)
		}
		return enFiles("Downloaded ", a)
	case human.Extract:
		if a.Pick == nil {
			return "Picked something"
		}
		return or("Picked ", Name(a.Pick.Field), "Picked something")
	}
	return title(strings.ReplaceAll(Name(string(a.Type)), "_", " "))
}

func enWent(a human.Action) string {
	at, n := place(a), a.Navigation
	if n == nil {
		n = &human.Navigation{}
	}
	if n.Failed != "" {
		if at == "" {
			at = "a page"
		}
		return "Could not open " + at + ": " + Name(n.Failed)
	}
	verb, without := "Went to ", "Went to another page"
	switch n.Kind {
	case "reload":
		verb, without = "Reloaded ", "Reloaded the page"
	case "back_forward":
		verb, without = "Went back or forward to ", "Went back or forward"
	case "redirect":
		verb, without = "Was redirected to ", "Was redirected"
	case "restored":
		verb, without = "Restored ", "Restored a page"
	}
	words := without
	if at != "" {
		words = verb + at
	}
	if n.Status >= 400 {
		words += ": status " + strconv.Itoa(n.Status)
	}
	return words
}

func enDialog(d *human.Dialog) string {
	if d == nil {
		return "Answered a dialog"
	}
	answer := "Cancel"
	if d.Accepted {
		answer = "OK"
	}
	message := said(d)
	if d.Kind == "beforeunload" {
		if d.Accepted {
			return "Left the page although it asked to stay"
		}
		return "Stayed on the page"
	}
	if message == "" {
		message = "a dialog"
	} else {
		message = `"` + message + `"`
	}
	if d.Kind == "prompt" && d.Accepted && d.Input != "" {
		return "Answered " + clean(d.Input, longestText) + " to " + message
	}
	return "Answered " + answer + " to " + message
}

func enFiles(verb string, a human.Action) string {
	name, more := files(a)
	switch {
	case name == "" && more > 0:
		return verb + strconv.Itoa(more+1) + " files"
	case name == "":
		return verb + "a file"
	case more > 0:
		return verb + name + " and " + strconv.Itoa(more) + " more"
	}
	return verb + name
}

// --- Simplified Chinese

func zhPage(a human.Action) string {
	or := func(words, name, without string) string {
		if name == "" {
			return without
		}
		return words + name
	}
	quoted := func(name string) string {
		if name == "" {
			return ""
		}
		return zhQuote(name)
	}
	switch a.Type {
	case human.OpenPage:
		switch {
		case a.Page.Opener != "":
			return or("打开了弹窗", quoted(pageName(a.Page)), "打开了一个弹窗")
		case a.Navigation != nil && a.Navigation.Failed != "":
			return zhWent(a)
		}
		return or("打开了 ", host(a.Page.URL), "打开了一个标签页")
	case human.ClosePage:
		if a.Page.Opener != "" {
			return or("关闭了弹窗", quoted(pageName(a.Page)), "关闭了一个弹窗")
		}
		return or("关闭了标签页", quoted(pageName(a.Page)), "关闭了一个标签页")
	case human.SwitchPage:
		return or("切换到标签页", quoted(pageName(a.Page)), "切换到另一个标签页")
	case human.Navigate:
		return zhWent(a)
	case human.Choose:
		field := zhField(a.Element)
		switch chosen := values(a); {
		case chosen == "":
			return or("更改了", field, "更改了选择")
		case field == "":
			return "选择了" + zhQuote(chosen)
		default:
			return "在" + field + "中选择" + zhQuote(chosen)
		}
	case human.Check:
		field := zhField(a.Element)
		switch {
		case len(a.Values) == 0:
			return or("更改了", field, "更改了复选框")
		case isRadio(a.Element):
			return or("选择了", field, "选择了一个选项")
		case a.Values[0] == "unchecked":
			return or("取消勾选", field, "取消勾选了复选框")
		}
		return or("勾选", field, "勾选了复选框")
	case human.Hover:
		return or("悬停在", zhElement(a.Element), or("悬停在 ", place(a), "悬停"))
	case human.DialogEnded:
		return zhDialog(a.Dialog)
	case human.Upload:
		if field := zhField(a.Element); field != "" {
			return "向" + field + zhFiles("上传", a)
		}
		return zhFiles("上传了", a)
	case human.Download:
		if len(a.Transfers) > 0 && a.Transfers[0].State == "canceled" {
			return zhFiles("取消下载", a)
		}
		return zhFiles("下载了", a)
	case human.Extract:
		if a.Pick == nil {
			return "选取了内容"
		}
		return or("选取了 ", Name(a.Pick.Field), "选取了内容")
	}
	return Name(string(a.Type))
}

func zhWent(a human.Action) string {
	at, n := place(a), a.Navigation
	if n == nil {
		n = &human.Navigation{}
	}
	if n.Failed != "" {
		if at == "" {
			return "无法打开页面：" + Name(n.Failed)
		}
		return "无法打开 " + at + "：" + Name(n.Failed)
	}
	verb, without := "前往 ", "前往另一个页面"
	switch n.Kind {
	case "reload":
		verb, without = "重新加载 ", "重新加载了页面"
	case "back_forward":
		verb, without = "后退或前进到 ", "后退或前进"
	case "redirect":
		verb, without = "被重定向到 ", "被重定向"
	case "restored":
		verb, without = "恢复了 ", "恢复了一个页面"
	}
	words := without
	if at != "" {
		words = verb + at
	}
	if n.Status >= 400 {
		words += "（状态码 " + strconv.Itoa(n.Status) + "）"
	}
	return words
}

func zhDialog(d *human.Dialog) string {
	if d == nil {
		return "回答了对话框"
	}
	answer := "取消"
	if d.Accepted {
		answer = "确定"
	}
	message := said(d)
	if d.Kind == "beforeunload" {
		if d.Accepted {
			return "确认离开页面"
		}
		return "留在页面上"
	}
	if message == "" {
		message = "对话框"
	} else {
		message = zhQuote(message)
	}
	if d.Kind == "prompt" && d.Accepted && d.Input != "" {
		return "对" + message + "回答 " + clean(d.Input, longestText)
	}
	return "对" + message + "选择了" + zhQuote(answer)
}

func zhFiles(verb string, a human.Action) string {
	name, more := files(a)
	switch {
	case name == "" && more > 0:
		return verb + " " + strconv.Itoa(more+1) + " 个文件"
	case name == "":
		return verb + "文件"
	case more > 0:
		return verb + " " + name + " 等 " + strconv.Itoa(more+1) + " 个文件"
	}
	return verb + " " + name
}
