// The object that a command is about, as kubectl names it: NAME, or KIND/NAME.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { UsageError } from "../../controller/settings/config.ts";
import { isSecretName } from "../../text/names.ts";

const KIND_WORDS: Readonly<Record<string, ObjectKind>> = {
  secret: "Secret",
  secrets: "Secret",
  configmap: "ConfigMap",
  configmaps: "ConfigMap",
  cm: "ConfigMap",
};

/** Throws a UsageError of one line. */
export function namedObject(given: unknown): { readonly kind: ObjectKind; readonly name: string } {
  const text = typeof given === "string" ? given : "";
  const slash = text.indexOf("/");
  const word = slash < 0 ? "secret" : text.slice(0, slash);
  const name = text.slice(slash + 1);
  const lower = word.toLowerCase();
  const kind = Object.hasOwn(KIND_WORDS, lower) ? KIND_WORDS[lower] : undefined;
  if (!kind)
    throw new UsageError(
      `"${word}" is no kind that is copied: write secret/NAME or configmap/NAME, and the namespace as -n`,
    );
  if (isSecretName(name)) return { kind, name };
  throw new UsageError(`"${name}" is not the name of a ${kind}`);
}
