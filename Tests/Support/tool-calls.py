#!/usr/bin/env python3
"""Calls tools over `belfry mcp`, one after the other: tool-calls.py COMMAND...

Reads a JSON list of [tool, arguments] on standard input; prints a JSON list of {"text", "isError"}, in their order.
"""
import json
import subprocess
import sys


def main(command: list[str]) -> None:
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(number: int, method: str, params: dict) -> dict:
        line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        server.stdin.write(line.encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        assert answer["id"] == number, answer
        return answer

    ask(0, "initialize", {"protocolVersion": "2025-11-25"})
    out = []
    for number, (tool, arguments) in enumerate(json.load(sys.stdin), start=1):
        result = ask(number, "tools/call", {"name": tool, "arguments": arguments})["result"]
        out.append({"text": result["content"][0]["text"], "isError": result["isError"]})
    server.stdin.close()
    assert server.wait(10) == 0
    print(json.dumps(out))


main(sys.argv[1:])
