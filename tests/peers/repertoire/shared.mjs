// Shared by the servers of both generations of the TypeScript SDK.

import { appendFileSync } from "node:fs";

const [ledger, port] = process.argv.slice(2);

export const NOTE = "note://1";
export const NAMES = ["Ada", "Grace"];

/** The sampling request of the tool `sample`. */
export const QUESTION = { messages: [{ role: "user", content: { type: "text", text: "Say something." } }], maxTokens: 10 };

/** The elicitation of the tool `ask`. */
export const FORM = {
  mode: "form",
  message: "What is your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

export const says = (words) => ({ content: [{ type: "text", text: words }] });

/** Appends a line to the ledger. */
export const writeDown = (nonce) => appendFileSync(ledger, `${nonce}\n`);

/** Waits until the call is cancelled, and records that. */
export async function untilCancelled(signal, nonce) {
  if (!signal.aborted) await new Promise((cancelled) => signal.addEventListener("abort", cancelled, { once: true }));
  writeDown(`cancelled ${nonce}`);
}

/** Releases `steps`, whether it has started or not. */
const released = new Map();
export function release(nonce) {
  if (!released.has(nonce)) released.set(nonce, Promise.withResolvers());
  return released.get(nonce);
}

export const serve = (server) => server.listen(Number(port), "127.0.0.1");
