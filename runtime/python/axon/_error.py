"""What every failure of the package is."""


class Error(Exception):
    """What the library, the compiler or this package reports: a text for people and `code`, which is stable, e.g.
    "E0823". Of programs that do not compile, `diagnostics` lists everything that was found (axon.compile)."""

    def __init__(self, text, code="", diagnostics=()):
        super().__init__(text)
        self.code = code
        self.diagnostics = list(diagnostics)
