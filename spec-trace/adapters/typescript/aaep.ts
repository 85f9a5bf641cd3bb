// A small producer of AAEP behind the driver protocol: confirmations, in TypeScript alone.
//
// The one thing to know: `Producer` is the protocol; put calls of an implementation of your own in the place of its methods.
// All that outlives the process stands in `stored`. Written from docs/DRIVER.md and the text. The clause stands behind each rule.

import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Digits, read, type Json } from "./json.ts";
import { format, parse } from "./time.ts";

/** One output: its kind, and what it holds. */
export type Output = { [kind: string]: unknown };
type Event = { [member: string]: unknown };

/** The request is understood, and its value or the state does not allow it. */
export class Refused extends Error {
  readonly clause: string;

  constructor(clause: string, reason: string) {
    super(reason);
    this.clause = clause;
  }
}

/** A message that changes nothing (6.3.4). */
export class Ignored extends Refused {}

export type Action = {
  id: string;
  tool: string;
  description: string;
  consequence: string;
  risk_level: string;
  irreversible: boolean;
};

export type Question = {
  token: string;
  session: string;
  action: Action;
  call: string;
  asked: number;
  timeout: number;
  default: string;
  allowed: string[];
  status: "pending" | "answered" | "cancelled";
};

/** A tool that was told to run and has not come back. */
export type Call = { session: string; action: string; tool: string; call: string; token: string };

export type Session = { state: string; next: number; over: boolean };

export type Stored = {
  now: number;
  sessions: { [id: string]: Session };
  subscriptions: { [id: string]: { open: boolean; replies: boolean } };
  questions: { [token: string]: Question };
  calls: Call[];
  /** What a subclass keeps. */
  more: { [name: string]: number };
};

export type Reply = { token: string; decision: string; subscription: string; time: number; modified: boolean };
export type Sender = { subscription: string | undefined; authenticated: boolean };

const CONTEXT = "https://aaep-protocol.org/context/v1";
const NAME = "[A-Za-z0-9]{1,64}";
const BLANK = /^[\s\p{Cc}\p{Cf}]*$/u;
const LONGEST_TEXT = 16_384;
const LONGEST_EVENT = 65_536;
const DAY = 86_400;
const URGENT = ["session.errored", "awaiting.confirmation"];

export class Producer {
  readonly name: string = "typescript-aaep 1.0";
  readonly supports: string[] = ["cancel", "extend", "restart"];
  readonly shows: string[] = ["emit", "perform", "respond", "audit", "in_doubt", "refused"];
  stored: Stored;
  outputs: Output[] = [];

  constructor(stored?: Stored) {
    this.stored = stored ?? { now: -Infinity, sessions: {}, subscriptions: {}, questions: {}, calls: [], more: {} };
  }

  // What is asked.

  start_session(id: string | undefined): void {
    const session = id ?? `sess_${this.made()}`;
    this.checkName("sess_", session, "AAEP-EV-2");
    if (session in this.stored.sessions) throw new Refused("AAEP-A.1-1", "the session was started before");
    this.stored.sessions[session] = { state: "idle", next: 0, over: false };
    this.emit(session, "session.started", { summary_normal: "A session begins." });
  }

  subscribe(id: string, replies: boolean): void {
    this.checkName("sub_", id, "AAEP-EV-2");
    if (id in this.stored.subscriptions) throw new Refused("AAEP-EV-2", "the subscription id was used before");
    this.stored.subscriptions[id] = { open: true, replies };
  }

  /** EV-11: where nobody is left who could answer, a default applies at once; 6.1-1: never one that accepts. */
  unsubscribe(id: string): void {
    const subscription = this.stored.subscriptions[id];
    if (!subscription?.open) throw new Refused("AAEP-REPLY-14", "the subscription is not open");
    subscription.open = false;
    if (subscription.replies && !this.canBeAnswered()) {
      for (const question of this.pending()) if (this.appliesEarly(question)) this.applyDefault(question);
    }
  }

