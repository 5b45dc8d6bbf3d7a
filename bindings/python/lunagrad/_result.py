"""What a run has told: metrics, paths, how it ended."""


class Curve:
    """Steps and values of a metric, thinned out evenly when there are many."""

    MOST = 1024

    def __init__(self):
        self.points, self._every, self._count = [], 1, 0

    def add(self, step, value):
        if self._count % self._every == 0:
            if len(self.points) >= self.MOST:
                self.points, self._every = self.points[::2], 2 * self._every
            if self._count % self._every == 0:
                self.points.append((step, value))
        self._count += 1


class RunResult:
    """What a run has told. `outcome`: "ok" or "stopped" (an error is an exception); `steps`: how many have ended; `metrics`: the latest
    number of each; `curves`: up to 1,024 (step, number) of each; `values`: of lg.host, as asked for; `seconds`; `folder` and
    `checkpoint`: the run's folder and its latest checkpoint, or None; `dropped`: events that found no room."""

    outcome: "str"
    exit_code: "int"
    steps: "int"
    seconds: "float"
    metrics: "dict[str, float]"
    values: "dict[str, Any]"
    folder: "str | None"
    checkpoint: "str | None"
    dropped: "int"

    def __init__(self):
        self.outcome, self.exit_code, self.steps, self.seconds, self.dropped = "running", 0, 0, 0.0, 0
        self.metrics, self.values, self._curves = {}, {}, {}
        self.folder = self.checkpoint = None

    @property
    def curves(self) -> "dict[str, list[tuple[int, float]]]":
        """Steps and numbers of each metric."""
        return {name: list(curve.points) for name, curve in self._curves.items()}

    def _take(self, event):
        self.seconds = max(self.seconds, event.time)
        self.dropped += event.dropped
        if event.kind == "metrics":
            self.metrics.update(event.values)
            for name, value in event.values.items():
                self._curves.setdefault(name, Curve()).add(event.step, value)
        elif event.kind == "step":
            self.steps = event.step
        elif event.kind == "run_folder":
            self.folder = event.text
        elif event.kind == "checkpoint":
            self.checkpoint = event.text
        elif event.kind == "ended":
            self.outcome, self.exit_code = event.outcome, event.exit_code

    def __repr__(self):
        numbers = "".join(f", {name}={value:.4g}" for name, value in self.metrics.items())
        return f"<run: {self.outcome}, {self.steps} steps{numbers}>"

    def _repr_html_(self) -> "str":
        from ._html import html_of_run
        return html_of_run(self)
