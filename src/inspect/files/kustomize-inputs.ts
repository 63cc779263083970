// The files that a kustomization reads as something else than manifests: patches, inputs of generators,
// configuration. They may look like objects, but are parts of objects, or data.
import { basename, join, normalize } from "node:path";
import { isRecord } from "../../../packages/kube/json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The names that kustomize accepts. */
const NAMES = new Set(["kustomization.yaml", "kustomization.yml", "Kustomization"]);

export function isKustomization(file: string): boolean {
  return NAMES.has(basename(file));
}

/** What each of these files is, by its path. `folder`: of the kustomization. */
export function inputsOf(folder: string, value: Fields): ReadonlyMap<string, string> {
  const inputs = new Map<string, string>();
  const note = (what: string, paths: readonly unknown[]): void => {
    for (const path of paths)
      if (typeof path === "string" && path !== "" && !path.includes("\n"))
        inputs.set(normalize(join(folder, path)), what);
  };
  for (const field of ["patches", "patchesJson6902", "patchesStrategicMerge"]) {
    const patches = listOf(value[field]);
    note(
      "patch",
      patches.map((one) => (isRecord(one) ? one["path"] : one)),
    );
  }
  note(
    "replacement",
    listOf(value["replacements"]).map((one) => fieldOf(one, "path")),
  );
  for (const field of ["transformers", "generators", "validators", "configurations"])
    note("configuration of kustomize", listOf(value[field]));
  for (const field of ["secretGenerator", "configMapGenerator"]) {
    for (const generator of listOf(value[field])) {
      // "KEY=PATH" or "PATH".
      const files = listOf(fieldOf(generator, "files")).map((one) =>
        typeof one === "string" ? one.slice(one.indexOf("=") + 1) : one,
      );
      note("input of a generator", [
        ...files,
        ...listOf(fieldOf(generator, "envs")),
        fieldOf(generator, "env"),
      ]);
    }
  }
  for (const chart of [
    ...listOf(value["helmCharts"]),
    ...listOf(value["helmChartInflationGenerator"]),
  ])
    note("values of a chart", [
      fieldOf(chart, "valuesFile"),
      fieldOf(chart, "values"),
      ...listOf(fieldOf(chart, "additionalValuesFiles")),
    ]);
  return inputs;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}