  /** 6.2, A.4: the state is told, then the question with a token of its own. */
  confirm(session: string, action: Action, timeout: number, byDefault: string, allowed: string[] | undefined): void {
    this.going(session);
    for (const text of Object.values(action)) if (typeof text === "string") this.checkText(text);
    this.checkTimeout(timeout);
    this.checkDefault(action, byDefault);
    for (const value of allowed ?? []) this.checkText(value);
    if (allowed !== undefined && (allowed.length < 1 || allowed.length > 32 || new Set(allowed).size < allowed.length)) {
      throw new Refused("AAEP-EV-5", "`allowed_replies`: expected 1 to 32 different ones");
    }
    this.checkNotAsked(session, action);
    const question: Question = {
      token: this.newToken(), session, action, call: `call_${this.made()}`, asked: this.stored.now, timeout,
      default: byDefault, allowed: allowed ?? ["accept", "reject"], status: "pending",
    };
    if (JSON.stringify(this.asked(question)).length > LONGEST_EVENT - 1024) throw new Refused("AAEP-EV-10", "the event would be too large");
    this.moveTo(session, "awaiting_input", "The user is asked.");
    this.stored.questions[question.token] = question;
    this.emit(session, "awaiting.confirmation", this.asked(question));
  }

  /** 6.3.4: the checks in their order; whichever fails, the sender sees the same. */
  deliver(sender: Sender, message: string | undefined): void {
    this.respond();
    try {
      const reply = this.parsed(message);
      const question = this.questioned(reply);
      this.checkUnused(question);
      this.checkInTime(question, reply);
      this.checkSender(reply, sender);
      this.checkAllowed(question, reply);
      this.answer(question, reply);
    } catch (ignored) {
      if (!(ignored instanceof Ignored)) throw ignored;
      this.ignore(ignored);
    }
  }

  ignore(ignored: Ignored): void {
    this.outputs.push({ audit: { clause: ignored.clause, text: ignored.message } });
  }

  respond(): void {
    this.outputs.push({ respond: { status: 204, body: null } });
  }

  /** 6.8: the question is taken back, and its token is dead. */
  cancel(token: string): void {
    const question = this.named(token);
    question.status = "cancelled";
    this.closed(question, "thinking", "The question is taken back.");
  }

  /** 6.4.2: more time, counted from when it was asked. */
  extend(token: string, timeout: number): void {
    const question = this.named(token);
    this.checkTimeout(timeout);
    if (timeout <= question.timeout) throw new Refused("AAEP-6.4.2-3", "that is no more time than there was");
    this.prolong(question, timeout);
    const left = question.asked + timeout * 1000 - this.stored.now;
    const description = `There are ${Math.ceil(left / 1000)} seconds left.`;
    this.emit(question.session, "progress.updated", { progress: { description }, eta_ms: left });
  }

  prolong(question: Question, timeout: number): void {
    question.timeout = timeout;
  }

  /** A.3: what was told to run comes back, once. */
  finish_tool(session: string, action: string, call: string | undefined, status: string): void {
    if (!["success", "error", "timeout"].includes(status)) throw new Refused("AAEP-EV-5", "`status` is none of the three");
    this.going(session);
    const place = this.stored.calls.findIndex((it) => it.session === session && it.action === action && (call ?? it.call) === it.call);
    if (place < 0) throw new Refused("AAEP-A.3-2", "no such call is running");
    this.completed(place, status);
    this.settle(session, "The tool has come back.");
  }

  completed(place: number, status: string): void {
    for (const { session, tool, call } of this.stored.calls.splice(place, 1)) {
      this.emit(session, "tool.completed", { tool, status, tool_call_id: call });
    }
  }

