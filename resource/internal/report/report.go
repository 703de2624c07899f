// Package report writes the text about a resource in the start-up report of a catalog.
package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
)

// Resource has what the report states about a resource. Package resource fills it in; the text is
// here, so that the core has no prose.
type Resource struct {
	Name string
	// Create, Replace, Patch, Delete and Restore report which writes are served, and Batches whether
	// several in one request.
	Create, Replace, Patch, Delete, Restore, Batches bool
	// Capabilities are the names of the interfaces that the collection implements beside
	// Collection.
	Capabilities []string
	// View is the name of the view; empty if the resource is not a view. Filters and Sorts are the
	// fields that the collection can filter and sort by, and the view cannot.
	View           string
	Filters, Sorts []string
	// Lossy are the fields of samples that conversion to the view and back changes.
	Lossy []string
	// Type is the schema of the items as the collection has them.
	Type *schema.Type
	// Authorize, Scope and Public report which of these options are set.
	Authorize, Scope, Public bool
	// Deletes reports that items can be deleted. Remembers reports that the collection knows which
	// were, and RemembersRecent that the process does. HidesGone reports that no caller may know that
	// an item was deleted.
	Deletes, Remembers, RemembersRecent, HidesGone bool
	// Lists is what encodes the items of lists, of a collection that can do so; otherwise empty.
	Lists string
	// Groups are the fields by which items can be grouped, if Aggregates is set. Reserved are the fields
	// with filters that share their name with a parameter of aggregates.
	Aggregates       bool
	Groups, Reserved []string
	// Search are the fields that a search covers, and Unsearched reports that a view lacks one of them and
	// so has no search. OfSearch are the fields with filters that share their name with a parameter of it.
	Search, OfSearch []string
	Unsearched       bool
	// ScopeComplete reports that groups are made without Authorize.
	ScopeComplete bool
	// Logged reports that the writes are events in a log.
	Logged bool
}

// Summary returns the lines about the resource, without warnings. brief.go parses this form: a line
// of a path has two spaces after the path, and details are indented by four.
func (r *Resource) Summary() string {
	var b strings.Builder
	list, item := r.methods()
	store := strings.Join(r.Capabilities, " ")
	if store == "" {
		store = "read only"
	}
	fmt.Fprintf(&b, "/%s  %s\n/%s/{id}  %s\n    store: %s\n", r.Name, list, r.Name, item, store)
	if r.Lists != "" {
		fmt.Fprintf(&b, "    lists: %s\n", r.Lists)
	}
	if r.Aggregates {
		fmt.Fprintf(&b, "    groups: by %s", cmp.Or(strings.Join(r.Groups, " "), "nothing, in one group"))
		if r.View != "" {
			b.WriteString(", of stored values that the view does not convert")
		}
		if r.ScopeComplete {
			b.WriteString(", without Authorize (ScopeComplete)")
		}
		b.WriteByte('\n')
	}
	if r.Search != nil {
		fmt.Fprintf(&b, "    search: %s\n", strings.Join(r.Search, " "))
	}
	for i, fields := range [][]string{r.Reserved, r.OfSearch} {
		for _, field := range fields {
			fmt.Fprintf(&b, "    filters: %s is a parameter of %s; the field is compared with %s.eq\n",
				field, [...]string{"groups", "searches"}[i], field)
		}
	}
	if r.Restore {
		fmt.Fprintf(&b, "    restore: POST of /%s/{id}/restore\n", r.Name)
	}
	if r.Batches {
		b.WriteString("    batches: POST of application/vnd.stoa.batch+json\n")
	}
	if r.View != "" {
		fmt.Fprintf(&b, "    view: %s", r.View)
		if r.Filters != nil {
			b.WriteString(", without filters by " + strings.Join(r.Filters, " "))
		}
		if r.Sorts != nil {
			b.WriteString(", without sorting by " + strings.Join(r.Sorts, " "))
		}
		if r.Unsearched {
			b.WriteString(", without the search")
		}
		if r.Lossy != nil {
			b.WriteString(", with loss of " + strings.Join(r.Lossy, " "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// methods returns the HTTP methods of the list and of its items, which are better known than
// capabilities.
func (r *Resource) methods() (list, item string) {
	// Every collection can be read, see package resource.
	list, item = "GET, HEAD, QUERY", "GET, HEAD"
	for _, m := range []struct {
		served bool
		to     *string
		method string
	}{
		{r.Create, &list, "POST"}, {r.Replace, &item, "PUT"},
		{r.Patch, &item, "PATCH"}, {r.Delete, &item, "DELETE"},
	} {
		if m.served {
			*m.to += ", " + m.method
		}
	}
	return list + ", OPTIONS", item + ", OPTIONS"
}

// Warnings returns the settings that may not be intended, each as a sentence. The
// text before a colon names the setting.
func (r *Resource) Warnings() []string {
	var all []string
	warn := func(applies bool, text string) {
		if applies {
			all = append(all, text)
		}
	}
	warn(!r.Authorize && !r.Scope && !r.Public,
		"no Authorize and no Scope: every caller may read and write; set Public if intended")
	warn(r.Authorize && !r.ScopeComplete,
		"Authorize without a complete Scope: lists read past hidden items, fail after 10,000 of them, and "+
			"have no totals; hide items by Scope and set ScopeComplete")
	warn(r.Authorize && !r.Scope && !r.ScopeComplete,
		"Authorize without Scope: any caller can keep a stream open, without seeing hidden items")
	warn(r.Deletes && !r.Remembers && !r.RemembersRecent && !r.HidesGone,
		"deletions are not recorded: a repeated DELETE is 404 and not 410; "+
			"see resource.Ops.WithTombstones")
	warn(r.RemembersRecent,
		"deletions are recorded by this process only: after a restart or in another process "+
			"a repeated DELETE is 404 and not 410; see resource.Ops.WithTombstones")
	warn(r.HidesGone && (r.Deletes || r.Remembers),
		"no AuthorizeGone: a deleted item is 404 and not 410 for every caller")
	if lost := unwritten(r.Type); lost != nil && r.Logged {
		warn(r.Authorize || r.Scope, "events do not have "+strings.Join(lost, " ")+
			", which are not in the JSON of items: "+
			"Authorize sees zero values, and subscriptions fail if Scope names one")
	}
	return all
}

// unwritten returns the names of the Go fields of items that are not in their JSON, and so not in
// events. An event has the JSON of an item, from which policies get their value.
func unwritten(typ *schema.Type) (names []string) {
	for _, sf := range reflect.VisibleFields(typ.GoType) {
		at := slices.IndexFunc(typ.Fields,
			func(f *schema.Field) bool { return slices.Equal(f.Index, sf.Index) })
		switch {
		case at >= 0 && !typ.Fields[at].WriteOnly, sf.Name == "_":
		case at < 0 && embeds(typ, sf.Index):
		default:
			names = append(names, sf.Name)
		}
	}
	return names
}

// embeds reports whether the field at an index is a struct of which the fields are members. Its own
// entry is not a member, but its fields are.
func embeds(typ *schema.Type, index []int) bool {
	return slices.ContainsFunc(typ.Fields, func(f *schema.Field) bool {
		return len(f.Index) > len(index) && slices.Equal(f.Index[:len(index)], index)
	})
}
