import fc from "fast-check";

const seed = process.env.FAST_CHECK_SEED;

if (process.env.CI && !seed) {
  throw new Error(
    "Property tests need a seed in CI: set FAST_CHECK_SEED to a whole number, so that a failure can be repeated.",
  );
}
if (seed) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
