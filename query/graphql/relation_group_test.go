package graphql_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRelationGroups groups by a field of the related item. The bookings of a hidden client, and those
// without one, are in the group of null.
func TestRelationGroups(t *testing.T) {
	t.Parallel()
	server := relationServer(t)
	for _, test := range []struct{ name, arguments, selection, want string }{
		{"one field", "groupBy: client_role", "client_role count",
			`{"client_role":null,"count":1},{"client_role":"admin","count":2},{"client_role":"user","count":1}`},
		{"with an own field and an order", "groupBy: [client_role, total], first: 2, " +
			"orderBy: [{field: client_role, direction: DESC}, {field: total}]", "client_role total client_id",
			`{"client_role":"user","total":1,"client_id":null},{"client_role":"admin","total":0,"client_id":null}`},
		{"the id", "groupBy: client_id, having: {count: {gt: 1}}", "client_id count", `{"client_id":"c1","count":2}`},
		{"a filter", `groupBy: client_role, filter: {client: {role: {eq: admin}}}`, "role: client_role sum { total }",
			`{"role":"admin","sum":{"total":"3"}}`},
		{"not declared", "groupBy: client_hidden", "count", `Value "client_hidden" does not exist in "BookingGroupField" enum.`},
		{"twice", "groupBy: [client_role, client_role]", "count", "names client.role twice"},
		{"order by another field", "groupBy: total, orderBy: {field: client_role}", "count",
			`cannot sort by "client.role", only by total`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := server.post(t, "{ bookingsAggregate("+test.arguments+") { nodes { "+test.selection+" } } }")
			want := `{"data":{"bookingsAggregate":{"nodes":[` + test.want + `]}}}`
			if !strings.HasPrefix(test.want, "{") {
				want = jsonText(test.want)
			}
			if !strings.Contains(text, want) {
				t.Errorf("answer (-want +got):\n%s", cmp.Diff(want, text))
			}
		})
	}
}

// TestRelationGroupsFromCursors: the cursor of each group continues the groups.
func TestRelationGroupsFromCursors(t *testing.T) {
	t.Parallel()
	server := relationServer(t)
	var roles []string
	for after := ""; len(roles) < 5; {
		text := server.post(t, `{ bookingsAggregate(groupBy: client_role, first: 1`+after+
			`) { nodes { client_role } pageInfo { hasNextPage endCursor } } }`)
		_, role, _ := strings.Cut(text, `"client_role":`)
		role, _, _ = strings.Cut(role, "}")
		roles = append(roles, role)
		if strings.Contains(text, `"hasNextPage":false`) {
			break
		}
		_, cursor, _ := strings.Cut(text, `"endCursor":"`)
		cursor, _, _ = strings.Cut(cursor, `"`)
		after = `, after: "` + cursor + `"`
	}
	if diff := cmp.Diff([]string{"null", `"admin"`, `"user"`}, roles); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// TestSDLOfRelationGroups: the type of a member is that of the related item.
func TestSDLOfRelationGroups(t *testing.T) {
	t.Parallel()
	sdl := relationServer(t).sdl
	_, group, _ := strings.Cut(sdl, "type BookingGroup {")
	group, _, _ = strings.Cut(group, "\n}")
	for _, part := range []string{"client_role: ClientRole", "client_id: ID\n",
		"no such item that you are allowed to see"} {
		if !strings.Contains(group, part) {
			t.Errorf("the type of groups lacks %q:\n%s", part, group)
		}
	}
	_, fields, _ := strings.Cut(sdl, "enum BookingGroupField {")
	if fields, _, _ = strings.Cut(fields, "\n}"); !strings.Contains(fields, "client_role") {
		t.Errorf("the enum of groups is %s", fields)
	}
}
