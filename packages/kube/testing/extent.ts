// How much a test plays of what it could play for hours. `npm test` of everything is brief; a file that is
// named by itself takes more, and SECRETCAST_TEST_RUNS as many runs of each property as it says.
export const isBrief = process.env["SECRETCAST_TEST_BRIEF"] !== undefined;

/** Of a property. */
export const propertyRuns = Number(process.env["SECRETCAST_TEST_RUNS"] ?? (isBrief ? 100 : 300));
