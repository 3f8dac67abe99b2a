"""The state of a form, as a JSON file that a test can read at any time."""

import json
import os
import signal
import sys


class State(dict):
    """Written to the file named by the first argument, whole or not at all, whenever something is set."""

    def __init__(self, toolkit):
        super().__init__(
            toolkit=toolkit,
            name="",
            notes="",
            password_length=0,
            hidden_length=0,
            agree=False,
            colour="Red",
            row="",
            scrolled=False,
            greetings=0,
            menu="",
            box=[10, 10],
            saved="",
            places={},
        )
        self.path = sys.argv[1] if len(sys.argv) > 1 else ""
        self.folder = sys.argv[2] if len(sys.argv) > 2 else "."
        self.seen = {}
        self.write()

    def set(self, **changed):
        self.update(changed)
        self.write()

    def write(self):
        if not self.path:
            return
        draft = self.path + ".part"
        with open(draft, "w", encoding="utf-8") as f:
            json.dump(self, f, ensure_ascii=False, indent=1, sort_keys=True)
            f.write("\n")
        os.replace(draft, self.path)

    def place(self, boxes):
        """Called time and again, and written down once nothing moves any more. boxes are the parts by name, each
        [x, y, width, height] from the top left of the window."""
        if boxes == self.seen != self["places"]:
            self.set(places=boxes)
        self.seen = boxes

    def save(self):
        """Writes what stands in the form into a file of its own, as a person's "save" does."""
        path = os.path.join(self.folder, "form.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"name: {self['name']}\nnotes: {self['notes']}\n")
        self.set(saved="form.txt")

    def on_terminate(self, leave):
        """leave is called on SIGTERM, after the state was written a last time."""

        def ended(*_):
            self.write()
            leave()

        signal.signal(signal.SIGTERM, ended)


ROWS = [
    "Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "Hotel", "India", "Juliett", "Kilo", "Lima",
    "Mike", "November", "Oscar", "Papa", "Quebec", "Romeo", "Sierra", "Tango", "Uniform", "Victor", "Whiskey",
    "X-ray", "Yankee", "Zulu",
]
COLOURS = ["Red", "Green", "Blue"]
