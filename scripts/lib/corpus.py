"""The inputs of a fuzzer in one text file, and as the folder of files that libFuzzer wants.

    python3 scripts/lib/corpus.py pack FOLDER FILE      each file of the folder becomes a line
    python3 scripts/lib/corpus.py unpack FILE FOLDER    each line becomes a file, named by its hash

A line is one input, with its bytes as Rust's `escape_ascii` writes them. Lines are sorted and distinct.
`src/fuzzing.rs` reads the same format.
"""

import hashlib
import pathlib
import re
import sys

NAMED = {ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r", ord("'"): "\\'", ord('"'): '\\"', ord("\\"): "\\\\"}
BYTE = {escaped: bytes([byte]) for byte, escaped in NAMED.items()}
ESCAPE = re.compile(r"""\\x[0-9a-f]{2}|\\[tnr'"\\]|[ -~]""")


def escape(data: bytes) -> str:
    plain = (chr(byte) if 0x20 <= byte <= 0x7E else f"\\x{byte:02x}" for byte in data)
    return "".join(NAMED.get(byte, shown) for byte, shown in zip(data, plain))


def unescape(line: str) -> bytes:
    parts = ESCAPE.findall(line)
    data = b"".join(BYTE.get(part) or (bytes.fromhex(part[2:]) if len(part) == 4 else part.encode()) for part in parts)
    if escape(data) != line:
        sys.exit(f"no line of a corpus: {line}")
    return data


def pack(folder: pathlib.Path, file: pathlib.Path) -> None:
    lines = sorted({escape(input.read_bytes()) for input in folder.iterdir()})
    file.write_text("".join(line + "\n" for line in lines), "ascii")


def unpack(file: pathlib.Path, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for line in file.read_text("ascii").splitlines():
        data = unescape(line)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    work = pack if sys.argv[1] == "pack" else unpack
    work(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
