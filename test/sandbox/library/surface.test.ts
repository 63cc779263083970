// What `secretcast/sandbox` promises: its names, their declarations, and a comment on each.
import { testSurface } from "../../support/documents/pinned-surface.ts";

testSurface({
  library: "sandbox",
  load: () => import("../../../packages/sandbox/library/index.ts"),
});
