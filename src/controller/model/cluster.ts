// The planner's input: a ClusterState of reduced objects. API objects are converted once, when they enter
// the cache (observed/). After that, no field is optional by accident. The planner's output is in verdicts.ts.
// Times of objects are RFC 3339 texts in UTC, which sort as they are. Times of the planner are
// milliseconds of a monotonic clock.
import type { Reason } from "./reasons.ts";
import type { KeyFilter } from "../../text/key-filter.ts";
import type { GlobList } from "../../text/globs.ts";
import type { ObjectKind } from "./kinds.ts";
import type { SecretData } from "./secret-data.ts";
import type { Problem, OnDelete, Rule, Accept } from "../annotations/rules.ts";
import type { Ignored } from "../annotations/ignored.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import type { AnnotationName } from "../annotations/vocabulary.ts";
import type { Ref } from "../../text/names.ts";
/** What is known of the copies of one version of a source. Their content is a SourcePayload. */
export type DesiredCopy = {
  readonly type: string;
  readonly immutable: boolean;
  readonly dataDigest: string;
  /** Digest over everything that is ours on a copy but its place and its source-version. */
  readonly fingerprint: string;
  /** What one copy adds to etcd, about: decoded data, all that is copied beside them, and our marks. */
  readonly bytes: number;
  /** The length of one copy in the JSON of the API server, about. */
  readonly jsonBytes: number;
  /** What could not be copied and why, in plain English. */
  readonly notes: readonly string[];
};

/** What the copies of one version of a source hold. Only a DataCache keeps it. */
export type SourcePayload = {
  readonly data: SecretData;
  readonly labels: Readonly<Record<string, string>>;
  /** Copied from the source, without our own marks. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The value of the mark `copied-keys`, or "" where nothing is copied. */
  readonly copiedKeys: string;
};

/** What is kept of every object, whatever its role. */
export type Identity = Ref & {
  readonly uid: string;
  readonly resourceVersion: string;
  /** It carries a deletionTimestamp. */
  readonly deleting: boolean;
};

/** When a value was last changed. The two times are equal if that is known. */
export type ValueTime = {
  readonly notBefore: string;
  /** undefined: no manager is recorded for an entry of data. */
  readonly notAfter: string | undefined;
  /** The program that changed it at `notAfter`, as it calls itself. */
  readonly manager: string | undefined;
};

/** The annotations of a source as they are written, by their name without the prefix. */
export type RuleTexts = Readonly<Partial<Record<AnnotationName, string>>>;

/** Carries a source's annotations in a source namespace, and is neither a copy nor pulling. */
export type SourceObject = Identity & {
  readonly role: "source";
  readonly kind: ObjectKind;
  readonly createdAt: string;
  /** The source list entry that makes it a source, or undefined: its own annotations do. */
  readonly entry: ListEntry | undefined;
  /** Not empty: refused. */
  readonly problems: readonly Problem[];
  /** Field manager of its newest change, or undefined: unknown. */
  readonly changedBy: string | undefined;
  readonly rule: Rule;
  /** Over the texts of all its annotations that make the rule, or "" where an entry makes it. */
  readonly ruleDigest: string;
  /** Those texts, without the prefix. Undefined where an entry makes the rule, or where they are too long. */
  readonly ruleTexts: RuleTexts | undefined;
  /** It carries annotations that ask for nothing. */
  readonly ignored: Ignored | undefined;
  /** undefined where refused. */
  readonly desiredCopy: DesiredCopy | undefined;
  /** Absent where nobody asked for ages (--max-value-age). */
  readonly valueTime?: ValueTime;
  /** Where refused: of what its copies would hold if it were not, as far as that can be known. */
  readonly refusedDigest: string | undefined;
};

/** An object that only says `on-delete` or `name` is nobody's source. */
export function publishes({ rule, problems }: SourceObject): boolean {
  return rule.to !== undefined || rule.allow !== undefined || problems.length > 0;
}

/** Carries `from`. */
export type PullingObject = Pick<CopyTemplate, "entry" | "list" | "ignored"> &
  Identity & {
    readonly role: "pull";
    readonly kind: ObjectKind;
    readonly type: string;
    readonly immutable: boolean;
    /** undefined where it cannot be read: problems then say so. */
    readonly from: Ref | undefined;
    /** The first few. */
    readonly problems: readonly Problem[];
    /** undefined: too long to be kept. */
    readonly keys: KeyFilter | undefined;
    readonly onDelete: OnDelete;
    /** Decoded size of its data. */
    readonly bytes: number;
    /** Its content is ours: source-version is there, and placed-at names it. */
    readonly isFilled: boolean;
    /** Over its entries. */
    readonly dataDigest: string;
    /** The first five keys that hold something, and how many more, as a text. "": it is empty. */
    readonly content: string;
    /** The names of its entries, as CopyTemplate.keyNames. */
    readonly keyNames?: string | undefined;
    readonly sourceUid: string | undefined;
    readonly sourceVersion: string | undefined;
  };

