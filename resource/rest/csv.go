package rest

// CSV: its form in lists and imports, and the rows of an export. Called by list.go, export.go and
// import.go. It calls package csv.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// maxForms limits the forms of CSV that one Accept field can name, because each is compared with each
// range of the field.
const maxForms = 16

// negotiateList returns the media type of a list and, if it is CSV, its dialect.
func (c *call) negotiateList() (media string, d csv.Dialect, err error) {
	offers := listOffers
	if c.route.resource.Watches() {
		offers = watchOffers
	}
	lines := c.r.Header["Accept"]
	asked, dialects, fault := c.formsOf(lines)
	// Their offers follow that of CSV, because the stream has to be the last one.
	first := slices.Index(offers, mediaCSV) + 1
	all := slices.Insert(slices.Clip(offers), first, asked...)
	i, err := c.negotiateFeed(lines, all)
	switch {
	case err != nil && fault != nil:
		d := acceptError(c.mediaTypes(offers))
		d.Detail += " The " + fault.Error() + "."
		return "", csv.Dialect{}, d
	case err != nil:
		return "", csv.Dialect{}, c.notAcceptable(offers)
	case i >= first && i < first+len(asked):
		return mediaCSV, dialects[i-first], nil
	}
	return all[i], c.h.opts.CSV, nil
}

// formsOf returns the forms of CSV that an Accept field names by parameters, as offers and as
// dialects. fault is the error of the first form that is not supported.
func (c *call) formsOf(lines []string) (offers []string, dialects []csv.Dialect, fault error) {
	for _, m := range header.AcceptParams(lines, mediaCSV) {
		d, err := c.h.opts.CSV.With(m.Params)
		if err != nil {
			if fault == nil {
				fault = err
			}
			continue
		}
		if offer := m.String(); len(offers) < maxForms && !slices.Contains(offers, offer) {
			offers, dialects = append(offers, offer), append(dialects, d)
		}
	}
	return offers, dialects, fault
}

// contentDialect returns the dialect that the Content-Type of a request with CSV names.
func (c *call) contentDialect() (csv.Dialect, error) {
	mt, err := header.ParseMediaType(strings.Join(c.r.Header["Content-Type"], ","))
	if err != nil {
		return csv.Dialect{}, c.unsupported(c.route.posts)
	}
	d, err := c.h.opts.CSV.With(mt.Params)
	if err != nil {
		detail := unsupportedType(c.r, strings.Join(c.route.posts, " or "))
		return d, httpbody.UnsupportedType(c.r, detail+" The "+err.Error()+".", c.route.posts...)
	}
	return d, nil
}

// columnNames reads the parameter fields of an import: the columns of content without a header row.
func (c *call) columnNames(list string) ([]string, error) {
	names := strings.Split(list, ",")
	seen := map[string]bool{}
	for _, name := range names {
		t := c.route.command.Into().Type()
		switch {
		case seen[name]:
			return nil, badParameter("fields", "duplicateParameter", "must name each column once")
		case t.Field(name) == nil:
			_, err := t.Select([]string{name})
			return nil, badParameter("fields", "unknownField", err.Error())
		}
		seen[name] = true
	}
	return names, nil
}

// rowFormat is CSV. Each relation is a column after those of the item.
type rowFormat struct {
	encoder *csv.Encoder
	dialect csv.Dialect
	links   []*link
	values  [][]byte // the related items of a row, as JSON
}

// newRowFormat returns the format of a selection.
func (c *call) newRowFormat(p *selection, d csv.Dialect) (*rowFormat, error) {
	var names []string
	if p.columns != "" {
		names = strings.Split(p.columns, ",")
	}
	encoder, err := csv.NewEncoder(c.route.resource.Type(), d, names...)
	return &rowFormat{encoder, d, p.links, make([][]byte, len(p.links))}, err
}

func (f *rowFormat) contentType() []string { return []string{f.dialect.MediaType()} }

func (f *rowFormat) begin(dst []byte) []byte {
	var names []string
	for _, l := range f.links {
		names = append(names, l.name)
	}
	return f.encoder.AppendHeader(dst, names...)
}

func (f *rowFormat) append(dst []byte, e *resource.Entry, i int, rel []related) ([]byte, error) {
	for k := range rel {
		var err error
		if f.values[k], err = rel[k].appendValue(f.values[k][:0], i); err != nil {
			return dst, err
		}
	}
	return f.encoder.Append(dst, e.Value, f.values...)
}
