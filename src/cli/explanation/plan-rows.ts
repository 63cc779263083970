// The rows of a plan for one kind, by source and by place.
import type { Plan, Row } from "../../controller/model/verdicts.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { type Ref, refText } from "../../text/names.ts";

type Pair = Pick<Row, "place" | "source" | "pulling">;

export class PlanRows {
  readonly #rows: readonly Row[];
  readonly #rowOf: ReadonlyMap<string, Row>;
  readonly #rowsAt: ReadonlyMap<string, readonly Row[]>;

  constructor({ rows }: Plan, kind: ObjectKind) {
    this.#rows = rows.filter((row) => row.kind === kind);
    this.#rowOf = new Map(this.#rows.map((row) => [pairKey(row), row]));
    this.#rowsAt = Map.groupBy(this.#rows, ({ place }) => refText(place));
  }

  get(pair: Pair): Row | undefined {
    return this.#rowOf.get(pairKey(pair));
  }

  /** The rows of its copies. Pulling objects have rows of their own. */
  ofSource(source: Ref): readonly Row[] {
    return this.#rows.filter((row) => !row.pulling && refText(row.source) === refText(source));
  }

  at(place: Ref): readonly Row[] {
    return this.#rowsAt.get(refText(place)) ?? [];
  }

  /** The row that decides about the copy. A current copy has no row. */
  holder(copy: Ref): Row | undefined {
    return this.at(copy).find(({ verdict }) => verdict !== "conflict");
  }
}

function pairKey({ place, source, pulling }: Pair): string {
  return `${refText(place)} ${refText(source)} ${pulling}`;
}
