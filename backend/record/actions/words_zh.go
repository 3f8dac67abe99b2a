package actions

var simplifiedChinese = language{
	roles: map[string]string{
		"button": "按钮", "togglebutton": "按钮", "textbox": "输入框", "searchbox": "搜索框", "combobox": "下拉框", "listbox": "列表", "list": "列表",
		"listitem": "列表项", "option": "选项", "radio": "单选项", "checkbox": "复选框", "switch": "开关", "spinbutton": "数字框", "slider": "滑块",
		"link": "链接", "tab": "标签页", "tablist": "标签栏", "tabpanel": "页面", "tree": "树", "treeitem": "节点", "treegrid": "表格", "table": "表格",
		"grid": "表格", "row": "行", "cell": "单元格", "gridcell": "单元格", "columnheader": "列标题", "rowheader": "行标题", "menu": "菜单",
		"menubar": "菜单栏", "menuitem": "菜单项", "menuitemcheckbox": "菜单项", "menuitemradio": "菜单项", "toolbar": "工具栏", "statusbar": "状态栏",
		"scrollbar": "滚动条", "progressbar": "进度条", "img": "图片", "image": "图片", "heading": "标题", "document": "页面", "dialog": "对话框",
		"window": "窗口", "terminal": "终端", "canvas": "画布", "icon": "图标", "separator": "分隔条", "tooltip": "提示", "alert": "警告",
		"drawing area": "画布",
	},
	keys: map[string]string{
		"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", " ": "空格", "Escape": "Esc", "Enter": "回车",
		"PageUp": "Page Up", "PageDown": "Page Down", "Backspace": "退格", "ContextMenu": "菜单", "PrintScreen": "Print Screen",
	},
	text: map[string]string{
		"name": "“%s”", "element": "%s“%s”", "element/none": "“%s”", "a": "%s", "an": "%s",
		"beside": "“%[2]s”旁的%[1]s", "beside/none": "“%s”旁的内容", "in": "在%[2]s中%[1]s", "on": "在%[2]s上%[1]s", "into": "在%[2]s中%[1]s",
		"with before": "按住 %s ", "with after": "",

		"click": "点击", "click 2": "用中键点击", "click 3": "右键点击",
		"double_click": "双击", "double_click 2": "用中键双击", "double_click 3": "右键双击",
		"triple_click": "三击", "triple_click 2": "用中键三击", "triple_click 3": "右键三击",
		"clicked": "%s%s", "mouse back": "按下鼠标后退键", "mouse forward": "按下鼠标前进键",
		"menu item": "选择菜单“%s”", "menu": "打开菜单“%s”",
		"drag": "拖动", "drag to": "将%[1]s拖到%[2]s", "drag in": "在%[1]s中%[2]s拖动", "drag from": "拖动%[1]s",
		"scroll up": "向上滚动", "scroll down": "向下滚动", "scroll left": "向左滚动", "scroll right": "向右滚动",

		"cleared": "清空%s", "cleared/none": "清空输入框", "typed": "输入", "filled": "自动填入", "sent": "，并按下回车",
		"type": "%[1]s %[2]s%[4]s", "type into": "在%[3]s中%[1]s %[2]s%[4]s", "type hidden": "%[1]s（内容已隐藏）%[4]s", "type hidden into": "在%[3]s中%[1]s（内容已隐藏）%[4]s",
		"pressed": "按下 %s", "copied": "复制了 %s", "copied/none": "复制了内容", "cut": "剪切了 %s", "cut/none": "剪切了内容", "pasted": "粘贴了 %s", "pasted/none": "粘贴了内容",
		"character": "1 个字符", "characters": "%d 个字符", "times": "%s %d 次", "event": "1 个事件", "events": "%d 个事件",

		"window": "窗口“%s”打开", "window/none": "打开了一个窗口", "dialog": "对话框“%s”打开", "dialog/none": "打开了一个对话框",
		"switched": "切换到“%s”", "switched/none": "切换到另一个窗口", "opened": "打开了 %s", "opened/none": "打开了一个程序",
		"closed dialog": "关闭对话框“%s”", "closed": "关闭“%s”", "closed/none": "关闭了一个窗口",
		"note": "备注：%s",

		"file": "更改了一个文件", "file in": "在 %[2]s 中%[1]s", "a file": " %s", "folder": "文件夹 %s", "saved": "保存了%s", "created": "新建了%s",
		"deleted": "删除了%s", "moved": "将%s 移到 %s", "renamed": "将%s 重命名为 %s",

		"reported":       "程序报告：%s",
		"reported focus": "键盘焦点在%s", "reported focus/none": "键盘焦点在一个字段",
		"reported checked": "勾选%s", "reported checked/none": "勾选一个复选框",
		"reported unchecked": "取消勾选%s", "reported unchecked/none": "取消勾选一个复选框",
		"reported hidden": "%s已更改，内容已隐藏", "reported hidden/none": "一个字段已更改，内容已隐藏",
		"reported text": "%[1]s的文本已更改，现有 %[2]s", "reported text/none": "一个字段的文本已更改，现有 %[2]s",
		"reported change": "%s已更改", "reported change/none": "一个字段已更改",
		"gap unreported": "未录制：当前程序不报告任何内容",

		"command": "%s（%s）", "command comma": "，", "exit": "退出码 %d", "took": "%.1f 秒", "no exit": "退出码未知",
		"command unknown": "一条 shell 未保留的命令", "command hidden": "一条已隐藏的命令",
		"gap": "未录制", "gap paused": "录制已暂停", "gap excluded": "未录制：已排除的程序或窗口",
		"gap lost": "未录制：丢失 %s", "gap lost/none": "未录制：有事件丢失",
		"gap crash": "未录制：Deskbell 当时已退出", "gap limit": "未录制：已达到上限",

		"popup": "打开了弹窗“%s”", "popup/none": "打开了一个弹窗", "tab": "打开了 %s", "tab/none": "打开了一个标签页",
		"closed popup": "关闭了弹窗“%s”", "closed popup/none": "关闭了一个弹窗", "closed tab": "关闭了标签页“%s”", "closed tab/none": "关闭了一个标签页",
		"switched tab": "切换到标签页“%s”", "switched tab/none": "切换到另一个标签页",
		"go failed": "无法打开 %[1]s：%[2]s", "go failed/none": "无法打开页面：%[2]s", "status": "%s（状态码 %d）",
		"go": "前往 %s", "go/none": "前往另一个页面", "go reload": "重新加载 %s", "go reload/none": "重新加载了页面",
		"go back_forward": "后退或前进到 %s", "go back_forward/none": "后退或前进",
		"go redirect": "被重定向到 %s", "go redirect/none": "被重定向", "go restored": "恢复了 %s", "go restored/none": "恢复了一个页面",
		"changed choice": "更改了%s", "changed choice/none": "更改了选择", "chose": "选择了“%s”", "chose in": "在%[2]s中选择“%[1]s”",
		"changed check": "更改了%s", "changed check/none": "更改了复选框", "radio": "选择了%s", "radio/none": "选择了一个选项",
		"unchecked": "取消勾选%s", "unchecked/none": "取消勾选了复选框", "checked": "勾选%s", "checked/none": "勾选了复选框",
		"hovered": "悬停在%s", "hovered at": "悬停在 %s", "hovered at/none": "悬停",
		"picked": "选取了 %s", "picked/none": "选取了内容",

		"asked": "回答了对话框", "left": "确认离开页面", "stayed": "留在页面上",
		"message": "“%s”", "message/none": "对话框", "answered": "对%[1]s回答 %[2]s",
		"accepted": "对%s选择了“确定”", "canceled": "对%s选择了“取消”",
		"upload": "上传了", "upload to": "向%[1]s%[2]s", "upload this": "上传", "download": "下载了", "download canceled": "取消下载",
		"one file": "%[1]s %[2]s", "one file/none": "%[1]s文件", "more files": "%[1]s %[2]s 等 %[3]d 个文件", "more files/none": "%[1]s %[3]d 个文件",
	},
}
