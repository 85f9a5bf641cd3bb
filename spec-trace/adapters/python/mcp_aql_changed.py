"""The gatekeeper of MCP-AQL, changed in one thing at a time: seeded faults, and variants that the text allows.

The one thing to know: each class overrides a method or two of `Gatekeeper`, and its docstring says what is different. A fault names the
clause that it breaks; a variant names the clause that leaves the choice, and the reading of `countersign check --reading` where there is one.
"""

import base64
import hashlib
import json
import re
import secrets

from mcp_aql import LEVELS, LIFE, Gatekeeper, as_written, check_names

# Runs that nobody has confirmed.


class RunsUnasked(Gatekeeper, fault="runs-before-approval", clause="AQL-1.3-1"):
    """A dangerous operation is run, and a token for it issued besides."""

    def issue(self, call, params):
        super().issue(call, params)
        self.perform(call)


class RunsRejected(Gatekeeper, fault="runs-rejected", clause="AQL-4.1-1"):
    """A call whose token fails a check is told so, and run."""

    def redeem(self, call, params):
        super().redeem(call, params)
        if "perform" not in self.outputs[-1]:
            self.perform(call)


class ForbiddenIsSafe(Gatekeeper, fault="unknown-level-is-safe", clause="AQL-1.3-1"):
    """What is rated `dangerous` is overlooked, and runs unasked."""

    def purpose_of(self, call):
        return None if call["danger_level"] == "dangerous" else super().purpose_of(call)


# Tokens that count once too often.


class UsedAgain(Gatekeeper, fault="runs-twice", clause="AQL-4.1-3"):
    """A token is never used up."""

    def use_up(self, kept):
        pass


class ThirdUsedAgain(Gatekeeper, fault="third-runs-twice", clause="AQL-4.1-3"):
    """Only the third token of all is never used up."""

    def use_up(self, kept):
        if list(self.tokens.values()).index(kept) != 2:
            super().use_up(kept)


class OneUseTooMany(Gatekeeper, fault="one-use-too-many", clause="AQL-4.1-3"):
    """A token of several uses has one more."""

    def issue(self, call, params):
        super().issue(call, params)
        if call["uses"] > 1 and self.tokens:
            list(self.tokens.values())[-1]["uses_left"] = call["uses"] + 1


class FailureUsesUp(Gatekeeper, fault="failure-uses-up", clause="AQL-4.1-3"):
    """A call that fails a check uses the token up."""

    def why_other(self, kept, call, params):
        failure = super().why_other(kept, call, params)
        if failure is not None:
            self.use_up(kept)
        return failure


class SpentByRestart(Gatekeeper, fault="runs-again-after-restart", clause="AQL-4.1-3"):
    """After a restart a token that was used up can be used again."""

    def restart(self, now, lost):
        super().restart(now, lost)
        for kept in self.tokens.values():
            kept["uses_left"] = max(kept["uses_left"], 1)


# Tokens that count too long.


class AcceptsExpired(Gatekeeper, fault="late-reply", clause="AQL-4.1-2"):
    """A token is taken for a minute longer than the tolerance says."""

    def last_moment(self, kept):
        return super().last_moment(kept) + 60_000


class ZeroIsThirty(Gatekeeper, fault="zero-is-thirty", clause="AQL-4.1-2"):
    """A tolerance of 0 is taken for the default of 30 seconds, as in the sample of the text."""

    def last_moment(self, kept):
        return kept["expires_at"] + (kept["tolerance"] or 30) * 1000


class ExclusiveExpiry(Gatekeeper, fault="expires-a-millisecond-early", clause="AQL-5.1-7"):
    """At the last moment of the tolerance a token has expired."""

    def last_moment(self, kept):
        return super().last_moment(kept) - 1


class ForbiddenLivesLong(Gatekeeper, fault="wrong-timeout-default", clause="AQL-5.1-1"):
    """A token for what is forbidden lives as long as any other where nobody says how long."""

    def life(self, call):
        default, longest = super().life(call)
        return max(default, LIFE["dangerous"][0]), longest


class AnyLife(Gatekeeper, fault="any-life", clause="AQL-5.1-1"):
    """A token lives as long as the host asks, also longer than its level allows."""

    def life(self, call):
        return super().life(call)[0], LIFE["dangerous"][1]


