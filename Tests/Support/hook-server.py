#!/usr/bin/env python3
"""A real HTTP server for the tests: answers by a plan and records every request.

    hook-server.py --port 0 --record FILE [options]

The first line on standard output is the port. Each request becomes one JSON line in FILE, flushed before
the answer is sent; FILE may be `-` for standard output:

    {"n": 1, "id": "...", "method": "POST", "path": "/", "headers": {"lower-case": "value"}, "body": "text",
     "bodyBytes": 21, "bodySha256": "...", "client": 40312, "status": 204, "verified": true, "error": null}

`client` is the peer's port: equal for requests of one connection. `body` is null when it is not UTF-8 or
longer than 64 KiB. `verified` is null without --secret; `error` says why it is false.

--port N                the port; 0 takes a free one
--host ADDRESS          127.0.0.1, or ::1
--record FILE           where requests are recorded
--status-plan A,B,C     the answers in order, the last one for ever (default 204). Each is a status, or
                          drop      close without a word
                          cut       promise a body and close in the middle of it
                          hang      no answer until the client leaves
                          garbage   something that is not HTTP
--plan-by-id            each webhook-id walks through the plan by itself
--retry-after VALUE     the header, with every status from 300 on
--location URL          the header, with every status 3xx
--header "Name: value"  one more header; may be repeated
--body-size N           bytes in the answer's body (default 0)
--echo-path             the answer's body repeats the path of the request
--secret whsec_...      verify with the package `standardwebhooks`; may be repeated, one must fit
--tls CERT KEY          speak HTTPS with these PEM files
--client-ca CERT        with --tls: only with clients that this certificate vouches for
--deaf                  take connections and never read from them
--until-stdin-closes    end when whoever started it does
"""

import argparse
import hashlib
import http.server
import json
import signal
import socket
import ssl
import sys
import threading

from lifetime import leave_with_stdin


class Plan:
    """Which answer is next."""

    def __init__(self, words, by_id):
        self.words, self.by_id = words, by_id
        self.used = {}

    def next(self, webhook_id):
        key = webhook_id if self.by_id else None
        step = self.used.get(key, 0)
        self.used[key] = step + 1
        return self.words[min(step, len(self.words) - 1)]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, options):
        self.address_family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        self.options = options
        self.plan = Plan(options.status_plan.split(","), options.plan_by_id)
        self.lock = threading.Lock()
        self.count = 0
        self.verifiers = []
        if options.secret:
            from standardwebhooks.webhooks import Webhook

            self.verifiers = [Webhook(secret) for secret in options.secret]
        super().__init__((options.host, options.port), Handler)
        if options.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*options.tls)
            if options.client_ca:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(options.client_ca)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.record = sys.stdout if options.record == "-" else open(options.record, "a", buffering=1)

    def verify(self, body, headers):
        if not self.verifiers:
            return None, None
        error = None
        for verifier in self.verifiers:
            try:
                verifier.verify(body, headers)
                return True, None
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"
        return False, error

    def note(self, handler, body):
        """Records the request and returns the answer it gets."""
        headers = {name.lower(): value for name, value in handler.headers.items()}
        verified, error = self.verify(body, headers)
        try:
            text = body.decode() if len(body) <= 65536 else None
        except UnicodeDecodeError:
            text = None
        with self.lock:
            self.count += 1
            word = self.plan.next(headers.get("webhook-id"))
            line = {
                "n": self.count,
                "id": headers.get("webhook-id"),
                "method": handler.command,
                "path": handler.path,
                "headers": headers,
                "body": text,
                "bodyBytes": len(body),
                "bodySha256": hashlib.sha256(body).hexdigest(),
                "client": handler.client_address[1],
                "status": int(word) if word.isdigit() else None,
                "verified": verified,
                "error": error,
            }
            self.record.write(json.dumps(line) + "\n")
            self.record.flush()
        return word

    def handle_error(self, request, client_address):
        pass  # a client that leaves early is part of the tests


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body of an answer leave in one write

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def answer(self):
        options = self.server.options
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        word = self.server.note(self, body)
        if word == "hang":
            self.connection.recv(1)
            self.close_connection = True
        elif word == "drop":
            self.close_connection = True
        elif word == "garbage":
            self.wfile.write(b"220 smtp.example.org ESMTP\r\n\r\n")
            self.close_connection = True
        elif word == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"half")
            self.close_connection = True
        else:
            self.send_planned(int(word), options)

    def send_planned(self, status, options):
        self.send_response(status)
        if options.retry_after and status >= 300:
            self.send_header("Retry-After", options.retry_after)
        if options.location and 300 <= status < 400:
            self.send_header("Location", options.location)
        for header in options.header:
            name, value = header.split(":", 1)
            self.send_header(name, value.strip())
        if status == 204:
            self.end_headers()
            return
        body = self.path.encode() if options.echo_path else b"x" * options.body_size
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer

    def log_message(self, *args):
        pass


def main():
    # Whoever starts it may have blocked signals on the starting thread; a server must get TERM and INT.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--record", required=True)
    parser.add_argument("--status-plan", default="204")
    parser.add_argument("--plan-by-id", action="store_true")
    parser.add_argument("--retry-after")
    parser.add_argument("--location")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--body-size", type=int, default=0)
    parser.add_argument("--echo-path", action="store_true")
    parser.add_argument("--secret", action="append", default=[])
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--client-ca")
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--until-stdin-closes", action="store_true")
    server = Server(parser.parse_args())
    print(server.server_address[1], flush=True)
    if server.options.until_stdin_closes:
        threading.Thread(target=leave_with_stdin, daemon=True).start()
    if server.options.deaf:
        signal.pause()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


main()
