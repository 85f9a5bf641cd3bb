"""MCP-AQL confirmation tokens: a small gatekeeper behind the driver protocol.

The one thing to know: `Gatekeeper` is the specification, and takes and gives what the driver protocol writes; to have an implementation
of your own judged, put calls of it in the place of its methods, and leave `driver.py` as it is. Tokens are kept on the server and looked up
(6.2), so that `stored` has to be a store that nobody else reads. The clause behind each rule stands beside it.
"""

import hashlib
import json
import re
import secrets
from decimal import Decimal

from driver import Json, NotUnderstood, Refused, Subject, Unsupported, Words, format_time, has_half_a_pair, main, read

LEVELS = ["safe", "reversible", "destructive", "dangerous", "forbidden"]  # 5.1, by their numbers
LIFE = {"destructive": (300, 900), "dangerous": (300, 900), "forbidden": (120, 300), "quota": (300, 600)}  # 5.1, in seconds: default, longest
TOKEN = re.compile(r"(conf|quota_continue)_[A-Za-z0-9_-]{1,64}\Z")  # 2.2
KEPT_EXPIRED = 900_000  # ms: 5.5, expired tokens are purged within an hour


def level(name, given):
    """A type of field: a danger level, as its word or its number."""
    value = read(name, str if isinstance(given.value, str) else int, given)
    if value in LEVELS:
        return value
    if isinstance(value, int) and 0 <= value < len(LEVELS):
        return LEVELS[value]
    return Refused(f"`{name}` is {value!r}: expected one of {', '.join(LEVELS)}, or 0 to 4")


def names_by_operation(name, given):
    """A type of field: the names of parameters, by operation."""
    value = given.value
    is_so = isinstance(value, dict) and all(isinstance(names, list) and all(isinstance(it, str) for it in names) for names in value.values())
    if not is_so:
        raise NotUnderstood(f"`{name}`: expected lists of names by operation")
    return value


