#!/usr/bin/env python3
"""Drives `belfry mcp` with the official SDK: mcp-client.py MODE COMMAND...; MODE is legacy or auto.

Prints one JSON object: the revision, the tools, and what each of some calls came to.
"""
import asyncio
import json
import sys

import anyio
from mcp import Client, StdioServerParameters


async def main(mode: str, command: list[str]) -> None:
    server = StdioServerParameters(command=command[0], args=command[1:])
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    def answer(result) -> dict:
        return {"text": result.content[0].text, "isError": bool(result.is_error)}

    out: dict = {}
    async with Client(server, mode=mode) as client:
        out["revision"] = client.protocol_version
        out["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        out["schema"] = (await client.list_tools()).tools[0].input_schema
        out["sent"] = answer(
            await client.call_tool("send_message", {"text": "from mcp"}, progress_callback=note))
        out["progress"] = seen
        out["missing"] = answer(await client.call_tool("send_message", {}))
        out["unknown"] = answer(await client.call_tool("send_massage", {"text": "x"}))
        # A call that is given up at once: the server goes on serving.
        with anyio.move_on_after(0):
            await client.call_tool("send_message", {"text": "given up"})
        out["after"] = answer(await client.call_tool("send_message", {"text": "after"}))
    print(json.dumps(out))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
