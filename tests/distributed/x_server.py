#!/usr/bin/env python3
# Exit code 1 when a command connects to an X server: x_server.py COMMAND... It takes the place of server 9, or skips where
# there is one.
import os
import socket
import subprocess
import sys
import threading

server = socket.socket(socket.AF_UNIX)
try:
    server.bind("\0/tmp/.X11-unix/X9")
except OSError:
    sys.exit(0)
server.listen(8)
seen = []


def answer():
    while True:
        client, _ = server.accept()
        client.close()
        seen.append(True)


threading.Thread(target=answer, daemon=True).start()
environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "HWLOC_COMPONENTS")}
code = subprocess.run(sys.argv[1:], env=environment, timeout=60).returncode
sys.exit(code or bool(seen))