class RevokedLives(Gatekeeper, fault="cancel-does-not-revoke", clause="AQL-5.3-1"):
    """A token that was given back is told to be revoked, and counts."""

    def introspect(self, now, adapter, query, token):
        super().introspect(now, adapter, query, token)
        if query == "revoke_token" and token in self.tokens:
            self.tokens[token]["revoked"] = False


class SessionEndKeeps(Gatekeeper, fault="session-end-keeps", clause="AQL-5.4-2"):
    """What is bound to a session outlives it."""

    def end_session(self, now, session_id):
        check_names(session_id=session_id)
        if session_id not in self.stored["ended"]:
            self.stored["ended"].append(session_id)


class ForgetsRevoked(Gatekeeper, fault="forgets-after-restart", clause="AQL-5.3-1"):
    """After a restart nobody knows what was revoked."""

    def restart(self, now, lost):
        for kept in self.tokens.values():
            kept["revoked"] = False
        super().restart(now, lost)


class PurgesEarly(Gatekeeper, fault="purges-early", clause="AQL-4.1-1"):
    """A token is forgotten as it expires, though the tolerance has not passed."""

    def remembered_until(self, kept):
        return kept["expires_at"]


# Tokens that count for something else.


class Without(Gatekeeper):
    """Not asked about: a check of the scope, left out by its reason."""

    LEFT_OUT = ""

    def why_other(self, kept, call, params):
        failure = super().why_other(kept, call, params)
        return None if failure is not None and failure[1] == self.LEFT_OUT else failure


class AnyOperation(Without, fault="any-operation", clause="AQL-4.1-4"):
    """A token is good for any operation."""

    LEFT_OUT = "another operation"


class AnyParameters(Without, fault="any-parameters", clause="AQL-4.1-5"):
    """A token is good for any parameters."""

    LEFT_OUT = "other parameters"


class AnyAdapter(Without, fault="any-adapter", clause="AQL-4.1-6"):
    """A token is good for any adapter."""

    LEFT_OUT = "another adapter"


class AnyAdapterAfterRestart(Without, fault="any-adapter-after-restart", clause="AQL-4.1-6"):
    """After a restart, and only then, a token is good for any adapter."""

    def restart(self, now, lost):
        super().restart(now, lost)
        self.stored["restarted"] = True

    def why_other(self, kept, call, params):
        self.LEFT_OUT = "another adapter" if "restarted" in self.stored else ""
        return super().why_other(kept, call, params)


class AnySession(Without, fault="wrong-sender", clause="AQL-5.4-1"):
    """A token that is bound to a session is good for any other."""

    LEFT_OUT = "another session"


class AnyPurpose(Without, fault="reply-kind-confusion", clause="AQL-2.1-1"):
    """A token for a quota stands for a confirmation."""

    def why_other(self, kept, call, params):
        return super().why_other({**kept, "purpose": call["purpose"], "danger_level": LEVELS[-1]}, call, params)


class ParametersSwapped(Gatekeeper, fault="parameters-swapped", clause="AQL-4.1-5"):
    """A token is taken for the parameters of another that lives beside it."""

    def why_other(self, kept, call, params):
        others = [other["params"] for other in self.tokens.values() if other is not kept and other["uses_left"] > 0]
        return super().why_other({**kept, "params": params if params in others else kept["params"]}, call, params)


class SameMillisecond(Gatekeeper, fault="same-millisecond", clause="AQL-3.2-1"):
    """Of two tokens that are issued in the same millisecond the first takes the parameters of the second."""

    def issue(self, call, params):
        before = list(self.tokens.values())
        super().issue(call, params)
        if len(self.tokens) > len(before):
            list(self.tokens.values())[-1]["issued_at"] = self.stored["now"]
            if before and before[-1]["issued_at"] == self.stored["now"]:
                before[-1]["params"] = params


class EveryParameter(Gatekeeper, fault="every-parameter", clause="AQL-3.2-4"):
    """What the operator says of critical parameters is not looked at: a token is bound to all of them."""

    def bound_params(self, call):
        return super().bound_params({**call, "operation": ""})


class BindsNothing(Gatekeeper, fault="binds-nothing", clause="AQL-3.2-1"):
    """A call of which the operator's list names no parameter is bound to none, so that its token is good for others."""

    def named(self, params, critical):
        return super().named(params, critical) or {"": None}


