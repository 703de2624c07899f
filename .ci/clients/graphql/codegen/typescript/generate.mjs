// Generates a typed client from the SDL in a file and the documents in another:
//
//   node generate.mjs SCHEMA.graphql DOCUMENTS.graphql OUT
//
// OUT.schema.ts has the types of the schema, and OUT.ts the documents, each with the types of its variables and of its
// answer. Scalars are what JSON.parse makes of them; one that is not named here is an error.
import { readFileSync, writeFileSync } from "node:fs";
import { buildSchema, parse } from "graphql";
import { codegen } from "@graphql-codegen/core";
import * as typescript from "@graphql-codegen/typescript";
import * as operations from "@graphql-codegen/typescript-operations";
import * as documents from "@graphql-codegen/typed-document-node";

const [schemaFile, documentsFile, out] = process.argv.slice(2);
const sdl = readFileSync(schemaFile, "utf8");

async function generate(filename, pluginMap) {
  const text = await codegen({
    filename,
    schema: parse(sdl),
    schemaAst: buildSchema(sdl),
    documents: [{ location: documentsFile, document: parse(readFileSync(documentsFile, "utf8")) }],
    config: {
      strictScalars: true,
      scalars: { DateTime: "string", Decimal: "string", Int64: "number", JSON: "unknown" },
      enumsAsTypes: true,
      skipTypename: true,
      useTypeImports: true,
    },
    plugins: Object.keys(pluginMap).map((name) => ({ [name]: {} })),
    pluginMap,
  });
  writeFileSync(filename, text);
}

await generate(`${out}.schema.ts`, { typescript });
await generate(`${out}.ts`, { operations, documents });
