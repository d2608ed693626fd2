"""The command of an agent that `sdk_server.py` forks: `sdk_client.py SOCKET STAGE...`."""

import json
import os
import socket
import sys

place, *stages = sys.argv[1:]
data = json.dumps({"stages": stages, "environment": dict(os.environ)}).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect(place)
    socket.send_fds(server, [b"%8d" % len(data)], [1, 2])
    server.sendall(data)
    code = server.recv(1)
sys.exit(code[0] if code else 1)
