// Loaded ahead of the program by a test: something that nobody expects happens while it runs.
const how = process.env["CRASH"];
const secret = "hunter2";

setTimeout(() => {
  if (how === "exception") throw new TypeError(`cannot read ${secret}`);
  if (how === "rejection") void Promise.reject(new TypeError(`cannot read ${secret}`));
}, 1000);
