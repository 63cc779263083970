// What `secretcast/kube` promises: its names, their declarations, and a comment on each.
import { testSurface } from "../../support/documents/pinned-surface.ts";

testSurface({
  library: "kube",
  load: () => import("../../../packages/kube/library/index.ts"),
  typesOnly: ["Reachability", "Store"],
});
