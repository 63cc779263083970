#!/usr/bin/env node
// What kubectl asks while somebody types `kubectl secretcast …`: the words so far, the last unfinished.
process.argv.splice(2, 0, "__complete");
await import("./secretcast.js");
