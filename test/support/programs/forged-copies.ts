// Takes in a thousand forged objects, each with one annotation of 240 KB, and keeps what the cache keeps of them. It
// is run with a small heap: a part of a text that is kept would keep the whole text. argv: the names of
// the annotations, which take turns; "type" is the type.
import { MANAGED_BY, MANAGED_BY_LABEL } from "../../../src/controller/annotations/vocabulary.ts";
import type { CopyTemplate } from "../../../src/controller/model/cluster.ts";
import { KINDS } from "../../../src/controller/model/kinds.ts";
import { createDigest } from "../../../src/controller/model/secret-data.ts";
import { readObject } from "../../../src/controller/observed/read-object.ts";
import { createIntern, createShare } from "../../../src/text/intern.ts";

const fields = process.argv.slice(2);
const OBJECTS = 1000;
const BYTES = 240_000;

const context = {
  kind: KINDS.Secret,
  digest: createDigest(Buffer.from("k")),
  intern: createIntern(),
  share: createShare<CopyTemplate>(),
  isSourceNamespace: (namespace: string) => namespace === "shared",
  copyable: { copyableKeys: undefined, namedSources: undefined },
  keep: () => {},
};
const kept: unknown[] = [];
for (let at = 0; at < OBJECTS; at++) {
  const name = `forged-${at}`;
  const field = fields[at % fields.length] ?? "";
  const text = `${at}/`.padEnd(BYTES, "x");
  const marks = {
    "secretcast.io/source": "shared/db",
    "secretcast.io/source-uid": "00000000-0000-0000-0000-000000000000",
    "secretcast.io/source-version": "1",
    "secretcast.io/placed-at": `evil/${name}`,
  };
  const annotations = field === "type" ? marks : { ...marks, [field]: text };
  const metadata = { namespace: "evil", name, uid: `uid-${at}`, resourceVersion: "1" };
  const labels = { [MANAGED_BY_LABEL]: MANAGED_BY };
  const type = field === "type" ? text : "Opaque";
  // As the client reads it: each text has its own memory.
  const raw: unknown = JSON.parse(
    JSON.stringify({ metadata: { ...metadata, labels, annotations }, type, data: {} }),
  );
  kept.push(readObject(raw, context));
}
process.stdout.write(`${kept.filter((object) => object !== undefined).length}\n`);
