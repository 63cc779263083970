// One line of `check`: what was checked, the result, and what to do about it.

export type FindingState = "ok" | "warning" | "missing" | "unknown";

export type CheckFinding = {
  readonly area: "server" | "right" | "admission" | "others" | "size";
  readonly check: string;
  /** `missing`: the controller cannot work. `unknown`: the check was not possible. */
  readonly state: FindingState;
  /**
   * For a right of the controller: whether the user has it too. Absent when it is not checked separately.
   */
  readonly yours?: "yes" | "no" | "unknown";
  readonly says: string;
  /** Undefined when no action is needed. */
  readonly advice: string | undefined;
};

export function finding(
  about: Pick<CheckFinding, "area" | "check" | "yours">,
  state: FindingState,
  says: string,
  advice?: string,
): CheckFinding {
  return { ...about, state, says, advice };
}

/** A right or a version that could not be checked counts as missing. */
export function isSound(findings: readonly CheckFinding[]): boolean {
  return findings.every(
    ({ area, state }) =>
      state !== "missing" && (state !== "unknown" || (area !== "right" && area !== "server")),
  );
}
