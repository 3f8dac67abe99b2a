"""What the small applications in Qt have in common: Qt 6, or 5 where there is no other."""

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


def application(name):
    """Begins the application."""
    app = w.QApplication([name])
    app.setApplicationName(name)
    return app


def run(app):
    wake = core.QTimer()  # Python sees a signal only when the loop comes round
    wake.start(200)
    wake.timeout.connect(lambda: None)
    sys.exit(app.exec() if version == "6" else app.exec_())
