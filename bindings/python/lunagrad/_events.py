"""Events of a session: what its script prints and logs, and how its run goes on."""
from ctypes import string_at

KINDS = ("none", "output", "warning", "error", "state", "step", "metrics", "param", "run_folder", "checkpoint", "not_finite", "growth",
         "surgery", "media", "ended")
STATES = ("idle", "running", "paused", "stopping")
STREAMS = {1: "out", 2: "err"}
OUTCOMES = {0: "ok", 1: "error", 2: "usage", 4: "numeric", 5: "device", 6: "file", 8: "memory", 130: "stopped"}
WARNINGS = ("warning", "not_finite", "growth")


class Event:
    """What a session tells. `kind` is "output" (`text`, and `stream`: "out" or "err"), "warning", "error" (`text`, `outcome`), "state"
    (`state`: "running", "paused", "stopping" or "idle"), "step" (`step`: how many have ended, and `total`, 0: unknown), "metrics"
    (`step`, and `values`: a dict), "param" (`values`: its name and number, and `text`), "run_folder" or "checkpoint" (`text`: the
    path), "not_finite", "growth" or "surgery" (`text`), "media" (`text`: the name), or "ended" (`outcome`, `exit_code`). `file` and
    `line` are the script's line, `time` counts seconds since the run began, `dropped` events before this one that found no room."""

    __slots__ = ("kind", "text", "file", "line", "stream", "step", "total", "time", "state", "outcome", "exit_code", "dropped", "values")

    kind: "str"
    text: "str"
    file: "str"
    line: "int"
    stream: "str"
    step: "int"
    total: "int"
    time: "float"
    state: "str"
    outcome: "str"
    exit_code: "int"
    dropped: "int"
    values: "dict[str, float]"

    def __init__(self, data):
        self.kind = KINDS[data.kind] if data.kind < len(KINDS) else str(data.kind)
        self.text = string_at(data.text, data.length).decode("utf-8", "replace")
        self.file, self.line = data.file.decode("utf-8", "replace"), data.line
        self.stream = STREAMS.get(data.stream, "")
        self.step, self.total, self.time = data.step, data.total, data.time
        self.state = STATES[data.state]
        self.outcome, self.exit_code, self.dropped = OUTCOMES.get(data.outcome, "error"), data.exit_code, data.dropped
        self.values = {data.names[i].decode("utf-8", "replace"): data.values[i] for i in range(data.n_values)}

    def __repr__(self):
        shown = {"output": self.text, "metrics": f"step {self.step}: {self.values}", "step": f"{self.step} of {self.total}",
                 "state": self.state, "param": f"{self.values}: {self.text}", "ended": self.outcome}
        return f"<event {self.kind}: {shown.get(self.kind, self.text)!r}>"