class BoundToText(Gatekeeper, fault="bound-to-text", clause="AQL-3.2-3"):
    """What is hashed is the text of the parameters, so that another order of names is another call."""

    def bound_params(self, call):
        params = super().bound_params(call)
        return params and hashlib.sha256(call["params"].text.encode()).hexdigest()


# What is told is wrong.


class ErrorOracle(Gatekeeper, fault="error-oracle", clause="AQL-6.3-2"):
    """Where the operator wants one answer to all, a client is told all the same which check its token has failed."""

    def respond_error(self, adapter, code, token, kept):
        super().respond_error(None, code, token, kept)


class TellsParameters(Gatekeeper, fault="tells-parameters", clause="AQL-6.3-1"):
    """Who comes with other parameters is told which ones would do."""

    def redeem(self, call, params):
        super().redeem(call, params)
        if self.outputs[-1].get("respond", {}).get("error", {}).get("code") == "TOKEN_SCOPE_MISMATCH":
            expected = {"expected": as_written(call["params"])}
            self.outputs[-1]["respond"]["error"]["details"] |= expected
            self.outputs[-1]["respond"]["error"]["message"] = f"The call was {json.dumps(expected)}."


class SilentDenial(Gatekeeper, fault="silent-denial", clause="AQL-4.2-1"):
    """A call whose token fails a check has no answer."""

    def respond_error(self, adapter, code, token, kept):
        pass


class WrongCode(Gatekeeper, fault="wrong-code", clause="AQL-4.1-2"):
    """A token that has expired is said to be used already."""

    def why_not_live(self, token, kept):
        failure = super().why_not_live(token, kept)
        return ("TOKEN_ALREADY_USED", failure[1]) if failure and failure[1] == "expired" else failure


class NoExpiry(Gatekeeper, fault="tells-no-expiry", clause="AQL-1.2-2"):
    """The client is not told when its token expires."""

    def issue(self, call, params):
        super().issue(call, params)
        if "respond" in self.outputs[-1]:
            self.outputs[-1]["respond"]["error"]["details"].pop("expires_at", None)


class TokensTell(Gatekeeper, fault="tokens-tell-parameters", clause="AQL-6.3-3"):
    """The values of the parameters stand in the token, in base64 behind what is drawn."""

    def bound_params(self, call):
        self.values = call["params"].text
        return super().bound_params(call)

    def new_token(self, purpose):
        told = re.sub(r"[^a-z0-9-]", "", self.values)
        prefix = "conf_" if purpose == "confirmation" else "quota_continue_"
        return prefix + (secrets.token_hex(16) + base64.urlsafe_b64encode(told.encode()).decode().rstrip("="))[:64]


class ShortTokens(Gatekeeper, fault="short-tokens", clause="AQL-2.2-2"):
    """Tokens are counted, and shorter than eight characters."""

    def new_token(self, purpose):
        self.stored["made"] = self.stored.get("made", 0) + 1
        return ("conf_" if purpose == "confirmation" else "quota_continue_") + str(self.stored["made"])


class Unlogged(Gatekeeper, fault="redeems-unlogged", clause="AQL-6.4-1"):
    """A token that counts leaves no entry in the log."""

    def audit(self, event, token, operation, adapter, session_id, failure=None):
        if event != "TOKEN_VALIDATED":
            super().audit(event, token, operation, adapter, session_id, failure)


class RejectsUnlogged(Gatekeeper, fault="rejects-unlogged", clause="AQL-6.4-1"):
    """A token that fails a check leaves no entry in the log."""

    def audit(self, event, token, operation, adapter, session_id, failure=None):
        if event != "TOKEN_REJECTED":
            super().audit(event, token, operation, adapter, session_id, failure)


# What the text allows.


class SampleOrder(Gatekeeper, variant="order-of-the-sample", clause="AQL-4.3-1", reading="check-order=sample"):
    """The scope is checked before expiry and use, as in the sample of the text: a token with two faults gets the other code."""

    def redeem(self, call, params):
        kept = self.find(call["confirmation_token"])
        self.mismatch = None if kept is None or params is None or kept["revoked"] else self.why_other(kept, call, params)
        super().redeem(call, params)
        self.mismatch = None

    mismatch = None

    def why_not_live(self, token, kept):
        return self.mismatch or super().why_not_live(token, kept)


