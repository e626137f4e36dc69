#!/usr/bin/env python3
"""Signs and verifies webhooks as others do: by the packages `standardwebhooks` and `cryptography`.

Each line on standard input is a question as JSON, each line on standard output its answer:

    {"do": "now"}                                                         seconds since 1970
    {"do": "public", "secret": "whsk_..."}                                whpk_...
    {"do": "sign", "secret": S, "id": I, "at": SECONDS, "body": TEXT}     v1,... or v1a,...
    {"do": "verify", "secret": S, "headers": {...}, "body": TEXT}         yes or no

A secret is whsec_... for HMAC, whsk_... or whpk_... for ed25519.
"""

import base64
import datetime
import json
import sys
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError


def private_key(secret):
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(secret.removeprefix("whsk_"))[:32])


def sign(question):
    secret, body = question["secret"], question["body"]
    if secret.startswith("whsec_"):
        at = datetime.datetime.fromtimestamp(question["at"], tz=datetime.timezone.utc)
        return Webhook(secret).sign(question["id"], at, body)
    content = f"{question['id']}.{question['at']}.{body}".encode()
    return "v1a," + base64.b64encode(private_key(secret).sign(content)).decode()


def verify(question):
    secret, headers, body = question["secret"], question["headers"], question["body"]
    if secret.startswith("whsec_"):
        try:
            Webhook(secret).verify(body, headers)
            return "yes"
        except WebhookVerificationError:
            return "no"
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(secret.removeprefix("whpk_")))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    for part in headers["webhook-signature"].split(" "):
        version, _, text = part.partition(",")
        try:
            if version == "v1a":
                key.verify(base64.b64decode(text), content)
                return "yes"
        except InvalidSignature:
            pass
    return "no"


def public(question):
    raw = private_key(question["secret"]).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return "whpk_" + base64.b64encode(raw).decode()


ANSWERS = {"now": lambda _: int(time.time()), "public": public, "sign": sign, "verify": verify}

for line in sys.stdin:
    question = json.loads(line)
    print(ANSWERS[question["do"]](question), flush=True)
