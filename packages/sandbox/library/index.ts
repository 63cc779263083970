// The public API of `secretcast/sandbox`: the API server in memory for tests of other projects. This file only
// re-exports, because the list itself is the promise. A test pins each name with its declaration. The guide is
// docs/sandbox.md.

export { startTestSandbox as startSandbox } from "./start-sandbox.ts";
export type {
  AnsweredRequest,
  Effect,
  Fault,
  InjectedFault,
  RequestMatch,
  RunningSandbox,
  SandboxStart,
  Verb,
} from "./contract.ts";
