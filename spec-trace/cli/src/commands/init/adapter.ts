// An adapter for `countersign diff PROTOCOL -- node adapter.ts` (node 22.18 or newer). Your implementation is called where YOURS stands.
import { createInterface } from "node:readline";

type Fields = Record<string, any>;
type Op = [string, (now: Date, fields: Fields) => Record<string, unknown>[]];

const hello = { name: "mine 0.1", supports: [], shows: SHOWS }; // YOURS
const anyJson: string[] = TEXTS; // an op gets the text of these fields
const optional: Fields = CAPABLE; // op: the capability that it needs

let mine: unknown; // YOURS: your implementation
// Its fields, of which those with a `?` may be absent, and what it does. It returns its outputs: { kind: { member: value } }.
const ops: Record<string, Op> = {
  reset: ["", () => ((mine = undefined), [])], // YOURS: make it anew, with nothing stored
  // Called before every op: what has fallen due by `now`, your only clock.
  tick: ["", (now) => []], // YOURS
METHODS
  // Where hello declares the capability:
CAPABILITIES
};

function answer({ id, op, now, ...fields }: Fields): object {
  if (op === "hello" && fields.driver === 1 && fields.protocol === "PROTOCOL") return hello;
  if (op in optional && !(op in ops)) return { unsupported: true };
  const [names, carryOut] = ops[op]!;
  const all = names.split(" ").filter((it) => it !== "");
  const missing = all.filter((it) => !it.endsWith("?") && !(it in fields));
  const unknown = Object.keys(fields).filter((it) => !all.includes(it) && !all.includes(`${it}?`));
  const at = new Date(now);
  if (missing.length + unknown.length > 0 || Number.isNaN(at.getTime())) throw new Error(`not understood: ${op} ${[...missing, ...unknown]}`);
  for (const name of anyJson) if (name in fields && typeof fields[name] !== "string") fields[name] = JSON.stringify(fields[name]);
  const due = ["reset", "tick", "restart"].includes(op) ? [] : ops.tick![1](at, {});
  return { outputs: [...due, ...carryOut(at, fields)] };
}

for await (const line of createInterface({ input: process.stdin })) {
  let id = null;
  let said: object;
  try {
    const request = JSON.parse(line);
    id = request.id;
    said = answer(request);
  } catch (problem) {
    said = { error: problem instanceof Error ? problem.stack : String(problem) };
  }
  process.stdout.write(`${JSON.stringify({ id, ...said })}\n`);
}
