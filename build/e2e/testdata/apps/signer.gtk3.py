#!/usr/bin/python3 -B
"""A program that signs contracts, in GTK 3: signer.gtk3.py [--zh] FOLDER. SIGNER_PIN is the PIN to sign with."""

import os

from gtk3 import GLib, Gtk, ask, called, menu, message, pdf, run
from words import arguments, words

_ = words(
    {
        "Signer": "签署工具", "Log in": "登录", "User": "用户名", "Password": "密码", "Search": "搜索", "File": "文件", "Export as…": "导出为…", "Close": "关闭",
        "Sign…": "签署…", "Export": "导出", "Format": "格式", "Audit page": "审计页", "Folder": "文件夹", "OK": "确定", "Export failed": "导出失败",
        "PDF/A-1 does not allow transparent signatures. Choose another format.": "PDF/A-1 不允许透明签名，请选择其他格式。",
        "The folder %s cannot be written to.": "无法写入文件夹“%s”。", "Sign contract": "签署合同", "PIN": "PIN 码", "Wrong PIN": "PIN 码错误",
        "The PIN is wrong. %d attempts are left.": "PIN 码不正确，还可尝试 %d 次。", "Signed": "已签署", "%s is signed.": "%s 已签署。",
        "Login failed": "登录失败", "Exported %s, %d pages": "已导出 %s，共 %d 页", "both signatures valid": "两处签名均有效", "one signature missing": "缺少一处签名",
        "Contract": "合同", "Signatures": "签名", "Wrong user or password.": "用户名或密码错误。",
    }
)
called("Signer")
folder = arguments[0]
contracts = {"K-0415": (8, 2), "K-0416": (22, 1), "K-0417": (13, 2), "K-0418": (6, 1)}
left = 3

window = Gtk.Window(title=_("Signer"), default_width=720, default_height=460)
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
window.add(column)
bar = Gtk.MenuBar()
column.add(bar)
search = Gtk.SearchEntry(margin=6)
search.get_accessible().set_name(_("Search"))
column.add(search)
store = Gtk.ListStore(str, str)
shown = store.filter_new()
shown.set_visible_func(lambda model, row, _: search.get_text().lower() in model[row][0].lower())
table = Gtk.TreeView(model=shown, vexpand=True)
table.get_accessible().set_name(_("Contract"))
for i, title in enumerate((_("Contract"), _("Signatures"))):
    column_of = Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=i)
    column_of.set_min_width(200)
    table.append_column(column_of)
column.add(table)
sign_button = Gtk.Button(label=_("Sign…"), margin=6, halign=Gtk.Align.START)
column.add(sign_button)
status = Gtk.Label(label="", xalign=0, margin=6)
column.add(status)
search.connect("search-changed", lambda _: shown.refilter())


def fill():
    store.clear()
    for name, (pages, signatures) in contracts.items():
        store.append([name, _("both signatures valid") if signatures == 2 else _("one signature missing")])


def chosen():
    model, row = table.get_selection().get_selected()
    return model[row][0] if row else None


def retitle(*ignored):
    window.set_title(f"{chosen()} – {_('Signer')}" if chosen() else _("Signer"))


def export():
    name = chosen()
    if not name:
        return
    dialog = Gtk.Dialog(title=_("Export"), transient_for=window, modal=True, border_width=12)
    grid = Gtk.Grid(row_spacing=8, column_spacing=12)
    choices = []
    for i, label in enumerate(("PDF", "PDF/A-1", "PDF/A-2")):
        choices.append(Gtk.RadioButton.new_with_label_from_widget(choices[0] if choices else None, label))
        grid.attach(choices[-1], 0, i, 2, 1)
    audit = Gtk.CheckButton(label=_("Audit page"))
    grid.attach(audit, 0, 3, 2, 1)
    place = Gtk.Entry(text=folder, width_chars=50)
    place.get_accessible().set_name(_("Folder"))
    grid.attach(Gtk.Label(label=_("Folder"), xalign=0), 0, 4, 1, 1)
    grid.attach(place, 1, 4, 1, 1)
    dialog.get_content_area().add(grid)
    dialog.add_button(_("Export"), 1)
    dialog.show_all()
    while dialog.run() == 1:
        if choices[1].get_active():
            message(dialog, Gtk.MessageType.ERROR, _("Export failed"), _("PDF/A-1 does not allow transparent signatures. Choose another format."), _("OK"))
            continue
        file = os.path.join(place.get_text(), name + ".pdf")
        pages = contracts[name][0] + audit.get_active()
        try:
            pdf(file, name, pages)
        except OSError:
            message(dialog, Gtk.MessageType.ERROR, _("Export failed"), _("The folder %s cannot be written to.") % place.get_text(), _("OK"))
            continue
        status.set_text(_("Exported %s, %d pages") % (name + ".pdf", pages))
        break
    dialog.destroy()


def sign(_button):
    global left
    name = chosen()
    pin = ask(window, _("Sign contract"), _("PIN"), _("Sign…"), secret=True) if name else None
    if pin is None:
        return
    if pin != os.environ.get("SIGNER_PIN"):
        left -= 1
        message(window, Gtk.MessageType.ERROR, _("Wrong PIN"), _("The PIN is wrong. %d attempts are left.") % left, _("OK"))
        return
    contracts[name] = (contracts[name][0], 2)
    pdf(os.path.join(folder, name + "-signed.pdf"), name, contracts[name][0])
    fill()
    message(window, Gtk.MessageType.INFO, _("Signed"), _("%s is signed.") % name, _("OK"))


menu(bar, _("File"), (_("Export as…"), export, None), (_("Close"), lambda: window.destroy(), None))
sign_button.connect("clicked", sign)
table.get_selection().connect("changed", retitle)
fill()


def log_in():
    """The first window: nothing opens without user and password."""
    first = Gtk.Window(title=_("Log in") + " – " + _("Signer"), border_width=16)
    grid = Gtk.Grid(row_spacing=8, column_spacing=12)
    user, password = Gtk.Entry(), Gtk.Entry(visibility=False, input_purpose=Gtk.InputPurpose.PASSWORD)
    for i, (label, entry) in enumerate(((_("User"), user), (_("Password"), password))):
        entry.get_accessible().set_name(label)
        grid.attach(Gtk.Label(label=label, xalign=0), 0, i, 1, 1)
        grid.attach(entry, 1, i, 1, 1)
    button = Gtk.Button(label=_("Log in"))
    grid.attach(button, 1, 2, 1, 1)
    first.add(grid)

    def enter(_button):
        if len(password.get_text()) < 8:
            message(first, Gtk.MessageType.ERROR, _("Login failed"), _("Wrong user or password."), _("OK"))
            return
        window.move(60, 80)
        window.show_all()
        first.hide()

    button.connect("clicked", enter)
    first.connect("delete-event", lambda *_: os._exit(0))
    first.move(120, 120)
    return first


window.connect("destroy", lambda _: os._exit(0))
first = log_in()
first.show_all()
GLib.timeout_add(200, lambda: True)
Gtk.main()
