#!/usr/bin/env python3
"""A desktop notification server that shows nothing and remembers everything.

    notification-server.py --address ADDR [--record FILE] [--capabilities A,B,...] [--vendor NAME]
                           [--name NAME] [--unicast] [--minimal] [--first-id N] [--stay]
                           [--like SERVER] [--jobs V1|V2]

Owns org.freedesktop.Notifications on the bus at ADDR and prints `ready`. From then on it prints one JSON
object a line for every call it gets, before it answers it, and appends the same line to FILE:

    {"method":"Notify","id":1,"sender":":1.4","app_name":"...","replaces_id":0,"app_icon":"",
     "summary":"...","body":"...","actions":["default","Open"],
     "hints":{"urgency":{"type":"y","value":1}},"expire_timeout":-1}
    {"method":"CloseNotification","id":1,"sender":":1.4"}
    {"method":"GetCapabilities","sender":":1.4"}      (and GetServerInformation)

Like dunst it uses any `replaces_id` it is given and else counts up from N (1).

    --capabilities   what GetCapabilities answers (default: actions,body,body-markup)
    --name           first word of GetServerInformation (default: notification-server)
    --vendor         second word of GetServerInformation (default: belfry-tests)
    --unicast        signals go to the sender of the notification alone, as dunst sends them
    --minimal        knows no GetServerInformation, as the smallest servers do
    --like           behaves as gnome, kde, dunst, mako, swaync or xfce do (see LIKE), its name and capabilities too
    --jobs           owns org.kde.JobViewServer as well, of that version; its calls are printed as
                     {"method":"requestView","id":CAPABILITIES,"app_name":"PATH","summary":"belfry","hints":{...}},
                     {"method":"update","app_name":"PATH","hints":{...}} and
                     {"method":"terminate","id":CODE,"app_name":"PATH","body":"MESSAGE"}
    --stay           lives on without standard input, as a server does that the bus started

It reads commands on standard input, answers each with a line `ok`, and ends when the input ends:

    close ID REASON     says that notification ID was closed: 1 expired, 2 dismissed, 3 by call, 4 undefined
    action ID KEY       says that the button KEY of notification ID was pressed
    reply ID TEXT       says that TEXT was typed as a reply into notification ID
    refuse ERROR        answers every Notify with that D-Bus error, until `refuse -`
    shown               prints {"method":"shown","ids":[...],"actions":[TEXT...]}, what is on its screen, oldest first
    job PATH SIGNAL     emits a signal of a job's view: cancelRequested, suspendRequested or resumeRequested
    token ID TOKEN      sends an ActivationToken before the button that is pressed next
    hold                keeps its answers to Notify to itself, but for other calls goes on
    release             gives the answers that it held back, and holds back no more

To have it hang send it SIGSTOP, to have it die SIGKILL; start it again to have it come back.
"""

import argparse
import json
import os
import selectors
import sys

from jeepney import (DBusAddress, HeaderFields, MessageType, new_error, new_method_call,
                     new_method_return, new_signal)
from jeepney.io.blocking import open_dbus_connection

NAME = "org.freedesktop.Notifications"
JOBS = "org.kde.JobViewServer"
TAGS = ["x-canonical-private-synchronous", "synchronous", "private-synchronous", "x-dunst-stack-tag"]

# What servers do, as their sources say. new: what becomes of an id that is not on the screen; tags: whether a tag
# replaces, and whether the id stays; keeps: the most of one sender; strict: hints whose wrong type fails the call.
LIKE = {
    "gnome": dict(
        name="gnome-shell", vendor="GNOME", new=True, keeps=10,
        capabilities="actions,body,body-markup,icon-static,persistence,sound"),
    "kde": dict(
        name="Plasma", vendor="KDE", new=False, alike=True,
        capabilities="body,body-hyperlinks,body-markup,body-images,icon-static,actions,persistence,"
                     "inline-reply,sound,x-kde-urls,x-kde-origin-name,x-kde-display-appname,inhibitions"),
    "dunst": dict(
        name="dunst", vendor="knopwob", new=False, tags="new", unicast=True, drops=True,
        capabilities="actions,body,body-hyperlinks,icon-static,x-dunst-stack-tag,"
                     "x-canonical-private-synchronous"),
    "mako": dict(
        name="mako", vendor="emersion", new=True, tags="same", strict={"value": "i", "urgency": "yui"},
        capabilities="body,body-markup,actions,icon-static,x-canonical-private-synchronous,x-dunst-stack-tag"),
    "swaync": dict(
        name="SwayNotificationCenter", vendor="ErikReider", new=True, tags="same", odd=True,
        capabilities="actions,body,body-markup,body-images,persistence,inline-reply,synchronous,"
                     "private-synchronous,x-canonical-private-synchronous"),
    "xfce": dict(
        name="Xfce Notify Daemon", vendor="Xfce", new=True,
        capabilities="body,body-hyperlinks,body-markup,icon-static,actions,action-icons,sound"),
}
OBJECT = DBusAddress("/org/freedesktop/Notifications", interface=NAME)
BUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
UNKNOWN = "org.freedesktop.DBus.Error.UnknownMethod"


