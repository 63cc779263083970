// What `secretcast/sandbox` promises: its names, their declarations, and a comment on each.
import { testSurface } from "../../support/documents/pinned-surface.ts";

testSurface({
  library: "sandbox",
  load: () => import("../../../src/sandbox/library/index.ts"),
});
