"""The file of the numbers of a reference: safetensors with one flat array for each type."""
import json
import struct


def save(path, arrays, sizes):
    """arrays: lists of bytes by the name of a type; sizes: how many numbers each has."""
    header, body = {}, b""
    for name, parts in sorted(arrays.items(), reverse=True):  # f64 first: aligned
        data = b"".join(parts)
        header[name] = {"dtype": name.upper(), "shape": [sizes[name]],
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + body)
