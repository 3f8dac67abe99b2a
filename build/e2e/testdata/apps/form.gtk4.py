#!/usr/bin/python3 -B
"""A form in GTK 4: form.gtk4.py [STATE.json [FOLDER]]. "Save file" writes FOLDER/form.txt."""

import os

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk

from state import COLOURS, ROWS, State

state = State("gtk4")
loop = GLib.MainLoop()


def labelled(grid, y, text, widget):
    label = Gtk.Label(label=text, xalign=0)
    label.set_mnemonic_widget(widget)
    grid.attach(label, 0, y, 1, 1)
    grid.attach(widget, 1, y, 1, 1)


def length(key):
    return lambda entry: state.set(**{key: len(entry.get_text())})


GLib.set_prgname("form.gtk4")
Gtk.init()
window = Gtk.Window(title="Form GTK 4")
window.set_default_size(560, 620)
window.connect("close-request", lambda _: loop.quit())
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
window.set_child(column)

actions = Gio.SimpleActionGroup()
window.insert_action_group("form", actions)
entries = Gio.Menu()
for text in ("New", "Open recent", "Export"):
    action = Gio.SimpleAction.new(text.replace(" ", "-").lower(), None)
    action.connect("activate", lambda *_, text=text: state.set(menu=text))
    actions.add_action(action)
    entries.append(text, "form." + action.get_name())
menu = Gio.Menu()
menu.append_submenu("File", entries)
bar = Gtk.PopoverMenuBar.new_from_model(menu)
column.append(bar)

grid = Gtk.Grid(row_spacing=6, column_spacing=6, margin_start=6, margin_end=6)
column.append(grid)

name = Gtk.Entry(hexpand=True)
name.connect("changed", lambda entry: state.set(name=entry.get_text()))
labelled(grid, 0, "Name", name)

notes = Gtk.TextView(height_request=60)
buffer = notes.get_buffer()
buffer.connect("changed", lambda b: state.set(notes=b.get_text(b.get_start_iter(), b.get_end_iter(), False)))
labelled(grid, 1, "Notes", notes)

password = Gtk.PasswordEntry(show_peek_icon=True)
password.connect("changed", length("password_length"))
labelled(grid, 2, "Secret word", password)

hidden = Gtk.Entry(visibility=False)  # says nowhere but in its name that it is secret
hidden.connect("changed", length("hidden_length"))
labelled(grid, 3, "Passphrase", hidden)

agree = Gtk.CheckButton(label="Agree")
agree.connect("toggled", lambda b: state.set(agree=b.get_active()))
grid.attach(agree, 1, 4, 1, 1)

colour = Gtk.DropDown.new_from_strings(COLOURS)
colour.connect("notify::selected", lambda d, _: state.set(colour=COLOURS[d.get_selected()]))
labelled(grid, 5, "Colour", colour)

buttons = Gtk.Box(spacing=6)
grid.attach(buttons, 0, 6, 2, 1)
greet = Gtk.Button(label="Greet")
greet.connect("clicked", lambda _: state.set(greetings=state["greetings"] + 1))
buttons.append(greet)
save = Gtk.Button()  # a picture and a label inside: what is pressed is the button
inside = Gtk.Box(spacing=4)
picture, words = Gtk.Image.new_from_icon_name("document-save"), Gtk.Label(label="Save file")
inside.append(picture)
inside.append(words)
save.set_child(inside)
save.connect("clicked", lambda _: state.save())
buttons.append(save)
manual = Gtk.LinkButton(uri="https://example.org/", label="Manual")
buttons.append(manual)

scroller = Gtk.ScrolledWindow(vexpand=True, min_content_height=120)
rows = Gtk.ListBox()
for text in ROWS:
    rows.append(Gtk.Label(label=text, xalign=0))
rows.connect("row-selected", lambda _, row: state.set(row=ROWS[row.get_index()] if row else ""))
scroller.get_vadjustment().connect("value-changed", lambda a: state.set(scrolled=a.get_value() > 0))
scroller.set_child(rows)
column.append(scroller)

area = Gtk.DrawingArea(height_request=90)
area.update_property([Gtk.AccessibleProperty.LABEL], ["Drag area"])
held = []


def draw(_, cr, *size):
    cr.set_source_rgb(0.93, 0.93, 0.93)
    cr.paint()
    cr.set_source_rgb(0.2, 0.4, 0.8)
    cr.rectangle(*state["box"], 40, 30)
    cr.fill()


def begin(_, x, y):
    left, top = state["box"]
    if 0 <= x - left < 40 and 0 <= y - top < 30:
        held[:] = [left, top]


def update(_, dx, dy):
    if held:
        state["box"] = [round(held[0] + dx), round(held[1] + dy)]
        area.queue_draw()


def end(drag, dx, dy):
    update(drag, dx, dy)
    held.clear()
    state.write()


area.set_draw_func(draw)
drag = Gtk.GestureDrag()
drag.connect("drag-begin", begin)
drag.connect("drag-update", update)
drag.connect("drag-end", end)
area.add_controller(drag)
column.append(area)

parts = {
    "File": bar.get_first_child(), "Name": name, "Notes": notes, "Secret word": password, "Passphrase": hidden, "Agree": agree,
    "Colour": colour, "Greet": greet, "Save file": save, "Save file: picture": picture, "Save file: words": words, "Manual": manual,
    "Alpha": rows.get_row_at_index(0), "Delta": rows.get_row_at_index(3), "Drag area": area,
}


def place():
    if all(part.get_mapped() for part in parts.values()):
        boxes = {text: part.compute_bounds(window)[1] for text, part in parts.items()}
        state.place({text: [box.get_x(), box.get_y(), box.get_width(), box.get_height()] for text, box in boxes.items()})
    return True


state.on_terminate(lambda: os._exit(0))
GLib.timeout_add(200, place)  # Python sees a signal only when the loop comes round
window.present()
loop.run()
