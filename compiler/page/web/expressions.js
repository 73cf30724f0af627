// Expressions over sizes, as the page's JSON has them: a number, the name of a variable, or [operator, operands..].
//
// In: an expression. Out: its value for some sizes, or its text. Numbers are exact up to 2^53; what leaves them, has a
// variable without a value or divides by zero is NaN. Quotients are rounded down, as in the compiler.
const Expressions = (() => {
  const largest = Number.MAX_SAFE_INTEGER;
  const exact = (value) => (Math.abs(value) <= largest ? value : NaN);

  /// floor(a / b); a / b itself may be rounded up to an integer.
  function quotient(a, b) {
    if (b === 0) return NaN;
    let q = Math.floor(a / b);
    const rest = a - q * b;
    if (rest !== 0 && rest < 0 !== b < 0) --q;
    else if (Math.abs(rest) >= Math.abs(b)) ++q;
    return q;
  }

  const operators = {
    "+": (all) => all.reduce((sum, one) => exact(sum + one), 0),
    "*": (all) => all.reduce((product, one) => exact(product * one), 1),
    "/": ([a, b]) => quotient(a, b),
    "%": ([a, b]) => a - quotient(a, b) * b,
    min: ([a, b]) => Math.min(a, b),
    max: ([a, b]) => Math.max(a, b),
  };
  const relations = { "==": (a, b) => a === b, "!=": (a, b) => a !== b, "<=": (a, b) => a <= b, "<": (a, b) => a < b };

  /// A function of a Map from names to numbers.
  function compiled(expression) {
    if (expression === null) return () => NaN;
    if (typeof expression === "number") return () => expression;
    if (typeof expression === "string") return (sizes) => sizes.get(expression) ?? NaN;
    const [name, ...operands] = expression;
    const parts = operands.map(compiled), apply = operators[name];
    if (parts.length === 2) {
      const [left, right] = parts, both = [0, 0];
      return (sizes) => {
        const a = left(sizes), b = right(sizes); // first: evaluating a part may use the same pair
        both[0] = a;
        both[1] = b;
        return apply(both);
      };
    }
    return (sizes) => apply(parts.map((part) => part(sizes)));
  }

  const value = (expression, sizes) => compiled(expression)(sizes);

  function compiledFact([relation, left, right]) {
    const a = compiled(left), b = compiled(right), holds = relations[relation];
    return (sizes) => holds(a(sizes), b(sizes));
  }

  /// As the language writes it. `level`: 0 in a sum, 1 in a product, 2 behind a division.
  function text(expression, level = 0) {
    if (expression === null) return "?";
    if (!Array.isArray(expression)) return String(expression);
    const [name, ...operands] = expression;
    if (name === "min" || name === "max") return `${name}(${operands.map((one) => text(one)).join(", ")})`;
    if (name === "+") {
      const sum = operands.map((one) => text(one, 0)).join(" + ").replaceAll("+ -", "- ");
      return level > 0 ? `(${sum})` : sum;
    }
    if (name === "*") {
      const product = operands.map((one) => text(one, 1)).join("*").replace(/^-1\*/, "-");
      return level > 1 ? `(${product})` : product;
    }
    const [a, b] = operands;
    const written = `${text(a, 1)} ${name} ${text(b, 2)}`;
    return level > 0 ? `(${written})` : written;
  }

  const factText = ([relation, left, right]) => `${text(left)} ${relation} ${text(right)}`;

  /// The variables of an expression.
  function variables(expression, found = new Set()) {
    if (typeof expression === "string") found.add(expression);
    else if (Array.isArray(expression)) expression.slice(1).forEach((one) => variables(one, found));
    return found;
  }

  return { compiled, compiledFact, value, text, factText, variables };
})();
