// The list of what is wrong with a program, below its text.
//
// In: diagnostics of the protocol, and what leads to a place of a text. Out: one box for each, whose lines lead to their places.

/// The protocol's numbers of how bad something is, as Monaco names them.
const severities = ["", "Error", "Warning", "Info", "Hint"];
export const severity = (diagnostic) => severities[diagnostic.severity ?? 1];

export class Problems {
  /// `visit` is called with the address of a text and a position there, which counts from 1.
  constructor(element, visit) {
    this.element = element;
    this.visit = visit;
  }

  show(uri, diagnostics) {
    const nothing = document.createElement("p");
    nothing.textContent = "No problems.";
    this.element.replaceChildren(...(diagnostics.length > 0 ? diagnostics.map((one) => this.box(uri, one)) : [nothing]));
  }

  /// What is wrong, and what belongs to it.
  box(uri, diagnostic) {
    const box = document.createElement("article");
    const headline = document.createElement("b");
    const [first, ...rest] = diagnostic.message.split("\n");
    headline.textContent = first;
    box.className = severity(diagnostic);
    const related = (diagnostic.relatedInformation ?? []).map(({ location, message }) => this.line(location.uri, location.range, message, []));
    box.append(this.line(uri, diagnostic.range, headline, rest), ...related);
    return box;
  }

  /// A place in a text, and what is said of it.
  line(uri, { start }, headline, rest) {
    const button = document.createElement("button");
    const place = document.createElement("span");
    place.textContent = `${start.line + 1}:${start.character + 1}`;
    button.append(place, headline, rest.map((line) => `\n${line}`).join(""));
    button.onclick = () => this.visit(uri, { lineNumber: start.line + 1, column: start.character + 1 });
    return button;
  }
}
