package resourcetest

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// getCases test Get.
func getCases() []testCase {
	return []testCase{
		{
			name: "get-unknown",
			contract: "Get of an id that was never used returns ErrNotFound, or an error that wraps " +
				"it, whatever the id: clients also send long ones, slashes and U+0000. A zero item " +
				"without an error would be served as an existing item, and any other error as a failure " +
				"of the server.",
			run: getUnknown,
		},
	}
}

// oddIDs returns ids that a store may confuse with syntax of its own: of SQL, patterns, paths, file
// names of up to 255 bytes and C strings.
func oddIDs() []string {
	return []string{"' OR 1=1 --", "%", "*", ".", "..", "/", "a/b", "../etc/passwd", "ünknown", "a b", " ",
		"\n", "\x00", "a\x00b", strings.Repeat("a", 300), strings.Repeat("b", 4096)}
}

// resembling returns ids that a store must not take for an existing one.
func resembling(id string) []string {
	return []string{id + "\x00", id + "/", "./" + id, id + " ", " " + id, id + "\n", id + "%"}
}

// unknownIDs returns ids that were not used. Odd ids are omitted unless the id is plain: if the field has
// constraints, the library rejects them.
func (k *kit) unknownIDs() (ids []string, plain bool) {
	ids = []string{k.newID(), k.newID(), k.newID()}
	plain = k.id.Type.Kind == schema.String && k.id.Pattern == nil && k.id.Format == "" &&
		len(k.id.Enum) == 0 && k.ID == nil
	if plain {
		ids = append(ids, oddIDs()...)
		if k.id.Key != nil {
			ids = append(ids, k.odd()...)
		}
	}
	return ids, plain
}

// getUnknown gets unknown ids, in an empty collection and beside other items.
func getUnknown(k *kit) {
	unknown, plain := k.unknownIDs()
	for round := range 2 {
		for _, id := range unknown {
			_, err := k.ops.Get(k.ctx, id)
			k.wantError(err, "Get of unknown id "+short(id), resource.ErrNotFound)
		}
		if round == 0 {
			k.ids.Add(100) // so that Insert does not use one of the unknown ids
			for i, it := range k.fill(3, distinct) {
				if plain && i == 0 {
					unknown = append(unknown, resembling(it.ID)...)
				}
			}
		}
	}
}

// short quotes an id for a message.
func short(id string) string {
	if len(id) <= 40 {
		return fmt.Sprintf("%q", id)
	}
	return fmt.Sprintf("%q... (%d bytes)", id[:10], len(id))
}
