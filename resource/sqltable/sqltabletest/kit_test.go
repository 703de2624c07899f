package sqltabletest

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/sqltable"
	"github.com/stoa-go/stoa/resource/sqltx/sqltxtest"
)

// everything has a field of each sort that has a column.
type everything struct {
	ID       string            `json:"id" maxLength:"64"`
	Email    string            `json:"email" format:"email" unique:"true"`
	Phone    string            `json:"phone,omitzero" maxLength:"20" unique:"true"`
	Title    string            `json:"title"`
	Status   status            `json:"status" enum:"placed,paid,sent"`
	Note     *string           `json:"note"`
	Stars    int64             `json:"stars"`
	Small    int8              `json:"small"`
	Large    uint64            `json:"large"`
	Maybe    *int32            `json:"maybe"`
	Score    float64           `json:"score"`
	Ratio    *float32          `json:"ratio"`
	Done     bool              `json:"done"`
	Sure     *bool             `json:"sure"`
	MadeAt   time.Time         `json:"madeAt"`
	SentAt   *time.Time        `json:"sentAt"`
	Customer *string           `json:"customer" format:"uuid"`
	Photo    []byte            `json:"photo"`
	Address  address           `json:"address"`
	Billing  *address          `json:"billing"`
	Lines    []line            `json:"lines"`
	Labels   map[string]string `json:"labels"`
	Anything any               `json:"anything"`
}

type status string

type address struct {
	Street string `json:"street"`
	Zip    string `json:"zip"`
}

type line struct {
	Product string  `json:"product"`
	Count   int64   `json:"count"`
	Price   float64 `json:"price"`
}

// numbered has an id that the database assigns.
type numbered struct {
	ID    int64   `json:"id" readOnly:"true"`
	Title string  `json:"title" maxLength:"4000"`
	Note  *string `json:"note"`
	Stars int64   `json:"stars"`
}

// run runs the whole kit on a table that is made anew for each case.
func run[T any](t *testing.T, make func(t *testing.T) *sqltable.Table[T], o resourcetest.Options[T]) {
	o.Support = make(t).Support()
	o.Items, o.Writers = 40, 6
	resourcetest.RunOps(t, func(t *testing.T) resource.Ops[T] { return make(t).Ops() }, &o)
}

var all = []string{"Creator", "Inserter", "Replacer", "Deleter", "Tombstoner", "Counter", "MultiGetter", "Grouper", "Transactor"}

func TestKitOfEverything(t *testing.T) {
	onEngines(t, func(t *testing.T, e sqltxtest.Engine) {
		run(t, func(t *testing.T) *sqltable.Table[everything] {
			table := sqltable.New[everything](e.Open(t, nil), "everything", &sqltable.Options{Index: []string{"title", "note"}})
			if err := table.CreateTable(t.Context()); err != nil {
				t.Fatal(err)
			}
			return table
		}, resourcetest.Options[everything]{Require: all})
	})
}

func TestKitOfNumbers(t *testing.T) {
	onEngines(t, func(t *testing.T, e sqltxtest.Engine) {
		run(t, func(t *testing.T) *sqltable.Table[numbered] {
			table := sqltable.New[numbered](e.Open(t, nil), "numbered", &sqltable.Options{
				Rev: "version", CountRev: true, Modified: "updated_at"})
			if err := table.CreateTable(t.Context()); err != nil {
				t.Fatal(err)
			}
			return table
		}, resourcetest.Options[numbered]{Require: []string{"Creator", "Replacer", "Deleter", "Tombstoner", "Grouper"}})
	})
}
