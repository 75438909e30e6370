"""`server.py LEDGER stdio|streamable-http|sse [PORT]`: an MCP server made with the `mcp` package.

Its one tool writes a nonce into the ledger, so that a test can count how often it ran.
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
        # A path that does not say what it is: the transport must be found out.
        server.run("sse", host="127.0.0.1", port=int(port[0]), sse_path="/events")
