#!/usr/bin/env python3
"""A desktop notification server that shows nothing and remembers everything.

    notification-server.py --address ADDR [--record FILE] [--capabilities A,B,...] [--vendor NAME]
                           [--name NAME] [--unicast] [--minimal] [--first-id N] [--stay]

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
    --stay           lives on without standard input, as a server does that the bus started

It reads commands on standard input, answers each with a line `ok`, and ends when the input ends:

    close ID REASON     says that notification ID was closed: 1 expired, 2 dismissed, 3 by call, 4 undefined
    action ID KEY       says that the button KEY of notification ID was pressed
    reply ID TEXT       says that TEXT was typed as a reply into notification ID
    refuse ERROR        answers every Notify with that D-Bus error, until `refuse -`
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
        self.refusal = None
        self.held = None
        self.record_file = open(options.record, "a", encoding="utf-8") if options.record else None
        self.connection = open_dbus_connection(bus=options.address)
        do_not_queue = 4
        reply = self.connection.send_and_get_reply(
            new_method_call(BUS, "RequestName", "su", (NAME, do_not_queue)))
        if reply.body != (1,):
            sys.exit("somebody else owns " + NAME)

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
        if member == "CloseNotification":
            (number,) = call.body
            self.record(call, id=number)
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

    def notify(self, call):
        app_name, replaces_id, app_icon, summary, body, actions, hints, expire = call.body
        number = replaces_id
        if number == 0:
            self.last_id += 1
            number = self.last_id
        self.senders[number] = call.header.fields[HeaderFields.sender]
        self.record(
            call, id=number, app_name=app_name, replaces_id=replaces_id, app_icon=app_icon,
            summary=summary, body=body, actions=actions, hints=plain(hints), expire_timeout=expire)
        if self.refusal:
            return [new_error(call, self.refusal, "s", ("refused as told",))]
        return [new_method_return(call, "u", (number,))]

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
            self.connection.send(self.closed(int(rest[0]), int(rest[1])))
        elif word == "action":
            number = int(rest[0])
            self.connection.send(self.signal(number, "ActionInvoked", "us", (number, rest[1])))
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
    try:
        Server(parser.parse_args()).run()
    except (ConnectionResetError, BrokenPipeError):
        sys.exit(0)  # the bus has ended


main()
