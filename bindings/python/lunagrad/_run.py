"""lunagrad.run(): a script from its start to its end."""
from ._session import session


def run(script: "str | os.PathLike[str] | None" = None, *, text: "str | bytes | None" = None, set: "Mapping[str, Any] | None" = None,
        on_metrics: "Callable[[int, dict[str, float]], Any] | None" = None, on_output: "Callable[[str, str], Any] | None" = None,
        args: "Sequence[str]" = (), device: "str | None" = None, seed: "int" = 0, host: "Mapping[str, Any] | None" = None,
        values: "Sequence[str]" = (), on_event: "Callable[[Event], Any] | None" = None, modules: "Mapping[str, str] | None" = None,
        library: "str | os.PathLike[str] | None" = None, deadline: "float" = 10, name: "str" = "script", steps: "int" = 0,
        memory_limit: "int" = 0, folder: "str | os.PathLike[str] | None" = None, resume: "str | os.PathLike[str] | None" = None,
        preload: "bool" = False, sandbox: "bool" = False) -> "RunResult":
    """Runs a script, a file or a text, to its end in a session, and gives its metrics, values and outcome.

    set: parameters by name, for lg.run.param. on_metrics(step, values) gets what the script logs. on_output(text, stream) gets what it
    prints; without it, sys.stdout and sys.stderr do. host: values and functions that the script finds in lg.host. values: names of
    lg.host whose values the result has. session and session.start() explain the other arguments. ScriptError: the script ended
    with an error; an exception of a function in `host` is raised itself. Ctrl-C stops the run at the end of its step, a second one at
    once."""
    with session(device=device, seed=seed, on_metrics=on_metrics, on_output=on_output, on_event=on_event, modules=modules,
                 library=library, deadline=deadline) as opened:
        for key, value in (host or {}).items():
            (opened.function if callable(value) else opened.set)(key, value)
        opened.start(script, text=text, name=name, set=set, args=args, steps=steps, memory_limit=memory_limit, folder=folder,
                     resume=resume, preload=preload, sandbox=sandbox)
        result = opened.wait()
        result.values = {key: opened.get(key) for key in values}
        return result
