# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# Pages in Chromium. While they are open, names of other hosts are not resolved.
#
#   docs         the documentation page of each contract: every operation, axe, keyboard, code, no other host
#   admin        the admin page of the shop: every operation by keyboard, conflicts, live changes, imports, uploads, axe;
#                ROWS places are imported and BYTES are uploaded
#   live         the shop's page reports each acknowledged change once, while the shop is killed and restarted
#   playground   the editor of the GraphQL page against npm graphql, and the page used with the keyboard alone; PAGE is
#                the URL of a GraphQL endpoint that is already running
#   record       writes .github/images/live.svg, the recording of README
step 'Chromium' install_chromium
case $subject in
docs) step 'start the shop' start_shop ;;
admin)
	export ASSORTMENT=$tmp/bin/assortment
	step 'the assortment' go build -C "$clients" -buildvcs=false -o "$ASSORTMENT" ./browser/assortment
	export TMPDIR=$tmp url=$SHOP
	;;
live) export TMPDIR=$tmp url=$SHOP ;;
record)
	step 'record the shop' timeout 600 node record.mjs "$SHOP" "$root/.github/images/live.svg" ${option:+"$option"}
	exit
	;;
playground)
	step 'the editor and the reference implementation' timeout 600 node language.mjs
	grep -E '^[0-9]' "$log"
	url=${PAGE:-}
	[ -n "$url" ] || { step 'start the shop' start_shop; url=$url/graphql; }
	;;
esac
timeout -k 5 1000 node "$subject.mjs" "$url" ${option:+"$option"} >"$tmp/walk" 2>&1
status=$?
cat "$tmp/walk"
exit $status
