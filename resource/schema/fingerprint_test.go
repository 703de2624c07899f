package schema_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

type (
	printed struct {
		ID   string     `json:"id"`
		Text string     `json:"text"`
		Sub  printedSub `json:"sub"`
	}
	printedSub struct {
		N int `json:"n"`
	}
	printedRules struct {
		ID   string     `json:"id" readOnly:"true" doc:"The id."`
		Text string     `json:"text" maxLength:"5" default:"a"`
		Sub  printedSub `json:"sub"`
	}
	printedMore struct {
		ID   string     `json:"id"`
		Text string     `json:"text"`
		Sub  printedSub `json:"sub"`
		Due  *time.Time `json:"due"`
	}
	printedRenamed struct {
		ID   string     `json:"id"`
		Body string     `json:"body"`
		Sub  printedSub `json:"sub"`
	}
	printedKind struct {
		ID   string     `json:"id"`
		Text int        `json:"text"`
		Sub  printedSub `json:"sub"`
	}
	printedNull struct {
		ID   string     `json:"id"`
		Text *string    `json:"text"`
		Sub  printedSub `json:"sub"`
	}
	printedDeep struct {
		ID   string `json:"id"`
		Text string `json:"text"`
		Sub  struct {
			N int `json:"n"`
			M int `json:"m"`
		} `json:"sub"`
	}
	printedTree struct {
		Children []printedTree `json:"children"`
	}
)

func TestFingerprint(t *testing.T) {
	t.Parallel()
	base := schema.For[printed]().Fingerprint()
	tests := []struct {
		name string
		typ  *schema.Type
		same bool
	}{
		{"the same type", schema.For[printed](), true},
		{"other rules and documentation", schema.For[printedRules](), true},
		{"one more field", schema.For[printedMore](), false},
		{"another name", schema.For[printedRenamed](), false},
		{"another kind", schema.For[printedKind](), false},
		{"nullable", schema.For[printedNull](), false},
		{"one more field below", schema.For[printedDeep](), false},
		{"a type that contains itself", schema.For[printedTree](), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.typ.Fingerprint()
			if diff := cmp.Diff(tt.same, got == base); diff != "" {
				t.Errorf("fingerprint %s, that of the first type is %s: equal (-want +got):\n%s", got, base, diff)
			}
			if len(got) != 16 {
				t.Errorf("fingerprint %q has %d characters, want 16", got, len(got))
			}
		})
	}
}
