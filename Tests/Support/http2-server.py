#!/usr/bin/env python3
"""A real server of HTTP/2 over TLS for the tests: answers by the path, and records every request.

    http2-server.py --port 0 --record - --tls CERT KEY [options]

The first line on standard output is the port. Each request becomes one JSON line of the form of hook-server.py, printed
before its answer is sent. The path says what happens to it; a word in it that ends in -once happens to the first such
request only, and the others get 204:

    /hang           no answer until the client leaves
    /slow-page      200 and the first half of a page; the rest once another request has come
    /big            200 and a body that has no end
    /reset          the stream is closed for an error, without an answer
    /half           200, half of the page that it promises, and the stream is closed for an error
    /refuse         the stream is refused (REFUSED_STREAM)
    /away           the connection is ended (GOAWAY) before the request was looked at
    /last           204, and no further request on this connection (GOAWAY)
    /early          429 before the body is read, whose sending is then called off (RST_STREAM with NO_ERROR)
    /freeze         no answer, and nothing else is read or sent on this connection
    anything else   204

--streams N             how many requests at a time one connection may carry (100)
--only-http1            speak HTTP/1.1 and offer nothing else
--deaf                  accept connections and say nothing, not even to begin TLS
"""

import argparse
import hashlib
import json
import signal
import socket
import ssl
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from lifetime import leave_with_stdin

lock = threading.Lock()
used = set()


def record(stream, headers, body, client, status):
    line = {
        "n": stream,
        "id": headers.get("webhook-id"),
        "method": headers[":method"],
        "path": headers[":path"],
        "headers": {name: value for name, value in headers.items() if not name.startswith(":")},
        "body": body.decode(errors="replace"),
        "bodyBytes": len(body),
        "bodySha256": hashlib.sha256(body).hexdigest(),
        "client": client,
        "status": status,
        "verified": None,
        "error": None,
    }
    with lock:
        print(json.dumps(line), flush=True)


def deed(path):
    """What is done with a request for this path."""
    word = path.strip("/").split("?")[0]
    if not word.endswith("-once"):
        return word
    with lock:
        first = word not in used
        used.add(word)
    return word.removesuffix("-once") if first else "fine"


class Connection:
    def __init__(self, link, client, options):
        self.link, self.client, self.options = link, client, options
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.requests = {}  # stream: headers, body
        self.unfinished = []  # streams with half of a page
        self.endless = set()

    def serve(self):
        self.h2.initiate_connection()
        self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self.options.streams})
        self.send()
        while data := self.link.recv(65536):
            for event in self.h2.receive_data(data):
                if not self.handle(event):
                    return
            for stream in list(self.endless):
                self.pour(stream)
            self.send()

    def send(self):
        self.link.sendall(self.h2.data_to_send())

    def handle(self, event):
        match event:
            case h2.events.RequestReceived():
                self.requests[event.stream_id] = (dict(event.headers), bytearray())
                if dict(event.headers)[":path"].startswith("/early"):
                    self.answer(event.stream_id, "early")
            case h2.events.DataReceived():
                self.requests[event.stream_id][1].extend(event.data)
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                headers, body = self.requests[event.stream_id]
                if not headers[":path"].startswith("/early"):
                    return self.answer(event.stream_id, deed(headers[":path"]))
            case h2.events.StreamReset():
                self.endless.discard(event.stream_id)
            case h2.events.ConnectionTerminated():
                return False
        return True

    def pour(self, stream):
        room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
        while room > 0:
            self.h2.send_data(stream, b"x" * room)
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)

    def answer(self, stream, word):
        headers, body = self.requests[stream]
        statuses = {"slow-page": 200, "big": 200, "half": 200, "early": 429}
        unanswered = ["hang", "reset", "refuse", "away", "freeze"]
        status = None if word in unanswered else statuses.get(word, 204)
        for waiting in self.unfinished:
            self.h2.send_data(waiting, b"second half", end_stream=True)
        self.unfinished.clear()
        record(stream, headers, bytes(body), self.client, status)
        errors = h2.errors.ErrorCodes
        if word == "freeze":
            self.send()
            threading.Event().wait()
        elif word == "reset":
            self.h2.reset_stream(stream, errors.INTERNAL_ERROR)
        elif word == "refuse":
            self.h2.reset_stream(stream, errors.REFUSED_STREAM)
        elif word == "away":
            self.h2.close_connection(last_stream_id=max(0, stream - 2))
            self.send()
            return False
        elif word == "early":
            self.h2.send_headers(stream, [(":status", "429"), ("retry-after", "7")], end_stream=True)
            self.h2.reset_stream(stream, errors.NO_ERROR)
        elif word == "slow-page":
            self.h2.send_headers(stream, [(":status", "200")])
            self.h2.send_data(stream, b"first half, ")
            self.unfinished.append(stream)
        elif word == "big":
            self.h2.send_headers(stream, [(":status", "200")])
            self.endless.add(stream)
        elif word == "half":
            self.h2.send_headers(stream, [(":status", "200"), ("content-length", "1000")])
            self.h2.send_data(stream, b"half")
            self.h2.reset_stream(stream, errors.INTERNAL_ERROR)
        elif word != "hang":
            self.h2.send_headers(stream, [(":status", "204")], end_stream=True)
        if word == "last":
            self.send()
            self.h2.close_connection(last_stream_id=stream)
        return True


def serve_http1(link, client):
    """One request after another, each answered with 204, or 429 as above."""
    lines = link.makefile("rb")
    while first := lines.readline():
        method, path, _ = first.decode().split()
        headers = {":method": method, ":path": path}
        while (line := lines.readline().strip()):
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        status = 429 if path == "/early" else 204
        record(0, headers, lines.read(int(headers.get("content-length") or 0)), client, status)
        link.sendall(b"HTTP/1.1 %d Fine\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n" % status)


def serve(link, address, context, options):
    try:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if options.deaf:
            threading.Event().wait()
        link = context.wrap_socket(link, server_side=True)
        if link.selected_alpn_protocol() == "h2":
            Connection(link, address[1], options).serve()
        else:
            serve_http1(link, address[1])
    except (OSError, h2.exceptions.ProtocolError):
        pass  # a client that leaves early is part of the tests
    finally:
        link.close()


def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--record")
    parser.add_argument("--tls", nargs=2, required=True)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--only-http1", action="store_true")
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--until-stdin-closes", action="store_true")
    options = parser.parse_args()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*options.tls)
    context.set_alpn_protocols(["http/1.1"] if options.only_http1 else ["h2", "http/1.1"])
    server = socket.create_server(("127.0.0.1", options.port), backlog=512)
    print(server.getsockname()[1], flush=True)
    if options.until_stdin_closes:
        threading.Thread(target=leave_with_stdin, daemon=True).start()
    while True:
        link, address = server.accept()
        threading.Thread(target=serve, args=(link, address, context, options), daemon=True).start()


main()
