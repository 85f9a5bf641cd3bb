// An adapter for `countersign diff PROTOCOL -- node adapter.ts` (node 22.18 or newer). Your implementation is called where YOURS stands.
import { createInterface } from "node:readline";

type Fields = Record<string, any>;
type Output = Record<string, unknown>;
type Method = (now: Date, fields: Fields) => Output[];

// YOURS: your name and version, the capabilities that you have, and the kinds of output that you show.
const hello = { name: "mine 0.1", supports: [], shows: SHOWS };
// Ops that need a capability: declare it in `supports`, and write the method and its fields below.
const optional: Fields = CAPABLE;
// Fields of any JSON: a method gets their text.
const anyJson: string[] = TEXTS;
// The fields of each op. Those with a `?` may be absent.
const fieldsOf: Record<string, string> = {
  reset: "",
  tick: "",
FIELDS
};

/** One life of your implementation. Each op is a method that returns its outputs, as in [{ perform: { key: "value" } }]. */
class Adapter {
  [op: string]: Method;
  // YOURS: make your implementation anew, with nothing stored.

  /** Called before every op: let happen what has fallen due by `now`, which is your clock. */
  tick(now: Date): Output[] {
    return []; // YOURS
  }

METHODS
}

let adapter: Adapter | undefined;
let last: Output[] = []; // the outputs of the last response

function answer(request: Fields): object {
  const { id, op, ...rest } = request;
  if (op === "hello") {
    if (rest.driver !== 1 || rest.protocol !== "PROTOCOL") throw new Error("expected driver 1 and PROTOCOL");
    return hello;
  }
  if (op === "reset") adapter = new Adapter();
  const method = adapter?.[op === "reset" ? "tick" : op];
  if (method === undefined && op in optional) return { unsupported: true };
  const { now, ...fields } = rest;
  const names = (fieldsOf[op] ?? "").split(" ");
  const missing = names.filter((it) => it !== "" && !it.endsWith("?") && !(it in fields));
  const unknown = Object.keys(fields).filter((it) => !names.includes(it) && !names.includes(`${it}?`));
  const at = new Date(now);
  if (method === undefined || missing.length + unknown.length > 0 || Number.isNaN(at.getTime())) throw new Error(`not understood: ${op} ${[...missing, ...unknown]}`);
  for (const name of anyJson) if (name in fields && typeof fields[name] !== "string") fields[name] = JSON.stringify(fields[name]);
  const due = op === "restart" ? [] : adapter!.tick(at);
  last = op === "reset" || op === "tick" ? due : [...due, ...method.call(adapter, at, fields)];
  return { outputs: last };
}

for await (const line of createInterface({ input: process.stdin })) {
  let id = null;
  let said: object;
  try {
    const request = JSON.parse(line);
    id = request.id;
    said = answer(request);
  } catch (problem) {
    // Not understood, or your implementation broke: the stack says where.
    said = { error: problem instanceof Error ? problem.stack : String(problem) };
  }
  process.stdout.write(`${JSON.stringify({ id, ...said })}\n`);
}