/** What all copies of one version of a source have in common: one object for all of them. */
export type CopyTemplate = {
  readonly source: Ref;
  readonly sourceUid: string;
  readonly sourceVersion: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly dataDigest: string;
  /** As DesiredCopy.fingerprint, over what is there. */
  readonly fingerprint: string;
  /** Its record of `on-delete`. An unreadable record means keep. */
  readonly onDelete: OnDelete;
  /** undefined: too long to be kept. */
  readonly copiedKeys: string | undefined;
  /** Key of the source list entry that made its source one, or undefined without an entry. */
  readonly entry: string | undefined;
  /** The source list of that entry, or undefined: no entry, or an older version wrote the copy. */
  readonly list: string | undefined;
  /** A mark of ours that this version does not know, or undefined. */
  readonly unknownMark: string | undefined;
  readonly ignored: Ignored | undefined;
  /** Field manager of the newest change that is not ours, or undefined: ours is the newest, or it is unknown. */
  readonly changedBy: string | undefined;
  /** The names of its entries (boundedNames), kept only for receipts. */
  readonly keyNames?: string | undefined;
};

/**
 * Carries our marks for its own place. There are up to a million of them, so each is its identity and
 * a template that it shares.
 */
export class CopyObject implements Identity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  readonly template: CopyTemplate;

  constructor(
    { namespace, name, uid, resourceVersion, deleting }: Identity,
    template: CopyTemplate,
  ) {
    this.namespace = namespace;
    this.name = name;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.deleting = deleting;
    this.template = template;
  }

  get role(): "copy" {
    return "copy";
  }
  get ignored(): Ignored | undefined {
    return this.template.ignored;
  }
}

/** What is recorded on it of its source. */
export function recordOn(object: CopyObject | PullingObject): CopyTemplate | PullingObject {
  return object.role === "copy" ? object.template : object;
}

/** Anything else: a name in the way. */
export type UnmanagedObject = Identity & {
  readonly role: "unmanaged";
  /** The place for which it was copied, if it carries our marks for another place. Otherwise absent. */
  readonly copiedFor?: Ref;
  readonly adopt: Adoptable | undefined;
  readonly ignored: Ignored | undefined;
};

export type Adoptable = {
  /** undefined: the annotation cannot be read. */
  readonly source: Ref | undefined;
  readonly type: string;
  readonly immutable: boolean;
  /** It has labels. */
  readonly labelled: boolean;
  /** A key under our prefix that this version does not know: as a copy it would be frozen for ever. */
  readonly unknownKey: string | undefined;
};

export type CachedObject = SourceObject | PullingObject | CopyObject | UnmanagedObject;
export type Namespace = {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAt: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
  readonly accept: Accept;
};

/** The source list as it is known, for objects of one kind. */
export type ListState =
  /** `unread`: it is there, perhaps, and cannot be read or is not understood. */
  | { readonly state: "off" | "absent" | "unread"; readonly reason: Reason }
  | (Pick<Identity, "uid" | "resourceVersion"> & {
      readonly state: "read";
      /** Where it is. */
      readonly ref: Ref;
      /** By key, including entries that name objects of other kinds or no object. */
      get(key: string): ListEntry | undefined;
      /** What is said of this object. */
      of(object: Ref): ListEntry | undefined;
      entries(): Iterable<ListEntry>;
    });

/** The cache as the planner sees it, of one kind. Objects of other roles in the two lists are passed over. */
export type ClusterState = {
  readonly kind: ObjectKind;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  /** By name. The map is empty where the cache knows no object. */
  objectsIn(namespace: string): ReadonlyMap<string, CachedObject>;
  readonly sources: Iterable<CachedObject>;
  readonly pulls: Iterable<CachedObject>;
  /**
   * Digest of what a pulling Secret with these `keys` gets of the source, or undefined where the source's
   * data are not at hand, or give it nothing.
   */
  readonly pullableDigestOf: (source: SourceObject, keys: KeyFilter) => string | undefined;
  /** Whether the API server refuses to show this listed namespace, which is then not in the cluster state. */
  readonly isUnreadable?: (namespace: string) => boolean;
  /** Names of --only-names that the API server refuses to show in this namespace. What is known of them is old. */
  readonly unreadableNames?: (namespace: string) => ReadonlySet<string>;
  /** Absent without a list. */
  readonly list?: ListState | undefined;
};

/** By name, where namespaces are listed: which may receive, and which of them and of the sources' are read. */
export type ControllerScope = {
  readonly targets: ReadonlySet<string>;
  readonly watched: ReadonlySet<string>;
};

export type PlannerSettings = {
  /** In order of precedence. */
  readonly sourceNamespaces: GlobList;
  /** undefined: the whole cluster. */
  readonly scope: ControllerScope | undefined;
  readonly excludeNamespaces: GlobList | undefined;
  /** Namespaces whose sources belong to another installation, or undefined. */
  readonly otherSourceNamespaces: GlobList | undefined;
  readonly includeSystemNamespaces: boolean;
  /** The controller's own namespace, never a target, or undefined outside a cluster. */
  readonly ownNamespace: string | undefined;
  /** Name of the ConfigMap that lists sources, or undefined without one. */
  readonly sourceList: string | undefined;
  readonly namespacePolicy: "opt-out" | "opt-in";
  readonly deleteGraceMs: number;
  /** 0: nothing waits longer than the grace. */
  readonly deleteHoldMs: number;
  readonly fanoutLimitBytes: number;
  /** The only object names that take part, or undefined: all. */
  readonly onlyNames: ReadonlySet<string> | undefined;
  /** Keys taken off the list of keys that are never copied, or undefined. */
  readonly copyableKeys: GlobList | undefined;
  /** The entries of `sourceNamespaces` other than `*`: only such namespaces may use those keys. */
  readonly namedSources: GlobList | undefined;
};
