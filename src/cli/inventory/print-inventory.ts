// Implements `secretcast inventory`. It lists Secrets without their data, adds certificates and readers if asked, and
// compares with the limits. Promises: no value is printed. What could not be read is named, and the exit code is 1.
import { UsageError } from "../../controller/settings/config.ts";
import { placeKey } from "../../controller/model/kinds.ts";
import { csvLine } from "../../inspect/kubectl/csv.ts";
import {
  lastText,
  otherwiseCode,
  readKubectlFlags,
  type Args,
} from "../../inspect/kubectl/kubectl-flags.ts";
import { kubectlName, printListing } from "../../inspect/kubectl/listing.ts";
import {
  readForPlanning,
  printUnknown,
  withClusterContext,
  type ClusterContext,
} from "../../inspect/cluster/cluster-context.ts";
import { planningFlags, settingsLine } from "../../inspect/cluster/planning-settings.ts";
import { leaderLines } from "../../inspect/cluster/live-leader.ts";
import { withoutData } from "../../inspect/requests/without-data.ts";
import { kindOfResource } from "../../inspect/kubectl/kind-words.ts";
import { spanOf } from "../../inspect/kubectl/span-flag.ts";
import type { Program } from "../../run/program-context.ts";
import { listed } from "../../text/listed.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { Binding } from "./grants.ts";
import { csvRows, inventoryColumns, readerLines } from "./inventory-columns.ts";
import {
  itemsOf,
  LIMITS,
  withLimits,
  type InventoryItem,
  type InventoryLimits,
  type Limit,
} from "./inventory-items.ts";
import { factsOf, objectsOf, type ObjectFacts } from "./object-facts.ts";
import { readCertificates } from "./read-certificates.ts";
import { readGrants } from "./read-grants.ts";
import { bindingText, readersOf, roleText, subjectText } from "./readers.ts";
import { say } from "../../inspect/kubectl/say.ts";

type InventoryOptions = InventoryLimits & {
  readonly certificates: boolean;
  readonly readers: boolean;
  readonly csv: boolean;
};

type Found = {
  readonly items: readonly InventoryItem[];
  readonly dangling: readonly Binding[];
  readonly isComplete: boolean;
};

export async function printInventory(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env, ["csv"]);
  const options = optionsOf(args);
  return withClusterContext(flags, planningFlags(args), program, async (context) => {
    const leader = await context.readLeader();
    const notRead = await context.readNotRead();
    const found = await readInventory(context, options);
    print(found, options, context);
    if (found.items.length === 0) say(program.stderr, "no source was found");
    const limits = LIMITS.flatMap((limit) => limitLines(found.items, limit, args));
    const lines = [
      ...leaderLines(leader),
      ...notRead.lines,
      ...notRead.unknown,
      ...limits,
      ...readerNotes(found, options),
      context.where,
    ];
    for (const line of lines) say(program.stderr, line);
    say(program.stderr, settingsLine(context.planning));
    if (!found.isComplete || leader.kind === "unknown" || notRead.unknown.length > 0) return 1;
    const isFine = limits.length === 0 && leader.kind === "live" && !notRead.isMissing;
    return isFine ? 0 : otherwiseCode(flags);
  });
}

function optionsOf(args: Args): InventoryOptions {
  const certificates = args["certificates"] === true;
  const minValidityMs = spanOf(args, "min-validity");
  if (minValidityMs !== undefined && !certificates)
    throw new UsageError(
      "--min-validity is for --certificates: add that flag, which reads tls.crt of the sources",
    );
  return {
    certificates,
    minValidityMs,
    readers: args["readers"] === true,
    csv: lastText(args, "output") === "csv",
    maxAgeMs: spanOf(args, "max-age"),
  };
}

