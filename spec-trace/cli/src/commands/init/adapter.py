"""An adapter for `countersign diff PROTOCOL -- python3 adapter.py`. Your implementation is called where YOURS stands."""
import inspect
import json
import sys
import traceback
from datetime import datetime

# YOURS: your name and version, the capabilities that you have, and the kinds of output that you show.
HELLO = {"name": "mine 0.1", "supports": [], "shows": SHOWS}
# Ops that need a capability: declare it in `supports`, and write the method below.
OPTIONAL = CAPABLE
# Fields of any JSON: a method gets their text, and None where the field is absent.
ANY_JSON = TEXTS


class Adapter:
    """One life of your implementation. Each op is a method that returns its outputs, as in [{"perform": {"key": "value"}}]."""

    def __init__(self):
        self.mine = None  # YOURS: make your implementation anew, with nothing stored

    def tick(self, now):
        """Called before every op: let happen what has fallen due by `now`, which is your clock."""
        return []  # YOURS

METHODS


adapter = None
for line in sys.stdin:
    number = None
    try:
        request = json.loads(line)
        number, op = request.pop("id"), request.pop("op")
        if op == "hello":
            if request != {"driver": 1, "protocol": "PROTOCOL"}:
                raise ValueError(f"expected driver 1 and PROTOCOL, not {request}")
            answer = HELLO
        elif op in OPTIONAL and not hasattr(Adapter, op):
            answer = {"unsupported": True}
        else:
            now = datetime.fromisoformat(request.pop("now").replace("Z", "+00:00"))
            if op == "reset":
                adapter, op = Adapter(), "tick"
            method = getattr(adapter, op)
            for name in request.keys() & ANY_JSON:
                if not isinstance(request[name], str):
                    request[name] = json.dumps(request[name])
            inspect.signature(method).bind(now, **request)  # a field that is missing or unknown is an error, and nothing happens
            due = [] if op == "restart" else adapter.tick(now)
            adapter.last = due if op == "tick" else due + method(now, **request)
            answer = {"outputs": adapter.last}
    except Exception:  # not understood, or your implementation broke: the last lines say where
        answer = {"error": traceback.format_exc(limit=-1)}
    print(json.dumps({"id": number, **answer}), flush=True)
