"""%load_ext libprof: %prof shows a report, page or flame graph in the notebook; %%prof records a cell."""
from __future__ import annotations

import html
import os
import tempfile
from typing import Any, Optional

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import HTML, display

from ._errors import ProfError
from ._process import record
from ._recording import Recording, open as open_recording

USAGE = "usage: %prof report NAME [LOG...] | %prof page [LOG...] | %prof flame [LOG...]; %%prof on a cell records it"


@magics_class
class ProfMagics(Magics):
    """The magics. Without a log, they show the last recorded cell."""

    last: Optional[Recording] = None

    @line_cell_magic
    def prof(self, line: str, cell: Optional[str] = None) -> Any:
        """%%prof [NAME...]: records the cell and prints these reports, by default the summary. %prof: see USAGE."""
        try:
            return self._shown(line.split()) if cell is None else self._recorded(line.split(), cell)
        except (ProfError, OSError) as error:
            raise UsageError(str(error)) from None

    def _recorded(self, names: "list[str]", cell: str) -> Optional[Recording]:
        assert self.shell is not None  # magics are called by a shell
        with record() as part:
            result = self.shell.run_cell(cell)
        result.raise_error()
        if part.recording is None:
            print("the cell made no CUDA or NVTX call")
            return None
        ProfMagics.last = part.recording
        print(part.recording.text(*names), end="")
        return part.recording

    def _shown(self, words: "list[str]") -> Optional[Recording]:
        if not words or words[0] not in ("report", "page", "flame") or (words[0] == "report" and len(words) < 2):
            raise UsageError(USAGE)
        logs = words[2:] if words[0] == "report" else words[1:]
        recording = open_recording(*logs) if logs else ProfMagics.last
        if recording is None:
            raise UsageError("no cell was recorded with %%prof yet; name a log. " + USAGE)
        if words[0] == "report":
            print(recording.text(words[1]), end="")
            return recording
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            if words[0] == "page":
                recording.page(path)
            else:
                recording.text("flame", output=path)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        # A frame of its own: the styles and scripts of the page do not touch the notebook.
        display(HTML(f'<iframe srcdoc="{html.escape(text)}" style="width:100%;height:700px;border:0"></iframe>'))
        return recording


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics."""
    shell.register_magics(ProfMagics)
