"""`client.py URL TOKEN TOOL NONCE`: an MCP client built with the `mcp` package.

It prints one line of JSON: the names of the offered tools, and the text of its call's result.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

url, token, tool, nonce = sys.argv[1:]


async def main() -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy") as client,
    ):
        offered = [one.name for one in (await client.list_tools()).tools]
        result = await client.call_tool(tool, {"nonce": nonce})
        print(json.dumps({"tools": offered, "text": result.content[0].text}))


asyncio.run(main())