  /** A.1, 6.8-2: questions are taken back and tools completed before the end, unless the event of the end says it all. */
  end_session(id: string, outcome: string): void {
    if (!["completed", "errored", "cancelled"].includes(outcome)) throw new Refused("AAEP-EV-5", "`outcome` is none of the three");
    const session = this.going(id);
    for (const question of this.pending().filter((it) => it.session === id)) {
      question.status = "cancelled";
      if (outcome !== "cancelled") this.closed(question, "thinking", "The session ends, and takes the question back.");
    }
    while (outcome !== "cancelled" && this.stored.calls.some((it) => it.session === id)) {
      this.completed(this.stored.calls.findIndex((it) => it.session === id), "error");
    }
    this.stored.calls = this.stored.calls.filter((it) => it.session !== id);
    const why = { completed: {}, errored: { error_category: "permanent" }, cancelled: { cancelled_by: "user" } }[outcome];
    this.emit(id, `session.${outcome}`, { ...why, summary_normal: `The session is ${outcome}.` });
    session.over = true;
  }

  // Time and restart.

  /** 6.4: the greatest time so far counts; what is due happens in the order of its deadlines. */
  advance(now: number): void {
    this.stored.now = Math.max(this.stored.now, now);
    const due = this.pending().filter((it) => this.deadline(it) <= this.stored.now);
    for (const question of due.sort((one, other) => this.deadline(one) - this.deadline(other))) this.applyDefault(question);
  }

  /** 6.9-2: behind a crash what was lost is told again, what is due happens, and nothing that was released runs again. */
  restart(now: number, lost: Output[]): void {
    this.stored.now = Math.max(this.stored.now, now);
    const anew = new Set<unknown>();
    for (const output of lost) {
      if (!("emit" in output)) continue;
      const event = { ...(output.emit as Event) };
      if (event.type === "aaep:agent.awaiting.confirmation") {
        const question = this.stored.questions[event.reply_token as string];
        if (question?.status === "pending") {
          question.asked = this.stored.now;
          event.event_id = `evt_${this.made()}`;
          anew.add(event.session_id);
        }
      }
      if (anew.has(event.session_id)) event.timestamp = format(this.stored.now);
      this.outputs.push({ emit: event });
    }
    const released = [...this.stored.calls];
    this.advance(now);
    for (const call of released) this.outputs.push({ in_doubt: this.told(call) });
  }

  // The checks of a reply.

  /** Check 1: JSON, and what the schema of a reply lists. */
  parsed(message: string | undefined): Reply {
    const malformed = (why: string): Ignored => new Ignored("AAEP-6.3.4-1", `malformed: ${why}`);
    if (message === undefined) throw malformed("no UTF-8");
    let members: Json;
    try {
      members = read(message);
    } catch (problem) {
      throw malformed(String(problem));
    }
    if (!(members instanceof Map)) throw malformed("no object");
    const fits = (name: string, it: (value: Json) => boolean): void => {
      const value = members.get(name);
      if (value === undefined || !it(value)) throw malformed(name);
    };
    const text = (least: number, most: number) => (value: Json) => {
      const length = typeof value === "string" ? [...value].length : -1;
      return length >= least && length <= most;
    };
    const like = (pattern: string) => (value: Json) => typeof value === "string" && new RegExp(`^${pattern}$`).test(value) && !value.endsWith("\n");
    fits("type", (it) => it === "confirmation.reply");
    fits("reply_token", like(`rpl_${NAME}`));
    fits("decision", (it) => it === "accept" || it === "reject");
    fits("subscription_id", like(`sub_${NAME}`));
    fits("timestamp", (it) => typeof it === "string" && parse(it) !== undefined);
    const optional = new Map<string, (value: Json) => boolean>([
      ["decided_by", text(1, 256)], ["decision_rationale", text(1, 4096)],
      ["modified_action", (it) => it instanceof Map], ["correlation_id", text(0, Infinity)],
    ]);
    for (const name of members.keys()) {
      if (["type", "reply_token", "decision", "subscription_id", "timestamp"].includes(name)) continue;
      fits(name, optional.get(name) ?? this.isForeign);
    }
    return {
      token: members.get("reply_token") as string, decision: members.get("decision") as string,
      subscription: members.get("subscription_id") as string, time: parse(members.get("timestamp") as string) as number,
      modified: members.has("modified_action"),
    };
  }

