"""Shared by the comparisons in this folder: two programs that answer lines on standard input, and the format of seconds."""
import os
import select
import subprocess
import time

OPENMP_BLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"


class Ended(Exception):
    """The program ended, or did not answer in time."""


def environment(threads=2):
    # A preset core type would slow OpenBLAS down on both sides.
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    if threads:
        env["OMP_NUM_THREADS"] = str(threads)
    return env


def with_one_pool(env):
    """Two thread pools on two cores compete; with the OpenMP build of OpenBLAS PyTorch has one."""
    return env | {"LD_LIBRARY_PATH": OPENMP_BLAS + ":" + env.get("LD_LIBRARY_PATH", "")}


class Side:
    """A program that answers each line with one line, within `limit` seconds if that is given."""

    def __init__(self, command, env, limit=None):
        self.limit = limit
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)

    def ask(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Ended(f"{self.process.args[0]} ended in '{line}'") from None
        return self.line(line)

    def line(self, question):
        """The next line that the program prints."""
        deadline, text = time.monotonic() + (self.limit or 1e9), b""
        while not text.endswith(b"\n"):
            wait = min(deadline - time.monotonic(), 1e6)
            if wait <= 0 or not select.select([self.process.stdout], [], [], wait)[0]:
                self.close()
                raise Ended(f"no answer to '{question}' within {self.limit:.0f} s")
            read = os.read(self.process.stdout.fileno(), 1 << 16)
            if not read:
                raise Ended(f"{self.process.args[0]} ended in '{question}' with code {self.process.wait()}")
            text += read
        return text.decode().strip().split("\n")[-1]

    def close(self):
        self.process.kill()
        self.process.wait()


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:8.3f} {unit}"
    return f"{value / 1e-9:8.1f} ns"
