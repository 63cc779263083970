// Every seed that ever failed, and by which draw it says what it said then (draw.ts): CI plays each of them
// before new ones. A newcomer is one line here, when its cause is mended; its shrunk
// script goes to found.test.ts. Seeds of before draw 1 say something else today: of those only the
// shrunk scripts are left.

/** What was found, by draw and seed. */
const FOUND: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  1: {
    5_000_172: "the model knew what a source wants that nobody reads",
    10_000_940: "what carries a word that nobody knows was adopted",
    10_001_789: "the same",
    10_001_934: "the same",
    10_002_385: "the same",
    10_000_920: "the model knew what an entry wants that reaches nothing",
    273_040_045: "the model took what a refused entry freezes from who pulls",
    34_000_674: "the stage began who was being stopped",
    34_001_151: "no pass ended after a faulty list was deleted",
  },
  2: {
    61_000_048: "what etcd brought back stayed hidden by our own delete",
  },
  3: {
    97_750_704: "the judge did not know that a restored etcd forgets who leads",
    241_821_001: "the model ended a copy of what is also a faulty pulling Secret",
  },
  4: {
    168_363_899: "the judge took what a pulling Secret says of its entries for its copies",
    800_102_323: "the stage judged what was on its way at a roll-out by the new flags",
    900_100_650: "the judge heard what a source says that no watch shows",
  },
  7: {
    17_991_778: "a receipt said that our delete was carried out where another client's was",
    224_603_139: "the judge did not know that a listed source of another UID counts as the source",
    177_315: "the model gave a place that is reserved within a replace to another source",
    245_326_337:
      "the judge counted the grace of a forged copy anew that replaced another unwanted one",
    245_426_315:
      "a reserved place waited for the resync while the fan-out limit held a stronger source",
    51_922_127:
      "the stage did not wait again after a process had died of its own write while all rested",
    85_367_055:
      "the judge expected a controller to know at once that a restored source keeps its copies",
    90_000_337:
      "a running controller did not know the reserved places that a restored etcd brought back",
  },
};

export type FailedSeed = { readonly seed: number; readonly draw: number };
export const FAILED_SEEDS: readonly FailedSeed[] = Object.entries(FOUND).flatMap(([draw, seeds]) =>
  Object.keys(seeds).map((seed) => ({ seed: Number(seed), draw: Number(draw) })),
);
