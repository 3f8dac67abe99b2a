#!/usr/bin/python3 -B
"""A calculator in GTK 3: calc.gtk3.py [--zh] [--label]. Its display is a field, or with --label a label that keys are shown in."""

import sys

from gtk3 import Gdk, Gtk, called, run
from words import arguments, words

_ = words({"Calculator": "计算器", "Display": "显示", "Clear": "清除"})
called("Calculator")
window = Gtk.Window(default_width=300, default_height=320)
bar = Gtk.HeaderBar(title=_("Calculator"), show_close_button=True)
window.set_titlebar(bar)
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, margin=6)
window.add(column)
text, fresh = "", False


def show():
    if label:
        display.set_text(text or "0")
    else:
        display.set_text(text)
        display.set_position(-1)


def solve():
    global text, fresh
    try:
        value = eval(text.replace("×", "*").replace("÷", "/").replace("−", "-"), {"__builtins__": {}})
        text = f"{value:g}" if isinstance(value, float) else str(value)
    except Exception:
        text = "Error"
    fresh = True
    show()


def put(what):
    global text, fresh
    if what == "=":
        solve()
        return
    if fresh and what.isdigit() or text == "Error":
        text = ""
    fresh = False
    text += what
    show()


def clear():
    global text
    text = ""
    show()


def pressed(_window, event):
    global text
    if event.state & (Gdk.ModifierType.CONTROL_MASK | Gdk.ModifierType.MOD1_MASK):
        return False
    name, char = Gdk.keyval_name(event.keyval), chr(Gdk.keyval_to_unicode(event.keyval) or 0)
    if name in ("Return", "KP_Enter"):
        solve()
    elif name == "Escape":
        clear()
    elif name == "BackSpace":
        text = text[:-1]
        show()
    elif char in "0123456789+-*/.()=" and char != "\0":
        put(char)
    else:
        return False
    return True


label = "--label" in sys.argv
display = Gtk.Label(xalign=1, selectable=False) if label else Gtk.Entry(xalign=1)
display.get_accessible().set_name(_("Display")) if not label else None
column.add(display)
grid = Gtk.Grid(column_homogeneous=True, row_homogeneous=True, row_spacing=4, column_spacing=4, vexpand=True)
column.add(grid)
for i, key in enumerate("789/456*123-0.=+"):
    button = Gtk.Button(label=key, can_focus=False)
    button.connect("clicked", lambda _, key=key: put(key))
    grid.attach(button, i % 4, i // 4, 1, 1)
button = Gtk.Button(label=_("Clear"), can_focus=False)
button.connect("clicked", lambda _: clear())
grid.attach(button, 0, 4, 4, 1)
window.connect("key-press-event", pressed)
window.move(700, 120)
show()
window.set_title(_("Calculator"))
run(window)
