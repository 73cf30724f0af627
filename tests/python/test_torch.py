"""PyTorch's tensors as arguments, states and weights, and results as PyTorch's tensors. Debian's python3-torch; where
it is not installed, the test says so and is skipped."""
import sys
import unittest

import numpy as np

import axon
import support

try:
    import torch
except ImportError:
    print("PyTorch is not installed (apt-get install python3-torch): this test is left out")
    sys.exit(77)

PROGRAM = """
entry double (x : f32[m, n]) = x + x
entry columns (x : f32[m, n] @ S[(m, n) : (1, m)]) = x + x
entry half (x : f16[n]) = x + x
entry brain (x : bf16[n]) = x + x
entry whole (x : i64[n]) (k : i32) = for i => x[i] + i64 k
entry chosen (c : bool[n]) (x : f32[n]) = for i => if c[i] then x[i] else 0.0
entry update (cache : *{ h : f32[n], g : bf16[n] }) (x : f32[n]) =
  { h = cache.h with [:] = cache.h + x, g = cache.g with [:] = cache.g + cache.g }
entry weighted (p : weights {w : f32[d]}) (x : f32[d]) = x * p.w
"""


class Torch(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.model = axon.compile(PROGRAM)

    def test_arguments(self):
        x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        np.testing.assert_array_equal(self.model.double(x), 2 * x.numpy())
        np.testing.assert_array_equal(self.model.double(x.T), 2 * x.T.numpy())
        np.testing.assert_array_equal(self.model.double(x[:, 1:]), 2 * x[:, 1:].numpy())
        np.testing.assert_array_equal(self.model.columns(x.T), 2 * x.T.numpy())
        np.testing.assert_array_equal(self.model.double(x[:0]), np.zeros((0, 3)))
        np.testing.assert_array_equal(self.model.double([x[0], x[1]]), 2 * x.numpy())
        np.testing.assert_array_equal(self.model.half(torch.ones(3, dtype=torch.float16)), [2, 2, 2])
        np.testing.assert_array_equal(self.model.brain(torch.tensor([1.5, -3], dtype=torch.bfloat16)).floats(), [3, -6])
        np.testing.assert_array_equal(self.model.whole(torch.tensor([1, 2]), torch.tensor(3, dtype=torch.int32)), [4, 5])
        np.testing.assert_array_equal(self.model.chosen(torch.tensor([True, False]), torch.ones(2)), [1, 0])
        self.fails("`x` is f32, the given tensor is f64", self.model.double, x.double())
        self.fails("has 2 axes, the given tensor has 1", self.model.double, x[0])
        self.fails("`x` cannot be read through DLPack", self.model.double, x.clone().requires_grad_(), code="E0822")
        np.testing.assert_array_equal(self.model.double(torch.nn.Parameter(x, requires_grad=False)), 2 * x.numpy())

    def test_results(self):
        x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        result = self.model.double(x)
        tensor = torch.from_dlpack(result)
        self.assertEqual(tensor.data_ptr(), result.ctypes.data)
        self.assertTrue(torch.equal(tensor, x + x))
        bits = self.model.brain(torch.tensor([1.5, -3], dtype=torch.bfloat16))
        tensor = torch.from_dlpack(bits)
        self.assertEqual((tensor.dtype, tensor.data_ptr()), (torch.bfloat16, bits.array.ctypes.data))
        self.assertTrue(torch.equal(tensor, torch.tensor([3, -6], dtype=torch.bfloat16)))
        del bits, result
        self.assertEqual(float(tensor[0]), 3)

    def test_states_and_weights(self):
        cache = {"h": torch.zeros(3), "g": torch.ones(3, dtype=torch.bfloat16)}
        for _ in range(2):
            self.assertIs(self.model.update(cache, torch.ones(3)), cache)
        self.assertEqual((cache["h"].tolist(), cache["g"].tolist()), ([2, 2, 2], [4, 4, 4]))
        strided = {"h": torch.zeros(6)[::2], "g": cache["g"]}
        self.fails("`cache.h` is updated in place", self.model.update, strided, [1, 2, 3])
        bound = self.model.bind(p={"w": torch.arange(3, dtype=torch.float32)})
        np.testing.assert_array_equal(bound.weighted(torch.ones(3)), [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
