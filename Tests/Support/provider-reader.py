#!/usr/bin/env python3
"""Asks a server with a provider's own Python package and prints what that read of the reply.

    provider-reader.py anthropic|anthropic-tools|openai BASE-URL

With anthropic-tools the package's own loop calls a tool until the model has done with it.

One line of JSON: {"text": "...", "calls": [{"id", "name", "arguments"}], "reason": "...", "output": 9}
or, when the package refuses the reply: {"error": "the class of its error"}
"""

import json
import sys


def anthropic(url):
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    with client.messages.stream(
        model="m", max_tokens=100, messages=[{"role": "user", "content": "Hi"}]
    ) as stream:
        message = stream.get_final_message()
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [
            {"id": block.id, "name": block.name, "arguments": block.input}
            for block in message.content
            if block.type == "tool_use"
        ],
        "reason": message.stop_reason,
        "output": message.usage.output_tokens,
    }


def anthropic_tools(url):
    import anthropic

    called = []

    @anthropic.beta_tool
    def say(text: str) -> str:
        """Says it."""
        called.append({"id": "", "name": "say", "arguments": {"text": text}})
        return "said " + text

    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    text, message = [], None
    for stream in client.beta.messages.tool_runner(
        model="haiku", max_tokens=4096, tools=[say], thread=False, stream=True,
        messages=[{"role": "user", "content": "Hi"}],
    ):
        message = stream.get_final_message()
        text += [block.text for block in message.content if block.type == "text"]
    return {
        "text": "\n\n".join(text),
        "calls": called,
        "reason": message.stop_reason,
        "output": message.usage.output_tokens,
    }


def openai(url):
    import openai

    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    text, calls, reason, output = "", {}, None, None
    for chunk in client.chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": "Hi"}],
        stream=True,
        stream_options={"include_usage": True},
    ):
        if chunk.usage:
            output = chunk.usage.completion_tokens
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reason = choice.finish_reason or reason
            for delta in choice.delta.tool_calls or []:
                call = calls.setdefault(delta.index, {"id": None, "name": None, "arguments": ""})
                call["id"] = delta.id or call["id"]
                call["name"] = delta.function.name or call["name"]
                call["arguments"] += delta.function.arguments or ""
    for call in calls.values():
        call["arguments"] = json.loads(call["arguments"])
    return {"text": text, "calls": [calls[i] for i in sorted(calls)], "reason": reason, "output": output}


def main():
    try:
        modes = {"anthropic": anthropic, "anthropic-tools": anthropic_tools, "openai": openai}
        print(json.dumps(modes[sys.argv[1]](sys.argv[2])))
    except Exception as problem:
        print(json.dumps({"error": type(problem).__name__}))


main()
