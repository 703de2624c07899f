// What an application in TypeScript does with the clients that have been generated for contracts 2.0.0 and 1.0.0. A line
// after @ts-expect-error must not compile, so that tsc objects to types that permit everything, too.
import { ask, codeOf, must, same } from "./ask.js";
import * as v1 from "./v1.js";
import * as v2 from "./v2.js";
import type { Order, OrderStatus } from "./v2.schema.js";

declare const process: { argv: string[] };
const shop = process.argv[2] ?? "";

async function current(): Promise<void> {
  const url = `${shop}/v2/graphql`;
  const input: v2.CreateOrderInput = { lines: [{ itemId: 7, qty: 2 }, { itemId: 8, qty: 1 }], note: "Ring twice.", customerId: 2 };
  const created = await must(ask(url, v2.CreateOrderDocument, { input }), "createOrder");
  const status: OrderStatus = created.status;
  same("a new order", [status, created.note, created.lines.length], ["placed", "Ring twice.", 2]);
  const age = Date.now() - new Date(created.createdAt).getTime();
  same("its age", age > -60_000 && age < 60_000, true);

  const { id } = created;
  const read = await must(ask(url, v2.ReadOrderDocument, { id }), "order");
  same("its customer", read.customer, { email: "bob@example.com", role: "customer" });
  const alone = await must(ask(url, v2.ReadOrderDocument, { id, withCustomer: false }), "order");
  same("without its customer", alone, created);

  const ifMatch = created.etag;
  const cleared = await must(ask(url, v2.PatchOrderDocument, { id, input: { note: null, status: "paid" }, ifMatch }), "patchOrder");
  same("patched", { ...cleared, etag: "" }, { ...created, note: null, status: "paid", etag: "" });
  same("a stale tag", await codeOf(ask(url, v2.PatchOrderDocument, { id, input: {}, ifMatch })), "PRECONDITION_FAILED");
  await must(ask(url, v2.DeleteOrderDocument, { id, ifMatch: cleared.etag }), "deleteOrder");
  same("what was deleted", await ask(url, v2.ReadOrderDocument, { id }), { data: { order: null } });

  const login = await must(ask(url, v2.LoginDocument, { input: { email: "bob@example.com", password: "bob" } }), "authLogin");
  same("a token", login.token.length > 10, true);
  same("no token", await codeOf(ask(url, v2.LoginDocument, { input: { email: "bob@example.com", password: "" } })), "UNAUTHENTICATED");
}

async function pages(): Promise<void> {
  const url = `${shop}/v2/graphql`;
  const names: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: NonNullable<v2.ListPlacesQuery["places"]> = await must(
      ask(url, v2.ListPlacesDocument, { country: "DE", first: 2, after }),
      "places",
    );
    names.push(...page.nodes.map((place) => place.name));
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage) {
      same("places of Germany", [names.length, names[0]], [page.totalCount, "Berlin"]);
      return;
    }
  }
}

async function old(): Promise<void> {
  const url = `${shop}/v1.0/graphql`;
  const created = await must(ask(url, v1.CreateOrderDocument, { input: { itemId: 7, qty: 2 } }), "createOrder");
  const { id, etag: ifMatch } = created;
  const patched = await must(ask(url, v1.PatchOrderDocument, { id, input: { qty: 3 }, ifMatch }), "patchOrder");
  same("patched", patched.qty, 3);
  same("a stale tag", await codeOf(ask(url, v1.DeleteOrderDocument, { id, ifMatch })), "PRECONDITION_FAILED");
  const list = await must(ask(url, v1.ListOrdersDocument, { first: 2 }), "orders");
  same("a page", [list.nodes.length, list.pageInfo.hasNextPage], [2, true]);
  await must(ask(url, v1.DeleteOrderDocument, { id, ifMatch: patched.etag }), "deleteOrder");
  same("a command", await must(ask(url, v1.CancelStaleDocument, { olderThan: "9999h" }), "ordersCancelStale"), { cancelled: 0 });
}

await current();
await pages();
await old();
console.log("the clients in TypeScript did all that");

// What the types refuse.
export function refused(order: Order): void {
  // @ts-expect-error an order of 2.0.0 has lines
  void ask(shop, v2.CreateOrderDocument, { input: { itemId: 7, qty: 2 } });
  // @ts-expect-error a status is one of four
  void ask(shop, v2.PatchOrderDocument, { id: "1", input: { status: "lost" } });
  // @ts-expect-error 1.0.0 knows no notes
  void ask(shop, v1.PatchOrderDocument, { id: "1", input: { note: "Ring twice." } });
  // @ts-expect-error what is required is required
  void ask(shop, v2.ReadOrderDocument, {});
  // @ts-expect-error an order may have no customer
  void order.customer.email;
  // @ts-expect-error an integer is a number
  const text: string = order.customerId;
  void text;
}
