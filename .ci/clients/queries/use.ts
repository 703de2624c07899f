// A client of the complete document by openapi-typescript and openapi-fetch, compiled with strict and run against the shop:
//
//   node use.js URL    the base URL of contract 2.0.0
//
// A line after @ts-expect-error must not compile.
import createClient from "openapi-fetch";
import type { paths } from "./2.0.0.js";

declare const process: { argv: string[]; exitCode: number };

const client = createClient<paths>({
  baseUrl: process.argv[2] ?? "",
  querySerializer: { array: { style: "form", explode: false }, object: { style: "form", explode: true } },
});

function check(what: string, holds: boolean, got: unknown): void {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(got)}`);
  console.log(`ok  ${what}`);
}

// Responses can have several media types; those in JSON are objects.
function json<T>(what: string, answer: { data?: T; error?: { title?: string } }): Exclude<T, string | undefined> {
  if (typeof answer.data !== "object") throw new Error(`${what}: ${answer.error?.title}`);
  return answer.data as Exclude<T, string | undefined>;
}

async function groups(): Promise<void> {
  const query = { group: ["country" as const], count: "", sum: ["population" as const], limit: 3 };
  const page = json("groups", await client.GET("/places", { params: { query } }));
  check("openapi-fetch: groups of places", "groups" in page && page.groups.length === 3, page);
}

async function search(): Promise<void> {
  const page = json("search", await client.GET("/places", { params: { query: { q: '"san francisco"', limit: 5 } } }));
  if (!("items" in page)) throw new Error("no list");
  const found = page.items.length > 0 && page.items.every((p) => /san francisco/i.test(p.name ?? ""));
  check("openapi-fetch: a search of places", found, page);
}

async function related(): Promise<void> {
  const users = json("users", await client.GET("/users", { params: { query: { expand: ["orders(limit=2;sort=-id)"] } } }));
  if (!("items" in users)) throw new Error("no list");
  check("openapi-fetch: pages of orders of users", users.items.some((u) => u.orders?.length === 2), users);

  const query = { "customer.role": "customer" as const, limit: 1 };
  const orders = json("orders", await client.GET("/orders", { params: { query } }));
  check("openapi-fetch: orders of customers", "items" in orders && orders.items.length === 1, orders);
}

async function main(): Promise<void> {
  await groups();
  await search();
  await related();
  // @ts-expect-error places cannot be grouped by a member that is not declared
  await client.GET("/places", { params: { query: { group: ["name"] } } });
}

main().catch((err) => {
  console.error(err);
  process.exitCode = 1;
});
