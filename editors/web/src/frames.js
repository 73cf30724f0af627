// Messages of the protocol in a stream of bytes: a header with the length, a blank line, JSON.
export function frame(text) {
  const body = Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/// Takes pieces of the stream; calls `handler` with the text of each message that is complete.
export function reader(handler) {
  let rest = Buffer.alloc(0);
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(rest.subarray(0, end).toString("latin1"))[1]);
      if (rest.length < end + 4 + length) return;
      handler(rest.subarray(end + 4, end + 4 + length).toString("utf8"));
      rest = rest.subarray(end + 4 + length);
    }
  };
}
