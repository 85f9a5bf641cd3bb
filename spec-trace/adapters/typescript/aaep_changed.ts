// The producer, changed in one thing at a time: seeded faults, each with the clause that names it, and variants that the text allows.
//
// The one thing to know: each class overrides a method or two of `Producer`; the line above its entry says what is different.

import { Ignored, Producer } from "./aaep.ts";
import type { Action, Call, Output, Question, Reply, Sender } from "./aaep.ts";

type Kind = "fault" | "variant";
type Changed = { kind: Kind; name: string; clause: string; reading?: string; what: string; made: typeof Producer };

const CHANGED: Changed[] = [];

function change(kind: Kind, name: string, clause: string, what: string, made: typeof Producer, reading?: string): void {
  CHANGED.push({ kind, name, clause, what, made, ...(reading === undefined ? {} : { reading }) });
}

const fault = (name: string, clause: string, what: string, made: typeof Producer): void => change("fault", name, clause, what, made);
const variant = (name: string, clause: string, what: string, made: typeof Producer, reading?: string): void =>
  change("variant", name, clause, what, made, reading);

/** The class of this name. */
export function made(option: string, name: string): typeof Producer {
  const found = CHANGED.find((it) => `--${it.kind}` === option && it.name === name);
  if (found === undefined) throw new Error(`there is no ${option} ${name}`);
  return found.made;
}

/** What there is of this kind. */
export function listed(kind: Kind): Omit<Changed, "made" | "kind">[] {
  return CHANGED.filter((it) => it.kind === kind).map(({ made: _, kind: __, ...told }) => told);
}

fault("runs-before-approval", "AAEP-6.1-1", "The action is performed as soon as it is asked about.", class extends Producer {
  override confirm(session: string, action: Action, timeout: number, byDefault: string, allowed: string[] | undefined): void {
    super.confirm(session, action, timeout, byDefault, allowed);
    const { call, token } = this.pending().at(-1) as Question;
    this.outputs.push({ perform: this.told({ session, action: action.id, tool: action.tool, call, token }) });
  }
});

fault("deny-is-allow", "AAEP-A.4-4", "A rejection by reply is taken for an acceptance.", class extends Producer {
  override answer(question: Question): void {
    this.accept(question);
  }
});

fault("modified-is-accepted", "AAEP-6.3.2-4", "A reply that changes the action accepts it.", class extends Producer {
  override answer(question: Question, reply: Reply): void {
    super.answer(question, { ...reply, modified: false });
  }
});

fault("wrong-timeout-default", "AAEP-6.4-1", "A timeout accepts, whatever the default.", class extends Producer {
  override applyDefault(question: Question): void {
    this.accept(question);
  }
});

fault("any-default", "AAEP-6.4.1-1", "A default of accept is taken for any action.", class extends Producer {
  override checkDefault(action: Action, byDefault: string): void {
    super.checkDefault({ ...action, irreversible: false }, byDefault);
  }
});

fault("runs-twice", "AAEP-6.3.4-3", "Whoever accepts again has the action run again.", class extends Producer {
  override checkUnused(question: Question): void {
    if (question.status === "cancelled") super.checkUnused(question);
  }
});

fault("token-swapped", "AAEP-6.1-1", "A reply is about the question that has waited longest, whatever its token.", class extends Producer {
  override questioned(reply: Reply): Question {
    const question = super.questioned(reply);
    return question.status === "pending" ? (this.pending()[0] as Question) : question;
  }
});

fault("late-reply", "AAEP-6.3.4-4", "A reply that was decided after the deadline counts, if it comes before.", class extends Producer {
  override checkInTime(): void {}
});

fault("at-the-deadline", "AAEP-6.3.4-4", "A reply that was decided at the deadline is in time.", class extends Producer {
  override checkInTime(question: Question, reply: Reply): void {
    if (reply.time > this.deadline(question)) super.checkInTime(question, reply);
  }
});

fault("cancel-does-not-revoke", "AAEP-6.8-4", "What was taken back can still be answered.", class extends Producer {
  override checkUnused(question: Question): void {
    if (question.status === "answered") super.checkUnused(question);
  }
});

fault("unauthenticated", "AAEP-6.3.4-5", "Who knows the token and the subscription need not be authenticated.", class extends Producer {
  override checkSender(reply: Reply, sender: Sender): void {
    super.checkSender(reply, { ...sender, authenticated: true });
  }
});