  /** REPLY-11: whether a member that the schema does not list may be there. */
  isForeign = (): boolean => false;

  /** Check 2: the token is of a question of this producer. */
  questioned(reply: Reply): Question {
    const question = this.stored.questions[reply.token];
    if (question === undefined) throw new Ignored("AAEP-6.3.4-2", "no question has this token");
    return question;
  }

  /** Check 3, 6.8-4: the question waits. */
  checkUnused(question: Question): void {
    if (question.status !== "pending") throw new Ignored("AAEP-6.3.4-3", `the question is ${question.status}`);
  }

  /** Check 4: decided strictly before the deadline, by the time that the sender claims. */
  checkInTime(question: Question, reply: Reply): void {
    if (reply.time >= this.deadline(question)) throw new Ignored("AAEP-6.3.4-4", "decided too late");
  }

  /** Check 5, REPLY-14: the transport knows the sender, and the subscription is his and open. */
  checkSender(reply: Reply, sender: Sender): void {
    if (!sender.authenticated) throw new Ignored("AAEP-6.3.4-5", "the sender is not authenticated");
    if (sender.subscription !== reply.subscription) throw new Ignored("AAEP-6.3.4-5", "the subscription is another's");
    if (!this.stored.subscriptions[reply.subscription]?.open) throw new Ignored("AAEP-REPLY-14", "the subscription is not open");
  }

  /** Check 6: the question allows the decision. What changes the action rejects it, allowed or not (6.3.2-4). */
  checkAllowed(question: Question, reply: Reply): void {
    if (!reply.modified && !question.allowed.includes(reply.decision)) throw new Ignored("AAEP-6.3.4-6", "the decision is not allowed");
  }

  /** 6.3.2-4: a reply that changes the action rejects it. */
  answer(question: Question, reply: Reply): void {
    if (reply.decision === "accept" && !reply.modified) this.accept(question);
    else this.reject(question);
  }

  // What becomes of a question.

  /** A.4: the state leaves, the tool is told, and the action is performed, once. */
  accept(question: Question): void {
    const { session, action, call, token } = question;
    question.status = "answered";
    this.moveTo(session, "calling_tool", "The action is accepted.");
    const { tool, risk_level, irreversible } = action;
    this.emit(session, "tool.invoked", { tool, summary_normal: action.description, tool_call_id: call, risk_level, irreversible });
    const running = { session, action: action.id, tool, call, token };
    this.stored.calls.push(running);
    this.settle(session, "Another question waits.");
    this.outputs.push({ perform: this.told(running) });
  }

  /** 6.1-3: a rejection is told, and nothing runs. */
  reject(question: Question): void {
    question.status = "answered";
    this.closed(question, "thinking", "The action is rejected.");
  }

  applyDefault(question: Question): void {
    if (question.default === "accept") this.accept(question);
    else this.reject(question);
  }

  appliesEarly(question: Question): boolean {
    return question.default === "reject";
  }

  /** Each resolution has a transition of its own. */
  closed(question: Question, state: string, summary: string): void {
    this.moveTo(question.session, state, summary);
    this.settle(question.session, "Something else goes on.");
  }

  /** A.2-2, A.3-3: the state that fits what waits and what runs. */
  settle(session: string, summary: string): void {
    const waits = this.pending().some((it) => it.session === session);
    const runs = this.stored.calls.some((it) => it.session === session);
    this.moveTo(session, waits ? "awaiting_input" : runs ? "calling_tool" : "thinking", summary);
  }

  // What is known, and what is allowed.

  pending(): Question[] {
    return Object.values(this.stored.questions).filter((it) => it.status === "pending");
  }

  deadline(question: Question): number {
    return question.asked + question.timeout * 1000;
  }

  canBeAnswered(): boolean {
    return Object.values(this.stored.subscriptions).some((it) => it.open && it.replies);
  }

