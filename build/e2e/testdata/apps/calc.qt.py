#!/usr/bin/python3 -B
"""A calculator in Qt: calc.qt.py [--zh]. Its display is a field that nothing is typed into."""

from qt import application, core, run, w
from words import words

_ = words({"Calculator": "计算器", "Display": "显示", "Clear": "清除"})
app = application("Calculator")
window = w.QWidget()
window.setWindowTitle(_("Calculator"))
window.resize(300, 320)
window.move(760, 140)
grid = w.QGridLayout(window)
display = w.QLineEdit("0")
display.setReadOnly(True)
display.setAccessibleName(_("Display"))
display.setFocusPolicy(core.Qt.FocusPolicy.NoFocus)
grid.addWidget(display, 0, 0, 1, 4)
text, fresh = "", False


def show():
    display.setText(text or "0")


def put(what):
    global text, fresh
    if what == "=":
        try:
            value = eval(text, {"__builtins__": {}})
            text = f"{value:g}" if isinstance(value, float) else str(value)
        except Exception:
            text = "Error"
        fresh = True
    elif what == "C":
        text = ""
    else:
        if fresh and what.isdigit() or text == "Error":
            text = ""
        fresh = False
        text += what
    show()


class Keys(core.QObject):
    def eventFilter(self, _watched, event):
        if event.type() != core.QEvent.Type.KeyPress:
            return False
        key = event.text()
        if event.key() in (core.Qt.Key.Key_Return, core.Qt.Key.Key_Enter):
            put("=")
        elif event.key() == core.Qt.Key.Key_Escape:
            put("C")
        elif key and key in "0123456789+-*/.()=":
            put(key)
        else:
            return False
        return True


keys = Keys()
window.installEventFilter(keys)
for i, key in enumerate("789/456*123-0.=+"):
    button = w.QPushButton(key)
    button.setFocusPolicy(core.Qt.FocusPolicy.NoFocus)
    button.clicked.connect(lambda _checked, key=key: put(key))
    grid.addWidget(button, 1 + i // 4, i % 4)
clear = w.QPushButton(_("Clear"))
clear.setFocusPolicy(core.Qt.FocusPolicy.NoFocus)
clear.clicked.connect(lambda: put("C"))
grid.addWidget(clear, 5, 0, 1, 4)
window.show()
run(app)
