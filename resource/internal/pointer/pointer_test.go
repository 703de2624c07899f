package pointer_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/schema"
)

type user struct {
	Name     string            `json:"name"`
	Created  string            `json:"created" readOnly:"true"`
	Password string            `json:"password" writeOnly:"true"`
	Keys     []key             `json:"keys"`
	Labels   map[string]string `json:"a/b~c"`
}

type key struct {
	Name   string `json:"name"`
	Secret string `json:"secret" writeOnly:"true"`
	Parent *key   `json:"parent"`
}

func TestTo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "", "name": "/name", "a/b~c": "/a~1b~0c"} {
		if got := pointer.To(name); got != want {
			t.Errorf("To(%q) = %q, want %q", name, got, want)
		}
		if name != "" && pointer.Unescape(want[1:]) != name {
			t.Errorf("Unescape(%q) is not %q", want[1:], name)
		}
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	typ := schema.For[user]()
	for _, tt := range []struct {
		pointer    string
		restricted bool
	}{
		{"", false},
		{"/name", false},
		{"/created", true},
		{"/password", true},
		{"/keys", false},
		{"/keys/0/name", false},
		{"/keys/0/secret", true},
		{"/keys/0/parent/parent/secret", true},
		{"/keys/0/parent", false},
		{"/a~1b~0c/x", false},
		{"/unknown", false},
		{"/name/deeper", false},
	} {
		if got := pointer.Restricted(typ, tt.pointer); got != tt.restricted {
			t.Errorf("Restricted(%q) = %v", tt.pointer, got)
		}
	}
}
