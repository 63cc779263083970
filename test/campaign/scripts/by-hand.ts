// Steps of scripts that are written by hand; a place is "NAMESPACE/NAME".
import type { Texts } from "../model/raw.ts";
import { PLAIN_FLAGS, type ChaosStep, type FlagSet, type OfKind, type Place } from "./script.ts";

type StepOf<K extends ChaosStep["kind"]> = Extract<ChaosStep, { readonly kind: K }>;

const at = (place: string): Place => {
  const [namespace = "", name = ""] = place.split("/");
  return { namespace, name };
};

/** Of type Opaque and not immutable, unless `rest` says otherwise. */
export const source = (
  place: string,
  words: Texts,
  rest: Partial<StepOf<"source">> = {},
): StepOf<"source"> => ({
  kind: "source",
  ...at(place),
  words,
  type: "Opaque",
  immutable: false,
  ...rest,
});
export const stranger = (place: string, words: Texts = {}): ChaosStep => {
  return { kind: "stranger", ...at(place), words };
};
export const pull = (place: string, words: Texts, rest: OfKind = {}): ChaosStep => {
  return { kind: "pull", ...at(place), words, ...rest };
};
export const forge = (
  name: string,
  of: string,
  uid: string,
  words: Texts = {},
  rest: OfKind = {},
): ChaosStep => ({ kind: "forge", name, source: of, uid, words, ...rest });
export const list = (entries: Texts | null): ChaosStep => {
  return { kind: "list", entries, strange: false };
};
export const say = (place: string, word: string, value: string | null): ChaosStep => {
  return { kind: "say", ...at(place), word, value };
};
export const deleted = (place: string): ChaosStep => ({ kind: "delete", ...at(place) });
export const space = (
  namespace: string,
  words: Texts,
  rest: Partial<StepOf<"namespace">> = {},
): ChaosStep => ({ kind: "namespace", namespace, words, tier: "gold", gone: false, ...rest });

export const pass = (ms: number): ChaosStep => ({ kind: "pass", ms });
export const moment = (ms: number): ChaosStep => ({ kind: "moment", ms });
export const requests = (
  fault: StepOf<"requests">["fault"],
  likelihood: number,
  ms: number,
): ChaosStep => ({ kind: "requests", fault, likelihood, ms });
export const watches = (fault: StepOf<"watches">["fault"]): ChaosStep => {
  return { kind: "watches", fault };
};
export const stopped = (replica: number): ChaosStep => ({ kind: "restart", replica, how: "stop" });
export const rollOut = (flags: Partial<FlagSet>): ChaosStep => {
  return { kind: "roll out", flags: { ...PLAIN_FLAGS, ...flags } };
};
export const restore = (back: number): ChaosStep => ({ kind: "restore", back });
