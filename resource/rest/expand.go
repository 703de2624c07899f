package rest

// Pages of related items, as in ?expand=orders(limit=5;sort=-createdAt;status=paid). Called by
// represent.go. The pages are read by Resource.FollowPages.

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// pagedRelation is a relation with parameters.
type pagedRelation struct {
	text   string // the parameters, as in the request
	q      resource.RelatedQuery
	fields *schema.Selection // nil: all
}

// pageSuffix follows the name of a relation in the member with the cursor and the total of its page.
const pageSuffix = "Page"

// expression returns the relation as a value of expand.
func (l *link) expression() string {
	if l.page == nil {
		return l.name
	}
	return l.name + "(" + l.page.text + ")"
}

// parsePairs parses a query or a form. Semicolons in parentheses separate parameters of expand.
// url.ParseQuery rejects all semicolons, because they once separated pairs.
func parsePairs(text string) (url.Values, error) {
	if !strings.Contains(text, ";") {
		return url.ParseQuery(text)
	}
	b := make([]byte, 0, len(text)+8)
	depth := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == ';' && depth > 0:
			b = append(b, "%3B"...)
			continue
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '&':
			depth = 0
		}
		b = append(b, text[i])
	}
	return url.ParseQuery(string(b))
}

// splitExpand splits the values of expand at commas outside of parentheses.
func splitExpand(values []string) []string {
	var out []string
	for _, v := range values {
		start, depth := 0, 0
		for i := range len(v) {
			switch v[i] {
			case '(':
				depth++
			case ')':
				depth--
			case ',':
				if depth == 0 {
					out = append(out, v[start:i])
					start = i + 1
				}
			}
		}
		out = append(out, v[start:])
	}
	return out
}

// pagedLink returns the relation of an expression with parameters in parentheses.
func (c *call) pagedLink(l *link, text string) (*link, error) {
	bad := func(detail string) error {
		return badParameter("expand", "invalidValue", l.name+": "+detail)
	}
	source := c.route.resource
	switch {
	case !strings.HasSuffix(text, ")"):
		return nil, bad("the parameters must end with a closing parenthesis")
	case !l.many:
		return nil, bad("it is a relation to one item, so it has no parameters")
	case !source.Paged(l.name):
		return nil, bad(l.target.Name() + " has no order for pages, so the relation has no parameters")
	case source.Type().Field(l.name+pageSuffix) != nil:
		return nil, bad("it has no parameters, because the items have a member " + l.name + pageSuffix)
	}
	text = strings.TrimSuffix(text, ")")
	params := url.Values{}
	for pair := range strings.SplitSeq(text, ";") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.PathUnescape(name)
		if err == nil {
			value, err = url.PathUnescape(value)
		}
		if err != nil {
			return nil, bad("%, ; and parentheses in a value must be percent-encoded twice in a URL")
		}
		params.Add(name, value)
	}
	out := *l
	out.page = &pagedRelation{text: text}
	return &out, c.parsePage(&out, params, bad)
}

// parsePage reads the parameters of a relation. They are those of a list of the target, except that count
// is a parameter.
func (c *call) parsePage(l *link, params url.Values, bad func(detail string) error) error {
	p, about := l.page, l.target.Describe()
	for _, name := range []string{"after", "count"} {
		v := params[name]
		if slices.ContainsFunc(v, func(one string) bool { return one != v[0] || one == "" }) {
			return bad(name + " must be one value, and not be empty")
		}
	}
	p.q.After = params.Get("after")
	if count := params.Get("count"); count != "" {
		if count != "exact" {
			return bad("count must be exact")
		}
		if !about.Counts {
			return bad("count is not supported by " + l.target.Name())
		}
		p.q.Total = true
	}
	t := l.target.QueryTarget()
	support := t.Support
	support.Search = nil // pages of several lists have no ranks
	q, err := query.Parse(params, &query.ParseOptions{
		Support: support, ID: about.ID, Ignore: []string{"after", "count"},
		MaxLimit: about.MaxPageSize, MaxTerms: c.h.limits.Terms,
		Value: t.Value, IsList: t.IsList, Relation: t.Relation,
	})
	var wrong query.Errors
	if errors.As(err, &wrong) {
		d := problem.New(problem.InvalidParameter, "A parameter of the request is not valid.")
		for _, e := range wrong {
			detail := l.name + ": " + e.Error()
			d.Errors = append(d.Errors, problem.Violation{Parameter: "expand", Code: e.Code, Detail: detail})
		}
		return d
	}
	if err != nil {
		return err
	}
	if !params.Has("limit") {
		q.Limit = 0 // that of the relation
	}
	if q.Fields != nil {
		if p.fields, err = l.target.Type().Select(q.Fields); err != nil {
			return bad(err.Error())
		}
	}
	p.q.Query = q
	return nil
}

// maxRelated limits the related items of one relation in a response.
const maxRelated = 10_000

// followPage reads the pages of a relation for all entries.
func (c *call) followPage(l *link, entries []resource.Entry) (resource.Page, error) {
	if limit := l.page.q.Query.Limit; limit*len(entries) > maxRelated {
		return resource.Page{}, badParameter("expand", "tooMany", fmt.Sprintf("%s: %d items with %d related "+
			"items each are more than %d; use a smaller limit", l.name, len(entries), limit, maxRelated))
	}
	page, err := c.route.resource.FollowPages(c.r.Context(), l.name, entries, l.page.q)
	if err == nil {
		return page, nil
	}
	d := resource.Problem(err)
	if len(d.Errors) == 1 && d.Errors[0].Code == "invalidCursor" {
		named := *d // an error may be shared
		named.Errors = slices.Clone(d.Errors)
		named.Errors[0].Parameter = "expand"
		return page, &named
	}
	return page, err
}

// appendPage adds the member with the cursor and the total of the page of entry i to the object at the
// end of dst.
func (rel *related) appendPage(dst []byte, i int) []byte {
	dst = append(reopenObject(dst), '"')
	dst = append(append(dst, rel.link.name...), pageSuffix+`":{`...)
	next := rel.page.NextOf(i)
	if next != "" {
		dst = append(append(append(dst, `"next":"`...), next...), '"')
	}
	if rel.link.page.q.Total {
		if next != "" {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `"total":`...), int64(rel.page.TotalOf(i)), 10)
	}
	return append(dst, '}', '}')
}
