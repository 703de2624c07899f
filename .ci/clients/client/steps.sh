# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# The TypeScript client of resource/client/ts, as a user installs it: the package that npm pack makes, compiled with strict
# types. Then writes and a followed feed while the shop is killed and every eighth response is lost, and their controls
# without keys and cursors. WRITES is the number of writes.

# pack builds the package in a copy, so that calls at the same time do not share a file.
pack() {
	cp -r "$root/resource/client/ts" "$ready/package" && rm -rf "$ready/package/dist" &&
		bin tsc -p "$ready/package" &&
		(cd "$ready/package" && npm pack --ignore-scripts --pack-destination "$ready" >"$ready/packed") &&
		mkdir -p "$ready/node_modules/@stoa-go/client" &&
		tar -xzf "$ready/$(tail -1 "$ready/packed")" -C "$ready/node_modules/@stoa-go/client" --strip-components 1 &&
		cp types.ts ./*.mjs "$ready" && sed -i "s|'../shop/|'$clients/shop/|" "$ready"/*.mjs
}

# types compiles for Node.js, and with the resolution of programs that are older than "exports" in package.json.
types() {
	(cd "$ready" && set -- --noEmit --strict --exactOptionalPropertyTypes --target ES2022 &&
		bin tsc "$@" --module NodeNext types.ts && bin tsc "$@" --module ES2022 --moduleResolution node10 types.ts)
}

parts() { (cd "$ready" && node --test parts.mjs situations.mjs); }

kills() { mkdir -p "$tmp/data" && (cd "$ready" && timeout 1500 node kills.mjs "$SHOP" "$tmp/data" "${WRITES:-600}"); }

prepare() {
	step 'build and pack the package' pack
	step 'a program with strict types' types
}

check() {
	step 'merge patches, streams, errors and servers that fail' parts
	step 'writes and a feed while the shop is killed, and controls' kills
	grep -E '^(ok|[0-9]+ writes|with keys|control)' "$log"
}
