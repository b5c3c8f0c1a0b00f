"""What the programs in Python answer: a line a value, the thing, the reader, the value in hexadecimal digits."""

import json


def leaves(value):
    if value is None:
        return []
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, (list, tuple)):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [str(value)]


def lines(thing, reader, value):
    return "".join(
        f"{thing} {reader} {leaf.encode('utf-8', 'surrogateescape').hex()}\n"
        if not any(0xD800 <= ord(c) < 0xDC80 or 0xDD00 <= ord(c) < 0xE000 for c in leaf)
        else f"{thing} {reader} {leaf.encode('utf-8', 'surrogatepass').hex()}\n"
        for leaf in leaves(value)
    )


def of_json(kind, body):
    if "json" not in kind.lower():
        return ""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return lines("email", "json.loads", value.get("email") if isinstance(value, dict) else None)
