"""docs/reference/draw.md in a few lines of Python, written from that page alone.

    python3 draw.py figures.json            every number and its place, as CSV
    python3 draw.py figures.json NUMBER     one place
"""
import hashlib, json, math, re, sys


def over(*fields):
    """SHA-256 over fields, each behind its length in eight bytes, the lowest first."""
    framed = (field.encode() if isinstance(field, str) else field for field in fields)
    return hashlib.sha256(b"".join(len(field).to_bytes(8, "little") + field for field in framed)).digest()


def word(number):
    return number.to_bytes(8, "little")


def key_of(f):
    """The key, once the fingerprints fit."""
    secret, name, value = bytes.fromhex(f["secret"]), f.get("beacon", ""), f.get("beacon_value", "")
    lane, edition, count = word(f["lane"]), word(f["edition"]), word(f["count"])
    begins, opens, closed = word(f["begins_ms"]), word(f["opens_ms"]), word(f["closed_ms"])
    assert ("beacon" in f) == bool(re.fullmatch("([0-9a-f]{64}){1,2}", value)), "the beacon's value is not spelled as one"
    commitment = over("ropeline draw 1 commitment", f["room"], edition, begins, opens, name, secret)
    assert commitment.hex() == f["commitment"], "the secret was changed"
    closing = over("ropeline draw 1 closing", commitment, f["line"], lane, count, closed)
    assert closing.hex() == f["closing"], "the count was changed"
    assert over("ropeline draw 1 seal", closing, value).hex() == f["seal"], "the beacon's value was changed"
    assert f["closed_ms"] >= f["opens_ms"], "the line was closed before the opening that was promised"
    return over("ropeline draw 1 key", f["room"], f["line"], lane, edition, count, secret, name, value)


def order(key, count):
    """A function from a number to its place."""
    a = math.isqrt(count - 1) + 1
    b = -(-count // a)

    def entry(i, j, bound):
        digest = hashlib.sha256(key + bytes([i]) + j.to_bytes(4, "little")).digest()
        return int.from_bytes(digest[:8], "little") % bound

    adds = [[entry(i, j, (a, b)[i % 2]) for j in range((b, a)[i % 2])] for i in range(16)]
    pairs = list(zip(adds[0::2], adds[1::2]))

    def place(number):
        x = number - 1
        while True:
            left, right = divmod(x, b)
            for to_left, to_right in pairs:
                left = (left + to_left[right]) % a
                right = (right + to_right[left]) % b
            x = left * b + right
            if x < count:
                return x + 1

    return place


if __name__ == "__main__":
    figures = json.load(open(sys.argv[1], encoding="utf-8"))
    place = order(key_of(figures), figures["count"])
    if len(sys.argv) > 2:
        print(place(int(sys.argv[2])))
    else:
        print("number,place")
        sys.stdout.writelines(f"{number},{place(number)}\n" for number in range(1, figures["count"] + 1))
