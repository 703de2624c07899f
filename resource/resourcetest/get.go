package resourcetest

import (
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// getCases test Get.
func getCases[T any]() []testCase[T] {
	return []testCase[T]{
		{
			name: "get-unknown",
			contract: "Get of an id that was never used returns ErrNotFound, or an error that wraps " +
				"it. A zero item without an error would be served as an existing item, and any other " +
				"error as a failure of the server.",
			run: getUnknown[T],
		},
	}
}

// getUnknown gets unknown ids, in an empty collection and beside other items.
func getUnknown[T any](k *kit[T]) {
	unknown := []string{k.newID(), k.newID(), k.newID()}
	if k.id.Type.Kind == schema.String && k.id.Pattern == nil && k.id.Format == "" && len(k.id.Enum) == 0 &&
		k.ID == nil {
		unknown = append(unknown, "' OR 1=1 --", "%", "*", "../etc/passwd", "ünknown", "a b")
	}
	for round := range 2 {
		for _, id := range unknown {
			_, err := k.ops.Get(k.ctx, id)
			k.wantError(err, "Get of unknown id "+id, resource.ErrNotFound)
		}
		if round == 0 {
			k.ids.Add(100) // so that Insert does not use one of the unknown ids
			k.fill(3, distinct)
		}
	}
}
