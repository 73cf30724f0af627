// A conversation with a language server: requests with their answers, and notifications both ways.
//
// In: a function that sends a message, and `received`, which takes one. Out: `request` gives a promise of the result, `attempt`
// one of the result or the reason why there is none.
const ended = { error: { code: -32099, message: "the language server has ended" } };

export class Connection {
  #send;
  #next = 0;
  #waiting = new Map();
  #notified = new Map();
  #asked = new Map();
  #ended = false;

  constructor(send) {
    this.#send = send;
  }

  /// Calls `handler` with the parameters of each notification.
  on(method, handler) {
    this.#notified.set(method, handler);
  }

  /// Calls `handler` at each request of that name, which has no result.
  answer(method, handler) {
    this.#asked.set(method, handler);
  }

  notify(method, params) {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  /// The result; null of a request that failed.
  async request(method, params, cancellation) {
    return (await this.attempt(method, params, cancellation)).result ?? null;
  }

  /// The answer, which has a `result` or an `error`; a request that the editor gives up is cancelled.
  attempt(method, params, cancellation) {
    if (this.#ended) return Promise.resolve(ended);
    const id = ++this.#next;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    cancellation?.onCancellationRequested(() => this.notify("$/cancelRequest", { id }));
    this.#send({ jsonrpc: "2.0", id, method, params });
    return answer;
  }

  /// The other end is gone: nothing waits for it any more.
  end() {
    this.#ended = true;
    for (const resolve of this.#waiting.values()) resolve(ended);
    this.#waiting.clear();
  }

  received(message) {
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (message.id === undefined) {
      this.#notified.get(message.method)?.(message.params);
    } else {
      const known = this.#asked.get(message.method);
      const failed = { code: -32601, message: `there is no ${message.method} here` };
      this.#send({ jsonrpc: "2.0", id: message.id, ...(known ? { result: null } : { error: failed }) });
      known?.(message.params);
    }
  }
}

/// The server behind a WebSocket, once the socket is open.
export function connect(url) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const connection = new Connection((message) => socket.send(JSON.stringify(message)));
    socket.onmessage = ({ data }) => connection.received(JSON.parse(data));
    const closed = new Promise((resolve) => (socket.onclose = resolve)).then(() => connection.end());
    socket.onopen = () => resolve({ connection, closed });
    socket.onerror = () => reject(new Error("there is no language server"));
  });
}
