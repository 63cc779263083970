// The guardrail on a real API server, asked by the controller's own account without the controller: what
// is within the rule goes through, everything outside it is refused with a reason. That the controller
// itself stays within the rule is shown by all other tests: they run under the guardrail.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseAdopt } from "../../src/controller/annotations/parse.ts";
import { controllerToken } from "../support/api-server/account.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";

const NAMESPACE = "guarded";
const RESOURCES = ["secrets", "configmaps"] as const;
type Resource = (typeof RESOURCES)[number];
const pathOf = (resource: Resource) => `/api/v1/namespaces/${NAMESPACE}/${resource}`;
const MERGE = { contentType: "application/merge-patch+json" } as const;

let admin: Http;
let controller: Http;
before(async () => {
  const cluster = sharedCluster();
  admin = openCluster(cluster);
  controller = openCluster(cluster, controllerToken(cluster));
  await done(admin.send("POST", "/api/v1/namespaces", { body: { metadata: { name: NAMESPACE } } }));
});
after(async () => {
  await admin.send("DELETE", `/api/v1/namespaces/${NAMESPACE}`);
  const gone = async (): Promise<boolean> =>
    (await admin.send("GET", `/api/v1/namespaces/${NAMESPACE}`)).status === 404;
  await eventually("the namespace is gone", gone);
  await Promise.all([admin.close(), controller.close()]);
});

type Metadata = {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly unknown[];
};
type Body = { readonly metadata: Metadata; readonly [field: string]: unknown };

const MANAGED = { "app.kubernetes.io/managed-by": "secretcast" };
const marks = (name: string) => ({
  "secretcast.io/source": "secretcast/registry",
  "secretcast.io/source-uid": "11111111-2222-3333-4444-555555555555",
  "secretcast.io/placed-at": `${NAMESPACE}/${name}`,
  "secretcast.io/source-version": "7",
});
const copy = (name: string): Body => ({
  metadata: { labels: MANAGED, annotations: marks(name) },
  data: { key: "dmFsdWU=" },
});
const annotated = (annotations: Readonly<Record<string, string | null>>): Body => ({
  metadata: { annotations },
});
const nulls = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]));
const RELEASE = (name: string): Body => ({
  metadata: { labels: nulls(Object.keys(MANAGED)), annotations: nulls(Object.keys(marks(name))) },
});

const create = (http: Http, name: string, body: Body, resource: Resource = "secrets") => {
  const metadata = { ...body.metadata, name };
  return http.send("POST", pathOf(resource), { body: { ...body, metadata } });
};
const patch = (http: Http, name: string, body: unknown, resource: Resource = "secrets") =>
  http.send("PATCH", `${pathOf(resource)}/${name}`, { ...MERGE, body });
const remove = (http: Http, name: string, resource: Resource = "secrets") =>
  http.send("DELETE", `${pathOf(resource)}/${name}`);

async function done(request: ReturnType<Http["send"]>): Promise<void> {
  const { status, body } = await request;
  assert.ok(status < 300, `${status} ${String(field(body, "message"))}`);
}

/** The refusal's text. */
async function refused(request: ReturnType<Http["send"]>, words: RegExp): Promise<string> {
  const { status, body } = await request;
  const message = String(field(body, "message"));
  assert.equal(status, 403, message);
  assert.match(message, /ValidatingAdmissionPolicy 'secretcast-guardrail(?:-create)?'/);
  assert.match(message, words);
  return message;
}

for (const resource of RESOURCES)
  test(`the life of a copy is within the rule: made, updated, handed over, deleted (${resource})`, async () => {
    await done(create(controller, "a", copy("a"), resource));
    await done(
      patch(
        controller,
        "a",
        { data: { key: "bmV3", more: "bW9yZQ==" }, immutable: true },
        resource,
      ),
    );
    await done(
      patch(controller, "a", annotated({ "secretcast.io/source": "other/registry" }), resource),
    );
    await done(remove(controller, "a", resource));
  });

for (const resource of RESOURCES)
  test(`a release and an adoption are within the rule (${resource})`, async () => {
    await done(create(controller, "b", copy("b"), resource));
    await done(patch(controller, "b", RELEASE("b"), resource));
    await done(
      patch(admin, "b", annotated({ "secretcast.io/adopt": "secretcast/registry" }), resource),
    );
    const { metadata } = copy("b");
    const annotations = { ...metadata.annotations, "secretcast.io/adopt": null };
    await done(
      patch(
        controller,
        "b",
        { metadata: { ...metadata, annotations }, data: { a: "Yg==" } },
        resource,
      ),
    );
  });

