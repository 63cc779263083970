import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { OpenConnections, type OpenConnection } from "../../src/page/connections.ts";

class FakeConnection extends EventEmitter implements OpenConnection {
  readonly remoteAddress: string;
  open = true;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.open = false;
    this.emit("close");
  }
}

function admitted(connections: OpenConnections, ...addresses: readonly string[]): FakeConnection[] {
  return addresses.map((address) => {
    const connection = new FakeConnection(address);
    connections.admit(connection);
    return connection;
  });
}

const openOf = (connections: readonly FakeConnection[]) => connections.map(({ open }) => open);

test("a new connection closes the oldest one of the address that has the most", () => {
  const connections = new OpenConnections(4);
  const first = admitted(connections, "node", "pod", "pod", "pod");
  assert.deepEqual(openOf(first), [true, true, true, true]);
  const next = admitted(connections, "node", "pod");
  assert.deepEqual(openOf(first), [true, false, false, true]);
  assert.deepEqual(openOf(next), [true, true]);
});

test("one address cannot close the connections of another one, however many it opens", () => {
  const connections = new OpenConnections(4);
  const [probe] = admitted(connections, "node");
  const flood = admitted(connections, ...Array.from({ length: 1000 }, () => "pod"));
  assert.ok(probe?.open);
  assert.equal(flood.filter(({ open }) => open).length, 3);
  assert.equal(flood.at(-1)?.open, true);
});

test("with one connection for each address, the oldest one closes", () => {
  const connections = new OpenConnections(2);
  assert.deepEqual(openOf(admitted(connections, "a", "b", "c")), [false, true, true]);
});

test("a connection that its client closes counts no longer", () => {
  const connections = new OpenConnections(2);
  const [first, second] = admitted(connections, "a", "a");
  first?.destroy();
  admitted(connections, "a");
  assert.ok(second?.open);
});

test("closing the server closes every connection", () => {
  const connections = new OpenConnections(8);
  const all = admitted(connections, "a", "b", "a");
  connections.closeAll();
  assert.deepEqual(openOf(all), [false, false, false]);
});
