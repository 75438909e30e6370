"""An editor built with the `mcp` package. It runs the whole repertoire and prints the results as one line of JSON. See
README.md.

    editor.py NONCE http URL TOKEN
    editor.py NONCE stdio PROGRAM ARGUMENT...
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CreateMessageResult, ElicitResult, ListRootsResult, PromptReference, Root, TextContent

nonce, wire, place, *rest = sys.argv[1:]
NOTE = "note://1"


async def sampled(context, params):
    return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text="Something."))


async def asked(context, params):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def folders(context):
    return ListRootsResult(roots=[Root(uri="file:///here")])


async def look(client: Client, logged: list) -> dict:
    async def call(name: str, words: str = nonce, **more) -> str:
        return (await client.call_tool(name, {"nonce": words}, **more)).content[0].text

    seen = {}
    seen["tools"] = sorted(tool.name for tool in (await client.list_tools()).tools)
    seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
    seen["resources"] = [str(resource.uri) for resource in (await client.list_resources()).resources]
    seen["read"] = (await client.read_resource(NOTE)).contents[0].text
    seen["prompt"] = (await client.get_prompt("greet", {"name": "Ada"})).messages[0].content.text
    completed = await client.complete(PromptReference(type="ref/prompt", name="greet"), {"name": "name", "value": "A"})
    seen["completed"] = completed.completion.values
    seen["called"] = await call("echo")

    seen["progress"] = []

    async def step(progress, total, message):
        seen["progress"].append(progress)
        if len(seen["progress"]) == 3:
            heard.set()

    heard = anyio.Event()
    async with anyio.create_task_group() as both:
        both.start_soon(lambda: call("steps", progress_callback=step))
        await heard.wait()
        await call("release")
    await call("log", "told")
    with anyio.fail_after(20):
        while not logged:
            await anyio.sleep(0.005)
    seen["logged"] = logged[0]

    async with client.listen(resource_subscriptions=[NOTE]) as news:
        await call("touch")
        seen["updated"] = (await anext(news)).uri

    with anyio.CancelScope() as waiting:

        async def stop(progress, total, message):
            waiting.cancel()

        await call("wait", progress_callback=stop)
    seen["cancelled"] = waiting.cancelled_caught

    seen["sampled"] = await call("sample")
    seen["asked"] = await call("ask")
    seen["roots"] = await call("roots")
    return seen


async def main() -> None:
    logged = []

    async def hear(params):
        logged.append(params.data)

    async with AsyncExitStack() as stack:
        if wire == "http":
            headers = {"Authorization": f"Bearer {rest[0]}"}
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False))
            server = streamable_http_client(place, http_client=http)
        else:
            server = StdioServerParameters(command=place, args=rest)
        client = Client(
            server,
            sampling_callback=sampled,
            elicitation_callback=asked,
            list_roots_callback=folders,
            logging_callback=hear,
            log_level="info",
        )
        await stack.enter_async_context(client)
        print(json.dumps(await look(client, logged)), flush=True)


asyncio.run(main())
