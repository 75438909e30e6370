"""`server.py LEDGER stdio|streamable-http|sse [PORT]`: an MCP server built with the `mcp` package.

Its only tool writes a nonce to the ledger, so that a test can count the executions.
"""

import sys

from mcp.server.mcpserver import MCPServer

ledger, transport, *port = sys.argv[1:]
server = MCPServer("python")


@server.tool()
def record(nonce: str) -> str:
    """Writes a nonce into the ledger."""
    with open(ledger, "a", encoding="utf-8") as file:
        file.write(f"{nonce}\n")
    return nonce


match transport:
    case "stdio":
        server.run("stdio")
    case "streamable-http":
        server.run("streamable-http", host="127.0.0.1", port=int(port[0]))
    case "sse":
        # The path does not reveal the transport, so the gateway must detect it.
        server.run("sse", host="127.0.0.1", port=int(port[0]), sse_path="/events")