def plain(value):
    """A value of jeepney as JSON can hold it; a variant keeps its type."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return {"type": value[0], "value": plain(value[1])}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


class Server:
    def __init__(self, options):
        self.options = options
        self.last_id = options.first_id - 1
        self.senders = {}
        self.like = LIKE.get(options.like, {})
        if self.like:
            options.name, options.vendor = self.like["name"], self.like["vendor"]
            options.capabilities = self.like["capabilities"]
            options.unicast = self.like.get("unicast", False)
        self.shown = {}  # id: (sender, app, tag, text, whole content), oldest first
        self.views = 0
        self.refusal = None
        self.held = None
        self.record_file = open(options.record, "a", encoding="utf-8") if options.record else None
        self.connection = open_dbus_connection(bus=options.address)
        do_not_queue = 4
        reply = self.connection.send_and_get_reply(
            new_method_call(BUS, "RequestName", "su", (NAME, do_not_queue)))
        if reply.body != (1,):
            sys.exit("somebody else owns " + NAME)
        if options.jobs:
            self.connection.send_and_get_reply(
                new_method_call(BUS, "RequestName", "su", (JOBS, do_not_queue)))

    def say(self, line):
        print(line, flush=True)

    def record(self, call, **fields):
        fields = {"method": call.header.fields[HeaderFields.member], **fields,
                  "sender": call.header.fields[HeaderFields.sender]}
        line = json.dumps(fields, ensure_ascii=False)
        if self.record_file:
            self.record_file.write(line + "\n")
            self.record_file.flush()
        self.say(line)

    def answer(self, call):
        """What is sent back for `call`, and the signals that follow it."""
        member = call.header.fields[HeaderFields.member]
        if member == "Notify":
            return self.notify(call)
        if call.header.fields.get(HeaderFields.interface, "").startswith("org.kde.Job"):
            return self.job(call, member)
        if member == "CloseNotification":
            (number,) = call.body
            self.record(call, id=number)
            if self.like and self.shown.pop(number, None) is None:
                return [new_method_return(call)]
            return [new_method_return(call), self.closed(number, 3)]
        if member == "GetCapabilities":
            self.record(call)
            words = [word for word in self.options.capabilities.split(",") if word]
            return [new_method_return(call, "as", (words,))]
        if member == "GetServerInformation" and not self.options.minimal:
            self.record(call)
            words = (self.options.name, self.options.vendor, "1", "1.2")
            return [new_method_return(call, "ssss", words)]
        return [new_error(call, UNKNOWN, "s", ("no method " + member,))]

    def job(self, call, member):
        path = call.header.fields[HeaderFields.path]
        if member == "requestView":
            version = "V2" if call.header.fields[HeaderFields.interface].endswith("V2") else "V1"
            if version != self.options.jobs:
                return [new_error(call, UNKNOWN, "s", ("no such version",))]
            self.views += 1
            path = "/JobViewServer/JobView_%d" % self.views
            entry, rest = call.body[0], call.body[1:]
            flags = rest[0] if version == "V2" else rest[1]
            hints = plain(rest[1]) if version == "V2" else {}
            self.record(call, id=flags, app_name=path, summary=entry, hints=hints)
            return [new_method_return(call, "o", (path,))]
        if member == "update":
            self.record(call, app_name=path, hints=plain(call.body[0]))
        elif member == "terminate" and len(call.body) == 3:
            self.record(call, id=call.body[0], app_name=path, body=call.body[1])
        else:
            value = call.body[0] if call.body else ""
            self.record(call, app_name=path, body=str(value))
        return [new_method_return(call)]

    def alike(self, call):
        """What a server makes of a call beyond an id: (id, signals), or an error."""
        app_name, replaces_id, _, summary, body, actions, hints, _ = call.body
        for name, types in self.like.get("strict", {}).items():
            if name in hints and hints[name][0] not in types:
                return new_error(call, "org.freedesktop.DBus.Error.InvalidArgs", "s", (name,))
        if self.like.get("odd") and len(actions) % 2:
            actions = []
        content = (app_name, summary, body, tuple(actions))
        # Plasma looks at the last second only; without its clock nothing depends on ours.
        if self.like.get("alike") and any(entry[4] == content for entry in self.shown.values()):
            return new_error(
                call, NAME + ".Error.ExcessNotificationGeneration", "s", ("too many similar notifications",))
        sender = call.header.fields[HeaderFields.sender]
        tag = next((hints[name][1] for name in TAGS if name in hints), None)
        number, signals = replaces_id, []
        tags = self.like.get("tags")
        old = next((key for key, entry in self.shown.items()
                    if tags and tag and entry[1] == app_name and entry[2] == tag), None)
        if number not in self.shown and self.like["new"]:
            number = 0
        if number == 0 and old is not None and tags == "same":
            number = old
        if number == 0:
            self.last_id += 1
            number = self.last_id
        self.last_id = max(self.last_id, number)
        if old is not None and old != number:
            del self.shown[old]
            signals.append(self.closed(old, 3))
        if not (self.like.get("drops") and not summary and not body):
            self.shown[number] = (sender, app_name, tag, summary + "|" + body, content)
        mine = [key for key, entry in self.shown.items() if entry[0] == sender]
        if len(mine) > self.like.get("keeps", len(mine)):
            del self.shown[mine[0]]
            signals.append(self.closed(mine[0], 1))
        return number, signals

    def notify(self, call):
        app_name, replaces_id, app_icon, summary, body, actions, hints, expire = call.body
        number, signals = replaces_id, []
        if self.like:
            made = self.alike(call)
            if not isinstance(made, tuple):
                self.record(call, id=0, app_name=app_name, replaces_id=replaces_id, summary=summary, body=body)
                return [made]
            number, signals = made
        if number == 0:
            self.last_id += 1
            number = self.last_id
        self.senders[number] = call.header.fields[HeaderFields.sender]
        self.record(
            call, id=number, app_name=app_name, replaces_id=replaces_id, app_icon=app_icon,
            summary=summary, body=body, actions=actions, hints=plain(hints), expire_timeout=expire)
        if self.refusal:
            return [new_error(call, self.refusal, "s", ("refused as told",))]
        return [new_method_return(call, "u", (number,))] + signals

    def closed(self, number, reason):
        return self.signal(number, "NotificationClosed", "uu", (number, reason))

    def signal(self, number, member, signature, body):
        signal = new_signal(OBJECT, member, signature, body)
        if self.options.unicast and number in self.senders:
            signal.header.fields[HeaderFields.destination] = self.senders[number]
        return signal

    def receive(self):
        while True:
            try:
                message = self.connection.receive(timeout=0)
            except TimeoutError:
                return
            if message.header.message_type == MessageType.method_call:
                replies = self.answer(message)
                if self.held is not None and message.header.fields[HeaderFields.member] == "Notify":
                    self.held += replies
                    continue
                for reply in replies:
                    self.connection.send(reply)

    def obey(self, line):
        word, *rest = line.split(maxsplit=2)
        if word == "close":
            self.shown.pop(int(rest[0]), None)
            self.connection.send(self.closed(int(rest[0]), int(rest[1])))
        elif word == "action":
            number = int(rest[0])
            self.connection.send(self.signal(number, "ActionInvoked", "us", (number, rest[1])))
            # Nothing of ours is resident: a button ends it.
            if self.shown.pop(number, None) is not None:
                self.connection.send(self.closed(number, 2))
        elif word == "token":
            number = int(rest[0])
            self.connection.send(self.signal(number, "ActivationToken", "us", (number, rest[1])))
        elif word == "shown":
            self.say(json.dumps({
                "method": "shown", "sender": "", "ids": list(self.shown),
                "actions": [entry[3] for entry in self.shown.values()]}))
        elif word == "job":
            place = DBusAddress(rest[0], interface="org.kde.JobViewV3")
            self.connection.send(new_signal(place, rest[1]))
        elif word == "reply":
            number = int(rest[0])
            self.connection.send(self.signal(number, "NotificationReplied", "us", (number, rest[1])))
        elif word == "refuse":
            self.refusal = None if rest[0] == "-" else rest[0]
        elif word == "hold":
            self.held = []
        elif word == "release":
            held, self.held = self.held or [], None
            for reply in held:
                self.connection.send(reply)
        else:
            sys.exit("unknown command " + word)
        self.say("ok")

    def run(self):
        selector = selectors.DefaultSelector()
        selector.register(self.connection.sock, selectors.EVENT_READ)
        if not self.options.stay:
            selector.register(sys.stdin, selectors.EVENT_READ)
        rest = b""
        self.say("ready")
        self.receive()  # what came while the name was asked for
        while True:
            for key, _ in selector.select():
                if key.fileobj is not sys.stdin:
                    self.receive()
                    continue
                # Not readline: it would keep a second line in its buffer, where select does not look.
                data = os.read(sys.stdin.fileno(), 65536)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self.obey(line.decode())


def main():
    parser = argparse.ArgumentParser(description="A notification server for tests.")
    parser.add_argument("--address", required=True)
    parser.add_argument("--record")
    parser.add_argument("--capabilities", default="actions,body,body-markup")
    parser.add_argument("--name", default="notification-server")
    parser.add_argument("--vendor", default="belfry-tests")
    parser.add_argument("--unicast", action="store_true")
    parser.add_argument("--minimal", action="store_true")
    parser.add_argument("--stay", action="store_true")
    parser.add_argument("--first-id", type=int, default=1)
    parser.add_argument("--like", choices=sorted(LIKE))
    parser.add_argument("--jobs", choices=["V1", "V2"])
    try:
        Server(parser.parse_args()).run()
    except (ConnectionResetError, BrokenPipeError):
        sys.exit(0)  # the bus has ended


main()
