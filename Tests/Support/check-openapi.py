#!/usr/bin/env python3
"""Validates an OpenAPI document, and samples of its objects: check-openapi.py DOCUMENT SAMPLES.

SAMPLES is a JSON array of [name of a component, value]. A member that a component does not list is a fault.
"""
import copy
import json
import sys

from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    samples = json.load(file)
validate(document)

components = copy.deepcopy(document.get("components", {}))
for schema in components.get("schemas", {}).values():
    if "properties" in schema:
        schema["additionalProperties"] = False
for name, value in samples:
    schema = {"$ref": f"#/components/schemas/{name}", "components": components}
    faults = [f"{name}{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]
    if faults:
        sys.exit("\n".join(faults))
