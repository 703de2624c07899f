package main

import (
	"os"
	"testing"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// TestShelf runs the conformance kit. With FORGETFUL=1 the store has a mistake, to show a failure.
func TestShelf(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *Shelf {
		return &Shelf{dir: t.TempDir(), forgetful: os.Getenv("FORGETFUL") != ""}
	}
	resourcetest.Run(t, func(t *testing.T) resource.Collection[Book] { return open(t) },
		&resourcetest.Options[Book]{
			Require:  []string{"Inserter", "Replacer", "Deleter"}, // a method that is missing is a failure
			Resource: newBooks(open(t)),                           // the queries that are tested
			Items:    40, Writers: 4,
		})
}

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}
