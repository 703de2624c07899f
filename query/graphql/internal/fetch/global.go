package fetch

// Global ids: of items in responses, and in arguments. exec writes them and calls Nodes for the
// fields node and nodes.

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// maxNodes limits the number of ids of the field nodes. Each of them may be a call of a store that
// is not a MultiGetter.
const maxNodes = 200

// AppendGlobalID appends the global id of an item. It has the name of the resource and not that of
// the type, so that all contracts use the same id. Its characters need no escapes in JSON and URLs.
func AppendGlobalID(dst []byte, r *resource.Resource, id string) []byte {
	return base64.RawURLEncoding.AppendEncode(dst, []byte(r.Name()+":"+id))
}

// parseGlobalID returns the name of the resource and the id. It accepts exactly what AppendGlobalID
// writes: DecodeString ignores line breaks, which would give an item several ids.
func parseGlobalID(text string) (name, id string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(b) || base64.RawURLEncoding.EncodeToString(b) != text {
		return "", "", false
	}
	return strings.Cut(string(b), ":")
}

// itemID returns the argument id of a field, and whether it is given. A global id must be one of the
// field's resource.
func itemID(f *model.Field, args map[string]any) (id string, given bool, err error) {
	if _, given = args["id"].(string); !given {
		return "", false, nil
	}
	id, err = globalID(f, "id", f.Resource, args)
	return id, true, err
}

// globalID returns the argument with this name, which is the id of an item of r.
func globalID(f *model.Field, name string, r *resource.Resource, args map[string]any) (string, error) {
	id, _ := args[name].(string)
	if arg := f.Arg(name); arg == nil || !arg.Global {
		return id, nil
	}
	of, id, ok := parseGlobalID(id)
	if !ok || of != r.Name() {
		var bad violations
		bad.add(name, "invalidID", "must be the global id of an item of "+r.Name())
		return "", bad.err()
	}
	return id, nil
}

// NodeID is a decoded global id.
type NodeID struct {
	Type *model.Type // the item type
	ID   string
}

// NodeIDs returns the ids of a field with Source ByID or ByIDs. An id that is not valid is an error
// of its argument, because it is a mistake of the client and not a deleted item.
func NodeIDs(f *model.Field, args map[string]any) ([]NodeID, error) {
	given, many := args["ids"].([]any)
	if !many {
		given = []any{args["id"]}
	}
	var bad violations
	if len(given) > maxNodes {
		bad.add("ids", "tooMany", fmt.Sprintf("there can be at most %d ids", maxNodes))
		return nil, bad.err()
	}
	out := make([]NodeID, len(given))
	for i := range given {
		text, _ := given[i].(string)
		name, id, ok := parseGlobalID(text)
		at := slices.IndexFunc(f.Type.Named().Possible, func(t *model.Type) bool {
			return ok && t.Resource.Name() == name
		})
		switch {
		case at >= 0:
			out[i] = NodeID{f.Type.Named().Possible[at], id}
		case many:
			bad.add(fmt.Sprintf("ids[%d]", i), "invalidID", "must be the global id of an item")
		default:
			bad.add("id", "invalidID", "must be the global id of an item")
		}
	}
	return out, bad.err()
}
