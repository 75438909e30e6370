"""`server.py LEDGER PORT`: a server built with the `mcp` package, which speaks 2026-07-28 on request. See README.md."""

import sys
from collections import defaultdict
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp.types import Completion, CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel

ledger, port = sys.argv[1:]
server = MCPServer("repertoire", log_level="ERROR")

NOTE = "note://1"
NAMES = ["Ada", "Grace"]
released = defaultdict(anyio.Event)


def write_down(nonce: str) -> None:
    with open(ledger, "a", encoding="utf-8") as file:
        file.write(f"{nonce}\n")


@server.tool(structured_output=False)
def echo(nonce: str) -> str:
    write_down(nonce)
    return nonce


@server.tool(structured_output=False)
async def steps(nonce: str, ctx: Context) -> str:
    for step in (1, 2, 3):
        await ctx.report_progress(step)
    await released[nonce].wait()
    return "stepped"


@server.tool(structured_output=False)
async def release(nonce: str) -> str:
    released[nonce].set()
    return "released"


@server.tool(structured_output=False)
async def wait(nonce: str, ctx: Context) -> str:
    await ctx.report_progress(1)
    try:
        await anyio.sleep_forever()
    finally:
        write_down(f"cancelled {nonce}")


@server.tool(structured_output=False)
async def log(nonce: str, ctx: Context) -> str:
    await ctx.info(nonce)
    return "logged"


def something() -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text="Say something."))], max_tokens=10)


@server.tool(structured_output=False)
async def sample(nonce: str, answer: Annotated[CreateMessageResult, Resolve(something)]) -> str:
    return answer.content.text


class Name(BaseModel):
    name: str


def who() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@server.tool(structured_output=False)
async def ask(nonce: str, answer: Annotated[Name, Resolve(who)]) -> str:
    return answer.name


def folders() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
async def roots(nonce: str, answer: Annotated[ListRootsResult, Resolve(folders)]) -> str:
    return str(answer.roots[0].uri)


@server.tool(structured_output=False)
async def touch(nonce: str, ctx: Context) -> str:
    await ctx.notify_resource_updated(NOTE)
    return "touched"


@server.resource(NOTE)
def note() -> str:
    return "a note"


@server.prompt()
def greet(name: str) -> str:
    return f"Hello, {name}!"


@server.completion()
async def complete(ref, argument, context) -> Completion:
    return Completion(values=[name for name in NAMES if name.startswith(argument.value)])


server.run("streamable-http", host="127.0.0.1", port=int(port))
