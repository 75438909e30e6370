// What the servers of both generations of the TypeScript SDK have in common.

import { appendFileSync } from "node:fs";

const [ledger, port] = process.argv.slice(2);

export const NOTE = "note://1";
export const NAMES = ["Ada", "Grace"];

/** What the tool `sample` asks a model. */
export const QUESTION = { messages: [{ role: "user", content: { type: "text", text: "Say something." } }], maxTokens: 10 };

/** What the tool `ask` asks a person. */
export const FORM = {
  mode: "form",
  message: "What is your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

export const says = (words) => ({ content: [{ type: "text", text: words }] });

/** Writes a line into the ledger. */
export const writeDown = (nonce) => appendFileSync(ledger, `${nonce}\n`);

/** Waits until nobody wants the answer any more, and writes that down. */
export async function untilCancelled(signal, nonce) {
  if (!signal.aborted) await new Promise((cancelled) => signal.addEventListener("abort", cancelled, { once: true }));
  writeDown(`cancelled ${nonce}`);
}

/** Lets `steps` end, whoever of the two comes first. */
const released = new Map();
export function release(nonce) {
  if (!released.has(nonce)) released.set(nonce, Promise.withResolvers());
  return released.get(nonce);
}

export const serve = (server) => server.listen(Number(port), "127.0.0.1");
