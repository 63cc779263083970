// Reads the old tool's own settings from the command line and the environment of its container, with the
// tool's own rules.

/** A setting that changes which objects the tool looks at or what it copies. */
export type OldSetting = {
  /** Name of its flag, without dashes. */
  readonly name: string;
  readonly kind: "text" | "truth";
  /** The environment variable, as the tool's chart sets it. */
  readonly variable?: string;
  /** The value with which it allows more namespaces to have copies. */
  readonly widening?: string;
};

/** What a container of the tool is started with. */
export type OldContainer = {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Variables whose value the manifest does not contain: from a ConfigMap, for example. */
  readonly hidden: readonly string[];
  /** All keys of a ConfigMap or Secret become variables (envFrom). */
  readonly hiddenNames: boolean;
};

export type OldFlags = {
  /** The value of a setting, by the name of its flag. */
  flag(name: string): string | undefined;
};

export const WITHOUT_SETTINGS: OldFlags = { flag: () => undefined };

export function wordsAlone(words: readonly string[]): OldContainer {
  return { words, environment: {}, hidden: [], hiddenNames: false };
}

/** A flag overrides its variable, and the last of several flags counts. */
export function oldFlags(settings: readonly OldSetting[], container: OldContainer): OldFlags {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(container.environment)) {
    const setting = settings.find(
      ({ variable }) => variable !== undefined && isSame(variable, name),
    );
    if (setting) given.set(setting.name, value);
  }
  for (const [name, value] of flagsIn(expanded(container), settings)) {
    given.set(settings.find((setting) => isNamed(setting, name))?.name ?? name, value);
  }
  return { flag: (name) => given.get(name) };
}

/** The settings that have a value, as they are printed. */
export function givenSettings(settings: readonly OldSetting[], flags: OldFlags): readonly string[] {
  return settings.flatMap(({ name }) => {
    const value = flags.flag(name);
    return value === undefined ? [] : [`${name}=${value}`];
  });
}

/** The settings that allow more namespaces to have copies. */
export function wideningSettings(
  settings: readonly OldSetting[],
  flags: OldFlags,
): readonly string[] {
  return settings.flatMap(({ name, widening }) => {
    const value = flags.flag(name);
    return value !== undefined && widening?.startsWith(value.toLowerCase()) === true ? [name] : [];
  });
}

/** Settings whose value cannot be known from the manifest. */
export function hiddenSettings(
  settings: readonly OldSetting[],
  { hidden, hiddenNames }: OldContainer,
): readonly string[] {
  return settings.flatMap(({ variable }) => {
    if (variable === undefined) return [];
    return hiddenNames || hidden.some((name) => isSame(variable, name)) ? [variable] : [];
  });
}

// .NET reads "__" in names as ":" and ignores case.
function isSame(variable: string, name: string): boolean {
  return normalised(variable) === normalised(name);
}

function isNamed({ name, variable = "" }: OldSetting, flag: string): boolean {
  return name === flag || normalised(variable) === `ES_${normalised(flag)}`;
}

function normalised(name: string): string {
  return name.replaceAll(":", "__").toUpperCase();
}

// Kubernetes replaces $(NAME) in command and args, and makes "$" of "$$".
function expanded({ words, environment }: OldContainer): readonly string[] {
  return words.map((word) =>
    word.replaceAll(/\$\$|\$\(([^)]+)\)/g, (all: string, name: string | undefined) => {
      if (name === undefined) return "$";
      return environment[name] ?? all;
    }),
  );
}

// Parses like Go's flag package and pflag: "-flag=value", "--flag value". A boolean flag takes no separate
// value, and Go's package stops at the first argument that belongs to no flag.
function* flagsIn(
  words: readonly string[],
  settings: readonly OldSetting[],
): Generator<readonly [string, string]> {
  let begun = false;
  for (let index = 0; index < words.length; index++) {
    const [, name, value] = /^--?([A-Za-z][\w:-]*)(?:=(.*))?$/s.exec(words[index] ?? "") ?? [];
    if (name === undefined) {
      // Before the first flag are the program and its subcommand.
      if (begun) return;
      continue;
    }
    begun = true;
    if (value !== undefined) {
      yield [name, value];
      continue;
    }
    const next = words[index + 1];
    const setting = settings.find((one) => isNamed(one, name));
    const isText = setting ? setting.kind === "text" : next !== undefined && !next.startsWith("-");
    if (isText && next !== undefined) {
      index++;
      yield [name, next];
    } else yield [name, "true"];
  }
}