  going(id: string): Session {
    const session = this.stored.sessions[id];
    if (session === undefined || session.over) throw new Refused("AAEP-A.1-3", "the session is unknown or over");
    return session;
  }

  named(token: string): Question {
    const question = this.stored.questions[token];
    if (question?.status !== "pending") throw new Refused("AAEP-6.8-1", "no question with this token waits");
    return question;
  }

  checkName(prefix: string, name: string, clause: string): void {
    if (!new RegExp(`^${prefix}${NAME}$`).test(name) || name.endsWith("\n")) throw new Refused(clause, `expected ${prefix} and 1 to 64 letters and digits`);
  }

  checkText(text: string): void {
    if (BLANK.test(text) || Buffer.byteLength(text) > LONGEST_TEXT) throw new Refused("AAEP-EV-5", "a text is blank or too long");
  }

  checkTimeout(timeout: number): void {
    if (timeout < 1 || timeout > DAY) throw new Refused("AAEP-EV-5", `expected 1 to ${DAY} seconds`);
  }

  /** 6.4.1: what is irreversible and of medium or high risk is not accepted by default. */
  checkDefault(action: Action, byDefault: string): void {
    if (!["low", "medium", "high"].includes(action.risk_level)) throw new Refused("AAEP-EV-5", "`risk_level` is none of the three");
    if (!["accept", "reject"].includes(byDefault)) throw new Refused("AAEP-EV-5", "`default_decision` is none of the two");
    if (action.irreversible && action.risk_level !== "low" && byDefault === "accept") throw new Refused("AAEP-6.4.1-1", "its default has to be reject");
  }

  /** 6.1-6: nobody is asked twice at once. */
  checkNotAsked(session: string, action: Action): void {
    const same = (it: Question): boolean => it.session === session && it.action.id === action.id;
    if (this.pending().some(same)) throw new Refused("AAEP-6.1-6", "this action is being asked about");
  }

  // What is put out.

  asked({ action, token, timeout, allowed, call, ...question }: Question): Event {
    return {
      action: action.description, consequence: action.consequence, reply_token: token, timeout_seconds: timeout,
      default_decision: question.default, risk_level: action.risk_level, irreversible: action.irreversible,
      allowed_replies: allowed, extra_context: { tool_call_id: call },
    };
  }

  told({ session, action, tool, call, token }: Call): Event {
    return { action, session_id: session, tool, tool_call_id: call, reply_token: token };
  }

  moveTo(id: string, state: string, summary: string): void {
    const session = this.stored.sessions[id] as Session;
    if (session.state === state) return;
    const from = session.state;
    session.state = state;
    this.emit(id, "state.changed", { from_state: from, to_state: state, summary_normal: summary });
  }

  /** EV-1, EV-4, EV-6: an event in its envelope. */
  emit(id: string, type: string, payload: Event): void {
    const session = this.stored.sessions[id] as Session;
    const event = {
      "@context": CONTEXT, type: `aaep:agent.${type}`, event_id: `evt_${this.made()}`, session_id: id,
      timestamp: format(this.stored.now), producer: { agent_id: "typescript-aaep" }, sequence_number: session.next,
      urgency: this.urgency(type), ...payload,
    };
    session.next += 1;
    this.outputs.push({ emit: event });
  }

  urgency(type: string): string {
    return URGENT.includes(type) ? "critical" : "normal";
  }

  newToken(): string {
    return `rpl_${this.made()}`;
  }

  made(): string {
    return randomBytes(16).toString("hex");
  }
}

// The driver protocol.

class NotUnderstood extends Error {}
class Unsupported extends Error {}

type Fields = Map<string, Json>;
type Type = "string" | "whole" | "boolean" | "list" | "object";

