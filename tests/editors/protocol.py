"""The language server asked without an editor: requests, and their results."""

import json
import re

import support
from support import Given


def answers(requests, texts=None, capabilities=None, command=None, **options):
    """The results of requests, (method, parameters) each, in texts that are opened first: {address: text}."""
    calls = [("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities or {}}), *requests, ("shutdown", {})]
    messages = [{"jsonrpc": "2.0", "id": number, "method": method, "params": params} for number, (method, params) in enumerate(calls)]
    opened = [{"textDocument": {"uri": uri, "languageId": "axon", "version": 1, "text": text}} for uri, text in (texts or {}).items()]
    notified = [("initialized", {}), *(("textDocument/didOpen", params) for params in opened)]
    messages[1:1] = [{"jsonrpc": "2.0", "method": method, "params": params} for method, params in notified]
    messages.append({"jsonrpc": "2.0", "method": "exit"})
    said = support.run(command or [Given.etcc, "lsp"], text=frames(messages).decode(), **options)
    found = {message["id"]: message for message in received(said.encode()) if "method" not in message}
    return [found[number].get("result") for number in range(len(calls) - 1)]


def frames(messages):
    """Messages as bytes of a stream."""
    bodies = [json.dumps(message) for message in messages]  # in ASCII, so that characters are bytes
    return "".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies).encode()


def received(stream):
    """The messages in a stream of bytes."""
    found = []
    while stream:
        header, stream = stream.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"Content-Length: (\d+)", header).group(1))
        found.append(json.loads(stream[:length]))
        stream = stream[length:]
    return found


def announced(capabilities=None, **options):
    """What the server can do for a client that can do `capabilities`."""
    return answers([], capabilities=capabilities, **options)[0]["capabilities"]