async function readInventory(context: ClusterContext, options: InventoryOptions): Promise<Found> {
  const { connection, flags, program } = context;
  const { client } = connection;
  const facts = new Map<string, ObjectFacts>();
  const read = await readForPlanning(context, {
    client: withoutData(client),
    onObject: (object, raw, kind) => {
      if (object.role !== "unmanaged")
        facts.set(placeKey(kind, object), factsOf(kind, object, raw));
    },
  });
  // A list that began anew may have left out what was deleted meanwhile.
  const isThere = ({ kind, object }: ObjectFacts): boolean =>
    read.clusterStates.some(
      (state) =>
        state.kind === kind && state.objectsIn(object.namespace).get(object.name) === object,
    );
  const isKnown = printUnknown(read, program);
  const nowMs = context.nowMs();
  const all = itemsOf(objectsOf([...facts.values()].filter(isThere)), nowMs).filter(
    (item) =>
      read.builder.isSelected(kindOfResource(item.resource), item) && isIn(item, flags.namespace),
  );
  const mayHave = (resource: string, place: Ref): boolean =>
    facts.get(placeKey(kindOfResource(resource), place))?.mayHaveCertificate === true;
  const certified = options.certificates
    ? await readCertificates(client, all, mayHave, nowMs, program.signal)
    : { items: all, unknown: [] };
  const limited = certified.items.map((item) => withLimits(item, options, nowMs));
  const { items, dangling, unknown } = options.readers
    ? await withReaders(context, limited)
    : { items: limited, dangling: [], unknown: [] };
  const more = printUnknown({ unknown: [...certified.unknown, ...unknown] }, program);
  return { items, dangling, isComplete: isKnown && more };
}

function isIn({ namespace, copies }: InventoryItem, only: string | undefined): boolean {
  return only === undefined || namespace === only || copies.some((copy) => copy.namespace === only);
}

async function withReaders(
  { connection: { client }, program: { signal } }: ClusterContext,
  items: readonly InventoryItem[],
): Promise<Pick<Found, "items" | "dangling"> & { readonly unknown: readonly string[] }> {
  const namespaces = new Set(
    items.flatMap((item) => placesOf(item).map((place) => place.namespace)),
  );
  const { grants, dangling, unknown } = await readGrants(client, [...namespaces], signal);
  return {
    items: items.map((item) => ({
      ...item,
      readers: readersOf(grants, kindOfResource(item.resource), placesOf(item)),
    })),
    dangling: dangling.filter(
      ({ namespace }) => namespace === undefined || namespaces.has(namespace),
    ),
    unknown,
  };
}

function placesOf(item: InventoryItem): readonly Ref[] {
  return item.isSource ? [item, ...item.copies] : item.copies;
}

function print(
  { items, dangling }: Found,
  options: InventoryOptions,
  { flags, program }: ClusterContext,
): void {
  if (options.csv) {
    for (const cells of csvRows(items, options)) program.stdout.write(csvLine(cells));
    return;
  }
  const whole = flags.output === "wide" || program.stdout.isTTY !== true;
  const columns = inventoryColumns(items, { ...options, whole });
  const shown = dangling.map((binding) => ({
    binding: bindingText(binding),
    role: roleText(binding),
    subjects: binding.subjects.map(subjectText),
  }));
  printListing(
    {
      kind: "InventoryList",
      items,
      columns,
      nameOf: kubectlName,
      ...(options.readers && { beside: { danglingBindings: shown } }),
    },
    flags,
    program,
  );
  if (!options.readers || (flags.output !== "table" && flags.output !== "wide")) return;
  program.stdout.write("\n");
  for (const line of readerLines(items, whole, flags, program)) program.stdout.write(line);
}

/** What is above a limit, or may be, one line each. */
function limitLines(items: readonly InventoryItem[], limit: Limit, args: Args): readonly string[] {
  const flag = `--${limit}=${lastText(args, limit) ?? ""}`;
  const [over, unsure] = SENTENCES[limit];
  return [
    sentence(
      items.filter((item) => item.over.includes(limit)),
      `${over} (${flag})`,
    ),
    sentence(
      items.filter((item) => item.unsure.includes(limit)),
      `${unsure} (${flag})`,
    ),
  ].filter((line) => line !== "");
}

const SENTENCES: Readonly<Record<Limit, readonly [over: string, unsure: string]>> = {
  "max-age": [
    "value older than the limit",
    "value that may be older than the limit, because its manager also has other fields or is not recorded",
  ],
  "min-validity": [
    "certificate expires sooner than the limit, has expired, or is not valid yet",
    "certificate that cannot be read",
  ],
};

function sentence(items: readonly InventoryItem[], what: string): string {
  if (items.length === 0) return "";
  return `${what}: ${listed(items.map(refText))}`;
}

function readerNotes({ dangling }: Found, { readers }: InventoryOptions): readonly string[] {
  if (!readers) return [];
  const named = dangling.map((binding) => `${bindingText(binding)} to ${roleText(binding)}`);
  const lines = [
    "readers are by RBAC alone: not those who may create Pods there, impersonate, or bind and escalate roles, not the nodes, not other authorizers; system:masters reads everything",
  ];
  if (named.length === 0) return lines;
  return [...lines, `bindings to roles that do not exist: ${listed(named)}`];
}
