package schema_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/schema"
)

// TestValidateAllocations: limits of numbers cost no allocation. It is not parallel, because
// testing.AllocsPerRun counts for the whole process.
func TestValidateAllocations(t *testing.T) {
	type free struct {
		Qty int    `json:"qty"`
		Ref string `json:"ref" maxLength:"9"`
	}
	type limited struct {
		Qty   int     `json:"qty" minimum:"1" maximum:"9"`
		Share float64 `json:"share" minimum:"0" maximum:"1"`
		Ref   string  `json:"ref" maxLength:"9"`
	}
	allocs := func(typ *schema.Type, v any) float64 {
		return testing.AllocsPerRun(10, func() {
			if found := typ.Validate(v); len(found) > 0 {
				t.Error(found)
			}
		})
	}
	without := allocs(schema.For[free](), &free{Qty: 1})
	if with := allocs(schema.For[limited](), &limited{Qty: 1, Share: 1}); with > without {
		t.Errorf("%v allocations, and %v without limits", with, without)
	}
}