class Gatekeeper(Subject):
    """One life of a gatekeeper."""

    PROTOCOL = "mcp-aql"
    NAME = "python-mcp-aql 1.0"
    SUPPORTS = ["multi_use", "session_scope", "quota", "introspect", "restart"]
    SHOWS = ["perform", "respond", "audit", "refused"]
    OPS = {
        "configure": {"adapter": str, "clock_skew_tolerance_seconds?": int, "oracle?": Words("codes", "uniform"), "critical?": names_by_operation},
        "call": {
            "adapter?": str, "operation": str, "params": Json, "danger_level": level, "session_id?": str, "session_scope?": bool,
            "max_uses?": int, "ttl_seconds?": int, "confirmation_token?": str, "purpose?": Words("confirmation", "quota_continue"),
            "reasons?": [str], "confirmation_message?": str,
        },
        "introspect": {"adapter?": str, "query": Words("revoke_token", "token_status"), "token": str},
        "event": {"kind": Words("logout", "security", "configuration"), "session_id?": str},
        "end_session": {"session_id": str},
    }
    NEEDS = {"introspect": "introspect"}

    def __init__(self, stored=None):
        super().__init__(stored or {"now": None, "adapters": {}, "tokens": {}, "ended": []})

    @property
    def tokens(self):
        """What each token stands for, by the token, in the order of issuing."""
        return self.stored["tokens"]

    def check_supported(self, op, given):
        super().check_supported(op, given)
        asked = {
            "multi_use": (given.get("max_uses") or 1) > 1,
            "session_scope": given.get("session_scope") is True,
            "quota": given.get("purpose") == "quota_continue",
        }
        if any(is_asked and capability not in self.SUPPORTS for capability, is_asked in asked.items()):
            raise Unsupported

    # What is asked.

    def configure(self, now, adapter, clock_skew_tolerance_seconds, oracle, critical):
        """5.1, 3.2: the adapter works differently from now on, and 5.3: what was issued before is revoked."""
        check_names(adapter=adapter)
        tolerance = clock_skew_tolerance_seconds
        if tolerance is not None and not 0 <= tolerance <= 300:
            raise Refused("`clock_skew_tolerance_seconds`: expected 0 to 300", "AQL-5.1-5")
        if critical is not None:
            if any(not names or not 1 <= len(operation) <= 256 for operation, names in critical.items()):
                raise Refused("`critical`: expected a name of each operation at least", "AQL-3.2-1")
            critical = {operation: sorted(set(names)) for operation, names in critical.items()}
        before = self.settings(adapter)
        given = {"tolerance": tolerance, "oracle": oracle, "critical": critical}
        after = {**before, **{name: value for name, value in given.items() if value is not None}}
        if tolerance is not None and tolerance > 60:
            text = f"Tokens are taken for {tolerance} s behind their expiry."
            self.put_out("audit", {"timestamp": self.time(), "kind": "warning", "clause": "AQL-5.1-6", "adapter_name": adapter, "text": text})
        self.revoke_all(lambda token: token["adapter"] == adapter and is_changed(token["operation"], before, after))
        self.stored["adapters"][adapter] = after

    def call(self, now, **call):
        """1.3: what has to be confirmed runs with a token alone."""
        call["adapter"] = call["adapter"] or "default" if call["adapter"] != "" else ""
        call["purpose"] = self.purpose_of(call)
        self.check_call(call)
        params = None if call["purpose"] is None else self.bound_params(call)
        if call["purpose"] is None:
            self.perform(call)
        elif call["confirmation_token"] is None:
            self.issue(call, params)
        else:
            self.redeem(call, params)

    def introspect(self, now, adapter, query, token):
        """7.3, 5.3: what has become of a token, and giving it back."""
        adapter = "default" if adapter is None else adapter
        check_names(adapter=adapter)
        kept = self.find(token)
        failure = self.why_not_live(token, kept)
        if query == "token_status":
            self.tell_status(adapter, token, kept, failure)
            return
        about = kept or {"operation": "introspect", "adapter": adapter, "bound_to": None}
        self.audit("TOKEN_REVOKED", token, about["operation"], about["adapter"], about["bound_to"], failure and failure[1])
        if failure is None:
            kept["revoked"] = True
            self.put_out("respond", {"success": True, "data": {"revoked": True}})
        else:
            self.respond_error(adapter, failure[0], token, kept)

    def event(self, now, kind, session_id):
        """5.3: all tokens end; with the logout of one session those that are bound to it."""
        if session_id is not None:
            check_names(session_id=session_id)
        one_session = kind == "logout" and session_id is not None
        self.revoke_all(lambda token: not one_session or token["bound_to"] == session_id)

    def end_session(self, now, session_id):
        """5.4: what is bound to the session ends with it."""
        check_names(session_id=session_id)
        if session_id not in self.stored["ended"]:
            self.stored["ended"].append(session_id)
        self.revoke_all(lambda token: token["bound_to"] == session_id)

    # Time and restart.

    def advance(self, now):
        """5.5: what has long expired is purged. The greatest time so far counts."""
        self.stored["now"] = max(now, self.stored["now"] or now)
        self.stored["tokens"] = {token: kept for token, kept in self.tokens.items() if self.stored["now"] <= self.remembered_until(kept)}

    def restart(self, now, lost):
        """5.4: the connections have ended with the process, and what was bound to them with them. What was answered is not repeated: the
        connection that it went to is gone."""
        self.advance(now)
        self.revoke_all(lambda token: token["bound_to"] is not None)

    # The rules.

    def purpose_of(self, call):
        """5.1: what is dangerous is confirmed, and beyond a quota everything; what is both is asked about once. None: no token is needed."""
        if LEVELS.index(call["danger_level"]) >= LEVELS.index("destructive"):
            return "confirmation"
        return "quota_continue" if call["purpose"] == "quota_continue" else None

    def check_call(self, call):
        check_names(adapter=call["adapter"], operation=call["operation"])
        if call["session_id"] is not None:
            check_names(session_id=call["session_id"])
        uses = 1 if call["max_uses"] is None else call["max_uses"]
        if not 1 <= uses < 2**32:
            raise Refused("`max_uses`: expected 1 or more", "AQL-5.4-1")
        if call["ttl_seconds"] is not None and not 1 <= call["ttl_seconds"] <= 900:
            raise Refused("`ttl_seconds`: expected 1 to 900", "AQL-5.1-2")
        if call["purpose"] is None:
            return
        call["bound_to"] = call["session_id"] if call["session_scope"] or (uses > 1 and call["session_scope"] is None) else None
        if (uses > 1 or call["session_scope"]) and call["bound_to"] is None:
            raise Refused("several uses, and the scope of a session, need a session that the token is bound to", "AQL-5.4-1")
        default, longest = self.life(call)
        seconds = default if call["ttl_seconds"] is None else call["ttl_seconds"]
        if seconds > longest:
            raise Refused(f"`ttl_seconds`: expected at most {longest}", "AQL-5.1-1")
        call["uses"], call["seconds"] = uses, seconds

    def perform(self, call):
        session = {} if call["session_id"] is None else {"session_id": call["session_id"]}
        self.put_out("perform", {"operation": call["operation"], "params": as_written(call["params"]), "adapter": call["adapter"], **session})

    def issue(self, call, params):
        """3.2, 3.3: a token for this call and no other."""
        if call["bound_to"] in self.stored["ended"]:
            raise Refused("the session has ended", "AQL-5.4-2")
        if params is None:
            self.reject_params("TOKEN_ISSUED", None, call)
            return
        token = self.new_token(call["purpose"])
        self.tokens[token] = {
            "purpose": call["purpose"], "operation": call["operation"], "params": params, "adapter": call["adapter"],
            "danger_level": call["danger_level"], "expires_at": self.stored["now"] + call["seconds"] * 1000,
            "tolerance": self.settings(call["adapter"])["tolerance"], "bound_to": call["bound_to"], "uses_left": call["uses"], "revoked": False,
        }
        self.audit("TOKEN_ISSUED", token, call["operation"], call["adapter"], call["session_id"])
        reasons = call["reasons"] if call["reasons"] is not None else [f"The operation is {call['danger_level']}."]
        question = call["confirmation_message"] if call["confirmation_message"] is not None else f"Run {call['operation']}?"
        self.put_out("respond", error("CONFIRMATION_REQUIRED", "The operation has to be confirmed.", {
            "operation": call["operation"], "danger_level": call["danger_level"], "reasons": reasons, "confirmation_message": question,
            "confirmation_token": token, "expires_at": format_time(self.tokens[token]["expires_at"])}))

    def redeem(self, call, params):
        """4.1: all checks, then 5.2: used up, then the operation."""
        token = call["confirmation_token"]
        if params is None:
            self.reject_params("TOKEN_REJECTED", token, call)
            return
        kept = self.find(token)
        failure = self.why_not_live(token, kept) or self.why_other(kept, call, params)
        self.audit("TOKEN_REJECTED" if failure else "TOKEN_VALIDATED", token, call["operation"], call["adapter"], call["session_id"], failure and failure[1])
        if failure is not None:
            self.respond_error(call["adapter"], failure[0], token, kept)
            return
        self.use_up(kept)
        self.perform(call)

    def reject_params(self, event, token, call):
        """3.2: what has no one meaning can be bound to no token."""
        self.audit(event, token, call["operation"], call["adapter"], call["session_id"], "the parameters have no one meaning")
        self.put_out("respond", error("INVALID_PARAMS", "The parameters have no one meaning.", {}))

    def find(self, token):
        """What the token stands for; None where it was never issued, or purged."""
        return self.tokens.get(token)

    def use_up(self, kept):
        """5.2: before the operation runs."""
        kept["uses_left"] -= 1

    def last_moment(self, kept):
        """5.1: the last time at which the token is taken: with the tolerance that its adapter had as it was issued."""
        return kept["expires_at"] + kept["tolerance"] * 1000

    def remembered_until(self, kept):
        return self.last_moment(kept) + KEPT_EXPIRED

    def life(self, call):
        """5.1: how long a token for the call lives in seconds, and how long it can at most."""
        return LIFE["quota" if call["purpose"] == "quota_continue" else call["danger_level"]]

    def why_not_live(self, token, kept):
        """4.1, the first three checks: the code, and the reason for the operator; None where the token lives. What was revoked is not
        told from what never was (6.3)."""
        if kept is None:
            return "TOKEN_INVALID", "unknown" if TOKEN.match(token) and 8 <= len(token) <= 80 else "malformed"
        if kept["revoked"]:
            return "TOKEN_INVALID", "revoked"
        if self.stored["now"] > self.last_moment(kept):
            return "TOKEN_EXPIRED", "expired"
        if kept["uses_left"] == 0:
            return "TOKEN_ALREADY_USED", "already used"
        return None

    def why_other(self, kept, call, params):
        """4.1, the checks of the scope: the code and the reason; None where the token was issued for this call."""
        if kept["operation"] != call["operation"]:
            return "TOKEN_SCOPE_MISMATCH", "another operation"
        if kept["params"] != params:
            return "TOKEN_SCOPE_MISMATCH", "other parameters"
        if kept["adapter"] != call["adapter"]:
            return "TOKEN_SCOPE_MISMATCH", "another adapter"
        if kept["purpose"] != call["purpose"]:
            return "TOKEN_SCOPE_MISMATCH", "another purpose"
        if LEVELS.index(call["danger_level"]) > LEVELS.index(kept["danger_level"]):
            return "TOKEN_SCOPE_MISMATCH", "more dangerous"
        if kept["bound_to"] is not None and kept["bound_to"] != call["session_id"]:
            return "TOKEN_SCOPE_MISMATCH", "another session"
        return None

    def bound_params(self, call):
        """3.2: the hash of the critical parameters in a canonical form; None where they have no one meaning. A list that names none of them
        leaves nothing to bind, so that all are bound."""
        try:
            params = meaning(call["params"].held())
        except (ValueError, RecursionError):
            return None
        critical = self.settings(call["adapter"])["critical"].get(call["operation"])
        if critical is not None and isinstance(params, dict):
            params = self.named(params, critical) or params
        return hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()

    def named(self, params, critical):
        """3.2: those that count by the list."""
        return {name: value for name, value in params.items() if name in critical}

    def settings(self, adapter):
        return self.stored["adapters"].get(adapter, {"tolerance": 30, "oracle": "codes", "critical": {}})

    def revoke_all(self, is_meant):
        """5.3: what lives and is meant."""
        for token, kept in self.tokens.items():
            if is_meant(kept) and self.why_not_live(token, kept) is None:
                kept["revoked"] = True
                self.audit("TOKEN_REVOKED", token, kept["operation"], kept["adapter"], kept["bound_to"])

    def new_token(self, purpose):
        """2.1, 3.1: 256 bits, from a source fit for it."""
        return ("conf_" if purpose == "confirmation" else "quota_continue_") + secrets.token_hex(32)

    # What is put out.

    def tell_status(self, adapter, token, kept, failure):
        self.audit("TOKEN_REJECTED" if failure else "TOKEN_VALIDATED", token, "introspect", adapter, None, failure and failure[1])
        is_told = kept is not None and not (failure and self.settings(adapter)["oracle"] == "uniform")
        data = {"status": "unknown"}
        if is_told:
            status = {None: "live", "revoked": "revoked", "expired": "expired", "already used": "consumed"}[failure and failure[1]]
            data = {"status": status, "uses_left": 0 if failure else kept["uses_left"], "expires_at": format_time(kept["expires_at"])}
        self.put_out("respond", {"success": True, "data": data})

    def respond_error(self, adapter, code, token, kept):
        """4.2, 7.1: the code of the check that failed. 6.3: nothing of what the token was for, and with the oracle `uniform` one answer to all."""
        if code == "TOKEN_INVALID" or self.settings(adapter)["oracle"] == "uniform":
            self.put_out("respond", error("TOKEN_INVALID", "The token is not valid.", {}))
            return
        details = {"token": token}
        if code == "TOKEN_EXPIRED":
            details |= {"expired_at": format_time(kept["expires_at"]), "current_time": self.time()}
        self.put_out("respond", error(code, code.replace("_", " ").capitalize() + ".", details))

    def audit(self, event, token, operation, adapter, session_id, failure=None):
        """6.4: an entry of the log. The token is named by a digest, for who reads the log is not to have it."""
        named = {} if token is None else {"token_id": hashlib.sha256(token.encode()).hexdigest()[:16]}
        entry = {
            "timestamp": self.time(), "event": event, **named, "operation": operation, "adapter_name": adapter,
            "outcome": "failure" if failure else "success"}
        if failure is not None:
            entry["failure_reason"] = failure
        if session_id is not None:
            entry["client_context"] = {"session_id": session_id}
        self.put_out("audit", entry)

    def time(self):
        return format_time(self.stored["now"])


