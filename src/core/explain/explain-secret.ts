// What can be said of one Secret by itself on the way to being a source: each rule and its answer, in
// the order in which they are asked.
import { type CachedObject, type PlannerSettings, type SourceObject } from "../model/cluster.ts";
import { sourceRank } from "../desired/namespace-rules.ts";
import { problemText, type NamespaceMatch } from "../annotations/rules.ts";
import { ignoredText } from "../annotations/ignored.ts";
import { type Ref, refText } from "../annotations/names.ts";

export type Step = {
  readonly rule: string;
  readonly holds: boolean;
  /** What was found; never a value. */
  readonly answer: string;
};

export function step(rule: string, holds: boolean, text: string): Step {
  return { rule, holds, answer: text };
}

export function secretSteps(
  subject: Ref,
  secret: CachedObject | undefined,
  settings: PlannerSettings,
): readonly Step[] {
  const name = refText(subject);
  if (!secret) return [step("it exists", false, `there is no Secret ${name}`)];
  const exists = step("it exists", true, name);
  switch (secret.role) {
    case "copy":
      return [
        exists,
        step(
          "it is no copy",
          false,
          `it is a copy of ${refText(secret.source)}; a copy is never a source`,
        ),
      ];
    case "pull": {
      const from = secret.from ? `it pulls from ${refText(secret.from)}` : "it wants to pull";
      return [
        exists,
        step("it does not pull", false, `${from}; a pulling Secret is no source`),
        ...problemSteps(secret),
      ];
    }
    case "stranger":
      return [
        exists,
        scopeStep(subject, settings),
        step(
          "it carries secretcast.io/to or to-selector",
          false,
          secret.ignored
            ? ignoredText(secret.ignored)
            : "it carries neither, or is in no source namespace",
        ),
      ];
    case "source":
      return [exists, scopeStep(subject, settings), ...ruleSteps(secret)];
  }
}

function scopeStep({ namespace }: Ref, settings: PlannerSettings): Step {
  const { text } = settings.sourceNamespaces;
  const rule = `its namespace is a source namespace (--source-namespaces ${text})`;
  return step(rule, sourceRank(settings, namespace) >= 0, namespace);
}

function ruleSteps(secret: SourceObject): readonly Step[] {
  const { to, paused } = secret.rule;
  const pushes = step(
    "it carries secretcast.io/to or to-selector",
    to !== undefined,
    wantsText(to),
  );
  const going = step(
    "it is not being deleted",
    !secret.deleting,
    secret.deleting ? "it is" : "it is not",
  );
  const goes = step(
    "it is not paused",
    !paused,
    paused ? "secretcast.io/paused is true" : "it is not",
  );
  return [...problemSteps(secret), pushes, goes, going];
}

function problemSteps(secret: Pick<SourceObject, "problems">): readonly Step[] {
  if (secret.problems.length === 0)
    return [step("its annotations are understood", true, "they are")];
  return secret.problems.map((problem) =>
    step("its annotations are understood", false, problemText(problem)),
  );
}

function wantsText(wants: NamespaceMatch | undefined): string {
  if (!wants) return "it carries neither";
  const { globs, selector, any } = wants;
  return [globs && `to: ${globs.text}`, selector && `to-selector: ${selector.text}`]
    .filter((text) => text !== undefined)
    .join(any ? ", or " : ", ");
}
