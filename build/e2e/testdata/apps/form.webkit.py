#!/usr/bin/python3 -B
"""The form in WebKitGTK: form.webkit.py URL. The server of the page gets its state."""

import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gtk, WebKit2

window = Gtk.Window(title="Form WebKit")
window.set_default_size(560, 620)
window.connect("destroy", Gtk.main_quit)
page = WebKit2.WebView()
page.load_uri(sys.argv[1])
window.add(page)
window.show_all()
Gtk.main()
