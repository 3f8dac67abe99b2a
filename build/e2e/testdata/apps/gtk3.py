"""What the small applications in GTK 3 have in common."""

import os

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk


def called(name):
    """Names the application, before it has windows."""
    GLib.set_prgname(name.lower())
    GLib.set_application_name(name)
    Gdk.set_program_class(name)


def message(parent, kind, title, text, *buttons):
    """Asks or tells in a dialog, and returns the index of the button pressed, or -1."""
    dialog = Gtk.MessageDialog(transient_for=parent, modal=True, message_type=kind, text=text, title=title)
    for i, label in enumerate(buttons):
        dialog.add_button(label, i)
    answer = dialog.run()
    dialog.destroy()
    return answer


def ask(parent, title, label, button, text="", secret=False):
    """Asks for a line of text, and returns it, or None."""
    dialog = Gtk.Dialog(title=title, transient_for=parent, modal=True, border_width=12)
    entry = Gtk.Entry(text=text, width_chars=36, activates_default=True)
    if secret:
        entry.set_visibility(False)
        entry.set_input_purpose(Gtk.InputPurpose.PASSWORD)
    entry.get_accessible().set_name(label)
    row = Gtk.Box(spacing=8)
    row.add(Gtk.Label(label=label, mnemonic_widget=entry))
    row.add(entry)
    dialog.get_content_area().add(row)
    dialog.add_button(button, 1)
    dialog.set_default_response(1)
    dialog.show_all()
    answer = entry.get_text() if dialog.run() == 1 else None
    dialog.destroy()
    return answer


def menu(bar, title, *entries, keys=None):
    """Adds a menu of (label, function, key) entries."""
    head, body = Gtk.MenuItem(label=title), Gtk.Menu()
    head.set_submenu(body)
    bar.append(head)
    for label, act, key in entries:
        item = Gtk.MenuItem(label=label)
        item.connect("activate", lambda _, act=act: act())
        if key:
            code, modifiers = Gtk.accelerator_parse(key)
            item.add_accelerator("activate", keys, code, modifiers, Gtk.AccelFlags.VISIBLE)
        body.append(item)


def pdf(path, title, pages):
    """Writes a file of so many empty pages that readers open."""
    kids = " ".join(f"{3 + i} 0 R" for i in range(pages))
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {pages}/Kids[{kids}]>>"]
    objects += ["<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"] * pages
    text, offsets = f"%PDF-1.7\n% {title}\n", []
    for i, one in enumerate(objects, 1):
        offsets.append(len(text.encode()))
        text += f"{i} 0 obj\n{one}\nendobj\n"
    start = len(text.encode())
    text += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{o:010} 00000 n \n" for o in offsets)
    text += f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def run(window):
    window.connect("destroy", lambda _: os._exit(0))
    GLib.timeout_add(200, lambda: True)  # Python sees a signal only when the loop comes round
    window.show_all()
    Gtk.main()
