package sqltable_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// update rewrites the golden files of this package: go test ./resource/sql/sqltable -run TestDDL -update
var update = flag.Bool("update", false, "write golden files anew")

// nowhere is a connector for what never connects.
type nowhere struct{}

func (nowhere) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("nobody should connect")
}
func (nowhere) Driver() driver.Driver { return nil }

// offline is a database without connections.
func offline(d sqltx.Dialect) *sqltx.DB { return sqltx.New(d, sql.OpenDB(nowhere{}), nil) }

// article has a field of each sort that has a column.
type article struct {
	ID        string            `json:"id"`
	ParentID  *string           `json:"parentId" format:"uuid"`
	Email     string            `json:"email" unique:"true"`
	Phone     string            `json:"phone,omitzero" unique:"true"`
	HTTPCode  int16             `json:"HTTPCode" db:"code"`
	Weight    float32           `json:"weight"`
	Done      *bool             `json:"done"`
	MadeAt    time.Time         `json:"madeAt"`
	SentAt    *time.Time        `json:"sentAt"`
	Photo     []byte            `json:"photo"`
	Tags      []string          `json:"tags"`
	Labels    map[string]string `json:"labels"`
	Computed  string            `json:"computed" readOnly:"true"`
	Elsewhere string            `json:"elsewhere" readOnly:"true" db:"-"`
	Quoted    string            `json:"saysHi" db:"says 'hi'"`
}

type numbered struct {
	ID   int64   `json:"id" readOnly:"true"`
	Note *string `json:"note"`
}

// tenanted is unique in its tenant.
type tenanted struct {
	ID     string `json:"id"`
	Tenant string `json:"tenantId"`
	Email  string `json:"email" unique:"tenantId"`
	Login  string `json:"login" unique:"true"`
	Phone  string `json:"phone,omitzero" unique:"tenantId"`
}

// membership has a composite id.
type membership struct {
	ID    string `json:"id" id:"userId,groupId" readOnly:"true"`
	User  string `json:"userId"`
	Group string `json:"groupId"`
}

// TestDDL holds what tables are made of, in both dialects. The engines run the same statements in sqltest/sqltabletest.
func TestDDL(t *testing.T) {
	t.Parallel()
	ddl := map[string]func(db *sqltx.DB) string{
		"article": func(db *sqltx.DB) string {
			return sqltable.New[article](db, "shop.articles", &sqltable.Options{
				Index: []string{"madeAt", "sentAt"}, Modified: "changed_at",
				References: map[string]string{"parentId": "shop.articles"},
				Columns: map[string]sqlquery.Column{
					"computed": {Expr: "lower(email)"}, "sentAt": {Kind: sqlquery.Time, Unit: time.Millisecond},
				},
			}).DDL()
		},
		"numbered": func(db *sqltx.DB) string {
			return sqltable.New[numbered](db, "numbers", &sqltable.Options{Rev: "version", CountRev: true, Forget: true}).DDL()
		},
		"soft": func(db *sqltx.DB) string {
			return sqltable.New[tenanted](db, "users", &sqltable.Options{SoftDelete: "deleted_at",
				Index: []string{"tenantId"}}).DDL()
		},
		"linked": func(db *sqltx.DB) string {
			return sqltable.New[membership](db, "memberships", &sqltable.Options{SoftDelete: "deleted_at"}).DDL()
		},
		"tenanted": func(db *sqltx.DB) string {
			return sqltable.New[tenanted](db, "users", &sqltable.Options{SoftDelete: "deleted_at", UniqueDeleted: true}).DDL()
		},
		"content": func(db *sqltx.DB) string {
			return sqltable.New[numbered](db, "numbers", &sqltable.Options{Rev: sqltable.Content, Tombstones: "dead", ClientIDs: true}).DDL()
		},
	}
	for name, of := range ddl {
		for _, d := range []sqltx.Dialect{sqltx.SQLite, sqltx.PostgreSQL} {
			t.Run(name+" "+string(d), func(t *testing.T) {
				t.Parallel()
				file := filepath.Join("testdata", name+"."+string(d)+".sql")
				got := of(offline(d))
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", file, diff)
				}
			})
		}
	}
}
