package resource_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// serveLines serves a catalog by a line protocol until the connection is closed. A request is one
// of
//
//	LIST todos done=false&sort=-id
//	GET todos milk
//	PUT todos milk TAG {"id":"milk","text":"buy milk"}
//	DELETE todos milk TAG
//
// TAG is an entity tag, * for any, or empty. The response is a line "item ID TAG JSON" for each
// item, and then "ok" or "error CODE DETAIL".
func serveLines(ctx context.Context, catalog *resource.Catalog, conn io.ReadWriter) error {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		status := "ok"
		if err := serveLine(ctx, catalog, conn, lines.Text()); err != nil {
			d := resource.Problem(err)
			status = "error " + d.Kind.Code() + " " + d.Detail
		}
		if _, err := fmt.Fprintln(conn, status); err != nil {
			return err
		}
	}
	return lines.Err()
}

// serveLine answers a request, except for the last line of the response.
func serveLine(ctx context.Context, catalog *resource.Catalog, w io.Writer, line string) (err error) {
	args := append(strings.SplitN(line, " ", 5), make([]string, 4)...)
	r := catalog.Resource(args[1])
	if r == nil {
		return problem.New(problem.NotFound, fmt.Sprintf("There is no resource %q.", args[1]))
	}
	var opts resource.WriteOptions
	if args[3] != "" {
		if opts.If.IfMatch, err = header.ParseTags([]string{args[3]}); err != nil {
			return problem.New(problem.InvalidHeader, "The entity tag is malformed.")
		}
	}
	var e resource.Entry
	switch id := args[2]; args[0] {
	case "LIST":
		return list(ctx, w, r, args[2])
	case "GET":
		e, err = r.Get(ctx, id)
	case "PUT":
		e, _, err = r.Put(ctx, id, []byte(args[4]), &opts)
	case "DELETE":
		_, err = r.Delete(ctx, id, &opts)
		return err
	default:
		err = problem.New(problem.BadRequest, fmt.Sprintf("The command %q is not supported.", args[0]))
	}
	if err != nil {
		return err
	}
	return sendEntry(w, r, &e)
}

// list sends the items that the parameters in text select.
func list(ctx context.Context, w io.Writer, r *resource.Resource, text string) error {
	params, err := url.ParseQuery(text)
	if err != nil {
		return problem.New(problem.BadRequest, "The query is malformed.")
	}
	q, err := query.Parse(params, &query.ParseOptions{Support: r.Describe().Query, ID: r.Describe().ID,
		Value: func(field, text string) (any, error) { return r.Type().Field(field).Parse(text) }})
	if err != nil {
		return err
	}
	for page, err := range r.Pages(ctx, q, resource.Position{}) {
		if err != nil {
			return err
		}
		for i := range page {
			if err := sendEntry(w, r, &page[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendEntry sends an item with its entity tag.
func sendEntry(w io.Writer, r *resource.Resource, e *resource.Entry) error {
	doc, err := r.Type().Append(nil, e.Value)
	if err == nil {
		_, err = fmt.Fprintf(w, "item %s %s %s\n", e.ID, r.ETag(e), doc)
	}
	return err
}
