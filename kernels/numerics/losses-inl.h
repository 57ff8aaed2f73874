// The elements of the loss, and z. Included by numerics.h and numerics-inl.h alone (numerics.h says how). F is float or
// VecF.

// (x_hat - x)^2 for d = x_hat - x: an element by itself. Their sum over a row is RowSum::AddSquare's, rounded once a
// column.
template <class F>
CVAE_HD F SquaredError(F d) {
  return d * d;
}

// Binary cross entropy of the target x, from the logit t: -x log(sigmoid(t)) - (1 - x) log(1 - sigmoid(t)). PyTorch's
// from the probability clamps the logarithms at -100; this one goes on growing there.
template <class F>
CVAE_HD F BceElement(F t, F x) {
  return Fma(-t, x, Max(t, F(0.0f))) + Log1p(Exp(-Abs(t)));
}

// KL divergence of N(mu, exp(logvar)) from N(0, 1), one latent of it.
template <class F>
CVAE_HD F KlElement(F mu, F logvar) {
  return 0.5f * Fma(mu, mu, ExpM1MinusX(logvar));
}

// The same where the variance is exp(logvar) + eps; log_var is log(var) or, for models that say so, logvar.
template <class F>
CVAE_HD F KlElementOfVariance(F mu, F var, F log_var) {
  return 0.5f * Fma(mu, mu, var - 1.0f - log_var);
}

// z drawn from N(mu, exp(logvar)) by the standard normal eps.
template <class F>
CVAE_HD F SampleZ(F mu, F logvar, F eps) {
  return Fma(Exp(0.5f * logvar), eps, mu);
}

// The same from N(mu, var).
template <class F>
CVAE_HD F SampleZOfVariance(F mu, F var, F eps) {
  return Fma(Sqrt(var), eps, mu);
}

// What follows is what a model's LatentSpec makes of these. logvar is the clamped one everywhere.

template <class F>
CVAE_HD F ClampLogvar(const LatentSpec& spec, F logvar) {
  return Clamp(logvar, spec.logvar_min, spec.logvar_max);
}

template <class F>
CVAE_HD F KlElement(const LatentSpec& spec, F mu, F logvar) {
  if (spec.variance_eps == 0) return KlElement(mu, logvar);
  const F var = Exp(logvar) + spec.variance_eps;
  return KlElementOfVariance(mu, var, spec.kl_of_logvar ? logvar : Log(var));
}

template <class F>
CVAE_HD F SampleZ(const LatentSpec& spec, F mu, F logvar, F eps) {
  if (spec.variance_eps == 0) return SampleZ(mu, logvar, eps);
  return SampleZOfVariance(mu, Exp(logvar) + spec.variance_eps, eps);
}

// z as Generate draws it from the standard normal eps.
template <class F>
CVAE_HD F DrawZ(const LatentSpec& spec, float temperature, F eps) {
  return Clamp(temperature * eps, spec.z_min, spec.z_max);
}
