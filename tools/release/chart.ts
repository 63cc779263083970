// The chart as an archive, and as the OCI image layout that pushing it makes of it in a registry.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { goToolFolders } from "../go-tools.ts";
import { archive, run } from "./files.ts";
import { writeLayout } from "./oci-layout.ts";

/** What of Chart.yaml becomes annotations of the manifest. */
type Metadata = {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly home?: string;
  readonly sources?: readonly string[];
  readonly maintainers?: readonly { readonly name?: string; readonly email?: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
};

type Packing = {
  readonly version: string;
  /** Of the commit, since the epoch. */
  readonly seconds: number;
  readonly scratch: string;
  readonly say: (line: string) => void;
};

/** Helm writes the time of packing into the archive, so its content is packed anew. */
export function packChart(folder: string, { version, seconds, scratch, say }: Packing): void {
  const path = [...goToolFolders(process.env, say, ["helm"]), process.env["PATH"]].join(":");
  if (spawnSync("helm", ["version"], { env: { ...process.env, PATH: path } }).status !== 0) {
    say("no chart: there is no helm, and no Go to build it");
    return;
  }
  const name = `secretcast-${version}.tgz`;
  run("helm", ["package", "manifests/chart", "--destination", scratch], { env: { PATH: path } });
  run("tar", ["-xzf", join(scratch, name), "-C", scratch]);
  archive(scratch, ["secretcast"], join(folder, name), seconds);
  const metadata = load(readFileSync(join(scratch, "secretcast/Chart.yaml"), "utf8")) as Metadata;
  writeLayout(join(folder, "oci"), version, {
    config: {
      mediaType: "application/vnd.cncf.helm.config.v1+json",
      content: Buffer.from(JSON.stringify(metadata)),
    },
    layers: [
      {
        mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
        content: readFileSync(join(folder, name)),
      },
    ],
    annotations: annotationsOf(metadata, new Date(seconds * 1000)),
  });
}

/** As `helm push` makes them, but with the time of the commit. */
function annotationsOf(metadata: Metadata, created: Date): Readonly<Record<string, string>> {
  const { name, version, description = "", home = "", sources = [], maintainers = [] } = metadata;
  const people = maintainers.map(({ name = "", email }) => (email ? `${name} (${email})` : name));
  const own = {
    title: name,
    description,
    version,
    url: home,
    created: created.toISOString().replace(/\.\d+Z$/, "Z"),
    source: sources[0] ?? "",
    authors: people.join(", "),
  };
  const named = Object.entries(own)
    .filter(([, value]) => value.trim() !== "")
    .map(([key, value]) => [`org.opencontainers.image.${key}`, value]);
  const kept = ["version", "title"].map((key) => `org.opencontainers.image.${key}`);
  const given = Object.entries(metadata.annotations ?? {}).filter(([key]) => !kept.includes(key));
  return Object.fromEntries([...named, ...given]);
}
