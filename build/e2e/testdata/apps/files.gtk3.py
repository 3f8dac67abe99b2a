#!/usr/bin/python3 -B
"""A file manager in GTK 3: files.gtk3.py [--zh] FOLDER [TRASH]."""

import os
import shutil

from gtk3 import Gdk, GLib, Gtk, ask, called, message, run
from words import arguments, words

_ = words(
    {
        "Files": "文件管理器", "Up": "上一级", "Rename…": "重命名…", "Delete": "删除", "Restore": "还原", "New folder…": "新建文件夹…", "Move to…": "移动到…",
        "Name": "名称", "Rename": "重命名", "New folder": "新建文件夹", "Create": "创建", "Move": "移动", "Folder": "文件夹", "Cannot move": "无法移动",
        "There is no folder %s.": "文件夹“%s”不存在。", "OK": "确定", "Already there": "已存在", "%s is there already.": "“%s”已存在。", "Duplicate": "创建副本",
    }
)
called("Files")
home = arguments[0]
trash = arguments[1] if len(arguments) > 1 else os.path.join(os.path.dirname(home), ".trash")
os.makedirs(trash, exist_ok=True)
here = home
thrown = []

window = Gtk.Window(default_width=640, default_height=420)
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
window.add(column)
bar = Gtk.Box(spacing=4, margin=4)
column.add(bar)
store = Gtk.ListStore(str, str)
table = Gtk.TreeView(model=store, vexpand=True)
table.get_accessible().set_name(_("Files"))
table.append_column(Gtk.TreeViewColumn(_("Name"), Gtk.CellRendererText(), text=0))
column.add(table)


def refresh(*ignored):
    window.set_title(os.path.basename(here) + " – " + _("Files"))
    keep = chosen()
    store.clear()
    for name in sorted(os.listdir(here), key=lambda n: (not os.path.isdir(os.path.join(here, n)), n)):
        row = store.append([name + ("/" if os.path.isdir(os.path.join(here, name)) else ""), os.path.join(here, name)])
        if os.path.join(here, name) == keep:
            table.get_selection().select_iter(row)


def chosen():
    model, row = table.get_selection().get_selected()
    return model[row][1] if row else None


def move(source, folder):
    if not os.path.isdir(folder):
        message(window, Gtk.MessageType.ERROR, _("Cannot move"), _("There is no folder %s.") % folder, _("OK"))
        return
    os.rename(source, os.path.join(folder, os.path.basename(source)))
    refresh()


def rename():
    one = chosen()
    name = ask(window, _("Rename"), _("Name"), _("Rename"), text=os.path.basename(one)) if one else None
    if not name:
        return
    if os.path.exists(os.path.join(here, name)):
        message(window, Gtk.MessageType.ERROR, _("Already there"), _("%s is there already.") % name, _("OK"))
        return
    os.rename(one, os.path.join(here, name))
    refresh()


def delete():
    one = chosen()
    if one:
        there = os.path.join(trash, os.path.basename(one))
        os.rename(one, there)
        thrown.append((there, one))
        refresh()


def restore():
    if thrown:
        os.rename(*thrown.pop())
        refresh()


def new_folder():
    name = ask(window, _("New folder"), _("Name"), _("Create"))
    if name:
        os.mkdir(os.path.join(here, name))
        refresh()


def move_to():
    one = chosen()
    folder = ask(window, _("Move"), _("Folder"), _("Move"), text=os.path.join(home, "")) if one else None
    if folder:
        move(one, folder)


def duplicate():
    one = chosen()
    if one:
        stem, end = os.path.splitext(one)
        shutil.copyfile(one, stem + " (2)" + end)
        refresh()


def enter(_table, path, _column):
    global here
    if os.path.isdir(store[path][1]):
        here = store[path][1]
        refresh()


def up():
    global here
    here = os.path.dirname(here)
    refresh()


for label, act in (
    ("Up", up), ("Rename…", rename), ("Delete", delete), ("Restore", restore), ("New folder…", new_folder), ("Move to…", move_to), ("Duplicate", duplicate),
):
    button = Gtk.Button(label=_(label))
    button.connect("clicked", lambda _, act=act: act())
    bar.add(button)


def dropped(_table, context, x, y, selection, info, time):
    found = table.get_dest_row_at_pos(x, y)
    folder = store[found[0]][1] if found else None
    done = bool(folder and os.path.isdir(folder) and chosen())
    if done:
        move(chosen(), folder)
    context.finish(done, False, time)


row = [Gtk.TargetEntry.new("text/plain", Gtk.TargetFlags.SAME_WIDGET, 0)]
table.enable_model_drag_source(Gdk.ModifierType.BUTTON1_MASK, row, Gdk.DragAction.MOVE)
table.enable_model_drag_dest(row, Gdk.DragAction.MOVE)
table.connect("drag-data-get", lambda _t, _c, data, _i, _time: data.set_text(chosen() or "", -1))
table.connect("drag-data-received", dropped)
table.connect("row-activated", enter)
refresh()
GLib.timeout_add_seconds(1, lambda: (sorted(r[1] for r in store) != sorted(os.path.join(here, n) for n in os.listdir(here)) and refresh()) or True)
window.move(520, 300)
run(window)
