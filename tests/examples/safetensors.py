"""Reads and writes .safetensors for the tests, independently of the runtime's own reader."""
import json

import numpy as np

_DTYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}


def read(path):
    """({name: array}, metadata); bf16 arrays come as float32."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    out = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data[8 + size + begin:8 + size + end], _DTYPES[entry["dtype"]])
        array = array.reshape(entry["shape"])
        if entry["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        out[name] = array
    return out, metadata


def write(path, tensors, metadata):
    """Arrays of float32."""
    header, data = {"__metadata__": metadata}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array, np.float32).tobytes()
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": offsets}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)
