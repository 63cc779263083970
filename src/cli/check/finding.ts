// One line of `check`: what was checked, the result, and what to do about it.

export type FindingState = "ok" | "warning" | "missing" | "unknown";

export type CheckFinding = {
  readonly area: "server" | "controller" | "right" | "admission" | "copies" | "others" | "size";
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

/** Whether the controller needs it. In the other areas an unknown answer only informs. */
const NEEDED: Readonly<Record<CheckFinding["area"], boolean>> = {
  server: true,
  controller: true,
  right: true,
  admission: false,
  copies: false,
  others: false,
  size: false,
};

/** 0: everything needed is there. 1: something needed is unknown. 2: something is missing. 1 wins over 2. */
export function checkCode(findings: readonly CheckFinding[]): 0 | 1 | 2 {
  if (findings.some(({ area, state }) => state === "unknown" && NEEDED[area])) return 1;
  return findings.some(({ state }) => state === "missing") ? 2 : 0;
}
