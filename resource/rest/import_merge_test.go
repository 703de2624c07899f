package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// Imports with mode=merge: an item keeps the members that its line does not have.

type mergedSheet struct {
	ID     string            `json:"id"`
	Name   string            `json:"name" required:"true"`
	Note   *string           `json:"note"`
	Size   csvBox            `json:"size"`
	Labels map[string]string `json:"labels,omitempty"`
	Level  int               `json:"level" default:"3"`
	PIN    string            `json:"pin,omitempty" writeOnly:"true"`
	Made   string            `json:"made,omitempty" readOnly:"true"`
}

// newSheet returns a sheet with a value in each member, after change.
func newSheet(change func(*mergedSheet)) mergedSheet {
	note := "n"
	s := mergedSheet{"a", "A", &note, csvBox{1, 2}, map[string]string{"x": "1", "y": "2"}, 7, "1234", "m"}
	change(&s)
	return s
}

func TestRule157ImportMerge(t *testing.T) {
	t.Parallel()
	unchanged := newSheet(func(*mergedSheet) {})
	level := newSheet(func(s *mergedSheet) { s.Level = 8 })
	tests := []struct {
		name, header, content string // a header row means CSV
		result                string
		want                  mergedSheet // with the id a
	}{
		{"one column", "id,level", "a,8", "0 created 1 replaced", level},
		{"an equal value", "id,level", "a,7", "0 created 1 replaced", unchanged},
		{"empty cells", "id,note,name", "a,,", "0 created 1 replaced", newSheet(func(s *mergedSheet) { s.Note = nil })},
		{"cells as a whole", "id,labels,size", `a,"{""y"":""3""}","{""W"":9,""H"":0}"`, "0 created 1 replaced",
			newSheet(func(s *mergedSheet) { s.Labels, s.Size = map[string]string{"y": "3"}, csvBox{9, 0} })},
		{"not valid", "id,level,x", "a,high,", "/x unknown", unchanged},
		{"not a number", "id,level", "a,high\nb,1", "0 created 0 replaced; line 2: 422 /level type; line 3: 422 /name required", unchanged},
		{"null", "", `{"id":"a","note":null,"level":8}`, "0 created 1 replaced",
			newSheet(func(s *mergedSheet) { s.Note, s.Level = nil, 8 })},
		{"a secret", "", `{"id":"a","pin":"5"}`, "0 created 1 replaced", newSheet(func(s *mergedSheet) { s.PIN = "5" })},
		{"a read-only member", "", `{"id":"a","made":"m","level":8}`, "0 created 1 replaced", level},
		{"another read-only member", "", `{"id":"a","made":"x"}`, "0 created 0 replaced; line 1: 422 /made readOnly", unchanged},
		{"an unknown member", "", `{"id":"a","x":1}`, "0 created 0 replaced; line 1: 422 /x unknown", unchanged},
		{"a name twice", "", `{"id":"a","level":1,"level":2}`, "0 created 0 replaced; line 1: 400 /level duplicateName", unchanged},
		{"torn", "", `{"id":"a","level":`, "0 created 0 replaced; line 1: 400 /level syntax", unchanged},
		{"more after it", "", `{"id":"a"} {}`, "0 created 0 replaced; line 1: 400  trailing", unchanged},
		{"new", "", `{"id":"b","name":"B"}` + "\n" + `{"id":"c"}`, "1 created 0 replaced; line 2: 422 /name required", unchanged},
		{"twice", "", `{"id":"a","level":8}` + "\n" + `{"id":"a","name":"Z"}`, "0 created 2 replaced",
			newSheet(func(s *mergedSheet) { s.Name, s.Level = "Z", 8 })},
	}
	for _, tt := range tests {
		for _, store := range []struct {
			name, query string
			change      func(*resource.Ops[mergedSheet])
		}{
			{"in bulk", "?mode=merge", func(*resource.Ops[mergedSheet]) {}},
			{"one by one", "?mode=merge", func(o *resource.Ops[mergedSheet]) { o.InsertMany, o.GetMany = nil, nil }},
			{"no transactions", "?mode=merge", func(o *resource.Ops[mergedSheet]) { o.Transactions = nil }},
			{"atomic", "?mode=merge&atomic=true", func(*resource.Ops[mergedSheet]) {}},
		} {
			t.Run(tt.name+"/"+store.name, func(t *testing.T) {
				t.Parallel()
				sheets := memory.New[mergedSheet](nil)
				if _, err := sheets.Insert(t.Context(), "a", newSheet(func(*mergedSheet) {})); err != nil {
					t.Fatal(err)
				}
				ops := resource.OpsOf(sheets)
				store.change(&ops)
				var calls []resource.Op
				r := ops.Resource("sheets", &resource.Options[mergedSheet]{
					After: func(_ context.Context, op resource.Op, before, _ *mergedSheet) {
						if before != nil {
							calls = append(calls, op)
						}
					}})
				h := catalog(t, r, importOf(r))
				media, content := linesBody, tt.content
				if tt.header != "" {
					media, content = csvBody, tt.header+"\n"+content
				}
				res := send(t, h, "POST /sheets/import"+store.query, media, "", content)
				switch {
				case strings.HasPrefix(tt.result, "/"): // of the header row
					wantErrors(t, wantProblem(t, res, problem.Invalid), tt.result)
				case res.status != http.StatusOK: // atomic
					wantProblem(t, res, problem.Invalid)
					same(t, "result", strings.TrimLeft(tt.result, "01"), strings.TrimLeft(value[summary](t, res).brief(), "01"))
				default:
					same(t, "result", tt.result, value[summary](t, res).brief())
				}
				if diff := cmp.Diff(tt.want, stored(t, sheets, "a")); diff != "" {
					t.Errorf("item (-want +got):\n%s", diff)
				}
				for _, op := range calls {
					same(t, "operation", resource.OpPatch, op)
				}
				if changed := !cmp.Equal(tt.want, unchanged); changed != (len(calls) > 0) {
					t.Errorf("%d calls of After, changed is %t", len(calls), changed)
				}
			})
		}
	}
}

