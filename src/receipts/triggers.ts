// What can make a write due: a code with one sentence each. Triggers name what the cluster records: field managers
// as managedFields has them, labels by their keys. Which person used a field manager is not recorded there.
/** Every trigger: its code, and one sentence for people. */
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

/** One sentence for people, with the version, the field manager and the labels. */
export function triggerText({ code, version, manager, labels }: Trigger): string {
  const details = [
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(manager === undefined ? [] : [`field manager ${manager}`]),
    ...(labels ?? []),
  ];
  return details.length === 0 ? TRIGGERS[code] : `${TRIGGERS[code]} (${details.join(", ")})`;
}
