// What can make a write due: a code with one sentence each. Receipts have both, and Events the sentence. They name
// what the cluster records: field managers as managedFields has them, labels by their keys. Which person used a
// field manager is not recorded there.
/** Every trigger: its code, and one sentence for people. Events use the sentence, receipts the code as well. */
export const TRIGGERS = {
  Source: "the source changed",
  Entry: "the source list entry changed",
  Namespace: "a namespace appeared",
  NamespaceLabels: "labels of a namespace changed",
  Accept: "a namespace changed what it accepts",
  AdoptOffer: "the owner of an existing object offered it",
  EditOfCopy: "another client had changed the copy",
  DeletionOfCopy: "another client had deleted the copy",
  DeletionOfSource: "the source was deleted",
  Pull: "a pulling object asks for it",
  Start: "found when this process began",
} as const;
export type TriggerCode = keyof typeof TRIGGERS;

export type Trigger = {
  readonly code: TriggerCode;
  /** The source's version. */
  readonly version?: string;
  /** Field manager of the source's newest change, or of the edit of a copy. Any client can choose its name. */
  readonly manager?: string | undefined;
  /** Keys of changed labels, the first few. */
  readonly labels?: readonly string[];
};

/**
 * The sentence of an Event, whose reader can read the source and nothing else. Versions would make an Event of its
 * own of each change. `named`: with the field manager of the source.
 */
export function eventText({ code, manager }: Trigger, named: boolean): string {
  return triggerText({ code, ...(named && code === "Source" && { manager }) });
}

/** One sentence for people. `named`: with the version, the field manager and the labels. */
export function triggerText({ code, version, manager, labels }: Trigger, named = true): string {
  if (!named) return TRIGGERS[code];
  const details = [
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(manager === undefined ? [] : [`field manager ${manager}`]),
    ...(labels ?? []),
  ];
  return details.length === 0 ? TRIGGERS[code] : `${TRIGGERS[code]} (${details.join(", ")})`;
}