// TestRule157ImportMode: some columns of an export are sent back. Without mode=merge the others are reset.
func TestRule157ImportMode(t *testing.T) {
	t.Parallel()
	sheets := memory.New[mergedSheet](nil)
	if _, err := sheets.Insert(t.Context(), "a", newSheet(func(*mergedSheet) {})); err != nil {
		t.Fatal(err)
	}
	r := resource.New("sheets", sheets, nil)
	h := catalog(t, r, importOf(r))
	edited := strings.Replace(send(t, h, "GET /sheets?fields=id,name", asCSV).body, "a,A", "a,B", 1)
	for _, tt := range []struct {
		query string
		want  mergedSheet
	}{
		{"?mode=merge", newSheet(func(s *mergedSheet) { s.Name = "B" })},
		{"?mode=replace", mergedSheet{ID: "a", Name: "B", Level: 3, PIN: "1234", Made: "m"}},
	} {
		res := send(t, h, "POST /sheets/import"+tt.query, csvBody, "", edited)
		same(t, tt.query, "0 created 1 replaced", value[summary](t, res).brief())
		if diff := cmp.Diff(tt.want, stored(t, sheets, "a")); diff != "" {
			t.Errorf("%s: item (-want +got):\n%s", tt.query, diff)
		}
	}
	for _, query := range []string{"?mode=patch", "?mode="} {
		d := wantProblem(t, send(t, h, "POST /sheets/import"+query, linesBody, "", ""), problem.InvalidParameter)
		wantErrors(t, d, "?mode invalidValue")
	}
}

// TestRule157ImportMergeInContracts: a line of an older contract keeps the members of its own contract and
// those of newer ones.
func TestRule157ImportMergeInContracts(t *testing.T) {
	t.Parallel()
	books := memory.New[book](nil)
	hub := resource.New("books", books, nil)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	h := catalog(t, older, importOf(older))
	before := book{Title: "Emma", Stars: 4, Password: "p"}
	item, err := books.Create(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	res := send(t, h, "POST /books/import?mode=merge", csvBody, "", "id,name\n"+item.ID+",Persuasion\n")
	same(t, "result", "0 created 1 replaced", value[summary](t, res).brief())
	want := stored(t, books, item.ID)
	want.Title, want.Stars, want.Password = "Persuasion", 4, "p"
	same(t, "book", want, stored(t, books, item.ID))
}

// TestImportMergeAfterDelete: a line is created if its item is deleted after it was read.
func TestImportMergeAfterDelete(t *testing.T) {
	t.Parallel()
	sheets := memory.New(&memory.Options[mergedSheet]{Recreate: true})
	if _, err := sheets.Insert(t.Context(), "a", newSheet(func(*mergedSheet) {})); err != nil {
		t.Fatal(err)
	}
	ops := resource.OpsOf(sheets)
	ops.Transactions = nil
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v mergedSheet) (resource.Item[mergedSheet], error) {
		if err := sheets.Delete(ctx, id, rev); err != nil {
			return resource.Item[mergedSheet]{}, err
		}
		return resource.Item[mergedSheet]{}, resource.ErrStale
	}
	r := ops.Resource("sheets", &resource.Options[mergedSheet]{AllowRecreate: true})
	res := send(t, catalog(t, r, importOf(r)), "POST /sheets/import?mode=merge", linesBody, "", `{"id":"a","name":"new"}`)
	same(t, "result", "1 created 0 replaced", value[summary](t, res).brief())
	same(t, "item", "new", stored(t, sheets, "a").Name)
}