fault("wrong-sender", "AAEP-6.3.4-5", "A reply may name any open subscription, whosever it is.", class extends Producer {
  override checkSender(reply: Reply, sender: Sender): void {
    super.checkSender(reply, { ...sender, subscription: reply.subscription });
  }
});

fault("any-decision", "AAEP-6.3.4-6", "A decision counts that the question does not allow.", class extends Producer {
  override checkAllowed(): void {}
});

fault("error-oracle", "AAEP-6.3.4-9", "The sender is told by the status that a check failed.", class extends Producer {
  override ignore(ignored: Ignored): void {
    super.ignore(ignored);
    for (const output of this.outputs) if ("respond" in output) output.respond = { status: 400, body: ignored.clause };
  }
});

fault("silent-denial", "AAEP-6.1-3", "Nobody is told of a rejection by reply.", class extends Producer {
  override answer(question: Question, reply: Reply): void {
    if (reply.decision === "accept") super.answer(question, reply);
    else question.status = "answered";
  }
});

fault("asks-twice", "AAEP-6.1-6", "The same action is asked about though it is being asked about.", class extends Producer {
  override checkNotAsked(): void {}
});

fault("third-token-again", "AAEP-6.2.2-3", "The third question has the token of the first.", class extends Producer {
  override newToken(): string {
    const tokens = Object.keys(this.stored.questions);
    return tokens.length === 2 ? (tokens[0] as string) : super.newToken();
  }
});

fault("not-urgent", "AAEP-EV-6", "A question is an event like any other.", class extends Producer {
  override urgency(): string {
    return "normal";
  }
});

fault("never-completes", "AAEP-A.3-1", "At the end of a session nobody is told of the tools that were running.", class extends Producer {
  override end_session(id: string, outcome: string): void {
    this.going(id);
    this.stored.calls = this.stored.calls.filter((it) => it.session !== id);
    super.end_session(id, outcome);
  }
});

fault("runs-again-after-restart", "AAEP-6.9-2", "After a restart what is in doubt is run again.", class extends Producer {
  override restart(now: number, lost: Output[]): void {
    super.restart(now, lost);
    for (const call of this.stored.calls) this.outputs.push({ perform: this.told(call) });
  }
});

fault("forgets-doubt", "AAEP-A.3-1", "After the second restart nobody is told what is in doubt.", class extends Producer {
  override restart(now: number, lost: Output[]): void {
    super.restart(now, lost);
    this.stored.more.restarts = (this.stored.more.restarts ?? 0) + 1;
    if (this.stored.more.restarts > 1) this.outputs = this.outputs.filter((it) => !("in_doubt" in it));
  }
});

fault("unauthenticated-after-restart", "AAEP-6.3.4-5", "After a restart, and only then, nobody need be authenticated.", class extends Producer {
  override restart(now: number, lost: Output[]): void {
    super.restart(now, lost);
    this.stored.more.restarts = 1;
  }

  override checkSender(reply: Reply, sender: Sender): void {
    super.checkSender(reply, { ...sender, authenticated: sender.authenticated || this.stored.more.restarts === 1 });
  }
});

variant("never-early", "AAEP-6.4-1", "A default waits for its time, also where nobody is left who could answer.", class extends Producer {
  override appliesEarly(): boolean {
    return false;
  }
}, "early-default-on-close=never");

variant("ends-by-itself", "AAEP-6.8-1", "The event that ends a session takes its questions back, however it ends.", class extends Producer {
  override closed(question: Question, state: string, summary: string): void {
    if (summary.startsWith("The session ends")) return;
    super.closed(question, state, summary);
  }
}, "session-end-tells=by-itself");

variant("performs-first", "AAEP-6.1-4", "The call to perform comes before the events that tell of it.", class extends Producer {
  override accept(question: Question): void {
    const before = this.outputs.length;
    super.accept(question);
    this.outputs.splice(before, 0, ...this.outputs.splice(-1));
  }
});

variant("deciding", "AAEP-6.8-3", "What is taken back leads to the state `deciding`.", class extends Producer {
  override closed(question: Question, state: string, summary: string): void {
    super.closed(question, summary.startsWith("The question is taken") ? "deciding" : state, summary);
  }
});

variant("names-little", "AAEP-6.3.4-8", "It logs nothing, and a call to perform names what it has to.", class extends Producer {
  override ignore(): void {}

  override told(call: Call): { [member: string]: unknown } {
    const { session, action, call: tool_call_id } = call;
    return { action, session_id: session, tool_call_id };
  }
});
