// The parts of undici that talk to one API server. Its index loads three times as many files (fetch,
// mocks, caches), which cost a command 30 ms of its start. They are no public entry of the package: its
// version is pinned, and the tests of the transport fail when one has moved.
import methods from "undici/lib/api/index.js";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";

// As the index does: request() and connect() are no methods before it.
Object.assign(Dispatcher.prototype, methods);

export { Agent, buildConnector, ProxyAgent };
