#!/usr/bin/env python3
"""Fits the polynomials of math-inl.h and prints their coefficients, lowest power first. Needs numpy and mpmath.

Each is a minimax fit of the relative (or weighted) error by Lawson's reweighted least squares on Chebyshev points. The
coefficients are rounded to float one by one, from the lowest power on, and the rest is fitted again to what remains, so
that a later coefficient takes up the rounding error of an earlier one.
"""

import re

import mpmath as mp
import numpy as np

mp.mp.dps = 60


def lawson(x, target, weight, powers, rounds=60):
    """Coefficients of sum c_i x^powers[i] that make max |weight * (sum - target)| small."""
    scale = np.max(np.abs(x))
    basis = np.stack([(x / scale) ** p for p in powers], axis=1)
    lawson_weight = np.full(len(x), 1.0 / len(x))
    best, best_error = None, np.inf
    for _ in range(rounds):
        w = np.sqrt(lawson_weight) * weight
        c, *_ = np.linalg.lstsq(basis * w[:, None], target * w, rcond=None)
        error = np.abs(weight * (basis @ c - target))
        if error.max() < best_error:
            best, best_error = c, error.max()
        lawson_weight *= error + 1e-30
        lawson_weight /= lawson_weight.sum()
    return np.array([c / scale**p for c, p in zip(best, powers)])


def fit(name, f, low, high, degree, weight=None, points=2000):
    """Fits f on [low, high]; weight(x) multiplies the error, 1 / f(x) unless given."""
    k = np.arange(points)
    x = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (k + 0.5) / points)
    exact = [f(mp.mpf(v)) for v in x]
    w = np.array([float(1 / e if weight is None else weight(mp.mpf(v))) for v, e in zip(x, exact)])
    rounded = []
    while len(rounded) <= degree:
        rest = np.array([float(e - sum(mp.mpf(float(c)) * mp.mpf(v) ** i for i, c in enumerate(rounded)))
                         for v, e in zip(x, exact)])
        c = lawson(x, rest, w, range(len(rounded), degree + 1))
        rounded.append(np.float32(c[0]))
    values = [sum(mp.mpf(float(c)) * mp.mpf(v) ** i for i, c in enumerate(rounded)) for v in x]
    error = max(abs(float(a - e)) * abs(b) for a, e, b in zip(values, exact, w))
    print(f"{name}: weighted error 2^{np.log2(error):.1f}")
    print("  " + ", ".join(re.sub(r"\.?0*p", "p", float(c).hex()) + "f" for c in rounded))


def main():
    ln2 = 0.3467
    fit("SplitExp: (exp(r) - 1 - r) / r^2", lambda r: (mp.exp(r) - 1 - r) / r**2, -ln2, ln2, 5,
        weight=lambda r: r**2 / mp.expm1(r))
    fit("ExpM1MinusX: (exp(x) - 1 - x) / x^2", lambda x: (mp.exp(x) - 1 - x) / x**2, -1.0, 1.0, 8)
    fit("JoinLog: (log(1 + f) - f + f^2 / 2) / f^3", lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
        float(mp.sqrt(mp.mpf(0.5))) - 1.0001, float(mp.sqrt(2)) - 0.9999, 8, weight=lambda f: f**3 / mp.log1p(f))

    def sinpi(s):  # of s = r^2, as are the next three
        return mp.sin(mp.pi * mp.sqrt(s)) / mp.sqrt(s)

    pi = mp.mpf(float(np.float32(np.pi)))
    fit("SinCosPi: sin(pi r) / r - (float)pi", lambda s: sinpi(s) - pi, 1e-9, 1 / 16, 3, weight=lambda s: 1 / sinpi(s))
    fit("SinCosPi: (cos(pi r) - 1) / r^2", lambda s: (mp.cos(mp.pi * mp.sqrt(s)) - 1) / s, 1e-9, 1 / 16, 3,
        weight=lambda s: s / mp.cos(mp.pi * mp.sqrt(s)))

    def erf(s):
        return mp.erf(mp.sqrt(s)) / mp.sqrt(s)

    fit("Erf below 1: erf(a) / a - 1", lambda s: erf(s) - 1, 1e-9, 1.0, 6, weight=lambda s: 1 / erf(s))
    fit("Erf from 1 on: log(1 - erf(a)) / a", lambda a: mp.log(mp.erfc(a)) / a, 1.0, 4.0, 6,
        weight=lambda a: a * mp.erfc(a) / mp.erf(a))


if __name__ == "__main__":
    main()
