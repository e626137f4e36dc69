#!/usr/bin/env python3
"""A chat that edits in place: sendMessage, editMessageText and deleteMessage of Telegram's Bot API 7.0.

Prints its port. Then answers on standard output what is asked on standard input: `messages`, `calls`, `delete ID`, and
`after N`, which waits until there were more calls than that, and says how many. Ends when standard input closes.
"""
import http.server
import json
import sys
import threading

messages = {}
calls = []
lock = threading.Condition()
count = 0


class Refused(Exception):
    pass


def send(body):
    global count
    count += 1
    messages[count] = text(body)
    calls.append("sendMessage " + ("quiet" if body.get("disable_notification") else "ring"))
    return {"message_id": count, "text": messages[count]}


def edit(body):
    calls.append("editMessageText")
    number = body.get("message_id")
    if number not in messages:
        raise Refused("message to edit not found")
    if messages[number] == text(body):
        raise Refused("message is not modified")
    messages[number] = text(body)
    return {"message_id": number, "text": messages[number]}


def remove(body):
    calls.append("deleteMessage")
    if messages.pop(body.get("message_id"), None) is None:
        raise Refused("message to delete not found")
    return True


def text(body):
    if not body.get("text"):
        raise Refused("message text is empty")
    if len(body["text"].encode("utf-16-le")) // 2 > 4096 + 64:
        raise Refused("message is too long")
    return body["text"]


METHODS = {"sendMessage": send, "editMessageText": edit, "deleteMessage": remove}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = METHODS.get(self.path.rpartition("/")[2])
        status, answer = 200, None
        with lock:
            lock.notify_all()
            try:
                if method is None or not self.path.startswith("/bot"):
                    status, answer = 404, {"ok": False, "error_code": 404, "description": "Not Found"}
                else:
                    answer = {"ok": True, "result": method(body)}
            except Refused as error:
                status = 400
                answer = {"ok": False, "error_code": 400, "description": f"Bad Request: {error}"}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
for line in sys.stdin:
    words = line.split()
    with lock:
        if words[0] == "delete":
            messages.pop(int(words[1]))
        if words[0] == "after":
            lock.wait_for(lambda: len(calls) > int(words[1]))
            print(len(calls), flush=True)
        else:
            print(json.dumps(calls if words[0] == "calls" else messages), flush=True)