const FIELDS: { [op: string]: { [field: string]: Type } } = {
  hello: { driver: "whole", protocol: "string" },
  reset: {}, tick: {}, restart: { "lost?": "whole" },
  start_session: { "session_id?": "string" },
  subscribe: { subscription_id: "string", "capabilities?": "object" },
  unsubscribe: { subscription_id: "string" },
  confirm: {
    session_id: "string", action: "object", timeout_seconds: "whole", default_decision: "string", "allowed_replies?": "list",
  },
  deliver: { sender: "object", "message?": "string", "message_base64?": "string" },
  cancel: { reply_token: "string" },
  extend: { reply_token: "string", timeout_seconds: "whole" },
  finish_tool: { session_id: "string", action: "string", "tool_call_id?": "string", status: "string" },
  end_session: { session_id: "string", outcome: "string" },
};
const ACTION: { [field: string]: Type } = {
  id: "string", tool: "string", description: "string", consequence: "string", risk_level: "string", irreversible: "boolean",
};
const NOT_DECLARED = ["clarify", "tool", "output", "handoff"];

function fits(value: Json, type: Type): boolean {
  switch (type) {
    case "string": return typeof value === "string";
    case "boolean": return typeof value === "boolean";
    case "whole": return value instanceof Digits && value.whole() !== undefined;
    case "list": return Array.isArray(value) && value.every((it) => typeof it === "string");
    case "object": return value instanceof Map;
  }
}

/** The fields of an object: these, and of these types. */
function checked(fields: Fields, types: { [field: string]: Type }): void {
  const known = new Map(Object.entries(types).map(([name, type]) => [name.replace("?", ""), type]));
  for (const [name, value] of fields) {
    const type = known.get(name);
    if (type === undefined) throw new NotUnderstood(`\`${name}\` is unknown`);
    if (!fits(value, type)) throw new NotUnderstood(`\`${name}\` is no ${type}`);
  }
  for (const name of Object.keys(types)) {
    if (!name.endsWith("?") && !fields.has(name)) throw new NotUnderstood(`\`${name}\` is missing`);
  }
}

const PROTOCOL = "aaep";

export class Driver {
  private readonly make: (stored?: Stored) => Producer;
  private producer: Producer | undefined;
  private last: Output[] = [];

  constructor(make: (stored?: Stored) => Producer) {
    this.make = make;
  }

  /** The response to a line. */
  answer(line: string): string {
    let id: string = "null";
    try {
      const request = read(line);
      if (!(request instanceof Map)) throw new NotUnderstood("a request is an object");
      const given = request.get("id");
      const number = given instanceof Digits ? given.whole() : undefined;
      if (number === undefined || number < 0n) throw new NotUnderstood("`id` is no number");
      id = String(number);
      return `{"id":${id},${JSON.stringify(this.body(request)).slice(1)}`;
    } catch (problem) {
      if (problem instanceof Unsupported) return `{"id":${id},"unsupported":true}`;
      return JSON.stringify({ error: String(problem) }).replace("{", `{"id":${id},`);
    }
  }

  private body(request: Fields): { [member: string]: unknown } {
    const op = request.get("op");
    if (typeof op !== "string") throw new NotUnderstood("`op` is no string");
    if (NOT_DECLARED.includes(op)) throw new Unsupported();
    const types = Object.hasOwn(FIELDS, op) ? FIELDS[op] : undefined;
    if (types === undefined) throw new NotUnderstood(`there is no op ${op}`);
    const fields = new Map([...request].filter(([name]) => !["id", "op", "now"].includes(name)));
    checked(fields, types);
    if (op === "hello") {
      if ((fields.get("driver") as Digits).whole() !== 1n || fields.get("protocol") !== PROTOCOL) throw new NotUnderstood("version 1 of aaep is spoken here");
      const { name, supports, shows } = this.make();
      return { name, supports, shows };
    }
    const time = request.get("now");
    const now = typeof time === "string" ? parse(time) : undefined;
    if (now === undefined) throw new NotUnderstood("`now` is no time");
    const run = op === "reset" || op === "restart" ? undefined : this.method(op, fields);
    if (op === "reset") this.producer = this.make();
    if (this.producer === undefined) throw new NotUnderstood("`reset` comes first");
    this.producer.outputs = [];
    if (op === "restart") this.restart(now, Number((fields.get("lost") as Digits | undefined)?.whole() ?? 0n));
    else this.carryOut(now, run ?? (() => undefined));
    this.last = this.producer.outputs;
    return { outputs: this.last };
  }

