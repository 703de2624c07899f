// The audits of npm graphql-http, which are the requirements of GraphQL over HTTP for servers, against the server at a URL.
//
//   node audits.mjs URL
//
// prints a line for each, "ok" or what it is instead, and ends with 1 unless all are ok: SHOULD and MAY count as MUST.
import { auditServer } from 'graphql-http';

const results = await auditServer({ url: process.argv[2] });
for (const { status, id, name, reason } of results) {
	console.log(`${status.padEnd(6)} ${id}  ${name}${status === 'ok' ? '' : `: ${reason}`}`);
}
const ok = results.filter((r) => r.status === 'ok').length;
console.log(`${ok} of ${results.length} audits are ok`);
process.exitCode = ok === results.length && ok > 0 ? 0 : 1;
