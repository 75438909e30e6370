// npm run types: generates the TypeScript types of the dashboard from the Rust types.

import { cargo, run } from "./lib/run/command.mjs";
import { main } from "./lib/run/main.mjs";
import { checkMachine } from "./lib/machine/machine.mjs";

await main(() => {
  checkMachine();
  return run({ ...cargo("test", "--locked", "-p", "evermoor-core", "the_dashboards_types"), env: { EVERMOOR_WRITE_TYPES: "1" } });
});
