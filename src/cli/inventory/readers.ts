// Who may read a source or a copy of it: one reader for each subject and binding, with the places. Pure.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { refText, type Ref } from "../../text/names.ts";
import { noteOn, verbsAt, type Grant, type ReadVerb, type Subject } from "./grants.ts";

export type Reader = Subject & {
  readonly verbs: readonly ReadVerb[];
  /** `ClusterRoleBinding/NAME`, or `RoleBinding/NAMESPACE/NAME`. */
  readonly binding: string;
  readonly role: string;
  /** The source and its copies, without an end. */
  readonly everyPlace?: true;
  /** Otherwise: where. */
  readonly places?: readonly string[];
  /** How many places that is. */
  readonly count: number;
  /** Who that is, if it is more than one user or account by name. */
  readonly note?: string;
};

/** `places`: the source, if it exists, and its copies. */
export function readersOf(
  grants: readonly Grant[],
  kind: ObjectKind,
  places: readonly Ref[],
): readonly Reader[] {
  return grants.flatMap((grant) => {
    const placesBy = new Map<string, { verbs: readonly ReadVerb[]; places: Ref[] }>();
    for (const place of places) {
      const verbs = verbsAt(grant, kind, place);
      if (verbs.length === 0) continue;
      const known = placesBy.get(verbs.join());
      if (known) known.places.push(place);
      else placesBy.set(verbs.join(), { verbs, places: [place] });
    }
    return [...placesBy.values()].flatMap(({ verbs, places: there }) => {
      const isEvery = grant.namespace === undefined && there.length === places.length;
      const where = {
        ...(isEvery ? { everyPlace: true as const } : { places: there.map(refText) }),
        count: there.length,
      };
      return grant.subjects.map((subject): Reader => {
        const note = noteOn(subject);
        const via = { binding: bindingText(grant), role: roleText(grant) };
        return { ...subject, verbs, ...via, ...where, ...(note !== undefined && { note }) };
      });
    });
  });
}

export function bindingText({ namespace, name }: Pick<Grant, "namespace" | "name">): string {
  return namespace === undefined
    ? `ClusterRoleBinding/${name}`
    : `RoleBinding/${namespace}/${name}`;
}

export function roleText({ role, namespace }: Pick<Grant, "role" | "namespace">): string {
  return role.kind === "Role" ? `Role/${namespace ?? ""}/${role.name}` : `ClusterRole/${role.name}`;
}

/** `User jane`, `ServiceAccount ci/deployer`. */
export function subjectText({ kind, namespace, name }: Subject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
