// Loaded ahead of a program by a test: when the program ends, the URL of every module that it loaded is
// written to the file named by LOADED_MODULES, a line each.
import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

const urls: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    urls.push(url);
    return nextLoad(url, context);
  },
});
process.on("exit", () => writeFileSync(process.env["LOADED_MODULES"] ?? "", urls.join("\n")));
