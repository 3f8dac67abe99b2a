#!/usr/bin/python3 -B
"""A converter in GTK 4: convert.gtk4.py [--zh] SOURCE TARGET. CONVERT_SECONDS is how long it takes; where the file
that CONVERT_CRASH names is not there it crashes half-way, and leaves the file."""

import os

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk

from words import arguments, words

_ = words(
    {
        "Converter": "转换器", "Convert": "开始转换", "Converting %d %%": "正在转换 %d%%", "Done": "完成", "Cancel": "取消", "High quality": "高质量",
    }
)
source, target = arguments
seconds = float(os.environ.get("CONVERT_SECONDS", "3"))
crash = os.environ.get("CONVERT_CRASH", "")
loop = GLib.MainLoop()
GLib.set_prgname("Converter")
Gtk.init()
window = Gtk.Window(title=os.path.basename(source) + " – " + _("Converter"), default_width=480, default_height=240)
window.connect("close-request", lambda _: loop.quit())
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin_start=16, margin_top=16, margin_end=16, margin_bottom=16)
window.set_child(column)
quality = Gtk.CheckButton(label=_("High quality"))
column.append(quality)
progress = Gtk.ProgressBar(show_text=True)
column.append(progress)
button = Gtk.Button(label=_("Convert"))
column.append(button)


def tick(state):
    state[0] += 0.5 / seconds
    if crash and state[0] > 0.5 and not os.path.exists(crash):
        open(crash, "w").close()
        os.abort()
    if state[0] < 1:
        progress.set_fraction(state[0])
        window.set_title(_("Converting %d %%") % (int(state[0] * 10) * 10) + " – " + _("Converter"))
        return True
    with open(source, "rb") as f, open(target, "wb") as out:
        out.write(b"converted\n" + f.read())
    progress.set_fraction(1)
    window.set_title(_("Done") + " – " + _("Converter"))
    button.set_sensitive(True)
    return False


def convert(_button):
    button.set_sensitive(False)
    GLib.timeout_add(500, tick, [0.0])


button.connect("clicked", convert)
window.present()
GLib.timeout_add(200, lambda: True)
loop.run()
