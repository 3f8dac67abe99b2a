#!/usr/bin/python3 -B
"""A window of settings in Qt: settings.qt.py [--zh] FILE, which Apply writes."""

import configparser
import os

from qt import application, run, w
from words import arguments, words

_ = words(
    {
        "Settings": "设置", "General": "常规", "Network": "网络", "Start at login": "登录时启动", "Check for updates": "检查更新", "Language": "语言",
        "Use a proxy": "使用代理", "Host": "主机", "Port": "端口", "Apply": "应用", "Cancel": "取消", "OK": "确定", "Invalid port": "端口无效",
        "The port has to be a number from 1 to 65535.": "端口必须是 1 到 65535 之间的数字。", "Settings were saved": "设置已保存", "Theme": "主题",
        "Light": "浅色", "Dark": "深色",
    }
)
app = application("Settings")
file = arguments[0]
window = w.QWidget()
window.setWindowTitle(_("Settings"))
window.resize(460, 320)
window.move(120, 100)
column = w.QVBoxLayout(window)
tabs = w.QTabWidget()
column.addWidget(tabs)


def page(title):
    body = w.QWidget()
    tabs.addTab(body, title)
    return w.QFormLayout(body)


general, network = page(_("General")), page(_("Network"))
login, updates, proxy = w.QCheckBox(_("Start at login")), w.QCheckBox(_("Check for updates")), w.QCheckBox(_("Use a proxy"))
theme = w.QComboBox()
theme.addItems([_("Light"), _("Dark")])
theme.setAccessibleName(_("Theme"))
host, port = w.QLineEdit(), w.QLineEdit()
host.setAccessibleName(_("Host"))
port.setAccessibleName(_("Port"))
general.addRow(login)
general.addRow(updates)
general.addRow(_("Theme"), theme)
network.addRow(proxy)
network.addRow(_("Host"), host)
network.addRow(_("Port"), port)


def apply():
    if proxy.isChecked() and not (port.text().isdigit() and 0 < int(port.text()) < 65536):
        box = w.QMessageBox(w.QMessageBox.Icon.Warning, _("Invalid port"), _("The port has to be a number from 1 to 65535."), parent=window)
        box.addButton(_("OK"), w.QMessageBox.ButtonRole.AcceptRole)
        box.exec()
        return
    out = configparser.ConfigParser()
    out["general"] = {"login": login.isChecked(), "updates": updates.isChecked(), "theme": theme.currentIndex()}
    out["network"] = {"proxy": proxy.isChecked(), "host": host.text(), "port": port.text()}
    draft = file + ".tmp"
    with open(draft, "w", encoding="utf-8") as f:
        out.write(f)
    os.replace(draft, file)
    window.setWindowTitle(_("Settings") + " – " + _("Settings were saved"))


row = w.QHBoxLayout()
column.addLayout(row)
row.addStretch()
for label, act in (("Cancel", app.quit), ("Apply", apply)):
    button = w.QPushButton(_(label))
    button.clicked.connect(act)
    row.addWidget(button)
window.show()
run(app)
