# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# The TypeScript client of resource/client/ts, as a user installs it: the package that npm pack makes, compiled with strict
# types. Then writes and a followed feed while the shop is killed and every eighth response is lost, and their controls
# without keys and cursors. WRITES is the number of writes.

client=$root/resource/client/ts

pack() {
	rm -rf "$client/dist" && (cd "$client" && bin tsc -p .) &&
		(cd "$client" && npm pack --ignore-scripts --pack-destination "$tmp" >"$tmp/packed") &&
		mkdir -p "$tmp/node_modules/@stoa-go/client" &&
		tar -xzf "$tmp/$(tail -1 "$tmp/packed")" -C "$tmp/node_modules/@stoa-go/client" --strip-components 1 &&
		cp types.ts ./*.mjs "$tmp" && sed -i "s|'../shop/|'$clients/shop/|" "$tmp"/*.mjs
}

types() { (cd "$tmp" && bin tsc --noEmit --strict --exactOptionalPropertyTypes --module NodeNext --target ES2022 types.ts); }

parts() { (cd "$tmp" && node --test parts.mjs); }

kills() { mkdir -p "$tmp/data" && (cd "$tmp" && timeout 1500 node kills.mjs "$SHOP" "$tmp/data" "${WRITES:-600}"); }

step 'build and pack the package' pack
step 'a program with strict types' types
step 'merge patches, streams and errors' parts
step 'writes and a feed while the shop is killed, and controls' kills
grep -E '^(ok|[0-9]+ writes|with keys|control)' "$log"
