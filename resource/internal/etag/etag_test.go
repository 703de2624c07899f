package etag_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/schema"
)

type note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type secretNote struct {
	ID   string `json:"id"`
	Text string `json:"text,omitzero"`
}

type tree struct {
	Children []tree `json:"children"`
}

func TestAppendAndCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, rev, suffix, want string }{
		{"plain", "a-_9Z", "", `"a-_9Z.v"`},
		{"with suffix", "7", "fields", `"7.v.fields"`},
		{"a dot", "1.2", "", `"~MS4y.v"`},
		{"other bytes", "\x00\"", "", `"~ACI.v"`},
	} {
		got := string(etag.Append(nil, tt.rev, "v", tt.suffix))
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		opaque := got[1 : len(got)-1]
		if variant := etag.Variant(opaque); variant != "v" {
			t.Errorf("%s: Variant is %q", tt.name, variant)
		}
		if variant, ok := etag.Cut(opaque, tt.rev); !ok || variant != "v" {
			t.Errorf("%s: Cut of its own revision: %q, %v", tt.name, variant, ok)
		}
		if _, ok := etag.Cut(opaque, tt.rev+"x"); ok {
			t.Errorf("%s: Cut accepts another revision", tt.name)
		}
	}
	for _, opaque := range []string{"", "v", ".v"} {
		if _, ok := etag.Cut(opaque, ""); ok {
			t.Errorf("Cut(%q) accepts an empty revision", opaque)
		}
	}
}

func TestVariantsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, tt := range []struct {
		name       string
		projection string
		typ        *schema.Type
	}{
		{"note", "Note", schema.For[note]()},
		{"another projection", "Note2", schema.For[note]()},
		{"another type", "Note", schema.For[secretNote]()},
		{"recursive type", "Tree", schema.For[tree]()},
	} {
		v := etag.NewVariants(tt.projection, tt.typ, "application/json")
		for _, compressed := range []bool{false, true} {
			got := v.Of(compressed)
			if before, ok := seen[got]; ok || len(got) != 8 {
				t.Errorf("%s: variant %q, which %q has too", tt.name, got, before)
			}
			seen[got] = tt.name
		}
	}
	if etag.TypeHash(schema.For[note]()) == etag.TypeHash(schema.For[secretNote]()) {
		t.Error("two types have one hash")
	}
}
