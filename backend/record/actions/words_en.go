package actions

var english = language{
	roles: map[string]string{
		"textbox": "field", "searchbox": "search field", "combobox": "list", "listbox": "list", "listitem": "item", "option": "option",
		"gridcell": "cell", "columnheader": "column", "rowheader": "row header", "menuitem": "menu item", "menuitemcheckbox": "menu item",
		"menuitemradio": "menu item", "radio": "option", "checkbox": "checkbox", "spinbutton": "number field", "progressbar": "progress bar",
		"tab": "tab", "tabpanel": "page", "treeitem": "item", "treegrid": "table", "img": "picture", "scrollbar": "scroll bar", "statusbar": "status bar",
		"toolbar": "toolbar", "menubar": "menu bar", "document": "page", "link": "link", "heading": "heading", "togglebutton": "button",
		"drawing area": "canvas",
	},
	keys: map[string]string{
		"ArrowLeft": "Left", "ArrowRight": "Right", "ArrowUp": "Up", "ArrowDown": "Down", "PageUp": "Page Up", "PageDown": "Page Down",
		" ": "Space", "Escape": "Escape", "ContextMenu": "Menu", "PrintScreen": "Print Screen",
	},
	text: map[string]string{
		"name": "%s", "element": "%s %s", "element/none": "%s", "a": "a %s", "an": "an %s",
		"beside": "%[1]s beside %[2]s", "beside/none": "something beside %s", "in": "%[1]s in %[2]s", "on": "%[1]s on %[2]s", "into": "%[1]s into %[2]s",
		"with before": "", "with after": " with %s",

		"click": "Clicked", "click 2": "Middle-clicked", "click 3": "Right-clicked",
		"double_click": "Double-clicked", "double_click 2": "Middle-double-clicked", "double_click 3": "Right-double-clicked",
		"triple_click": "Triple-clicked", "triple_click 2": "Middle-triple-clicked", "triple_click 3": "Right-triple-clicked",
		"clicked": "%s %s", "mouse back": "Pressed the mouse's Back button", "mouse forward": "Pressed the mouse's Forward button",
		"menu item": "Menu %s", "menu": "Opened menu %s",
		"drag": "Dragged", "drag to": "Dragged %[1]s to %[2]s", "drag in": "%[2]sDragged in %[1]s", "drag from": "Dragged %[1]s",
		"scroll up": "Scrolled up", "scroll down": "Scrolled down", "scroll left": "Scrolled left", "scroll right": "Scrolled right",

		"cleared": "Cleared %s", "cleared/none": "Cleared a field", "typed": "Typed", "filled": "Filled", "sent": " and pressed Enter",
		"type": "%[1]s %[2]s", "type into": "%[1]s %[2]s into %[3]s%[4]s", "type hidden": "%[1]s something hidden", "type hidden into": "%[1]s into %[3]s%[4]s",
		"pressed": "Pressed %s", "copied": "Copied %s", "copied/none": "Copied", "cut": "Cut %s", "cut/none": "Cut", "pasted": "Pasted %s", "pasted/none": "Pasted",
		"character": "1 character", "characters": "%d characters", "times": "%s %d times", "event": "1 event", "events": "%d events",

		"window": "Window %s", "window/none": "Window opened", "dialog": "Dialog %s", "dialog/none": "Dialog opened",
		"switched": "Switched to %s", "switched/none": "Switched to another window", "opened": "Opened %s", "opened/none": "Opened a program",
		"sum": "%s = %s", "then showed": "%s, which then showed %s",
		"moved window": "Moved window %s", "moved window/none": "Moved a window", "resized window": "Resized window %s", "resized window/none": "Resized a window",
		"closed dialog": "Closed dialog %s", "closed": "Closed %s", "closed/none": "Closed a window",
		"note": "Note: %s",

		"file": "Changed a file", "file in": "%[1]s in %[2]s", "a file": "%s", "folder": "folder %s", "saved": "Saved %s", "created": "Created %s",
		"deleted": "Deleted %s", "moved": "Moved %s to %s", "renamed": "Renamed %s to %s",

		"reported":       "A program reported: %s",
		"reported focus": "keyboard in %s", "reported focus/none": "keyboard in a field",
		"reported checked": "%s checked", "reported checked/none": "a checkbox checked",
		"reported unchecked": "%s unchecked", "reported unchecked/none": "a checkbox unchecked",
		"reported hidden": "%s changed, hidden", "reported hidden/none": "a field changed, hidden",
		"reported text": "text of %[1]s changed, now %[2]s", "reported text/none": "text of a field changed, now %[2]s",
		"reported change": "%s changed", "reported change/none": "a field changed",
		"gap unreported": "Not recorded: the active program reports nothing",

		"command": "%s (%s)", "command comma": ", ", "exit": "exit %d", "took": "%.1f s", "no exit": "exit code not known",
		"command unknown": "A command that the shell did not keep", "command hidden": "A command, hidden",
		"gap": "Not recorded", "gap paused": "Recording paused", "gap excluded": "Not recorded: an excluded program or window",
		"gap lost": "Not recorded: %s lost", "gap lost/none": "Not recorded: events were lost",
		"gap crash": "Not recorded: Deskbell had ended", "gap limit": "Not recorded: a limit was reached",

		"popup": "Opened popup %s", "popup/none": "Opened a popup", "tab": "Opened %s", "tab/none": "Opened a tab",
		"closed popup": "Closed popup %s", "closed popup/none": "Closed a popup", "closed tab": "Closed tab %s", "closed tab/none": "Closed a tab",
		"switched tab": "Switched to tab %s", "switched tab/none": "Switched to another tab",
		"go failed": "Could not open %[1]s: %[2]s", "go failed/none": "Could not open a page: %[2]s", "status": "%s: status %d",
		"go": "Went to %s", "go/none": "Went to another page", "go reload": "Reloaded %s", "go reload/none": "Reloaded the page",
		"go back_forward": "Went back or forward to %s", "go back_forward/none": "Went back or forward",
		"go redirect": "Was redirected to %s", "go redirect/none": "Was redirected", "go restored": "Restored %s", "go restored/none": "Restored a page",
		"changed choice": "Changed %s", "changed choice/none": "Changed a choice", "chose": "Chose %s", "chose in": "Chose %s in %s",
		"changed check": "Changed %s", "changed check/none": "Changed a checkbox", "radio": "Chose %s", "radio/none": "Chose an option",
		"unchecked": "Unchecked %s", "unchecked/none": "Unchecked a checkbox", "checked": "Checked %s", "checked/none": "Checked a checkbox",
		"hovered": "Hovered over %s", "hovered at": "Hovered in %s", "hovered at/none": "Hovered",
		"picked": "Picked %s", "picked/none": "Picked something",

		"page said": `The page showed "%s"`, "page said/none": "The page showed a message",
		"asked": "Answered a dialog", "left": "Left the page although it asked to stay", "stayed": "Stayed on the page",
		"message": `"%s"`, "message/none": "a dialog", "answered": "Answered %[2]s to %[1]s",
		"accepted": "Answered OK to %s", "canceled": "Answered Cancel to %s",
		"upload": "Uploaded", "upload to": "%[2]s to %[1]s", "upload this": "Uploaded", "download": "Downloaded", "download canceled": "Canceled the download of",
		"one file": "%[1]s %[2]s", "one file/none": "%[1]s a file", "more files": "%[1]s %[2]s and %[4]d more", "more files/none": "%[1]s %[3]d files",
	},
}
