// The object that a command is about, as kubectl names it: NAME, or KIND/NAME.
import { OBJECT_KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { UsageError } from "../../controller/settings/config.ts";
import { isSecretName } from "../../text/names.ts";
import { kindOfWord } from "../kubectl/kind-words.ts";

const FORMS = OBJECT_KINDS.map((kind) => `${kind.toLowerCase()}/NAME`).join(" or ");

/** Throws a UsageError of one line. */
export function namedObject(given: unknown): { readonly kind: ObjectKind; readonly name: string } {
  const text = typeof given === "string" ? given : "";
  const slash = text.indexOf("/");
  const word = slash < 0 ? "secret" : text.slice(0, slash);
  const name = text.slice(slash + 1);
  const kind = kindOfWord(word);
  if (!kind)
    throw new UsageError(
      `"${word}" is no kind that is copied: write ${FORMS}, and the namespace as -n`,
    );
  if (isSecretName(name)) return { kind, name };
  throw new UsageError(`"${name}" is not the name of a ${kind}`);
}