def error(code, message, details):
    return {"success": False, "error": {"code": code, "message": message, "details": details}}


def is_changed(operation, before, after):
    """Whether the settings mean something else for a token of that operation."""
    return {**before, "critical": before["critical"].get(operation)} != {**after, "critical": after["critical"].get(operation)}


def check_names(**names):
    for field, name in names.items():
        if not 1 <= len(name) <= 256:
            raise Refused(f"`{field}`: expected 1 to 256 characters")


def as_written(params):
    """The parameters as JSON where they are that, else as the text that they came as; a string as the text of it."""
    text = params.held()
    try:
        meaning(text)
        value = json.loads(text)
        return text if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return text


def meaning(text):
    """JSON in a canonical form, so that two texts are the same where they mean the same; a ValueError where they have no one meaning."""

    def distinct(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name stands in an object twice")
        return dict(pairs)

    def number(digits):
        value = float(digits)
        if value in (float("inf"), float("-inf")) or (value == 0 and Decimal(digits) != 0):
            raise ValueError("no double carries it")
        if abs(Decimal(digits)) > 2**53 and Decimal(repr(value)) != Decimal(digits):
            raise ValueError("readers differ on it")
        return int(Decimal(repr(value))) if value == int(value) else value

    def no_constant(name):
        raise ValueError(f"{name} is no JSON")

    value = json.loads(text, object_pairs_hook=distinct, parse_float=number, parse_constant=no_constant)
    if has_half_a_pair(json.dumps(value, ensure_ascii=False)):
        raise ValueError("half a surrogate pair")
    return value


if __name__ == "__main__":
    import mcp_aql_changed

    main(mcp_aql_changed.Gatekeeper)
