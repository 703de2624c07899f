// A client of the default document by openapi-typescript, without options, and openapi-fetch. It is compiled with strict
// and run against the shop:
//
//   node use.js URL    the base URL of contract 2.0.0
//
// A line after @ts-expect-error must not compile.
import createClient from "openapi-fetch";
import type { components, paths } from "./2.0.0.js";

declare const process: { argv: string[]; exitCode: number };

type Order = components["schemas"]["Order"];

const client = createClient<paths>({
  baseUrl: process.argv[2] ?? "",
  // Lists are one parameter, and filters are members of an object that is not part of the URL.
  querySerializer: { array: { style: "form", explode: false }, object: { style: "form", explode: true } },
});

function equal(what: string, got: unknown, want: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    throw new Error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
}

async function create(): Promise<{ order: Order; tag: string }> {
  const { data, error, response } = await client.POST("/orders", { body: { lines: [{ itemId: 7, qty: 2 }] } });
  if (!data) throw new Error(error.title);
  const id: number = data.id; // not optional
  equal("Location", response.headers.get("Location"), `${new URL(process.argv[2] ?? "").pathname}/orders/${id}`);
  return { order: data, tag: response.headers.get("ETag") ?? "" };
}

async function list(first: Order, second: Order): Promise<void> {
  const { data, error } = await client.GET("/orders", {
    params: {
      query: { status: "placed", where: { "id.gte": first.id, "id.in": `${first.id},${second.id}` }, sort: ["-id", "status"] },
      header: { Prefer: "count=exact" },
    },
  });
  if (!data) throw new Error(error.title);
  const items: Order[] = data.items;
  equal("the list", items.map((order) => order.id), [second.id, first.id]);
  equal("the total", data.total, 2);

  const filter = JSON.stringify({ not: { id: { lte: first.id } } });
  const filtered = await client.GET("/orders", { params: { query: { filter, limit: 1 } } });
  equal("the list with a JSON filter", filtered.data?.items[0]?.id, second.id);

  const wrong = await client.GET("/orders", { params: { query: { status: "placed", limit: 0 } } });
  equal("a list of nothing", [wrong.error?.status, wrong.error?.errors?.[0]?.parameter], [400, "limit"]);
}

// PATCH and DELETE refuse a change that the client has not seen.
async function change({ order, tag }: { order: Order; tag: string }): Promise<void> {
  const path = { id: order.id };
  const mergePatch = { "Content-Type": "application/merge-patch+json" };
  const patched = await client.PATCH("/orders/{id}", {
    params: { path, header: { "If-Match": tag } },
    headers: mergePatch,
    body: { status: "paid", note: null },
  });
  if (!patched.data) throw new Error(patched.error.title);
  const status: Order["status"] = patched.data.status;
  equal("the patched status", status, "paid");

  const stale = await client.DELETE("/orders/{id}", { params: { path, header: { "If-Match": tag } } });
  equal("a delete with a stale tag", stale.error?.status, 412);
  equal("a delete", (await client.DELETE("/orders/{id}", { params: { path } })).response.status, 204);
  const gone = await client.GET("/orders/{id}", { params: { path } });
  equal("a deleted order", gone.error?.status, 410);
}

export async function rejected(): Promise<void> {
  // @ts-expect-error an order has lines
  await client.POST("/orders", { body: { note: "Ring twice." } });
  // @ts-expect-error the id is a number
  await client.GET("/orders/{id}", { params: { path: { id: "7" } } });
  // @ts-expect-error orders have no colour
  await client.GET("/orders", { params: { query: { where: { "colour.ne": "red" } } } });
  // @ts-expect-error the server sets the id
  const patch: components["schemas"]["OrderPatch"] = { id: 2 };
  await client.PATCH("/orders/{id}", { params: { path: { id: 1 } }, body: patch });
}

try {
  const first = await create();
  const second = await create();
  await list(first.order, second.order);
  await change(first);
} catch (err) {
  console.error(err);
  process.exitCode = 1;
}
