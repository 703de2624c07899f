// What a client in TypeScript writes down with the types that openapi-typescript makes of the documents. It is compiled and
// never run. A line after @ts-expect-error must not compile, so tsc objects to types that permit everything, too.

import type * as v100 from "./1.0.0";
import type * as v110 from "./1.1.0";
import type * as v200 from "./2.0.0";

type Create<C extends { schemas: { OrderCreate: unknown } }> = C["schemas"]["OrderCreate"];

export const first: Create<v100.components> = { itemId: 7, qty: 2, status: "placed" };
export const second: Create<v110.components> = { itemId: 7, qty: 2, note: null };
export const third: Create<v200.components> = { lines: [{ itemId: 7, qty: 2 }], note: "Ring twice." };

// @ts-expect-error 1.0.0 knows no notes
export const noNotes: Create<v100.components> = { itemId: 7, qty: 2, note: "Ring twice." };
// @ts-expect-error an order of 2.0.0 has lines
export const noLines: Create<v200.components> = { itemId: 7, qty: 2 };
// @ts-expect-error a status is one of four
export const noStatus: Create<v200.components> = { lines: [{ itemId: 7, qty: 2 }], status: "lost" };
// @ts-expect-error what is required is required
export const noQty: Create<v100.components> = { itemId: 7 };

// What operations take and give.
export const list: v200.operations["listOrders"]["parameters"] = {
  query: { status: "paid", "id.gte": 5, sort: ["-createdAt", "id"], limit: 20 },
  header: { Prefer: "count=exact", "API-Version": "2" },
};
// @ts-expect-error lists are not sorted by what orders do not have
export const noSort: v200.operations["listOrders"]["parameters"] = { query: { sort: ["colour"] } };

export function ids(page: v200.operations["listOrders"]["responses"][200]["content"]["application/json"]): number[] {
  return "items" in page ? page.items.flatMap((order) => order.id ?? []) : []; // or groups
}

export function reason(problem: v200.operations["getOrder"]["responses"][404]["content"]["application/problem+json"]): string {
  return `${problem.status} ${problem.title}: ${problem.detail ?? ""}`;
}

export const path: keyof v200.paths = "/orders/{id}";
