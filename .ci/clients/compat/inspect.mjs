// Compares pairs of GraphQL schemas with graphql-inspector. The argument is a folder with files NAME.before.graphql and
// NAME.after.graphql. It prints a JSON object: for each name the greatest level, and the types of the changes with it.
import { diff } from "@graphql-inspector/core";
import { buildSchema } from "graphql";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const levels = ["NON_BREAKING", "DANGEROUS", "BREAKING"];
const schema = (name, part) =>
  buildSchema(readFileSync(join(folder, `${name}.${part}.graphql`), "utf8"), { assumeValid: true, assumeValidSDL: true });
const results = {};
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith(".before.graphql")) continue;
  const name = file.slice(0, -".before.graphql".length);
  let level = 0;
  const types = new Set();
  for (const change of await diff(schema(name, "before"), schema(name, "after"))) {
    const found = levels.indexOf(change.criticality.level);
    if (found < 0) throw new Error(`${name}: unknown level ${change.criticality.level}`);
    level = Math.max(level, found);
    types.add(`${change.criticality.level} ${change.type}`);
  }
  results[name] = { level: types.size > 0 ? levels[level] : "", found: [...types].sort() };
}
console.log(JSON.stringify(results));
