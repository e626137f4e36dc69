#!/usr/bin/env python3
"""Runs a job over `belfry mcp` with the official SDK: mcp-progress.py MODE GATE COMMAND...; MODE is legacy or auto.

Lets the job go on, which waits at the named pipe GATE, once it was seen to be half done. Prints one JSON object: each progress
that was notified with its words, and the result.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(mode: str, gate: str, command: list[str]) -> None:
    seen: list[list] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append([progress, total, message])
        if progress == 0.5:
            with open(gate, "w") as pipe:
                pipe.write("\n")

    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode) as client:
        result = await client.call_tool("run_job", {"name": "ship", "wait": 600}, progress_callback=note)
    print(json.dumps({"progress": seen, "text": result.content[0].text, "isError": bool(result.is_error)}))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
