package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/version"
)

// Note is the shape of contract 2.0.0, and of the table.
type Note struct {
	ID     int64  `json:"id" readOnly:"true"`
	Text   string `json:"text" required:"true" maxLength:"500"`
	Status string `json:"status" enum:"open,done" default:"open"`
}

// Note11 is the shape of contract 1.1.0.
type Note11 struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" maxLength:"500"`
	Done bool   `json:"done"`
}

// Note10 is the shape of contract 1.0.0.
type Note10 struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func toNote11(n Note) (Note11, error) { return Note11{n.ID, n.Text, n.Status == "done"}, nil }

func fromNote11(v Note11, base Note) (Note, error) {
	base.Text, base.Status = v.Text, "open"
	if v.Done {
		base.Status = "done"
	}
	return base, nil
}

func toNote10(n Note11) (Note10, error) { return Note10{n.ID, n.Text}, nil }

func fromNote10(v Note10, base Note11) (Note11, error) {
	base.Text = v.Text
	return base, nil
}

// openContracts returns the contracts of a major version over the notes in a SQLite file. In a
// deployment the two processes would be different releases of a program.
func openContracts(ctx context.Context, file, major string) ([]version.Contract, error) {
	const settings = "?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)"
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+settings)
	if err != nil {
		return nil, err
	}
	table := sqltable.New[Note](sqltx.New(sqltx.SQLite, pool, nil), "notes", nil)
	if err := table.CreateTable(ctx); err != nil {
		return nil, fmt.Errorf("create the table in %s: %w", file, err)
	}
	notes := table.Ops().Resource("notes", &resource.Options[Note]{Query: table.Support(), Public: true})
	serve := func(name string, notes *resource.Resource) version.Contract {
		return version.Contract{Name: name, Handler: rest.New(resource.NewCatalog(nil, notes), nil)}
	}
	if major == "2" {
		return []version.Contract{serve("2.0.0", notes)}, nil
	}
	notes11 := resource.View(notes, toNote11, fromNote11, nil)
	notes10 := resource.View(notes11, toNote10, fromNote10, nil)
	return []version.Contract{serve("1.1.0", notes11), serve("1.0.0", notes10)}, nil
}

// newNegotiator returns the negotiator of a process. Both processes have the same list of contracts
// and the same strategies, so that a name has the same meaning on both.
func newNegotiator(contracts []version.Contract) *version.Negotiator {
	deprecated := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	for i := range contracts {
		if strings.HasPrefix(contracts[i].Name, "1.") {
			contracts[i].Deprecated = deprecated
		}
	}
	// Without this limit a server that accepts a connection and sends nothing would hold requests.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 10 * time.Second
	return version.New(
		contracts,
		[]version.Strategy{
			version.Path{},
			version.Host{Domains: []string{"localhost"}, Others: []string{"127.0.0.1"}},
			version.Header{Name: "API-Version"},
		},
		&version.Options{Default: "2.0.0", Transport: transport},
	)
}
