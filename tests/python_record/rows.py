"""The vocabulary, row by row: each a function of NumPy as a program might use it, with arguments of several sizes.

A row is (function, kinds of the arguments). A kind is a type and the sizes of its axes: `f8 m n` is a float64 matrix;
sizes are letters, which every set of sizes gives a number, or numbers. `+` behind a type makes positive numbers, `~`
those between -0.9 and 0.9, `!` positions below n.
"""
import numpy as np

ELEMENTWISE = [
    (lambda x, y: (x + y, x - y, x * y, x / y, -x, +x), "f8 m n", "f8 n"),
    (lambda x, y: (x + y, x - y, x * y, x / y, -x, x // y, x % y), "i4 m n", "i4 n"),
    (lambda x, y: (x // y, x % y, divmod(x, y)), "f8 m n", "f8 m n"),
    (lambda x, y: (x + y, x * y, x / y, x // y), "i1 n", "u1 n"),
    (lambda x, y: (x + y, x * y, x | y, x & y, x ^ y, ~x, x == y, x < y, x >= y), "b1 n", "b1 n"),
    (lambda x: (x * 2, x + 0.5, 3 - x, x / 3, x // 2, x % 3, 1 // x, x * 70000), "i4 n"),
    (lambda x: (x * 2, x + 0.5, 1.5 / x, x * 70000, x * 1e300, np.float64(2) * x, x + True), "f4 n"),
    (lambda x: (x ** 2, x ** 3, x ** 0, x ** 7), "i8 n"),
    (lambda x: (x ** 2, x ** 0.5, x ** -1, x ** 3, x ** 1, x ** 1.5, 2.0 ** x), "f8+ n"),
    (lambda x, y: (np.power(x, y), np.float_power(x, y), np.arctan2(x, y), np.hypot(x, y)), "f8+ n", "f8+ n"),
    (lambda x, y: (np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y)), "f4 n", "f4 n"),
    (lambda x, y: (np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y)), "i2 n", "i2 n"),
    (lambda x: (np.exp(x), np.exp2(x), np.expm1(x), np.tanh(x), np.sinh(x), np.cosh(x)), "f8 m n"),
    (lambda x: (np.log(x), np.log2(x), np.log10(x), np.log1p(x), np.sqrt(x), np.cbrt(x)), "f8+ n"),
    (lambda x: (np.exp(x), np.log(x), np.sqrt(x), np.sin(x)), "f4+ n"),
    (lambda x: (np.sin(x), np.cos(x), np.tan(x), np.arctan(x), np.arcsinh(x)), "f8 n"),
    (lambda x: (np.arcsin(x), np.arccos(x), np.arctanh(x)), "f8~ n"),
    (lambda x: np.arccosh(x + 1), "f8+ n"),
    (lambda x: (np.deg2rad(x), np.rad2deg(x), np.radians(x), np.degrees(x)), "f8 n"),
    (lambda x: (np.abs(x), np.fabs(x), np.sign(x), np.floor(x), np.ceil(x), np.trunc(x), np.rint(x)), "f8 n"),
    (lambda x: (np.round(x, 2), x.round(), np.around(x, 1)), "f8 n"),
    (lambda x: (abs(x), np.sign(x), np.square(x), np.reciprocal(x), np.floor(x), np.round(x)), "i4 n"),
    (lambda x: (~x, -x, x << 2, x >> 1, x & 7, abs(x)), "i8 n"),
    (lambda x: (~x, -x, np.sign(x), abs(x), np.invert(x)), "u1 n"),
    (lambda x, y: (x & y, x | y, x ^ y, x & -3, 5 | x, x ^ 255, x << y % 70, x >> y % 70, 1 << y % 70), "i8 m n", "i8 n"),
    (lambda x, y: (x & y, x | y, x ^ y, x << y % 9, x >> abs(y), x << 7, x >> 40, x << x.shape[0]), "i1 m n", "u1 n"),
    (lambda x, y: (x ** y, y ** x.shape[0], 2 ** y, x ** True, np.power(x, y)), "i8 m n", "i4! n"),
    (lambda x: (np.square(x), x ^ True, x << 1), "b1 n"),
    (lambda x: (np.square(x), np.reciprocal(x), np.sqrt(x)), "f8+ n"),
    (lambda x: (np.sqrt(x), np.exp(x), np.mean(x)), "u1 n"),
    (lambda x, y: (x == y, x != y, x < y, x <= y, x > y, x >= y), "f4 n", "i4 n"),
    (lambda x, y: (np.logical_and(x, y), np.logical_or(x, y), np.logical_xor(x, y), np.logical_not(x)), "i4 n", "f8 n"),
    (lambda x: (np.isnan(x), np.isinf(x), np.isfinite(x), np.nan_to_num(x)), "f8 n"),
    (lambda x: (np.isnan(x), np.isfinite(x)), "i4 n"),
    (lambda x, y: (np.where(x > y, x, y), np.where(x > 0, 1, 0), np.where(x > 0, x, 0)), "f4 m n", "f4 n"),
    (lambda x, y: (np.isclose(x, y), np.logaddexp(x, y), np.heaviside(x, 0.5)), "f8 n", "f8 n"),
    (lambda x: (np.clip(x, -1, 1), x.clip(0), np.clip(x, None, 0.5)), "f8 n"),
    (lambda x: (np.clip(x, 0, 300), x.clip(min=2)), "i1 n"),
    (lambda x: (x.astype(np.float32), x.astype("i4"), x.astype(bool), x.astype(np.int8), x.astype("u1")), "f8 n"),
    (lambda x: (x.astype(float), x.astype(np.int64), x.astype(bool), x.astype(np.float16)), "i4 n"),
    (lambda x: (x.astype(int), x + 1, x * 2.5, x.sum()), "b1 n"),
    (lambda x: (x.copy(), np.copy(x), x.real), "f8 n"),
]

REDUCTIONS = [
    (lambda x: (x.sum(), x.sum(0), x.sum(axis=1), x.sum(axis=-1, keepdims=True), np.sum(x, (0, 2))), "f8 m n k"),
    (lambda x: (x.sum(), np.sum(x, axis=0), np.prod(x, axis=1), x.mean(), x.mean(0)), "i4 m n"),
    (lambda x: (x.sum(), x.sum(0), x.prod()), "u1 m n"),
    (lambda x: (x.sum(0), np.prod(x), x.any(), x.all(1), np.any(x, 0), x.mean(), np.count_nonzero(x)), "b1 m n"),
    (lambda x: (x.max(), x.min(0), np.max(x, 1, keepdims=True), np.ptp(x), np.amin(x, axis=(0, 1))), "f4 m n"),
    (lambda x: (x.max(), x.min(0), np.max(x, 1), np.ptp(x, 0)), "i2 m n"),
    (lambda x: (x.max(), x.min(0)), "b1 m n"),
    (lambda x: (np.argmax(x), x.argmin(), x.argmax(0), np.argmin(x, axis=1), x.argmax(1, keepdims=True)), "f8 m n"),
    (lambda x: (np.argmax(x), x.argmin(), x.argmax(0)), "i4 m n"),
    (lambda x: (np.mean(x), x.mean(axis=1), x.var(), x.std(0), np.var(x, axis=1, ddof=1)), "f8 m n"),
    (lambda x: (x.mean(), x.var(1), np.std(x)), "f4 m n"),
    (lambda x: (x.var(), x.std(0)), "i4 m n"),
    (lambda x: (x.sum(dtype=np.float32), x.mean(dtype=np.float64), np.sum(x, initial=5), x.max(initial=0.0)), "f4 n"),
    (lambda x, w: (np.average(x, axis=0), np.average(x, axis=1, weights=w)), "f8 m n", "f8+ n"),
    (lambda x: (np.nansum(x), np.nanmean(x, axis=0), np.nanprod(x)), "f8 m n"),
    (lambda x: (np.cumsum(x), x.cumsum(axis=0), np.cumprod(x, axis=1), np.diff(x), np.diff(x, axis=0)), "f8 m n"),
    (lambda x: (np.cumsum(x, 0), np.diff(x)), "i4 m n"),
    (lambda x: (np.add.reduce(x), np.maximum.reduce(x, axis=1), np.maximum.accumulate(x, axis=1)), "f8 m n"),
    (lambda x: (np.sort(x), np.sort(x, 0), np.argsort(x), np.median(x), np.median(x, axis=0)), "f8 m n"),
    (lambda x: (np.sort(x), np.argsort(x, kind="stable"), np.median(x)), "i4 n"),
    (lambda x: (np.where(x > 1, np.nan, x),) + tuple(f(np.where(x > 0.5, np.nan, x), axis) for axis in (None, 0, 1) for f in
                                                     (np.nanmax, np.nanmin, np.nanvar, np.nanstd)), "f8 m n"),
    (lambda x: (np.nanmax(x), np.nanmin(x, 0), np.nanvar(x), np.nanvar(x / x.max(), ddof=1)), "i4 m n"),
    (lambda x: tuple(np.linalg.norm(x, ord, axis=1) for ord in (np.inf, -np.inf, 0, 1, 3, 1.5)), "f8 m n"),
    (lambda x, y: (np.trapz(x), np.trapz(x, y), np.trapz(x, dx=2, axis=0), np.trapz(x, x, axis=0)), "f8 m n", "f8 n"),
    (lambda x, v: (np.searchsorted(x, v), np.searchsorted(np.sort(x), v, side="right")), "f8+ n", "f8 m"),
    (lambda x: (np.linalg.norm(x), np.linalg.norm(x, axis=1), np.linalg.norm(x, 1, axis=0)), "f8 m n"),
]

SHAPES = [
    (lambda x: (x.reshape(-1, 2, 2), x.reshape(x.shape[0], 2, 2).T, x.reshape(2, 2, -1), x.ravel().reshape(-1, 2, 2)), "f8 n 4"),
    (lambda x: (x.T, np.transpose(x, (1, 0, 2)), x.swapaxes(0, 2), np.moveaxis(x, 0, -1)), "f8 m n k"),
    (lambda x: (x.reshape(-1), x.ravel(), x.flatten(), x.reshape(x.shape[1], x.shape[0])), "f8 m n"),
    (lambda x: (x.reshape(2, -1), x.reshape((-1, 4)), x.reshape(x.shape[0], 2, 2)), "f4 n 4"),
    (lambda x: (x.reshape(x.shape[0] * x.shape[1], -1), x.reshape(-1, x.shape[1], 2, x.shape[2] // 2)), "f4 m n 6"),
    (lambda x: (x[None], x[..., None], np.expand_dims(x, 1), np.expand_dims(x, (0, 2))), "f8 m n"),
    (lambda x: (np.squeeze(x[:, None]), x[None].squeeze(0), np.atleast_2d(x), np.atleast_3d(x)), "f8 n"),
    (lambda x: (np.broadcast_to(x, (3, x.shape[0])), np.broadcast_arrays(x, x[:, None])), "f8 n"),
    (lambda x: (x[1:], x[:-1], x[::2], x[1::3], x[::-1], x[-2:], x[:2], x[-1], x[0], x[5:2:-1]), "f8 n+7"),
    (lambda x: (x[0], x[:, 1], x[1:, ::-1], x[..., 0], x[:, 1:3], x[-1, -1], x[::2, 1::2]), "f4 m+3 n+3"),
    (lambda x: (np.flip(x), np.flip(x, 1), np.flipud(x), np.fliplr(x), np.rot90(x), np.rot90(x, 2), np.rot90(x, 3)),
     "f8 m n"),
    (lambda x: (np.roll(x, 1), np.roll(x, -2, axis=1), np.roll(x, (1, 2), (0, 1))), "f8 m n"),
    (lambda x, y: (np.concatenate([x, y]), np.concatenate((x, x, y), axis=0), np.vstack([x, y])), "f8 m n", "f8 k n"),
    (lambda x, y: (np.concatenate([x, y], axis=1), np.hstack([x, y]), np.append(x, y)), "f8 m n", "i4 m k"),
    (lambda x, y: (np.concatenate([x, y], axis=1), np.concatenate([x, y], -1)), "f8 2 n 3", "f8 2 n 3"),
    (lambda x, y: (np.stack([x, y]), np.stack([x, y, x], -1), np.dstack([x, y]), np.column_stack([x, y])), "f4 n",
     "f4 n"),
    (lambda x: (np.split(x, 2, axis=1), np.array_split(x, 3), np.hsplit(x, [1, 3])), "f8 n 4"),
    (lambda x: (np.tile(x, 2), np.tile(x, (2, 1, 3)), np.repeat(x, 3), np.repeat(x, 2, axis=0)), "f8 m n"),
    (lambda x: (np.pad(x, 1), np.pad(x, ((1, 2), (0, 3)), constant_values=7), np.pad(x, 2, mode="edge")), "f4 m+1 n+1"),
    (lambda x: (np.pad(x, (1, 2), "reflect"), np.pad(x, 2, "symmetric"), np.pad(x, 1, "wrap")), "f4 n+3"),
    (lambda x: (np.tril(x), np.triu(x), np.tril(x, 1), np.triu(x, -1), np.trace(x), np.diagonal(x)), "f8 m n"),
    (lambda x: (np.diag(x), np.diag(x, 1), np.diag(x, -2), np.diag(np.diag(x))), "f8 n"),
    (lambda x, i: (x[i], x[:, i % x.shape[1]], np.take(x, i, axis=0), x.take(i, axis=0)), "f8 n n", "i8! k"),
    (lambda x, i: (x[i, i], x[i[:, None], i], x[i, 0], x[-1 - i]), "f8 n n", "i4! k"),
    (lambda x: (np.take_along_axis(x, np.argsort(x, axis=1), axis=1), x[np.argmax(x[:, 0])]), "f8 m n"),
    (lambda x: (x[[0, 2, 1]], x[:, [0, -1]], x[np.array([1, 1])]), "f8 m+3 n+3"),
    (lambda x: (np.meshgrid(x, x[1:]), np.meshgrid(x, x, indexing="ij")), "f8 n"),
    (lambda x: [row * 2 for row in x] + [x.shape[0], x.size, x.ndim, len(x), x.dtype == np.float32], "f4 3 n"),
]

def changed(x, *changes):
    """Copies of x, changed each by a function."""
    copies = [x.copy() for _ in changes]
    for copy, change in zip(copies, changes):
        change(copy)
    return copies


def store(*key):
    """The function that stores the last of its arguments where the others say."""
    *at, value = key
    return lambda y: y.__setitem__(tuple(at) if len(at) > 1 else at[0], value)


POSITIONS = [
    (lambda x, i: changed(x, store(i, 9), store(i, x[i] * 2), store(..., i % 3, 1.5), store(-1 - i, 0)), "f8 n 3", "i8! k"),
    (lambda x, i: changed(x, store(i, i, 1), store(i[:, None], i, 2), store(i, 0, x[0, i]), store(0, i, 3)), "f4 n n", "i4! k"),
    (lambda x, i: changed(x, store(i, slice(1, 3), 1), store(slice(None), i % 2, 7), store(i, slice(None, None, 2), 5)),
     "i4 n 4", "i8! k"),
    (lambda x, i: changed(x, lambda y: np.add.at(y, i, 1), lambda y: np.add.at(y, (i, i % 3), x[0, 0]),
                          lambda y: np.subtract.at(y, i, x[:1]), lambda y: np.multiply.at(y, (0, i % 3), 2),
                          lambda y: np.maximum.at(y, i, 0.5), lambda y: np.minimum.at(y, i, 0), lambda y: np.add.at(y, 0, 3)),
     "f8 n 3", "i8! k"),
    (lambda x, i: changed(x, lambda y: np.add.at(y, i, 200), lambda y: np.maximum.at(y, i, 7)), "u1 n", "i8! k"),
    (lambda x: (x[x > 0], x[x > 0].sum(), x[x > 0].mean(), x[x[:, 0] > 0], x[x[:, 0] > 0, 1:], x[:, x[0] > 0]), "f8 m n"),
    (lambda x: (x[x > 0] * x[x > 0].shape[0], x[0, 0] / x[x > 0].size, x[x > 0].shape, np.sort(x[x > 0])), "f4 m n"),
    (lambda x: (x[x == x].max(), x[x == x].min(), x[x == x].std(), np.cumsum(x[x > 0]), x[x > 0][::-1]), "f8 n"),
    (lambda x: (x[x == x].max(), x[x == x].min(), x[x > 0].prod(), x[x < -99].sum()), "i2 n"),
    (lambda x: (np.nonzero(x > 0), np.where(x > 0), x.nonzero(), np.argwhere(x > 0), np.flatnonzero(x < 0)), "f8 m n"),
    (lambda x: (np.extract(x > 0, x), np.compress(x[:, 0] > 0, x, axis=0), x.compress(x[0] > 0, axis=1)), "f8 m n"),
    (lambda x: changed(x, store(x > 0, -x[x > 0]), store(x[:, 0] > 0, x[0]), store(x[:, 0] > 0, 1, 8), store(x > 9, 1)),
     "f8 m n"),
    (lambda x: (np.zeros(x[x > 0].shape), np.arange(x[x > 0].size), np.concatenate([x[x > 0], x]), x[x > 0][:, None] + x),
     "f8 n"),
]

MAKING = [
    (lambda x: (np.zeros(x.shape), np.ones(x.shape[0]), np.full(x.shape, 7), np.zeros((2, x.shape[1]), np.int32)), "f8 m n"),
    (lambda x: (np.zeros_like(x), np.ones_like(x, dtype=float), np.full_like(x, 3), np.empty_like(x) * 0), "i4 m n"),
    (lambda x: (np.arange(x.shape[0]), np.arange(1, x.size + 1), np.arange(0, 2 * len(x), 3), np.arange(10) * x.size),
     "f4 n"),
    (lambda i: (np.eye(20)[i], np.identity(20, np.float32)[i, 1:], np.eye(3)[0, 0], np.take(np.arange(20), i)), "i8! n"),
    (lambda x: (np.eye(2).tolist(), np.linalg.inv(np.eye(2, dtype=np.float32)), np.eye(x.shape[0], 2) * 2, x @ np.eye(3)),
     "f8 n 3"),
    (lambda x, i: (np.repeat([1, 2, 3], x), np.take([4.0, 5.0], i % 2), np.take(x, 0)), "u1 3", "i4! n"),
    (lambda x: (np.eye(x.shape[0]), np.eye(x.shape[0], 3, 1), np.identity(x.shape[0]), np.tri(x.shape[0])), "f8 n"),
    (lambda x: (np.linspace(0, 1, x.shape[0]), np.linspace(x[0], x[1], 5)), "f8 n+2"),
    (lambda x: (np.asarray(x) + 1, np.array([x[0], x[1]]), np.array([[x[0], 2.0], [3.0, x[1]]]), np.array(x)), "f8 n+2"),
    (lambda x: (x / x.shape[0], x * len(x), x + x.shape[0] ** 2, x / np.sqrt(x.shape[-1]), x * (1.0 / x.size)), "f4 n"),
    (lambda x: np.arange(x.shape[0])[:, None] < np.arange(x.shape[1]), "f4 m n"),
]

PRODUCTS = [
    (lambda x, y: (x @ y, np.matmul(x, y), np.dot(x, y), x.dot(y)), "f8 m k", "f8 k n"),
    (lambda x, y: (x @ y, y @ x.swapaxes(1, 2)), "f4 b m k", "f4 k"),
    (lambda x, y: (x @ y, np.einsum("bij,bjk->bik", x, y)), "f4 b m k", "f4 b k n"),
    (lambda x, y: (x @ y, x.T @ x), "i4 m k", "i4 k n"),
    (lambda x, y: (x @ y, np.inner(x, y), np.vdot(x, y), np.outer(x, y), np.kron(x, y)), "f8 n", "f8 n"),
    (lambda x, y: (np.einsum("ij,jk", x, y), np.einsum("ij,jk->ki", x, y), np.einsum("ij->j", x)), "f8 m k", "f8 k n"),
    (lambda x: (np.einsum("ii", x), np.einsum("ii->i", x), np.einsum("ij,kj,kl->il", x, x, x)), "f8 n n"),
    (lambda x: (np.einsum("...i,...i->...", x, x), np.einsum("...ij->...ji", x)), "f8 m n k"),
    (lambda x, y: (np.tensordot(x, y), np.tensordot(x, y, 1), np.tensordot(x, y, ([0], [1]))), "f8 n n", "f8 n n"),
    (lambda x, y: (np.cross(x, y), np.multiply.outer(x, y)), "f8 n 3", "f8 3"),
    (lambda x, y: (x @ y, x @ y[:, 0]), "b1 m n", "b1 n n"),
    (lambda x, y: (np.kron(x, y), np.dot(x, 2.0), np.dot(x, y)), "f8 2 n", "f8 n 3"),
]

PARTS = [
    (lambda x, y: (np.copysign(x, y), np.copysign(x, -0.0), np.signbit(x), np.fmod(x, y), np.fmod(x, 0.75)), "f4 m n", "f4 n"),
    (lambda x, y: (np.copysign(x, y), np.signbit(x), np.fmod(x, y), np.fmod(7, y), np.gcd(x, y), np.lcm(x, y)), "i4 m n", "i4 n"),
    (lambda x, y: (np.gcd(x, y), np.lcm(x, y), np.fmod(x, y), np.signbit(x)), "u1 n", "u1 n"),
    (lambda x, i: (np.ldexp(x, i), np.ldexp(x, 2000), np.ldexp(x, -i), np.modf(x), np.modf(x / 0)), "f8 m n", "i4! n"),
    (lambda x: (np.fix(x), np.sinc(x), np.isposinf(x / 0), np.isneginf(x), np.logaddexp2(x, 1), np.angle(x)), "f4 m n"),
    (lambda x: (np.fix(x), np.sinc(x), np.modf(x), np.isposinf(x), np.angle(x, deg=True)), "i4 n"),
    (lambda x: (np.real(x), np.imag(x), x.imag, np.isreal(x), np.conj(x), np.iscomplexobj(x)), "f4 m n"),
    (lambda x: (x[0].item() * x, x.item(1) + 1, x[1:2].sum().item(), (x > 0)[0].item()), "f4 n+2"),
    (lambda x: (x.ravel("F"), x.reshape(-1, 2, order="F"), x.T.flatten("F"), x.view()), "f8 2 m n"),
    (lambda x, y: (np.round(x, -1), x.round(-2), np.round(y, -1), np.add(y, y, dtype=float, casting="safe")), "i4 n", "f8 n"),
]

SIGNALS = [
    (lambda x, y: tuple(f(a, b, mode) for f in (np.convolve, np.correlate) for mode in ("full", "same", "valid")
                        for a, b in ((x, y), (y, x))), "f8 n+4", "f8 n"),
    (lambda x, y: tuple(f(x, y, mode) for f in (np.convolve, np.correlate) for mode in ("full", "same", "valid")), "i4 n",
     "i4 n"),
    (lambda x, y: (np.convolve(x, y), np.convolve(x, [1, -1]), np.convolve(2.0, y)), "f4 n", "i4 3"),
    (lambda x, y: (np.convolve(x, y), np.correlate(x, y, "same")), "b1 n", "b1 3"),
    (lambda x, s, y: (np.interp(x, s, y), np.interp(x, s, y, -1, np.nan), np.interp(s, s, y), np.interp(x, s, y, period=1.5)),
     "f8 m n", "f8+ n", "f8 n"),
    (lambda x, s, y: (np.interp(x, np.cumsum(s > 0), y), np.interp(x[0, 0], s[:1], y[:1])), "f4 m n", "f4+ n", "i4 n"),
    (lambda x: (np.gradient(x), np.gradient(x, axis=0), np.gradient(x, 2, axis=(0, 2)), np.gradient(x, edge_order=2)),
     "f8 m n k"),
    (lambda x, s: (np.gradient(x, s, axis=1), np.gradient(x, 0.5, s), np.gradient(x, s, axis=1, edge_order=2)), "f4 m n",
     "f8+ n"),
    (lambda x: (np.gradient(x), np.ediff1d(x), np.ediff1d(x, to_begin=[1, 2], to_end=9), np.diff(x, prepend=0, append=x[:1])),
     "i4 n"),
    (lambda x: (np.unwrap(x * 3), np.unwrap(x, axis=0, period=2.0), np.unwrap(x, discont=3.5)), "f8 m n"),
    (lambda x: (np.unwrap(x, period=6), np.unwrap(x, period=5)), "i8 n"),
    (lambda x: (np.polyval([2, 0, -1], x), np.polyadd(x, [1.0, 2.0]), np.polysub([1.0], x)), "f8 n"),
    (lambda x: (np.polyder(x), np.polyder(x, 2), np.polyint(x), np.polyint(x, 2, [1, 2]), np.vander(x, 3)), "f8 n"),
    (lambda x: (np.vander(x), np.vander(x, 4, increasing=True), np.polyder(x)), "i4 n"),
    (lambda x: (np.fft.fftshift(x), np.fft.ifftshift(x, axes=0), np.roll(x, (1, 2, 3), (0, 1, 1)), np.roll(x, (1, 5), 1)),
     "f8 m n"),
]

STATISTICS = [
    (lambda x: tuple(np.percentile(x, q, axis=axis, keepdims=keep) for q in (0, 33.3, [25, 100]) for axis in (None, 1, (0, -1))
                     for keep in (False, True)), "f8 m n k"),
    (lambda x, q: (np.quantile(x, abs(q)), np.quantile(x, abs(q), axis=0)), "f8 m n", "f8~ k 2"),
    (lambda x: tuple(np.quantile(x, q, axis=1, method=method) for method in ("linear", "lower", "higher", "nearest")
                     for q in (0.3, [0.1, 0.9])), "i4 m n"),
    (lambda x: (np.percentile(x, 50), np.percentile(x, [10, 50]), np.percentile(x, 30, axis=0)), "f4 m n"),
    (lambda x: tuple(f(np.where(x > 1, np.nan, x), axis=axis, keepdims=True) for f in (np.nanmedian,
     np.median) for axis in (None, 0))
     + (np.nanpercentile(np.where(x > 1, np.nan, x), [20, 70], axis=1), np.quantile(np.where(x > 1, np.nan, x), 0.2, axis=0)),
     "f8 m n"),
    (lambda x: (np.nanargmax(x), np.nanargmin(x, axis=0), np.nancumsum(x, axis=1), np.nancumprod(x)), "f4 m n"),
    (lambda x, y: (np.cov(x), np.cov(x, rowvar=False), np.cov(x, x * 2, bias=True), np.cov(y), np.corrcoef(x), np.corrcoef(y,
     y * y)),
     "f8 m n", "f8 n"),
    (lambda x: (np.cov(x), np.cov(x, ddof=0), np.corrcoef(x, rowvar=False)), "i4 m n"),
    (lambda i, w: (np.bincount(i), np.bincount(i, w), np.bincount(i, minlength=50), np.bincount(i, w, 50)), "i4! n", "f4 n"),
    (lambda i: (np.bincount(i), np.bincount(i, minlength=30) / i.shape[0]), "u1 n"),
    (lambda x, s: (np.digitize(x, s), np.digitize(x, s[::-1], right=True), np.digitize(x, [-1, 0, 2])), "f8 m n", "f8+ n"),
    (lambda x: (np.histogram(x), np.histogram(x, 4, (-1, 1)), np.histogram(x, 3, density=True), np.histogram_bin_edges(x, 5)),
     "f8 m n"),
    (lambda x, w: (np.histogram(x, 4), np.histogram(x, [-5, 0, 5]), np.histogram(x, 6, (-6, 6), weights=w)), "i4 n", "f8 n"),
    (lambda x, s: (np.histogram(x, s), np.histogram(x[:0], 3), np.histogram(x * 0, 2), np.histogram(x, s, weights=x)), "f4 n",
     "f4+ n"),
    (lambda x, w: (np.average(x, axis=1, weights=w, returned=True), np.average(x, returned=True)), "f8 m n", "f8+ n"),
    (lambda x: (x.sum(where=x > 0), x.sum(0, where=x > 0, initial=2), x.mean(1, where=x > -9), x.var(where=x > 0), x.std(0,
     where=x > -99),
                x.max(where=x > 0, initial=-1), x.min(1, where=x < 0, initial=7), x.any(0, where=x < 0), np.all(x, where=x > 0)),
                "f8 m n"),
    (lambda x: (x.sum(where=x > 0), x.max(initial=-3), x.min(0, initial=3, where=x > 1), np.prod(x, 1, where=[True, False,
     True])), "i2 n 3"),
    (lambda x: (np.logical_xor.reduce(x > 0), np.logaddexp.reduce(x, 1), np.logaddexp.reduce(x / 0 - 1e308), np.fmax.reduce(x,
     axis=1),
                np.logical_and.accumulate(x > -1), np.logical_or.accumulate(x > 1, axis=1)), "f8 m n"),
    (lambda x: (np.logaddexp.reduce(x), np.sum(x, dtype=bool), np.cumsum(x, dtype=bool)), "u1 n"),
]

CHOOSING = [
    (lambda x, y: (np.select([x < 0, x > 1], [y, x * 2]), np.select([x < 0], [1], x), np.select([x > 9], [y], -1.5)), "f4 m n",
     "f4 n"),
    (lambda x, y: (np.select([x < 0, y < 0], [1, x], 300), np.choose(x % 3, [x, y, 7]), np.choose(x, [y, x], mode="wrap"),
                   np.choose(abs(x), [y, x], mode="clip")), "i1 m n", "i1 n"),
    (lambda x: (np.piecewise(x, [x < 0, x > 1], [-1, lambda t: t * t]), np.piecewise(x, [x < 0], [lambda t: -t, 3.5])), "f8 m n"),
    (lambda x, y: (np.isin(x, y), np.isin(x, y, invert=True), np.in1d(x, [1, 2]), np.isin(3, y), x[~np.isin(x, y)]), "i4 m n",
     "i4 3"),
    (lambda x: (np.allclose(x, x), np.allclose(x, x + 1), np.array_equal(x, x.T.T), np.array_equal(x, x[0]),
     np.array_equiv(x[:1], x)),
     "f8 m n"),
    (lambda x: (np.delete(x, 1), np.delete(x, [0, -1], axis=1), np.delete(x, slice(1, 3), 1), np.delete(x, x[0] > 0, axis=1)),
     "f8 m n"),
    (lambda x: (np.insert(x, 1, 5), np.insert(x, -1, x[0], axis=0), np.insert(x, [2, 0], 7.5, axis=1)), "i4 m n"),
    (lambda x: (np.resize(x, (3, 5)), np.resize(x, x.shape[::-1]), np.resize(x[:0], 4), np.block([[x, x], [x * 2, x]])),
     "f4 m n"),
    (lambda x, y: (np.block([[x, y[:, None]], [y[:1], np.zeros((1, x.shape[1]))]]), np.block([y, 1.0]), np.block(x)), "f8 n n",
     "f8 n"),
    (lambda x: (np.rollaxis(x, 2), np.rollaxis(x, 0, 3), np.dsplit(x, [1]), np.diagflat(x[0, 0], 1)), "f8 m n k"),
    (lambda x, i: (x[np.ix_(i, [0, 1])], x[np.ix_(x[:, 0] > 0, i)], np.unravel_index(i, (3, 4)), np.ravel_multi_index((i, i),
     (20, 30)),
                   np.unravel_index(i, (4, 5), order="F")), "f8 n n", "i8! k"),
    (lambda x: (x[np.diag_indices_from(x)], x[np.tril_indices_from(x)], x[np.triu_indices(x.shape[0], 1)]), "f8 n n"),
    (lambda x, y: (np.lexsort((x, y)), np.lexsort((y, x % 3)), np.msort(x), np.partition(x, 1)[1], np.lexsort((y, y, x))),
     "i4 n", "i4 n"),
    (lambda x: (np.pad(x, 1, constant_values=(1, 2)), np.pad(x, ((1, 0), (2, 1)), constant_values=((1, 2), (3, 4))),
                np.pad(x, 2, "linear_ramp", end_values=5), np.pad(x, 1, "maximum"), np.pad(x, (0, 2), "mean")), "f8 m n"),
    (lambda x: (np.pad(x, 3, "linear_ramp", end_values=(-40, 40)), np.pad(x, 1, "mean"), np.pad(x, 2, "minimum"), np.pad(x, 1,
     "median")),
     "i4 m n"),
    (lambda x: (np.r_[x, 0.5, 1], np.r_[0:x.shape[0], 7], np.c_[x, x * 2], np.r_[x[:, None], x[:, None]]), "f4 n"),
]

SELECTIONS = [
    (lambda x: (x[x > -9][0], x[x > -9][-1], x[x > -9][1], x[x > 0][1:], x[x > 0][:2]), "f8 n"),
    (lambda x: (x[x > 0][-2:], x[x > 0][1:-1], x[x > 99][1:]), "f8 n"),
    (lambda x: (x[x[:, 0] > -9][0], x[x[:, 0] > -9][-1, 1:], x[:, x[0] > -9][:, 0], np.where(x > -9)[1][0]), "f8 m n"),
    (lambda x: (x[x > -99][0], (x > -99)[x > -99][-1], np.flatnonzero(x > -99)[0], x[x > -99].argmax(), x[x > -99].argmin()),
     "i2 n"),
    (lambda x: (np.median(x[x > -9]), np.percentile(x[x > -9], [20, 50]), np.quantile(x[x > -9], 0.3), np.nanmedian(x[x > 99])),
     "f8 n"),
    (lambda x: np.unique(x, return_index=True, return_inverse=True, return_counts=True), "i4 m n"),
    (lambda x: (np.unique(np.round(x)), np.unique(x[x > 0])), "f8 m n"),
    (lambda x: (np.unique(np.where(x > 0, np.nan, x), return_counts=True), np.unique(x > 0)), "f8 m n"),
    (lambda x, y: (np.union1d(x, y), np.setdiff1d(x, y)), "i4 n", "i4 m"),
    (lambda x, y: np.intersect1d(x, y), "i4 n", "i4 m"),
    (lambda x, y: np.setxor1d(x, y), "i4 n", "f4 m"),
    (lambda x, i: (np.repeat(x, i), np.repeat(x[None], i, axis=1)), "f8 n", "i4! n"),
    (lambda x: (np.repeat(x, x[:, 0] > 0, axis=0), np.repeat(x, [2, 0, 1], axis=1)), "f8 n 3"),
    (lambda x: (np.arange(x[0] + 3), np.arange(x[1], x[0] + 5, 2)), "i8 n"),
    (lambda x: (np.arange(0.5, x[0] + 3.25), np.arange(abs(x[0]), dtype=np.float32)), "i8 n"),
    (lambda x: (np.arange(x.shape[0] * 1.0), np.arange(0, x.size, 0.5), np.arange(0.25, len(x), 0.75), np.arange(1.0, 0.0,
     -0.125)), "f4 n"),
    (lambda x: (np.linspace(x, 1, 3), np.linspace(x[0], x, x.shape[0], axis=1, endpoint=False), np.linspace(0, 9, x.size,
     dtype=int),
                np.linspace(0, 1, 3, retstep=True), np.logspace(0, 2, x.size), np.geomspace(1, 8, x.size)), "f8 n"),
    (lambda x: (np.fft.fftfreq(x.shape[0]), np.fft.rfftfreq(x.size, 0.5), np.broadcast_shapes(x.shape, (1,), (2, 1))), "f8 n"),
]


def _stored(x, y):
    """By functions, and by `out=`."""
    a, b, c = np.zeros(x.shape), np.zeros(x.shape, np.float32), np.arange(x.size).reshape(x.shape) * 1.0
    np.copyto(a, x, where=x > 0)
    np.putmask(b, x < 0, y.astype(np.float32))
    np.putmask(c, x > 2, 7)
    np.place(c, x > 0, [1.5, 2.5])
    np.fill_diagonal(c, 9)
    np.put(a, [0, -1], [7, 8])
    np.put_along_axis(b, np.argmax(x, axis=1)[:, None], 5, axis=1)
    np.add(a, 1, out=a, where=x > 1)
    np.exp(b, out=b)
    d = np.empty(x.shape[0])
    np.sum(x, axis=1, out=d)
    e = x.copy()
    e.sort(axis=0)
    f = np.empty_like(e)
    f.fill(2)
    whole, part = np.empty(x.shape), np.empty(x.shape)
    np.modf(x, out=(part, whole))
    return a, b, c, d, e, f, np.cumsum(x, out=np.zeros(x.size)), np.mean(x, axis=0, out=np.zeros(x.shape[1], np.float32)), part,
    whole


def _in_place(x):
    y = np.zeros(x.shape)
    y[1:] = x[:-1]
    y[0, 1] = 5
    y[:, -1] += 2
    y[::2, 0] = x[::2, 1]
    y[y > 1] = -1
    y *= 2
    y -= x.mean()
    return y


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    mask = np.arange(q.shape[0])[:, None] >= np.arange(k.shape[0])
    return _softmax(np.where(mask, scores, -np.inf)) @ v


def _convolution(x, w):
    rows = x.shape[0] - w.shape[0] + 1
    return sum(x[i:i + rows] * w[i] for i in range(w.shape[0]))


WHOLE = [
    (_in_place, "f8 m+2 n+2"),
    (_stored, "f8 m n", "f8 n"),
    (_softmax, "f4 m n"),
    (_attention, "f4 n k", "f4 n k", "f4 n m"),
    (_convolution, "f8 n+5", "f8 3"),
    (lambda x: {"mean": x.mean(0), "centred": x - x.mean(0), "n": x.shape[0]}, "f8 m n"),
    (lambda x, y: np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)), "f8 m k", "f8 n k"),
]

GROUPS = {"elementwise": ELEMENTWISE, "reductions": REDUCTIONS, "shapes": SHAPES, "positions": POSITIONS,
          "making": MAKING, "products": PRODUCTS, "whole": WHOLE, "parts": PARTS, "signals": SIGNALS,
          "statistics": STATISTICS, "choosing": CHOOSING, "selections": SELECTIONS}
SIZES = [{"m": 4, "n": 7, "k": 3, "b": 2}, {"m": 6, "n": 10, "k": 5, "b": 3}]


def argument(kind, sizes, random):
    """An array of a kind."""
    name, *axes = kind.split()
    shape = [int(axis) if axis.isdigit() else sizes[axis[0]] + int(axis[2:] or 0) for axis in axes]
    dtype = np.dtype(name[:2])
    if name.endswith("!"):
        return random.integers(0, sizes["n"], shape).astype(dtype)
    if dtype.kind == "b":
        return random.random(shape) > 0.5
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    numbers = random.standard_normal(shape)
    if name.endswith("+"):
        numbers = np.sort(np.abs(numbers) + 0.1)
    return (np.clip(numbers, -0.9, 0.9) if name.endswith("~") else numbers * 2).astype(dtype)
