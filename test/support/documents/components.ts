// The components of the manifests, each with the chart's value for it: the table in docs/reference.md,
// which the tests of manifests and chart hold to be complete.
import { readFileSync } from "node:fs";
import { tableRows, uncoded } from "./markdown.ts";

const PAGE = readFileSync(new URL("../../../docs/reference.md", import.meta.url), "utf8");

export type Component = {
  readonly name: string;
  /** As `--set` takes it. */
  readonly setting: string;
};

export const COMPONENTS: readonly Component[] = tableRows(PAGE, [
  "component",
  "value of the chart",
  "needs",
  "brings",
]).map(([name = "", value = ""]) => {
  const [key = "", setTo = "true"] = uncoded(value).split(": ");
  const text = key === "onlyNames" ? "{registry}" : setTo;
  return { name: uncoded(name), setting: `${key}=${text}` };
});

/** All that can be on at once, except what needs to know the cluster's namespaces or names. */
export const TOGETHER: readonly Component[] = COMPONENTS.filter(
  ({ setting }, at) =>
    !/^(flags\.|onlyNames=)/.test(setting) &&
    COMPONENTS.findIndex((one) => keyOf(one) === keyOf({ setting })) === at,
);

export function keyOf({ setting }: Pick<Component, "setting">): string {
  return setting.slice(0, setting.indexOf("="));
}
