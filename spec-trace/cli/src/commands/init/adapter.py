"""An adapter for `countersign diff PROTOCOL -- python3 adapter.py`. Your implementation is called where YOURS stands."""
import inspect, json, sys, traceback
from datetime import datetime

HELLO = {"name": "mine 0.1", "supports": [], "shows": SHOWS}  # YOURS
ANY_JSON = TEXTS  # a method gets the text of these fields
OPTIONAL = CAPABLE  # op: the capability that it needs


class Adapter:
    """One life of your implementation. An op gets the time and its fields, and returns its outputs: {kind: {member: value}}."""
    def __init__(self):
        self.mine = None  # YOURS: your implementation, with nothing stored
    # Called before every op: what has fallen due by `now`, your only clock.
    def tick(self, now):
        return []  # YOURS
METHODS
    # Where HELLO declares the capability:
CAPABILITIES


adapter = None
for line in sys.stdin:
    number = None
    try:
        request = json.loads(line)
        number, op = request.pop("id"), request.pop("op")
        if op == "hello":
            assert request == {"driver": 1, "protocol": "PROTOCOL"}
            answer = HELLO
        elif op in OPTIONAL and not hasattr(Adapter, op):
            answer = {"unsupported": True}
        else:
            now = datetime.fromisoformat(request.pop("now").replace("Z", "+00:00"))
            fields = {it: json.dumps(of) if it in ANY_JSON and not isinstance(of, str) else of for it, of in request.items()}
            adapter, op = (Adapter(), "tick") if op == "reset" else (adapter, op)
            method = getattr(adapter, op)
            inspect.signature(method).bind(now, **fields)  # an error where a field is missing or unknown
            answer = {"outputs": ([] if op in ("tick", "restart") else adapter.tick(now)) + method(now, **fields)}
    except Exception:
        answer = {"error": traceback.format_exc(limit=-1)}
    print(json.dumps({"id": number, **answer}), flush=True)
