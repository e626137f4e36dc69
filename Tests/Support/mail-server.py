#!/usr/bin/env python3
"""A real mail server for the tests, by aiosmtpd: takes mails and prints each as one line of JSON.

The first line on standard output is the port. Each mail that it takes becomes a line:

    {"from": "a@e.org", "to": ["b@e.org"], "tls": true, "user": "u", "raw": "...", "headers": {"Subject": "..."},
     "plain": "...", "html": "...", "defects": []}

--tls CERT KEY              offer STARTTLS with these PEM files
--immediate                 speak TLS from the first byte
--login USER PASSWORD       take mails only after this login
--insecure                  take the login also where it can be read on the way
--refuse ADDRESS REPLY      the reply to a recipient; may be repeated
--data REPLY                the reply to the mail itself
Ends when standard input closes.
"""
import argparse
import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

parser = argparse.ArgumentParser()
parser.add_argument("--tls", nargs=2)
parser.add_argument("--immediate", action="store_true")
parser.add_argument("--login", nargs=2)
parser.add_argument("--insecure", action="store_true")
parser.add_argument("--refuse", nargs=2, action="append", default=[])
parser.add_argument("--data")
options = parser.parse_args()
refusals = dict(options.refuse)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        if address in refusals:
            return refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if options.data:
            return options.data
        mail = email.message_from_bytes(envelope.original_content, policy=email.policy.default)
        seen = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": session.ssl is not None or options.immediate,
            "user": session.auth_data,
            "raw": envelope.original_content.decode("ascii"),
            "headers": {name: str(value) for name, value in mail.items()},
            "defects": [str(d) for part in mail.walk() for d in part.defects],
        }
        for kind in ["plain", "html"]:
            body = mail.get_body(preferencelist=(kind,))
            seen[kind] = body.get_content() if body else None
        print(json.dumps(seen), flush=True)
        return "250 2.0.0 kept"


def authenticate(server, session, envelope, mechanism, data):
    user = data.login.decode()
    if [user, data.password.decode()] != options.login:
        return AuthResult(success=False, handled=False)
    return AuthResult(success=True, auth_data=user)


async def main():
    loop = asyncio.get_running_loop()
    context = None
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
    settings = {"hostname": "mail.test", "loop": loop}
    if context and not options.immediate:
        settings["tls_context"] = context
        settings["require_starttls"] = True
    if options.login:
        settings["authenticator"] = authenticate
        settings["auth_required"] = True
        settings["auth_require_tls"] = not (options.immediate or options.insecure)
    server = await loop.create_server(
        lambda: SMTP(Handler(), **settings), "127.0.0.1", 0, ssl=context if options.immediate else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