  private restart(now: number, lost: number): void {
    if (lost < 0 || lost > this.last.length) {
      this.carryOut(now, () => {
        throw new Refused("", "there were not so many outputs");
      });
      return;
    }
    this.producer = this.make(JSON.parse(JSON.stringify((this.producer as Producer).stored)) as Stored);
    this.producer.restart(now, this.last.slice(this.last.length - lost));
  }

  private carryOut(now: number, run: (producer: Producer) => void): void {
    const producer = this.producer as Producer;
    producer.advance(now);
    try {
      run(producer);
    } catch (refused) {
      if (!(refused instanceof Refused)) throw refused;
      const clause = refused.clause === "" ? {} : { clause: refused.clause };
      producer.outputs.push({ refused: { ...clause, reason: refused.message } });
    }
  }

  /** What an op asks of the producer. Whatever cannot be understood is seen here, before any time has passed. */
  private method(op: string, fields: Fields): (producer: Producer) => void {
    const text = (name: string): string => fields.get(name) as string;
    const maybe = (name: string): string | undefined => fields.get(name) as string | undefined;
    const whole = (name: string): number => Number((fields.get(name) as Digits).whole());
    switch (op) {
      case "start_session": return (it) => it.start_session(maybe("session_id"));
      case "subscribe": {
        const capabilities = (fields.get("capabilities") ?? new Map()) as Fields;
        checked(capabilities, { "supports_confirmation_reply?": "boolean" });
        return (it) => it.subscribe(text("subscription_id"), capabilities.get("supports_confirmation_reply") === true);
      }
      case "unsubscribe": return (it) => it.unsubscribe(text("subscription_id"));
      case "confirm": {
        const action = fields.get("action") as Fields;
        checked(action, ACTION);
        const allowed = fields.get("allowed_replies") as string[] | undefined;
        return (it) => it.confirm(text("session_id"), Object.fromEntries(action) as Action, whole("timeout_seconds"), text("default_decision"), allowed);
      }
      case "deliver": {
        const sender = fields.get("sender") as Fields;
        checked(sender, { "subscription_id?": "string", authenticated: "boolean" });
        if (fields.has("message") === fields.has("message_base64")) throw new NotUnderstood("one of `message` and `message_base64` is expected");
        const from = { subscription: sender.get("subscription_id") as string | undefined, authenticated: sender.get("authenticated") as boolean };
        const message = fields.has("message") ? text("message") : decoded(text("message_base64"));
        return (it) => it.deliver(from, message);
      }
      case "cancel": return (it) => it.cancel(text("reply_token"));
      case "extend": return (it) => it.extend(text("reply_token"), whole("timeout_seconds"));
      case "finish_tool": return (it) => it.finish_tool(text("session_id"), text("action"), maybe("tool_call_id"), text("status"));
      case "end_session": return (it) => it.end_session(text("session_id"), text("outcome"));
      default: return () => undefined;
    }
  }
}

/** The text of bytes, where they are UTF-8. */
function decoded(base64: string): string | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) throw new NotUnderstood("`message_base64` is no base64");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}

/** Speaks the driver protocol until standard input ends. */
async function main(): Promise<void> {
  const { made, listed } = await import("./aaep_changed.ts");
  const [option, name] = process.argv.slice(2);
  if (option === "--list-faults" || option === "--list-variants") {
    console.log(JSON.stringify(listed(option === "--list-faults" ? "fault" : "variant"), null, 2));
    return;
  }
  const Changed = option === undefined ? Producer : made(option, name ?? "");
  const driver = new Driver((stored) => new Changed(stored));
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) process.stdout.write(`${driver.answer(line)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) void main();
