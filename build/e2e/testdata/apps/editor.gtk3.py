#!/usr/bin/python3 -B
"""A text editor in GTK 3: editor.gtk3.py [--zh] FOLDER [FILE]."""

import os

from gtk3 import Gtk, ask, called, menu, message, run
from words import arguments, words

_ = words(
    {
        "Editor": "文本编辑器", "Untitled": "未命名", "File": "文件", "New": "新建", "Open…": "打开…", "Save": "保存", "Save As…": "另存为…",
        "Quit": "退出", "Edit": "编辑", "Undo": "撤销", "Select All": "全选", "Copy": "复制", "Cut": "剪切", "Paste": "粘贴", "Format": "格式",
        "Font…": "字体…", "Font": "字体", "Size": "字号", "Apply": "应用", "Save file": "保存文件", "Open file": "打开文件", "Name": "名称",
        "Unsaved changes": "未保存的更改", "Save the changes to %s before closing?": "关闭前要保存对“%s”的更改吗？",
        "Discard": "不保存", "Cancel": "取消", "Document": "文档", "Cannot save": "无法保存", "The folder %s does not exist.": "文件夹“%s”不存在。",
        "Cannot write to %s: permission denied.": "无法写入“%s”：权限不足。", "OK": "确定", "Find…": "查找…",
    }
)
called("Editor")
folder = arguments[0]
path = None
saved = ""
steps = []

window = Gtk.Window(default_width=640, default_height=460)
keys = Gtk.AccelGroup()
window.add_accel_group(keys)
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
window.add(column)
view = Gtk.TextView(vexpand=True, wrap_mode=Gtk.WrapMode.WORD, left_margin=8, top_margin=8)
view.get_accessible().set_name(_("Document"))
buffer = view.get_buffer()


def text():
    return buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), False)


def retitle(*ignored):
    name = os.path.basename(path) if path else _("Untitled")
    window.set_title(("*" if text() != saved else "") + name + " – " + _("Editor"))


def load(file):
    global path, saved
    with open(file, encoding="utf-8") as f:
        saved = f.read()
    path = file
    buffer.set_text(saved)
    steps.clear()
    retitle()


def save():
    return write(path) if path else save_as()


def save_as():
    name = ask(window, _("Save file"), _("Name"), _("Save"), text=path or os.path.join(folder, ""))
    return bool(name) and write(name if os.path.isabs(name) else os.path.join(folder, name))


def write(file):
    global path, saved
    if not os.path.isdir(os.path.dirname(file)):
        message(window, Gtk.MessageType.ERROR, _("Cannot save"), _("The folder %s does not exist.") % os.path.dirname(file), _("OK"))
        return False
    try:
        with open(file, "w", encoding="utf-8") as f:
            f.write(text())
    except OSError:
        message(window, Gtk.MessageType.ERROR, _("Cannot save"), _("Cannot write to %s: permission denied.") % file, _("OK"))
        return False
    path, saved = file, text()
    retitle()
    return True


def open_file():
    name = ask(window, _("Open file"), _("Name"), _("Open file"), text=os.path.join(folder, ""))
    if name and os.path.isfile(name):
        load(name)


def undo():
    if steps:
        buffer.set_text(steps.pop())
        buffer.place_cursor(buffer.get_end_iter())


def font():
    dialog = Gtk.Dialog(title=_("Font"), transient_for=window, modal=True, border_width=12)
    size = Gtk.SpinButton.new_with_range(6, 40, 1)
    size.set_value(11)
    size.get_accessible().set_name(_("Size"))
    dialog.get_content_area().add(size)
    dialog.add_button(_("Cancel"), 0)
    dialog.add_button(_("Apply"), 1)
    dialog.show_all()
    dialog.run()
    dialog.destroy()


def leave(*ignored):
    if text() != saved:
        name = os.path.basename(path) if path else _("Untitled")
        question = _("Save the changes to %s before closing?") % name
        answer = message(window, Gtk.MessageType.QUESTION, _("Unsaved changes"), question, _("Discard"), _("Cancel"), _("Save"))
        if answer not in (0, 2) or answer == 2 and not save():
            return True
    window.destroy()
    return False


def new():
    global path, saved
    path, saved = None, ""
    buffer.set_text("")
    retitle()


board = Gtk.Clipboard.get_default(window.get_display())
bar = Gtk.MenuBar()
menu(
    bar, _("File"), (_("New"), new, "<Control>n"), (_("Open…"), open_file, "<Control>o"), (_("Save"), save, "<Control>s"),
    (_("Save As…"), save_as, "<Control><Shift>s"), (_("Quit"), leave, "<Control>q"), keys=keys,
)
menu(
    bar, _("Edit"), (_("Undo"), undo, "<Control>z"), (_("Copy"), lambda: buffer.copy_clipboard(board), None),
    (_("Cut"), lambda: buffer.cut_clipboard(board, True), None), (_("Paste"), lambda: buffer.paste_clipboard(board, None, True), None),
    (_("Select All"), lambda: buffer.select_range(*buffer.get_bounds()), None), keys=keys,
)
menu(bar, _("Format"), (_("Font…"), font, None))
column.add(bar)
scroller = Gtk.ScrolledWindow(vexpand=True)
scroller.add(view)
column.add(scroller)
buffer.connect("begin-user-action", lambda _: steps.append(text()))
buffer.connect("changed", retitle)
window.connect("delete-event", leave)
retitle()
if len(arguments) > 1:
    load(arguments[1])
window.move(40, 60)
view.grab_focus()
run(window)
