#!/usr/bin/env python3
"""A real HTTP server that answers as a bot's provider: by a script, and piece by piece.

    provider-server.py SCRIPT [PORT]

SCRIPT is JSON, or @FILE that holds it: a list of answers in the order of the requests; the last one is for all that
follow:

    {"status": 200, "headers": {"Content-Type": "text/event-stream"}, "body": "data: ...", "piece": 7, "then": "end"}

`piece` is how many bytes are sent at a time (default: all), `repeat` how often the body is sent, and `then`:

    end    the answer is complete
    drop   the connection is closed without an answer
    mute   nothing comes, not even the head
    cut    the connection is closed in the middle of the answer
    hang   nothing more comes until the client leaves; then the line `left` is printed

The first line on standard output is the port, a free one unless PORT is given. Each request becomes one JSON line: method, path, headers, body.
Ends when whoever started it closes standard input.
"""

import http.server
import json
import signal
import sys
import threading

from lifetime import leave_with_stdin


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers, port):
        self.answers, self.used, self.lock = answers, 0, threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    def note(self, line):
        with self.lock:
            print(line, flush=True)

    def next_answer(self):
        with self.lock:
            answer = self.answers[min(self.used, len(self.answers) - 1)]
            self.used += 1
            return answer

    def handle_error(self, request, client_address):
        pass  # a client that leaves early is part of the tests


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.next_answer()
        self.server.note(
            json.dumps({"method": self.command, "path": self.path, "headers": headers, "body": body.decode()})
        )
        then = answer.get("then", "end")
        try:
            self.send(answer, then)
        finally:
            # Also one that left before it had read all that was sent.
            if then == "hang":
                self.server.note("left")

    def send(self, answer, then):
        if then == "drop":
            self.close_connection = True
            return
        if then == "mute":
            self.connection.recv(1)
            self.close_connection = True
            return
        self.send_response(answer.get("status", 200))
        for name, value in answer.get("headers", {}).items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        content = answer.get("body", "").encode()
        size = answer.get("piece") or max(len(content), 1)
        for _ in range(answer.get("repeat", 1)):
            for start in range(0, len(content), size):
                piece = content[start : start + size]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if then == "end":
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.wfile.flush()
            if then == "hang":
                self.connection.recv(1)
            self.close_connection = True

    do_GET = do_POST = answer

    def log_message(self, *args):
        pass


def main():
    # Whoever starts it may have blocked signals on the starting thread; a server must get TERM and INT.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    script = sys.argv[1]
    if script.startswith("@"):
        with open(script[1:], encoding="utf-8") as file:
            script = file.read()
    server = Server(json.loads(script), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(server.server_address[1], flush=True)
    threading.Thread(target=leave_with_stdin, daemon=True).start()
    server.serve_forever()


main()
