// A conversation with a language server: requests with their answers, and notifications both ways.
//
// In: a function that sends a message, and `received`, which takes one. Out: `request` gives a promise of the result.
export class Connection {
  #send;
  #next = 0;
  #waiting = new Map();
  #notified = new Map();

  constructor(send) {
    this.#send = send;
  }

  /// Calls `handler` with the parameters of each notification.
  on(method, handler) {
    this.#notified.set(method, handler);
  }

  notify(method, params) {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  /// The result; a request that the editor gives up is cancelled, and gives null as one that failed.
  request(method, params, cancellation) {
    const id = ++this.#next;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    cancellation?.onCancellationRequested(() => this.notify("$/cancelRequest", { id }));
    this.#send({ jsonrpc: "2.0", id, method, params });
    return answer;
  }

  received(message) {
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.(message.result ?? null);
      this.#waiting.delete(message.id);
    } else if (message.id === undefined) {
      this.#notified.get(message.method)?.(message.params);
    } else {
      const known = message.method === "client/registerCapability" || message.method === "window/workDoneProgress/create";
      const failed = { code: -32601, message: `there is no ${message.method} here` };
      this.#send({ jsonrpc: "2.0", id: message.id, ...(known ? { result: null } : { error: failed }) });
    }
  }
}

/// The server behind a WebSocket, once the socket is open.
export function connect(url) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const connection = new Connection((message) => socket.send(JSON.stringify(message)));
    socket.onmessage = ({ data }) => connection.received(JSON.parse(data));
    socket.onopen = () => resolve({ connection, closed: new Promise((ended) => (socket.onclose = ended)) });
    socket.onerror = () => reject(new Error("there is no language server"));
  });
}
