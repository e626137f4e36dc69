#!/usr/bin/env python3
"""Runs a command on a pseudo-terminal and plays a script of steps against it.

Arguments: a JSON list of steps, then the command. Each step is one of
  ["wait", TEXT]      until the terminal has shown TEXT (of what was not waited for yet)
  ["type", TEXT]      keys
  ["size", ROWS, COLUMNS]
  ["signal", NUMBER]  to the command itself
  ["stopped"]         until the command is stopped; then it is continued
  ["run", COMMAND]    by a shell, elsewhere
  ["hangup"]          closes the terminal
  ["raw", BOOL]       asserts whether the terminal is in raw mode
Prints one JSON object: the code, all the terminal showed, and whether it was left as it was found.
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

steps = json.loads(sys.argv[1])
deadline = time.monotonic() + 240


def resize(descriptor, rows, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


pid, master = pty.fork()
if pid == 0:
    resize(0, 30, 100)
    os.execvp(sys.argv[2], sys.argv[2:])

shown, position, status = bytearray(), 0, None
before = None


def read(seconds):
    """Takes what the terminal shows; False once nobody writes to it any more."""
    ready, _, _ = select.select([master], [], [], seconds)
    if not ready:
        return True
    try:
        data = os.read(master, 65536)
    except OSError:
        return False
    shown.extend(data)
    return bool(data)


def fail(step):
    os.kill(pid, signal.SIGKILL)
    print(json.dumps({"failed": step, "text": shown.decode("utf-8", "replace")}))
    sys.exit(1)


for step in steps:
    kind = step[0]
    if kind == "wait":
        wanted = step[1].encode()
        while (at := shown.find(wanted, position)) < 0:
            if time.monotonic() > deadline or not read(0.2):
                fail(step)
        position = at + len(wanted)
    elif kind == "type":
        os.write(master, step[1].encode())
    elif kind == "size":
        resize(master, step[1], step[2])
    elif kind == "signal":
        os.kill(pid, step[1])
    elif kind == "stopped":
        while os.waitpid(pid, os.WUNTRACED | os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                fail(step)
            read(0.05)
        os.kill(pid, signal.SIGCONT)
    elif kind == "raw":
        while bool(termios.tcgetattr(master)[3] & termios.ICANON) == step[1]:
            if time.monotonic() > deadline:
                fail(step)
            read(0.05)
    elif kind == "run":
        subprocess.run(step[1], shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    elif kind == "hangup":
        os.close(master)
        master = None

while master is not None and read(0.2):
    if time.monotonic() > deadline:
        fail(["end"])
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        while read(0):
            if not select.select([master], [], [], 0)[0]:
                break
        break
    status = None
if status is None:
    status = os.waitpid(pid, 0)[1]
code = os.waitstatus_to_exitcode(status)
canonical = echo = None
if master is not None:
    try:
        modes = termios.tcgetattr(master)[3]
        canonical, echo = bool(modes & termios.ICANON), bool(modes & termios.ECHO)
    except termios.error:
        pass
print(json.dumps(
    {"code": code, "text": shown.decode("utf-8", "replace"), "canonical": canonical, "echo": echo}))
