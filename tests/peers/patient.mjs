// Loaded into the conformance suite before it starts. Its time limits are made for a machine that does nothing else; here
// they are longer, so that a busy machine is not taken for a broken server.

const PATIENCE = 4;

const { setTimeout: setUsual } = globalThis;
const timeoutUsual = AbortSignal.timeout;

globalThis.setTimeout = (run, delay = 0, ...rest) => setUsual(run, delay * PATIENCE, ...rest);
AbortSignal.timeout = (delay) => timeoutUsual.call(AbortSignal, delay * PATIENCE);
