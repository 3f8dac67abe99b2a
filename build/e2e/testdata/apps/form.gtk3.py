#!/usr/bin/python3 -B
"""A form in GTK 3: form.gtk3.py [STATE.json [FOLDER]]. "Save file" writes FOLDER/form.txt; FORM_SAVE is another name of that button, and
with FORM_TWIN there are two of them."""

import os

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

from state import COLOURS, ROWS, State

state = State("gtk3")


def labelled(grid, y, text, widget):
    label = Gtk.Label(label=text, xalign=0)
    label.set_mnemonic_widget(widget)
    grid.attach(label, 0, y, 1, 1)
    grid.attach(widget, 1, y, 1, 1)


def length(key):
    return lambda entry: state.set(**{key: len(entry.get_text())})


window = Gtk.Window(title="Form GTK 3")
window.set_default_size(560, 620)
window.connect("destroy", Gtk.main_quit)
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
window.add(column)

bar = Gtk.MenuBar()
file_item, file_menu = Gtk.MenuItem(label="File"), Gtk.Menu()
file_item.set_submenu(file_menu)
bar.append(file_item)
for text in ("New", "Open recent", "Export"):
    item = Gtk.MenuItem(label=text)
    item.connect("activate", lambda item: state.set(menu=item.get_label()))
    file_menu.append(item)
column.pack_start(bar, False, False, 0)

grid = Gtk.Grid(row_spacing=6, column_spacing=6, border_width=6)
column.pack_start(grid, False, False, 0)

name = Gtk.Entry(hexpand=True)
name.connect("changed", lambda entry: state.set(name=entry.get_text()))
labelled(grid, 0, "Name", name)

notes = Gtk.TextView(height_request=60)
buffer = notes.get_buffer()
buffer.connect("changed", lambda b: state.set(notes=b.get_text(b.get_start_iter(), b.get_end_iter(), False)))
labelled(grid, 1, "Notes", notes)

password = Gtk.Entry(visibility=False, input_purpose=Gtk.InputPurpose.PASSWORD)
password.connect("changed", length("password_length"))
labelled(grid, 2, "Password", password)

hidden = Gtk.Entry(visibility=False)
hidden.connect("changed", length("hidden_length"))
labelled(grid, 3, "Answer", hidden)

agree = Gtk.CheckButton(label="Agree")
agree.connect("toggled", lambda b: state.set(agree=b.get_active()))
grid.attach(agree, 1, 4, 1, 1)

colour = Gtk.ComboBoxText()
for text in COLOURS:
    colour.append_text(text)
colour.set_active(0)
colour.connect("changed", lambda c: state.set(colour=c.get_active_text()))
labelled(grid, 5, "Colour", colour)

buttons = Gtk.Box(spacing=6)
grid.attach(buttons, 0, 6, 2, 1)
greet = Gtk.Button(label="Greet")
greet.connect("clicked", lambda _: state.set(greetings=state["greetings"] + 1))
buttons.add(greet)
save = Gtk.Button()  # a picture and a label inside: what is pressed is the button
inside = Gtk.Box(spacing=4)
save_words = os.environ.get("FORM_SAVE", "Save file")
picture, words = Gtk.Image.new_from_icon_name("document-save", Gtk.IconSize.BUTTON), Gtk.Label(label=save_words)
inside.add(picture)
inside.add(words)
save.add(inside)
save.connect("clicked", lambda _: state.save())
buttons.add(save)
if "FORM_TWIN" in os.environ:
    buttons.add(Gtk.Button(label=save_words))
manual = Gtk.LinkButton(uri="https://example.org/", label="Manual")
buttons.add(manual)
more = Gtk.MenuButton(label="More")
popover = Gtk.Popover()
more.set_popover(popover)
choices = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for text in ("Print", "Share"):
    choice = Gtk.ModelButton(text=text)
    choice.connect("clicked", lambda button: state.set(menu=button.get_property("text")))
    choices.add(choice)
choices.show_all()
popover.add(choices)
buttons.add(more)

tabs = Gtk.Notebook()
column.pack_start(tabs, True, True, 0)
scroller = Gtk.ScrolledWindow(vexpand=True, min_content_height=120)
rows = Gtk.ListBox()
for text in ROWS:
    row = Gtk.ListBoxRow()
    row.add(Gtk.Label(label=text, xalign=0))
    rows.add(row)
rows.connect("row-selected", lambda _, row: state.set(row=ROWS[row.get_index()] if row else ""))
scroller.get_vadjustment().connect("value-changed", lambda a: state.set(scrolled=a.get_value() > 0))
scroller.add(rows)
tab = Gtk.Label(label="Rows")
tabs.append_page(scroller, tab)

store = Gtk.ListStore(str, str)
for i, text in enumerate(ROWS[:6]):
    store.append([text, str(i)])
table = Gtk.TreeView(model=store)
for i, title in enumerate(("Word", "Number")):
    table.append_column(Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=i))
tabs.append_page(table, Gtk.Label(label="Table"))

area = Gtk.DrawingArea(height_request=90)
area.get_accessible().set_name("Drag area")
area.add_events(Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.BUTTON_RELEASE_MASK | Gdk.EventMask.BUTTON1_MOTION_MASK)
held = []


def draw(area, cr):
    cr.set_source_rgb(0.93, 0.93, 0.93)
    cr.paint()
    cr.set_source_rgb(0.2, 0.4, 0.8)
    cr.rectangle(*state["box"], 40, 30)
    cr.fill()


def press(_, event):
    x, y = state["box"]
    if 0 <= event.x - x < 40 and 0 <= event.y - y < 30:
        held[:] = [event.x - x, event.y - y]


def motion(area, event):
    if held:
        state["box"] = [round(event.x - held[0]), round(event.y - held[1])]
        area.queue_draw()


def release(area, event):
    motion(area, event)
    held.clear()
    state.write()


area.connect("draw", draw)
area.connect("button-press-event", press)
area.connect("motion-notify-event", motion)
area.connect("button-release-event", release)
column.pack_start(area, False, False, 0)

parts = {
    "File": file_item, "Name": name, "Notes": notes, "Password": password, "Answer": hidden, "Agree": agree, "Colour": colour, "Greet": greet,
    "Save file": save, "Save file: picture": picture, "Save file: words": words, "Manual": manual, "More": more, "Rows": tab,
    "Alpha": rows.get_row_at_index(0), "Delta": rows.get_row_at_index(3), "Drag area": area,
}


def place():
    if all(part.get_mapped() for part in parts.values()):
        state.place({
            text: [*part.translate_coordinates(window, 0, 0), part.get_allocated_width(), part.get_allocated_height()] for text, part in parts.items()
        })
    return True


state.on_terminate(lambda: os._exit(0))
GLib.timeout_add(200, place)  # Python sees a signal only when the loop comes round
window.show_all()
Gtk.main()
