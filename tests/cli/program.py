"""A program for the tests of the command line, one with errors, and a folder that has the first."""

import os
import tempfile
import unittest

PROGRAM = """\
--| Scaled rows.
fun scaled x s = x * s

entry main (x : f32[n, k]) (w : f32[k, m]) = scaled (softmax (x @ w)) 2.0
entry pick (table : f32[v, d]) (ids : i32[m]) = embedding table ids
entry halves (x : f32[2*n]) = for (i < n) => x[i] + x[n + i]
entry shown (x : f32[n, m]) = let y = debug "doubled" (x * 2.0) in sum y
entry after (x : f32[n]) =
  let y = debug "thrice" (iterate 3 (fn s => s * 2.0) x)
  let z = debug "small" (while (fn s => sum s > 1.0) (fn s => s * 0.5) y)
  in sum z
"""

BROKEN = """\
fun f x = x @

fun g (x : f32[n, d]) (w : f32[h, d]) = x @ w

fun k x = no_such_name x
"""


class WithProgram(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "program.axn")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def tearDown(self):
        self.folder.cleanup()
