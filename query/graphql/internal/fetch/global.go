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
	Type *model.Type // the item type; nil with Err
	ID   string
	// Err is set if the id is not valid. It is an error of this item alone, but an error: the id is a
	// mistake of the client and not a deleted item.
	Err error
}

// NodeIDs returns the ids of a field with Source ByID or ByIDs.
func NodeIDs(f *model.Field, args map[string]any) ([]NodeID, error) {
	given, many := args["ids"].([]any)
	if !many {
		given = []any{args["id"]}
	}
	if len(given) > maxNodes {
		var bad violations
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
		if at >= 0 {
			out[i] = NodeID{Type: f.Type.Named().Possible[at], ID: id}
			continue
		}
		argument := "id"
		if many {
			argument = fmt.Sprintf("ids[%d]", i)
		}
		var bad violations
		bad.add(argument, "invalidID", "must be the global id of an item")
		out[i].Err = bad.err()
	}
	return out, nil
}
