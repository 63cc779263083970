import * as fc from "fast-check";
const root = process.argv[2];
const { drawn } = await import(`${root}/test/campaign/scripts/draw.ts`);
const { play } = await import(`${root}/test/campaign/stages/stage.ts`);
for (const [seed, draw] of [[101,1],[102,2],[103,3],[104,4],[105,5],[106,6],[107,7],[108,7],[109,7],[110,7]] as const) {
  const [script] = fc.sample(drawn(draw, 1, 200), { seed, numRuns: 1 }) as any[];
  const { wrong, writes, requests } = await play(script);
  console.log(seed, draw, script.steps.length, writes, requests, JSON.stringify(wrong));
}