test("blanks around the value of adopt are taken off by controller and guardrail alike", async () => {
  const ends = [
    " ",
    "\t",
    "\n",
    "\r",
    "\v",
    "\f",
    "\u00a0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u3000",
  ];
  for (const [at, blank] of [...ends, "\ufeff", "\u0085", "\u200b"].entries()) {
    const name = `blank-${at}`;
    const value = `${blank}secretcast/registry${blank}`;
    await done(create(admin, name, annotated({ "secretcast.io/adopt": value })));
    const { metadata } = copy(name);
    const annotations = { ...metadata.annotations, "secretcast.io/adopt": null };
    const adoption = patch(controller, name, { metadata: { ...metadata, annotations } });
    // What the controller takes, the guardrail takes; the other way round does no harm.
    if (parseAdopt({ "secretcast.io/adopt": value })) await done(adoption);
    else await adoption;
    assert.equal(parseAdopt({ "secretcast.io/adopt": value }) !== undefined, ends.includes(blank));
  }
});

test("filling a pulling Secret and emptying it again is within the rule", async () => {
  await done(create(admin, "c", annotated({ "secretcast.io/from": "secretcast/registry" })));
  const record = {
    "secretcast.io/placed-at": `${NAMESPACE}/c`,
    "secretcast.io/source-uid": "u",
    "secretcast.io/source-version": "7",
  };
  await done(patch(controller, "c", { ...annotated(record), data: { key: "dmFsdWU=" } }));
  const off = annotated(nulls(Object.keys(record)));
  await done(patch(controller, "c", { ...off, data: { key: null } }));
});

test("the rule can be judged on the largest Secrets that the API takes", async () => {
  const entry = Buffer.alloc(1024, "x").toString("base64");
  const entries = Array.from({ length: 1000 }, (_, at) => [`key-${at}`, entry] as const);
  const large = { ...copy("large"), data: Object.fromEntries(entries) };
  await done(create(controller, "large", large));
  await done(patch(controller, "large", { data: { "key-0": "bmV3" } }));
  await done(patch(controller, "large", RELEASE("large")));
});

const made = copy("made");
const without = (key: string): Body => ({
  ...made,
  metadata: { labels: MANAGED, annotations: { ...marks("made"), [key]: null } },
});
const CREATES: Readonly<Record<string, Body>> = {
  "one without marks": { metadata: {} },
  "one without the label": { metadata: { annotations: marks("made") } },
  "one with another's label": {
    metadata: { ...made.metadata, labels: { "app.kubernetes.io/managed-by": "Helm" } },
  },
  "one placed at another name": copy("elsewhere"),
  "one without placed-at": without("secretcast.io/placed-at"),
  "one without a source": without("secretcast.io/source"),
  "one without the source's UID": without("secretcast.io/source-uid"),
  "one whose source is in its own namespace": {
    metadata: {
      labels: MANAGED,
      annotations: { ...marks("made"), "secretcast.io/source": `${NAMESPACE}/registry` },
    },
  },
  "one whose source is no reference": {
    metadata: { labels: MANAGED, annotations: { ...marks("made"), "secretcast.io/source": "x" } },
  },
  "a source": { metadata: { annotations: { "secretcast.io/to": "*" } } },
};
for (const [what, body] of Object.entries(CREATES))
  test(`creating ${what} is refused, as a ConfigMap too`, async (t) => {
    const words = /secretcast may create an object only as a copy/;
    for (const resource of RESOURCES)
      t.diagnostic(await refused(create(controller, "made", body, resource), words));
  });

test("creating a copy that would be given an account's token is refused", async (t) => {
  const type = "kubernetes.io/service-account-token";
  const annotations = { ...marks("made"), "kubernetes.io/service-account.name": "default" };
  const body = { metadata: { labels: MANAGED, annotations }, type };
  t.diagnostic(
    await refused(create(controller, "made", body), /of the types kubernetes\.io\/service/),
  );
});

test("creating a copy with an owner or a finalizer is refused", async (t) => {
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "u" };
  for (const more of [{ finalizers: ["example.com/x"] }, { ownerReferences: [owner] }]) {
    const body = { ...made, metadata: { ...made.metadata, ...more } };
    t.diagnostic(await refused(create(controller, "made", body), /finalizers or owner references/));
  }
});

