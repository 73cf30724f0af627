"""What a recorded function gives, against what NumPy gives for the same function and arguments.

Results have to have the same structure, types and shapes. Integers and truth values are equal. Floats differ by some
units in the last place of the largest number that goes into an element: `ulps` is how many, for the operation that is
least exact; infinities and NaNs stand at the same places.
"""
import warnings

import numpy as np


def called(function, arguments):
    """NumPy's result, or the error that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arguments)


def difference(found, expected, ulps=64, scale=None):
    """Where two results differ, in words; "" where they do not. `scale` is the size of what errors are relative to:
    the largest expected number, where it is not given."""
    if isinstance(expected, (tuple, list)):
        if type(found) is not type(expected) or len(found) != len(expected):
            return f"{type(found).__name__} of {np.size(found)} for {type(expected).__name__} of {len(expected)}"
        return next((f"[{at}] {text}" for at, (one, other) in enumerate(zip(found, expected))
                     if (text := difference(one, other, ulps, scale))), "")
    if isinstance(expected, dict):
        return difference([found[key] for key in expected], list(expected.values()), ulps, scale)
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{found.shape} for {expected.dtype}{expected.shape}"
    if expected.dtype.kind != "f":
        wrong = found != expected
        return f"{found[wrong][:3]} for {expected[wrong][:3]}" if wrong.any() else ""
    return _of_floats(found, expected, ulps, scale)


def _of_floats(found, expected, ulps, scale):
    finite = np.isfinite(expected)
    same = np.where(finite, np.isfinite(found), (found == expected) | (np.isnan(found) & np.isnan(expected)))
    if not same.all():
        return f"{found[~same][:3]} for {expected[~same][:3]}"
    there = expected[finite].astype(np.float64)
    limit = scale if scale is not None else np.abs(there).max(initial=0)
    allowed = ulps * np.finfo(expected.dtype).eps * max(limit, 1e-30)
    gap = np.abs(found[finite].astype(np.float64) - there)
    if (gap > allowed).any():
        at = gap.argmax()
        return f"{found[finite][at]} for {expected[finite][at]}, {gap[at]:.3g} apart, {allowed:.3g} allowed"
    return ""
