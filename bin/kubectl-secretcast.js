#!/usr/bin/env node
// `kubectl secretcast …`: kubectl starts whatever on PATH is called so, and hands over the words.
import "./secretcast.js";
