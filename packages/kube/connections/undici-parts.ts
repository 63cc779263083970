// The parts of undici that connect to one API server. Its index loads three times as many files (fetch, mocks,
// caches), which costs a command 30 ms of its start. They are not public entries of the package. So its version
// is pinned, and the tests of the transport fail when one has moved.
import type * as undici from "undici";
import methods from "undici/lib/api/index.js";
import connectorBuilder from "undici/lib/core/connect.js";
import PlainAgent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import AgentOfProxy from "undici/lib/dispatcher/proxy-agent.js";

// Like the index: without this, request() and connect() are not methods.
Object.assign(Dispatcher.prototype, methods);

// Typed by the public entry, so that our declarations refer to no other.
export const Agent: typeof undici.Agent = PlainAgent;
export const ProxyAgent: typeof undici.ProxyAgent = AgentOfProxy;
export const buildConnector: typeof undici.buildConnector = connectorBuilder;
