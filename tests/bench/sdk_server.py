"""Forks agents from a process that has imported their SDK: `sdk_server.py SOCKET SCRIPT "MODULE …"`.

A client (`sdk_client.py`) hands over its environment, its output and the words of each stage. The agent's
process sets that environment before it makes a client of the SDK, so it is captured as one that was started
by itself.
"""

import contextlib
import importlib
import json
import os
import runpy
import socket
import sys

LENGTH = 8


def received(connection):
    """The words and the environment, and the client's stdout and stderr."""
    head, files, _, _ = socket.recv_fds(connection, LENGTH, 2)
    data = b""
    while len(data) < int(head):
        data += connection.recv(int(head) - len(data))
    return json.loads(data), files


def agent(script, asked, files):
    """Be the agent. Stages follow each other, each as the script's own arguments."""
    for file, own in zip(files, (1, 2), strict=True):
        os.dup2(file, own)
    os.environ.clear()
    os.environ.update(asked["environment"])
    for stage in asked["stages"]:
        sys.argv = [script, *stage.split()]
        runpy.run_path(script, run_name="__main__")
    sys.stdout.flush()


def answer(connection, script):
    """Fork for one client, and tell it the exit code. What this agent had to import, the next ones find."""
    asked, files = received(connection)
    known = set(sys.modules)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        code = 1
        try:
            agent(script, asked, files)
            code = 0
        finally:
            sys.stderr.flush()
            with open(writes, "w") as file:
                file.write(" ".join(name for name in sys.modules if name not in known))
            os._exit(code)
    os.close(writes)
    for file in files:
        os.close(file)
    with open(reads) as file:
        found = file.read().split()
    _, status = os.waitpid(child, 0)
    connection.sendall(bytes([os.waitstatus_to_exitcode(status) & 255]))
    for name in found:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def main():
    place, script, *modules = sys.argv[1:]
    for name in " ".join(modules).split():
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen()
        print("ready", flush=True)
        while True:
            connection, _ = server.accept()
            with connection:
                answer(connection, script)


main()
