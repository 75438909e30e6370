// npm run types: writes the dashboard's TypeScript types from the Rust types they mirror.

import { cargo, run } from "./command.mjs";
import { main } from "./main.mjs";
import { checkMachine } from "./machine.mjs";

await main(() => {
  checkMachine();
  return run({ ...cargo("test", "--locked", "-p", "evermoor-core", "the_dashboards_types"), env: { EVERMOOR_WRITE_TYPES: "1" } });
});
