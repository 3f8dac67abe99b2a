#!/usr/bin/python3 -B
"""A small development environment in Qt: ide.qt.py [--zh]. It opens a folder, edits files and runs Python's unittest there."""

import os
import re
import sys

from qt import application, core, run, w
from words import arguments, words

_ = words(
    {
        "File": "文件", "Open Folder…": "打开文件夹…", "Open Folder": "打开文件夹", "Folder": "文件夹", "Open": "打开", "Run tests": "运行测试",
        "Take screenshot": "截图", "No tests run": "尚未运行测试", "%d tests passed": "%d 个测试通过", "%d of %d tests failed": "%d 个测试失败（共 %d 个）",
        "Tests failed": "测试失败", "OK": "确定", "Save": "保存", "There is no such folder.": "没有这个文件夹。", "Cannot open": "无法打开",
        "Screenshot saved to %s": "截图已保存到 %s", "Running…": "正在运行…", "Files": "文件", "Source": "源代码", "Quit": "退出",
    }
)
app = application("Code")
window = w.QMainWindow()
window.resize(820, 560)
window.move(60, 60)
window.setWindowTitle("Code")
body = w.QWidget()
window.setCentralWidget(body)
column = w.QVBoxLayout(body)
row = w.QHBoxLayout()
column.addLayout(row)
tests = w.QPushButton(_("Run tests"))
shot = w.QPushButton(_("Take screenshot"))
result = w.QLabel(_("No tests run"))
for one in (tests, shot, result):
    row.addWidget(one)
row.addStretch()
split = w.QHBoxLayout()
column.addLayout(split)
tree = w.QListWidget()
tree.setAccessibleName(_("Files"))
tree.setFixedWidth(200)
split.addWidget(tree)
source = w.QPlainTextEdit()
source.setAccessibleName(_("Source"))
split.addWidget(source)
project, file = None, None


def open_folder():
    global project
    dialog = w.QDialog(window)
    dialog.setWindowTitle(_("Open Folder"))
    form = w.QFormLayout(dialog)
    place = w.QLineEdit()
    place.setMinimumWidth(420)
    place.setAccessibleName(_("Folder"))
    form.addRow(_("Folder"), place)
    button = w.QPushButton(_("Open"))
    button.clicked.connect(dialog.accept)
    form.addRow(button)
    if not dialog.exec():
        return
    if not os.path.isdir(place.text()):
        tell(_("Cannot open"), _("There is no such folder."))
        return
    project = place.text()
    tree.clear()
    tree.addItems(sorted(n for n in os.listdir(project) if not n.startswith(("_", "."))))
    window.setWindowTitle(os.path.basename(project) + " – Code")


def tell(title, text):
    box = w.QMessageBox(w.QMessageBox.Icon.Critical, title, text, parent=window)
    box.addButton(_("OK"), w.QMessageBox.ButtonRole.AcceptRole)
    box.exec()


def show(item):
    global file
    file = os.path.join(project, item.text())
    with open(file, encoding="utf-8") as f:
        source.setPlainText(f.read())
    window.setWindowTitle(f"{item.text()} – {os.path.basename(project)} – Code")


def save():
    if file:
        with open(file, "w", encoding="utf-8") as f:
            f.write(source.toPlainText())


def run_tests():
    if not project:
        tell(_("Cannot open"), _("There is no such folder."))
        return
    result.setText(_("Running…"))
    result.setStyleSheet("")
    process = core.QProcess(window)
    process.setWorkingDirectory(project)
    process.setProcessChannelMode(core.QProcess.ProcessChannelMode.MergedChannels)

    def ended(*ignored):
        out = bytes(process.readAll()).decode()
        ran = int((re.search(r"Ran (\d+)", out) or [0, 0])[1])
        failed = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", out))
        if failed or not ran:
            result.setText(_("%d of %d tests failed") % (failed, ran))
            result.setStyleSheet("background: #d33; color: white; padding: 4px")
            tell(_("Tests failed"), result.text())
        else:
            result.setText("✔ " + _("%d tests passed") % ran)
            result.setStyleSheet("background: #2a2; color: white; padding: 4px")
            window.setWindowTitle(f"{result.text()} – {os.path.basename(project)} – Code")

    process.finished.connect(ended)
    process.start(sys.executable, ["-B", "-m", "unittest"])


def screenshot():
    path = os.path.join(project or ".", "test-result.png")
    window.grab().save(path)


menu = window.menuBar().addMenu(_("File"))
menu.addAction(_("Open Folder…")).triggered.connect(open_folder)
entry = menu.addAction(_("Save"))
entry.setShortcut("Ctrl+S")
entry.triggered.connect(save)
menu.addAction(_("Quit")).triggered.connect(app.quit)
tests.clicked.connect(run_tests)
shot.clicked.connect(screenshot)
tree.itemDoubleClicked.connect(show)
window.show()
run(app)
