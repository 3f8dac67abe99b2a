"""Draws the menu of a tray icon as a panel in GTK does, with one menu in it open. The first argument is the menu: a list of entries in
JSON, each with its label ("" is a line), whether it is dead, whether it is checked, and the entries of the menu in it. Writes to
file 3 where both stand: x, y, width and height."""
import json
import os
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

opened = []


def menu(entries):
    made = Gtk.Menu(reserve_toggle_size=False)
    for entry in entries:
        if not entry["label"]:
            made.append(Gtk.SeparatorMenuItem())
            continue
        item = Gtk.CheckMenuItem(active=entry["checked"]) if entry["checkable"] else Gtk.MenuItem()
        line = Gtk.Box(spacing=24)
        label, _, key = entry["label"].partition("\t")
        line.pack_start(Gtk.Label(label=label), False, False, 0)
        line.pack_end(Gtk.Label(label=key, opacity=0.6), False, False, 0)
        item.add(line)
        item.set_sensitive(not entry["dead"])
        if entry["inner"]:
            item.set_submenu(menu(entry["inner"]))
            opened.append(item)
        made.append(item)
    made.show_all()
    return made


def show(ground):
    tray.popup_at_rect(ground.get_window(), Gdk.Rectangle(), Gdk.Gravity.NORTH_WEST, Gdk.Gravity.NORTH_WEST, None)
    for item in opened:
        tray.select_item(item)
    GLib.timeout_add(100, place)
    return False


def place():
    menus = [tray, *(item.get_submenu() for item in opened)]
    if not all(one.get_mapped() for one in menus):
        return True
    at = [(*one.get_window().get_origin()[1:], one.get_allocated_width(), one.get_allocated_height()) for one in menus]
    x, y = min(a[0] for a in at), min(a[1] for a in at)
    width, height = max(a[0] + a[2] for a in at) - x, max(a[1] + a[3] for a in at) - y
    os.write(3, f"{x} {y} {width} {height}\n".encode())
    return False


tray = menu(json.loads(sys.argv[1]))
window = Gtk.Window(title="panel", decorated=False)
window.resize(40, 40)
window.move(60, 160)
window.connect("map-event", lambda *_: GLib.timeout_add(300, show, window) and False)
window.show_all()
Gtk.main()