class UniformAnswers(Gatekeeper, variant="uniform-answers", clause="AQL-6.3-2", reading="oracle=uniform"):
    """All failed checks are answered alike, whatever the operator says."""

    def settings(self, adapter):
        return {**super().settings(adapter), "oracle": "uniform"}

    def configure(self, now, adapter, clock_skew_tolerance_seconds, oracle, critical):
        super().configure(now, adapter, clock_skew_tolerance_seconds, None, critical)


class BindsEveryToken(Gatekeeper, variant="binds-every-token", clause="AQL-6.1-2", reading="session-binding=always"):
    """Every token is bound to the session of its call, if it has one."""

    def check_call(self, call):
        super().check_call(call)
        if call["purpose"] is not None and call["session_scope"] is not False:
            call["bound_to"] = call["session_id"]


class ClockOfItsOwn(Gatekeeper, variant="current-time", clause="AQL-4.1-2", reading="clock-set-back=current-time"):
    """The current time counts, also where it was later before."""

    def advance(self, now):
        self.stored["now"] = None
        super().advance(now)


class ForgetsTokens(Gatekeeper, variant="tokens-in-memory", clause="AQL-5.5-1"):
    """A restart loses all tokens, so that none of them counts any more."""

    def restart(self, now, lost):
        self.advance(now)
        self.stored["tokens"], self.stored["ended"] = {}, []


class PurgesAtOnce(Gatekeeper, variant="purges-at-once", clause="AQL-5.5-2", reading="purge-code=unknown"):
    """What has expired is forgotten at once, and told as a token that never was."""

    def remembered_until(self, kept):
        return self.last_moment(kept)


class RevokedIsUsed(Gatekeeper, variant="revoked-is-used", clause="AQL-5.3-1", reading="revoked-code=already-used"):
    """What was revoked is told to a client as used already."""

    def why_not_live(self, token, kept):
        failure = super().why_not_live(token, kept)
        return ("TOKEN_ALREADY_USED", "revoked") if failure and failure[1] == "revoked" else failure


class ShorterTolerance(Gatekeeper, variant="no-tolerance", clause="AQL-5.1-4", reading="tolerance-unset=none"):
    """Where the operator says nothing, there is no tolerance."""

    def settings(self, adapter):
        return self.stored["adapters"].get(adapter, {"tolerance": 0, "oracle": "codes", "critical": {}})


class OtherTokens(Gatekeeper, variant="other-tokens", clause="AQL-2.2-1"):
    """Tokens are as long as may be, with every kind of character."""

    def new_token(self, purpose):
        prefix = "conf_" if purpose == "confirmation" else "quota_continue_"
        body = hashlib.sha512(super().new_token(purpose).encode()).hexdigest()
        return prefix + "_-Zz" + body[:60]


class TokensName(Gatekeeper, variant="tokens-name-their-operation", clause="AQL-6.2-2", reading="token-storage=signed"):
    """A token names its operation, as one may that holds what it stands for."""

    def bound_params(self, call):
        self.operation = call["operation"]
        return super().bound_params(call)

    def new_token(self, purpose):
        prefix = "conf_" if purpose == "confirmation" else "quota_continue_"
        return prefix + secrets.token_hex(16) + self.operation.encode().hex()[:32]


class ShowsLittle(Gatekeeper, variant="shows-little", clause="AQL-7.3-1"):
    """It declares nothing that is optional, and shows nobody its log."""

    SUPPORTS = []
    SHOWS = ["perform", "respond", "refused"]

    def audit(self, event, token, operation, adapter, session_id, failure=None):
        pass

    def configure(self, now, adapter, clock_skew_tolerance_seconds, oracle, critical):
        super().configure(now, adapter, clock_skew_tolerance_seconds, oracle, critical)
        self.outputs = [output for output in self.outputs if "audit" not in output]


class RefusesLongLives(Gatekeeper, variant="short-lives", clause="AQL-5.1-1", reading="longest-life=default"):
    """A token never lives longer than the default of its kind: to ask for more is refused."""

    def life(self, call):
        default, _ = super().life(call)
        return default, default
