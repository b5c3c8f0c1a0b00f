"""Was this request forwarded by the gate? For any framework of Python; docs/guides/back-door.md says what to pass."""
import hashlib
import hmac
import re
import time

FORM = re.compile(r"v1;k=([a-z0-9-]{1,16});t=([0-9]{1,12});h=([0-9a-f]{64})")


def is_signed(method, target, session, signature, keys, now=None, within=60):
    part = FORM.fullmatch(signature or "")
    now = time.time() if now is None else now
    if not part or part[1] not in keys or abs(now - int(part[2])) > within:
        return False
    text = "\n".join(["ropeline-signature-v1", part[2], method, target, session or ""])
    right = hmac.new(keys[part[1]], text.encode("latin-1"), hashlib.sha256).hexdigest()
    return hmac.compare_digest(right, part[3])
