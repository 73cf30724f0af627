"""Drives the kernel by Jupyter's own client and prints what it answered, as one JSON object."""

import json
import sys

from jupyter_client.manager import start_new_kernel

DEADLINE = 120


def run(client, code):
    """All that a cell shows, and its reply."""
    shown = []

    def hook(message):
        if message["msg_type"] in ("stream", "execute_result", "error"):
            shown.append({"type": message["msg_type"], **message["content"]})

    reply = client.execute_interactive(code, timeout=DEADLINE, output_hook=hook)
    return {"shown": shown, "status": reply["content"]["status"], "ename": reply["content"].get("ename", "")}


def answer(client, sent):
    """What is replied to a request on the shell channel."""
    while True:
        message = client.get_shell_msg(timeout=DEADLINE)
        if message["parent_header"].get("msg_id") == sent:
            return message["content"]


def interrupted(manager, client, code):
    """A cell that prints, and then does not end soon, is interrupted. What is sent next is not given up with it."""
    sent = client.execute(code, stop_on_error=False)
    while True:
        message = client.get_iopub_msg(timeout=DEADLINE)
        if message["parent_header"].get("msg_id") == sent and message["msg_type"] == "execute_result":
            break
    manager.interrupt_kernel()
    return answer(client, sent)


def main():
    manager, client = start_new_kernel(kernel_name="axon", startup_timeout=DEADLINE)
    try:
        said = {name: run(client, code) for name, code in json.load(sys.stdin).items()}
        said["info"] = answer(client, client.kernel_info())
        said["complete"] = answer(client, client.complete("val é = transpos", 16))
        said["command"] = answer(client, client.complete("1\n:constr", 9))
        said["field"] = answer(client, client.complete("layer.we", 8))
        said["inspect"] = answer(client, client.inspect("softmax x", 3))
        said["nothing"] = answer(client, client.inspect("no_such_name", 3))
        said["incomplete"] = answer(client, client.is_complete("fun f x ="))
        said["whole"] = answer(client, client.is_complete("fun f x = x"))
        said["interrupted"] = interrupted(manager, client, "two\nsum (for (i < 1000000) => sum (for (j < 1000000) => real i * real j * two))")
        said["after"] = run(client, "two")
        print(json.dumps(said))
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


main()
