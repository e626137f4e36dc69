#!/usr/bin/env python3
"""Validates YAML files against a JSON Schema: check-schema.py SCHEMA FILE...

Prints `FILE: valid`, or `FILE: ` and what is wrong first. Scalars are resolved as YAML 1.2 does, as editors do: 22:30 and
yes are texts.
"""
import json
import re
import sys

import yaml
from jsonschema import Draft202012Validator


class Loader(yaml.SafeLoader):
    """The core schema of YAML 1.2."""

    yaml_implicit_resolvers = {}


for tag, pattern, first in [
    ("bool", r"^(true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(pattern), list(first))

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
Draft202012Validator.check_schema(schema)
for path in sys.argv[2:]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            value = yaml.load(file, Loader)
        faults = [f"{fault.json_path}: {fault.message}" for fault in Draft202012Validator(schema).iter_errors(value)]
    except yaml.YAMLError as error:
        faults = [f"not YAML: {error}"]
    print(f"{path}: {faults[0].splitlines()[0] if faults else 'valid'}")
