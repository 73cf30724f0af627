"""A Jupyter kernel for Axon: cells go to `etcc repl --json`, and answers come back as text and as tables.

In: cells. Out: for each phrase of a cell its answer. The compiler is one process, which lives as long as the kernel; an
interrupt is passed on to it, and it then answers that it was interrupted. Invariant: a request has one answer, so both
sides always speak of the same one.
"""

import html
import json
import re
import select
import signal
import subprocess

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class Compiler:
    """The process that answers."""

    def __init__(self):
        # In a session of its own: an interrupt is meant for the kernel first, which passes it on once.
        self.process = subprocess.Popen(["etcc", "repl", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, encoding="utf-8", start_new_session=True)

    def ask(self, interrupts=(), **request):
        """The answer to a request. While there are `interrupts`, the compiler is told: also what it had not begun then."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while not select.select([self.process.stdout], [], [], 0.1)[0]:
            if interrupts:
                self.process.send_signal(signal.SIGINT)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("etcc has ended; restart the kernel")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def table(head, rows):
    """Rows of texts under a head, as HTML."""

    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag} style='text-align: left'>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + row(head, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"


def fields(record):
    """The fields of a record type, `{w : f32[m, n], b : f32[n]}`, with their types; none where it is no record."""
    if not (record.startswith("{") and record.endswith("}")):
        return []
    found, depth, begin = [], 0, 1
    for at, char in enumerate(record):
        depth += (char in "{[(") - (char in "}])")
        if (char == "," and depth == 1) or at == len(record) - 1:
            name, colon, type_ = record[begin:at].partition(" : ")
            found.append((name.strip(), type_.strip()) if colon else (record[begin:at].strip(), ""))
            begin = at + 1
    return found


def types_table(types):
    """Names with their types; a record has a row for each of its fields, and so have conditions."""
    rows = []
    for one in types:
        shape, _, conditions = (" ".join(one["type"].split())).partition(" where ")
        rows += [[f"{one['name']}.{name}", type_] for name, type_ in fields(shape)] or [[one["name"], shape]]
        if conditions:
            rows.append(["where", conditions])
    return table(["", "type"], rows)


def frame(page):
    """A page of its own inside of the notebook."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 40em; border: 1px solid #8888"></iframe>'


def rich(answer):
    """The answer as HTML; empty where text says it as well."""
    if answer.get("page"):
        return frame(answer["page"])
    if answer.get("table"):
        return table(answer["table"]["head"], answer["table"]["rows"])
    if answer.get("values"):
        rows = "".join(f"<tr><th style='text-align: left'>{html.escape(value['name'])}</th>"
                       f"<td style='text-align: left'>{html.escape(value['type'])}</td>"
                       f"<td style='text-align: left'><pre>{html.escape(value['text'])}</pre></td></tr>"
                       for value in answer["values"])
        return f"<table>{rows}</table>"
    return types_table(answer["types"]) if answer.get("types") else ""


INTERRUPTED = {"kind": "interrupted", "text": "interrupted"}


class AxonKernel(Kernel):
    implementation = "axon"
    implementation_version = "1.0"
    banner = "Axon: `:help` lists the commands"
    language_info = {"name": "axon", "mimetype": "text/x-axon", "file_extension": ".axn",
                     "codemirror_mode": "haskell", "pygments_lexer": "haskell"}

    def __init__(self, **options):
        super().__init__(**options)
        self.compiler = Compiler()

    def show(self, answer):
        """Sends what a phrase was answered."""
        if answer.get("output"):
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": answer["output"]})
        if not answer.get("text"):
            return
        data, table_of_it = {"text/plain": answer["text"].rstrip("\n")}, rich(answer)
        if table_of_it:
            data["text/html"] = table_of_it
        self.send_response(self.iopub_socket, "execute_result",
                           {"execution_count": self.execution_count, "data": data, "metadata": {}})

    def refuse(self, answer, silent):
        """A phrase that was not answered ends the cell."""
        interrupted = answer["kind"] == "interrupted"
        text = answer["text"].rstrip("\n")
        code = re.search(r"E\d{4}", text)
        error = {"ename": "KeyboardInterrupt" if interrupted else code.group() if code else "error",
                 "evalue": text.splitlines()[0] if text else "", "traceback": text.splitlines()}
        if not silent:
            self.send_response(self.iopub_socket, "error", error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        interrupts = []
        before = signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
        try:
            for phrase in self.compiler.ask(split=code)["phrases"]:
                answer = INTERRUPTED if interrupts else self.compiler.ask(interrupts, code=phrase)
                if answer["kind"] in ("error", "interrupted"):
                    return self.refuse(answer, silent)
                if not silent:
                    self.show(answer)
        finally:
            signal.signal(signal.SIGINT, before)
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}

    def do_complete(self, code, cursor_pos):
        line = code[:cursor_pos].rpartition("\n")[2]
        answer = self.compiler.ask(complete=line)
        typed = len(line.encode()) - answer["begin"]
        start = cursor_pos - len(line.encode()[len(line.encode()) - typed :].decode(errors="replace"))
        return {"status": "ok", "matches": answer["matches"], "cursor_start": start, "cursor_end": cursor_pos, "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        before = re.search(r"[\w.]*$", code[:cursor_pos]).group()
        name = before + re.match(r"\w*", code[cursor_pos:]).group()
        text = self.compiler.ask(inspect=name)["text"]
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    def do_is_complete(self, code):
        complete = self.compiler.ask(is_complete=code)["complete"]
        return {"status": "complete"} if complete else {"status": "incomplete", "indent": "  "}

    def do_shutdown(self, restart):
        self.compiler.end()
        return {"status": "ok", "restart": restart}


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=AxonKernel)
