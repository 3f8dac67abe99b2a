#!/usr/bin/python3 -B
"""A form in Qt 5 or 6, whichever PyQt there is: form.qt.py [STATE.json [FOLDER]]. QT=5 or QT=6 chooses."""

import importlib
import os
import sys

for version in [os.environ["QT"]] if "QT" in os.environ else ["6", "5"]:
    try:
        core = importlib.import_module(f"PyQt{version}.QtCore")
        gui = importlib.import_module(f"PyQt{version}.QtGui")
        w = importlib.import_module(f"PyQt{version}.QtWidgets")
        break
    except ImportError:
        continue

from state import COLOURS, ROWS, State

state = State("qt" + version)
app = w.QApplication(sys.argv[:1])
window = w.QMainWindow()
window.setWindowTitle("Form Qt " + version)
window.resize(560, 620)
menu = window.menuBar().addMenu("File")
for text in ("New", "Open recent", "Export"):
    menu.addAction(text).triggered.connect(lambda _, text=text: state.set(menu=text))

body = w.QWidget()
window.setCentralWidget(body)
form = w.QFormLayout(body)

name = w.QLineEdit()
name.textChanged.connect(lambda text: state.set(name=text))
form.addRow("Name", name)
notes = w.QPlainTextEdit()
notes.setFixedHeight(60)
notes.textChanged.connect(lambda: state.set(notes=notes.toPlainText()))
form.addRow("Notes", notes)
password = w.QLineEdit()
password.setEchoMode(w.QLineEdit.EchoMode.Password)
password.textChanged.connect(lambda text: state.set(password_length=len(text)))
form.addRow("Password", password)
hidden = w.QLineEdit()
hidden.setEchoMode(w.QLineEdit.EchoMode.NoEcho)
hidden.textChanged.connect(lambda text: state.set(hidden_length=len(text)))
form.addRow("Answer", hidden)
agree = w.QCheckBox("Agree")
agree.toggled.connect(lambda on: state.set(agree=on))
form.addRow("", agree)
colour = w.QComboBox()
colour.addItems(COLOURS)
colour.currentTextChanged.connect(lambda text: state.set(colour=text))
form.addRow("Colour", colour)

buttons = w.QHBoxLayout()
greet = w.QPushButton("Greet")
greet.clicked.connect(lambda: state.set(greetings=state["greetings"] + 1))
buttons.addWidget(greet)
save = w.QPushButton("Save file")
save.clicked.connect(state.save)
buttons.addWidget(save)
form.addRow(buttons)

rows = w.QListWidget()
rows.addItems(ROWS)
rows.currentTextChanged.connect(lambda text: state.set(row=text))
rows.verticalScrollBar().valueChanged.connect(lambda v: state.set(scrolled=v > 0))
form.addRow(rows)


class Area(w.QWidget):
    """A box to drag about."""

    def __init__(self):
        super().__init__()
        self.setFixedHeight(90)
        self.setAccessibleName("Drag area")
        self.held = None

    def paintEvent(self, _):
        painter = gui.QPainter(self)
        painter.fillRect(self.rect(), gui.QColor("#eeeeee"))
        painter.fillRect(*state["box"], 40, 30, gui.QColor("#3366cc"))

    def mousePressEvent(self, event):
        grip = event.pos() - core.QPoint(*state["box"])
        if core.QRect(0, 0, 40, 30).contains(grip):
            self.held = grip

    def mouseMoveEvent(self, event):
        if self.held is not None:
            at = event.pos() - self.held
            state["box"] = [at.x(), at.y()]
            self.update()

    def mouseReleaseEvent(self, event):
        self.mouseMoveEvent(event)
        self.held = None
        state.write()


area = Area()
form.addRow(area)
parts = {
    "Name": name, "Notes": notes, "Password": password, "Answer": hidden, "Agree": agree, "Colour": colour, "Greet": greet, "Save file": save,
    "Drag area": area,
}


def place():
    if not window.isVisible():
        return
    boxes = {text: (part, part.rect()) for text, part in parts.items()}
    boxes["Agree"] = agree, core.QRect(core.QPoint(0, 0), agree.sizeHint())  # the rest of it does not hear clicks
    boxes["File"] = window.menuBar(), window.menuBar().actionGeometry(menu.menuAction())
    boxes["Alpha"] = rows.viewport(), rows.visualItemRect(rows.item(0))
    placed = {}
    for text, (part, box) in boxes.items():
        at = part.mapTo(window, box.topLeft())
        placed[text] = [at.x(), at.y(), box.width(), box.height()]
    state.place(placed)


state.on_terminate(lambda: os._exit(0))
wake = core.QTimer()  # Python sees a signal only when the loop comes round
wake.start(200)
wake.timeout.connect(place)
window.show()
sys.exit(app.exec() if version == "6" else app.exec_())
