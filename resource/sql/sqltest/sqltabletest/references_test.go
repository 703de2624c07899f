package sqltabletest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// owner is the owner of pets.
type owner struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type pet struct {
	ID      int64   `json:"id" readOnly:"true"`
	OwnerID *string `json:"ownerId"`
}

// openPets returns both tables in one database.
func openPets(t *testing.T, e *enginetest.Engine, now func() time.Time) (owners resource.Ops[owner], pets resource.Ops[pet]) {
	t.Helper()
	db := e.OpenSchema(t)
	ownerTable := sqltable.New[owner](db, "owners", &sqltable.Options{Now: now, Modified: "modified_at"})
	petTable := sqltable.New[pet](db, "pets", &sqltable.Options{References: map[string]string{"ownerId": "owners"}})
	if err := errors.Join(ownerTable.CreateTable(t.Context()), petTable.CreateTable(t.Context())); err != nil {
		t.Fatal(err)
	}
	return ownerTable.Ops(), petTable.Ops()
}

// A reference to a missing row is rejected, and so is the deletion of a referenced row.
func TestReferences(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		owners, pets := openPets(t, e, nil)
		ann := "ann"
		_, err := pets.Resource("pets", nil).Create(t.Context(), []byte(`{"ownerId":"nobody"}`), nil)
		if got := resource.Problem(err); got.StatusCode() != 422 || len(got.Errors) != 1 || got.Errors[0].Pointer != "/ownerId" {
			t.Errorf("a pet of nobody's: %+v", err)
		}
		it, err := owners.Insert(t.Context(), ann, owner{ID: ann})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pets.Create(t.Context(), pet{OwnerID: &ann}); err != nil {
			t.Fatal(err)
		}
		if got := resource.Problem(owners.Delete(t.Context(), ann, it.Rev)); got.Kind != problem.Conflict {
			t.Errorf("the owner of a pet is deleted: %+v", got)
		}
		if _, err := owners.Get(t.Context(), ann); err != nil {
			t.Errorf("the owner is gone: %v", err)
		}
	})
}

// The clock of a table is the one that it was given.
func TestNow(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		now := time.Date(2024, time.March, 1, 8, 0, 0, 0, time.UTC)
		owners, _ := openPets(t, e, func() time.Time { return now })
		it, err := owners.Insert(t.Context(), "ann", owner{ID: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
		changed, err := owners.Replace(t.Context(), "ann", it.Rev, owner{ID: "ann", Name: "Ann"})
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
		if err := owners.Delete(t.Context(), "ann", changed.Rev); err != nil {
			t.Fatal(err)
		}
		deleted, err := owners.Deleted(t.Context(), "ann")
		want := []string{"08:00", "09:00", "10:00"}
		var got []string
		for _, at := range []time.Time{it.Modified, changed.Modified, deleted} {
			got = append(got, at.UTC().Format("15:04"))
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("times of writes, %v (-want +got):\n%s", err, diff)
		}
	})
}

func TestWrongReferences(t *testing.T) {
	t.Parallel()
	db := sqltest.Engines()[0].Open(t, nil)
	for name, references := range map[string]map[string]string{
		`names "keeper"`: {"keeper": "owners"}, `names "id"`: {"id": "owners"}, `"a.b.c" is no name`: {"ownerId": "a.b.c"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, name) {
					t.Errorf("it panics with %q", said)
				}
			}()
			sqltable.New[pet](db, "pets", &sqltable.Options{References: references})
		})
	}
}
