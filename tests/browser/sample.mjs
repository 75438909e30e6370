// A small MCP server over HTTP with realistic tools, for tests of the dashboard.
//
// `node sample.mjs NAME PORT FOLDER` runs one as a separate application until the folder is removed. Its memory grows, as
// that of real applications does.

import { existsSync } from "node:fs";
import { createServer } from "node:http";

const text = { type: "string" };
const tool = (name, description, properties = {}, required = [], annotations = {}) => ({
  name,
  description,
  inputSchema: { type: "object", properties, required },
  annotations,
});
const reads = { readOnlyHint: true };

const kinds = {
  github: [
    tool("search_code", "Finds code in all repositories you can see.", { query: { ...text, description: "What to look for" }, perPage: { type: "integer", default: 20, description: "How many results" } }, ["query"], reads),
    tool("list_issues", "Lists the issues of a repository.", { repository: text, state: { type: "string", enum: ["open", "closed", "all"] }, labels: { type: "array", items: text, description: "Only issues with all of these labels" } }, ["repository"], reads),
    tool("create_issue", "Opens an issue.", { repository: text, title: text, body: { ...text, description: "Markdown text" } }, ["repository", "title"]),
    tool("get_pull_request", "Shows one pull request with its checks.", { repository: text, number: { type: "integer" } }, ["repository", "number"], reads),
    tool("merge_pull_request", "Merges a pull request.", { repository: text, number: { type: "integer" }, squash: { type: "boolean" } }, ["repository", "number"], { destructiveHint: true }),
    tool("list_workflow_runs", "Lists recent Actions runs.", { repository: text }, ["repository"], reads),
  ],
  files: [
    tool("read_text_file", "Reads a file as text.", { path: text, head: { type: "integer" } }, ["path"], reads),
    tool("write_file", "Writes a file, and overwrites an existing one.", { path: text, content: { ...text, description: "The text of the file" } }, ["path", "content"], { destructiveHint: true }),
    tool("list_directory", "Lists the contents of a folder.", { path: text }, ["path"], reads),
    tool("search_files", "Finds files whose name matches.", { path: text, pattern: text }, ["path", "pattern"], reads),
  ],
  pieces: [
    tool("ask_pieces_ltm", "Asks the long-term memory what you did, saw and wrote.", { question: { ...text, description: "The question to ask" }, topics: { type: "array", items: text, description: "Topics of the question" }, application_sources: { type: "array", items: text } }, ["question"], reads),
    tool("create_pieces_memory", "Saves something in the long-term memory.", { summary: { ...text, description: "Markdown text" }, project: text }, ["summary"]),
    tool("workstream_summaries", "Lists the summaries of your day.", { from: text, to: text }, [], reads),
    tool("material_search", "Finds saved snippets, links and notes.", { query: text, limit: { type: "integer", default: 10 } }, ["query"], reads),
    tool("forget_memory", "Deletes a memory permanently.", { id: text }, ["id"], { destructiveHint: true }),
  ],
};

function answerTo({ method, params }, kind) {
  switch (method) {
    case "initialize":
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: kind.server, version: kind.version } };
    case "tools/list":
      return { tools: kind.tools };
    case "tools/call":
      return params.arguments?.path === "/nowhere"
        ? { content: [{ type: "text", text: "The file /nowhere does not exist." }], isError: true }
        : { content: [{ type: "text", text: `${params.name} was called with ${JSON.stringify(params.arguments ?? {})}.` }] };
    case "ping":
      return {};
    default:
      return undefined;
  }
}

/** Serves the tools of `name` on `port`, or on a free one. `slow`: how long a call takes, in milliseconds. */
export async function serveSample(name, port = 0, slow = () => 0) {
  const kind = { server: `${name}-sample`, version: "12.3.10", tools: kinds[name] };
  const server = createServer(async (request, response) => {
    const say = (status, type, body) => response.writeHead(status, { "Content-Type": type }).end(body);
    if (request.url === "/.well-known/version") return say(200, "text/plain", kind.version);
    if (request.url === "/.well-known/health") return say(200, "text/plain", "ok");
    if (request.method !== "POST") return say(405, "text/plain", "");
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = JSON.parse(body);
    if (message.id === undefined) return say(202, "text/plain", "");
    const result = answerTo(message, kind);
    if (message.method === "tools/call") await new Promise((resolve) => setTimeout(resolve, slow()));
    const error = { code: -32601, message: `Method ${message.method} not found.` };
    say(200, "application/json", JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error }) }));
  });
  await new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const { port: taken } = server.address();
  return {
    port: taken,
    url: `http://127.0.0.1:${taken}/mcp`,
    stop: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}

if (process.argv[1] === import.meta.filename) {
  const [, , name, port, folder] = process.argv;
  process.title = "PiecesOS";
  await serveSample(name, Number(port), () => 20 + Math.random() * 60);
  const grown = [];
  setInterval(() => grown.length < 150 && grown.push(Buffer.alloc(2_000_000, 1)), 100);
  setInterval(() => existsSync(folder) || process.exit(), 500);
}