type Case = { readonly there: Body; readonly change: Body };
const PULL = annotated({ "secretcast.io/from": "secretcast/registry" });
const stripped = (name: string, key: string): Body => ({
  metadata: { labels: MANAGED, annotations: { ...marks(name), [key]: null } },
});
/** A pulling Secret that carries every mark of a copy. */
const marked = (name: string): Body => ({
  metadata: {
    labels: MANAGED,
    annotations: { ...marks(name), "secretcast.io/from": "secretcast/registry" },
  },
});
const CHANGES: Readonly<Record<string, (name: string) => Case>> = {
  "data of an unmanaged Secret": () => ({
    there: { metadata: {} },
    change: { metadata: {}, data: { key: "eA==" } },
  }),
  "labels of an unmanaged Secret": () => ({
    there: { metadata: {} },
    change: { metadata: { labels: { x: "y" } } },
  }),
  "an unmanaged Secret into a copy": (name) => ({ there: { metadata: {} }, change: copy(name) }),
  "a copy that lost its mark": (name) => ({
    there: stripped(name, "secretcast.io/source-uid"),
    change: copy(name),
  }),
  "a copy's placed-at": (name) => ({
    there: copy(name),
    change: annotated({ "secretcast.io/placed-at": `${NAMESPACE}/elsewhere` }),
  }),
  "a copy's marks off but one": (name) => ({
    there: copy(name),
    change: annotated({ "secretcast.io/source": null }),
  }),
  "a copy's label off alone": (name) => ({
    there: copy(name),
    change: { metadata: { labels: nulls(Object.keys(MANAGED)) } },
  }),
  "a copy in its release": (name) => ({
    there: copy(name),
    change: { ...RELEASE(name), data: { key: "eA==" } },
  }),
  "labels in a release": (name) => ({
    there: copy(name),
    change: {
      metadata: { ...RELEASE(name).metadata, labels: { ...nulls(Object.keys(MANAGED)), x: "y" } },
    },
  }),
  "an adopted Secret for another source": (name) => ({
    there: annotated({ "secretcast.io/adopt": "secretcast/other" }),
    change: {
      metadata: { labels: MANAGED, annotations: { ...marks(name), "secretcast.io/adopt": null } },
    },
  }),
  "an adopted Secret and leaving the word on": (name) => ({
    there: annotated({ "secretcast.io/adopt": "secretcast/registry" }),
    change: copy(name),
  }),
  "a pulling Secret with every mark of a copy": (name) => ({
    there: marked(name),
    change: { metadata: {}, data: { key: "eA==" } },
  }),
  "a pulling Secret into a copy": (name) => ({ there: PULL, change: copy(name) }),
  "where a pulling Secret pulls from": () => ({
    there: PULL,
    change: annotated({ "secretcast.io/from": "secretcast/other" }),
  }),
  "a pulling Secret's labels": () => ({
    there: PULL,
    change: { metadata: { labels: { x: "y" } } },
  }),
};
for (const [at, [what, make]] of Object.entries(CHANGES).entries())
  test(`changing ${what} is refused, of a ConfigMap too`, async (t) => {
    const name = `change-${at}`;
    const { there, change } = make(name);
    const words = new RegExp(`secretcast may not make this change to guarded/${name}`);
    for (const resource of RESOURCES) {
      await done(create(admin, name, withoutNulls(there), resource));
      t.diagnostic(await refused(patch(controller, name, change, resource), words));
    }
  });

test("changing binary data in a release is refused", async () => {
  const binaryData = { key: "eA==" };
  await done(create(controller, "binary", copy("binary"), "configmaps"));
  const change = { ...RELEASE("binary"), data: null, binaryData };
  const words = /secretcast may not make this change to guarded\/binary/;
  await refused(patch(controller, "binary", change, "configmaps"), words);
});

test("the controller may not write what it publishes, with any marks of a copy", async (t) => {
  for (const name of ["secretcast-sources", "secretcast-pull-secrets"]) {
    const words = new RegExp(`secretcast may not write guarded/${name}`);
    const made = create(controller, name, copy(name), "configmaps");
    t.diagnostic(await refused(made, /secretcast may not write this ConfigMap/));
    await done(create(admin, name, copy(name), "configmaps"));
    const change = { data: { key: "other" } };
    await refused(patch(controller, name, change, "configmaps"), words);
    await refused(remove(controller, name, "configmaps"), words);
    await done(create(controller, name, copy(name)));
  }
});

test("giving a copy a finalizer is refused", async (t) => {
  await done(create(controller, "final", copy("final")));
  const change = { metadata: { finalizers: ["example.com/x"] } };
  t.diagnostic(await refused(patch(controller, "final", change), /finalizers or owner references/));
});

for (const resource of RESOURCES)
  test(`deleting what is no copy is refused (${resource})`, async (t) => {
    const moved = { metadata: { labels: MANAGED, annotations: marks("elsewhere") } };
    const bodies = { plain: { metadata: {} }, pulling: PULL, moved, marked: marked("marked") };
    for (const [name, body] of Object.entries(bodies)) {
      await done(create(admin, name, body, resource));
      const words = new RegExp(`secretcast may not delete guarded/${name}`);
      t.diagnostic(await refused(remove(controller, name, resource), words));
    }
  });

test("the guardrail is for the controller alone", async () => {
  await done(create(admin, "free", { metadata: {} }));
  await done(patch(admin, "free", { data: { key: "eA==" } }));
  await done(remove(admin, "free"));
});

function withoutNulls(body: Body): Body {
  const annotations = Object.fromEntries(
    Object.entries(body.metadata.annotations ?? {}).filter(([, value]) => value !== null),
  );
  return { ...body, metadata: { ...body.metadata, annotations } };
}
