# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# Pages: their modules under tsc, and the pages in Chromium. While they are open, names of other hosts are not resolved.
#
#   types        the ES modules of the pages, and of what they share, under tsc --strict
#   docs         the documentation page of each contract: every operation, axe, keyboard, code, no other host
#   admin        the admin page of the shop: every operation by keyboard, conflicts, live changes, imports, uploads, axe;
#                ROWS places are imported and BYTES are uploaded
#   live         the shop's page reports each acknowledged change once, while the shop is killed and restarted
#   playground   the editor of the GraphQL page against npm graphql, and the page used with the keyboard alone; PAGE is
#                the URL of a GraphQL endpoint that is already running
#   record       writes .github/images/live.svg, the recording of README
prepare() {
	case $subject in
	admin)
		export ASSORTMENT=$ready/assortment
		step 'the assortment' go build -C "$clients" -buildvcs=false -o "$ASSORTMENT" ./browser/assortment
		;;
	playground)
		step 'the editor and the reference implementation' timeout 600 node language.mjs
		grep -E '^[0-9]' "$log"
		;;
	esac
}

# types checks the modules of the pages in a checkout.
types() { bin tsc -p "$1/.ci/clients/browser/tsconfig.json"; }

# misspelled checks a copy in which the page of GraphQL reads a member that no field of a schema has, the admin page one that
# no resource in a description has, and the documentation page one that no operation of a document has.
misspelled() {
	local graphql=query/graphql/internal/playground admin=resource/admin/page docs=resource/openapi/docspage
	mkdir "$tmp/copy" || return 1
	at "$root" cp -r --parents .ci/clients/browser/tsconfig.json resource/httpbody/page "$graphql" "$admin" "$docs" "$tmp/copy" || return 1
	sed -i 's/(f\.isDeprecated/(f.isDepreciated/' "$tmp/copy/$graphql/docs.js"
	sed -i 's/to\.maxPageSize/to.maxPagesize/' "$tmp/copy/$admin/finder.js"
	sed -i 's/op\.operationId/op.operationID/' "$tmp/copy/$docs/model.js"
	refused "$graphql/docs.js([0-9,]*): error TS2551: Property 'isDepreciated' does not exist on type 'Field'" types "$tmp/copy" || return 1
	refused "$admin/finder.js([0-9,]*): error TS2551: Property 'maxPagesize' does not exist on type 'Resource'" types "$tmp/copy" || return 1
	refused "$docs/model.js([0-9,]*): error TS2551: Property 'operationID' does not exist on type 'OperationObject'" types "$tmp/copy"
}

# page runs the check of the page in a subshell.
page() (
	own "$1"
	export TMPDIR=$tmp
	case $subject in
	docs) start_shop || exit 1 ;;
	playground)
		url=${PAGE:-}
		[ -n "$url" ] || { start_shop || exit 1; url=$url/graphql; }
		;;
	*) url=$SHOP ;;
	esac
	timeout -k 5 1000 node "$subject.mjs" "$url" ${option:+"$option"} 2>&1
)

# check runs the check of the page, and a second time in a browser of its own if it fails. With TIMES it runs once.
check() {
	if [ "$subject" = record ]; then
		step 'record the shop' timeout 600 node record.mjs "$SHOP" "$root/.github/images/live.svg" ${option:+"$option"}
		return
	fi
	if [ "$subject" = types ]; then
		step 'tsc --strict' types "$root"
		step 'control: a misspelled member is found' misspelled
		return
	fi
	page first && return
	[ -z "$TIMES" ] || return 1
	printf '%s failed; second attempt\n' "$subject"
	BROWSER='' page second || { printf 'FAIL: %s\n' "$subject"; return 1; }
	printf '%s passed at the second attempt\n' "$subject"
}
