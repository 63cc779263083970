// The platforms for which there is an executable: their names as Node says them, as krew does, and the npm
// package that brings Node for them. For a Mac it is the Node that runs the script there, since only a Mac signs.

export type Platform = {
  readonly name: string;
  /** Of npm, with the version that tools/dev-node names. */
  readonly node: string | undefined;
  readonly krew: { readonly os: "linux" | "darwin" | "windows"; readonly arch: "amd64" | "arm64" };
  /** The name of the executable. */
  readonly program: "secretcast" | "secretcast.exe";
  /** Whether every release has it, or only one that is published. */
  readonly madeHere: boolean;
};

export const PLATFORMS: readonly Platform[] = [
  platform("linux", "x64", true),
  platform("linux", "arm64", true),
  platform("darwin", "arm64", false),
  platform("darwin", "x64", false),
  platform("win", "x64", false),
];

function platform(
  os: "linux" | "darwin" | "win",
  processor: "x64" | "arm64",
  madeHere: boolean,
): Platform {
  const name = `${os}-${processor}`;
  return {
    name,
    node: os === "darwin" ? undefined : `node-${name}`,
    krew: {
      os: os === "win" ? "windows" : os,
      arch: processor === "x64" ? "amd64" : processor,
    },
    program: os === "win" ? "secretcast.exe" : "secretcast",
    madeHere,
  };
}

export function platformOf(name: string): Platform {
  const found = PLATFORMS.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = PLATFORMS.map((each) => each.name).join(", ");
  throw new Error(`there is no executable for "${name}": want one of ${known}`);
}

/** The one that runs this, as it is called in the table. */
export const OWN_PLATFORM = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
