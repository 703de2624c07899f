package csv_test

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/schema"
)

// place has a member of each kind that distinguishes null, absent and empty in another way.
type place struct {
	ID      string            `json:"id"`
	Name    string            `json:"name,omitzero"`
	Note    *string           `json:"note"`
	Count   int64             `json:"count"`
	Level   *int8             `json:"level,omitzero"`
	Size    uint64            `json:"size,omitzero,string"`
	Lat     float64           `json:"lat,omitzero"`
	Open    bool              `json:"open,omitzero"`
	Since   time.Time         `json:"since,omitzero"`
	Raw     []byte            `json:"raw,omitempty"`
	Tags    []string          `json:"tags,omitzero"`
	Labels  map[string]string `json:"labels,omitempty"`
	Address *address          `json:"address"`
	Extra   any               `json:"extra,omitzero"`
	Kind    *string           `json:"kind" default:"town"`
	Secret  string            `json:"secret,omitzero" writeOnly:"true"`
}

type address struct {
	Street string `json:"street"`
}

var placeType = schema.For[place]()

func encode(t testing.TB, d csv.Dialect, names []string, places ...place) string {
	t.Helper()
	e, err := csv.NewEncoder(placeType, d, names...)
	if err != nil {
		t.Fatal(err)
	}
	out := e.AppendHeader(nil)
	for i := range places {
		if out, err = e.Append(out, &places[i]); err != nil {
			t.Fatal(err)
		}
	}
	return string(out)
}

// decode returns for each row its line and the JSON document, or its lines and the error.
func decode(t testing.TB, content string, o *csv.DecoderOptions) (rows []string) {
	t.Helper()
	d, err := csv.NewDecoder(strings.NewReader(content), placeType, o)
	if err != nil {
		return []string{describe(err)}
	}
	for {
		doc, err := d.Append(nil)
		switch {
		case err == io.EOF:
			return rows
		case err != nil:
			doc = []byte(describe(err))
		}
		place := strconv.Itoa(d.Line())
		if last := d.LastLine(); err != nil && last > d.Line() {
			place += "-" + strconv.Itoa(last)
		}
		rows = append(rows, place+" "+string(doc))
	}
}

// describe names the kind of an error.
func describe(err error) string {
	var syntax *csv.SyntaxError
	var bad schema.Violations
	switch {
	case errors.As(err, &syntax):
		return "syntax " + syntax.Code + " " + syntax.Pointer + ": " + syntax.Detail
	case errors.As(err, &bad):
		text := "violations"
		for _, v := range bad {
			text += " " + v.Pointer + " " + v.Code
		}
		return text + ": " + err.Error()
	}
	return err.Error()
}

func pointer[T any](v T) *T { return &v }

func TestEncode(t *testing.T) {
	t.Parallel()
	athens := place{ID: "a", Name: "Athens, old", Count: -3, Lat: 37.5, Kind: pointer("city"), Secret: "s"}
	tests := []struct {
		name    string
		dialect csv.Dialect
		fields  []string
		places  []place
		want    string
	}{
		{"no rows", csv.Dialect{}, []string{"name", "id"}, nil, "name,id\r\n"},
		{"nothing", csv.Dialect{NoHeader: true}, nil, nil, ""},
		{"order of the names", csv.Dialect{}, []string{"count", "id", "count"}, []place{athens}, "count,id\r\n-3,a\r\n"},
		{"all but secrets", csv.Dialect{}, nil, []place{athens},
			"id,name,note,count,level,size,lat,open,since,raw,tags,labels,address,extra,kind\r\n" +
				"a,\"Athens, old\",,-3,,,37.5,,,,,,,,city\r\n"},
		{"absent header", csv.Dialect{NoHeader: true}, []string{"id"}, []place{athens}, "a\r\n"},
		{"semicolons", csv.Dialect{Delimiter: ';'}, []string{"id", "name"}, []place{athens}, "id;name\r\na;\"Athens, old\"\r\n"},
		{"tabs", csv.Dialect{Delimiter: '\t'}, []string{"id", "count"}, []place{athens}, "id\tcount\r\na\t-3\r\n"},
		{"byte order mark", csv.Dialect{BOM: true}, []string{"id"}, []place{athens}, "\ufeffid\r\na\r\n"},
		{"byte order mark without header", csv.Dialect{BOM: true, NoHeader: true}, []string{"id"}, nil, "\ufeff"},
		{"composed values", csv.Dialect{NoHeader: true}, []string{"tags", "labels", "address", "extra", "size", "open"},
			[]place{{Tags: []string{"x", `"`}, Labels: map[string]string{"a": "b"}, Address: &address{"S"}, Extra: "e", Size: 7, Open: true}},
			`"[""x"",""\""""]","{""a"":""b""}","{""street"":""S""}","""e""",7,true` + "\r\n"},
		{"empty values", csv.Dialect{NoHeader: true}, []string{"id", "name", "note", "tags", "address", "extra"},
			[]place{{Note: pointer("")}, {Tags: []string{}}},
			"\"\",,\"\",,,\r\n\"\",,,[],,\r\n"},
		{"quotation marks", csv.Dialect{NoHeader: true}, []string{"id"},
			[]place{{ID: `a"b`}, {ID: "a\r\nb"}, {ID: "a;b"}, {ID: "a|b"}, {ID: "a\tb"}, {ID: " a"}, {ID: "a "}, {ID: `\.`}, {ID: "a\\b"},
				{ID: "\"\n\""}, {ID: "é\u0001"}},
			"\"a\"\"b\"\r\n\"a\r\nb\"\r\n\"a;b\"\r\n\"a|b\"\r\n\"a\tb\"\r\n\" a\"\r\n\"a \"\r\n\"\\.\"\r\na\\b\r\n" +
				"\"\"\"\n\"\"\"\r\né\u0001\r\n"},
		{"time and bytes", csv.Dialect{NoHeader: true}, []string{"since", "raw"},
			[]place{{Since: time.Date(2026, 11, 25, 1, 2, 3, 0, time.UTC), Raw: []byte("abc")}}, "2026-11-25T01:02:03Z,YWJj\r\n"},
	}
	for _, tt := range tests {
		got := encode(t, tt.dialect, tt.fields, tt.places...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestFormulas: with EscapeFormulas no cell begins with a character that starts a formula, and a
// decoder restores each text.
func TestFormulas(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"=1+1", "'=1+1"},
		{"+49 30", "'+49 30"},
		{"-x", "'-x"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"\t=1", "\"'\t=1\""},
		{"\r=1", "\"'\r=1\""},
		{"\n=1", "\"'\n=1\""},
		{"＝1", "'＝1"},
		{"＋1", "'＋1"},
		{"－1", "'－1"},
		{"＠1", "'＠1"},
		{`=HYPERLINK("x","y")`, `"'=HYPERLINK(""x"",""y"")"`},
		{"=a,b", `"'=a,b"`},
		{"'=1", "''=1"},
		{"''=1", "'''=1"},
		{"'x", "'x"},
		{"'", "'"},
		{"a=1", "a=1"},
		{"é=1", "é=1"},
		{"", `""`},
	}
	escaped := csv.Dialect{EscapeFormulas: true, NoHeader: true}
	for _, tt := range tests {
		got := encode(t, escaped, []string{"id"}, place{ID: tt.text})
		if diff := cmp.Diff(tt.want+"\r\n", got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
		quoted, _ := json.Marshal(tt.text)
		back := decode(t, got, &csv.DecoderOptions{Dialect: escaped, Columns: []string{"id"}})
		if diff := cmp.Diff([]string{`1 {"id":` + string(quoted) + `}`}, back); diff != "" {
			t.Errorf("%q, decoded (-want +got):\n%s", tt.text, diff)
		}
	}
	// So do decimals, although they are strings: a spreadsheet would add up only the positive ones.
	type entry struct {
		Amount string `json:"amount" format:"decimal"`
	}
	e, err := csv.NewEncoder(schema.For[entry](), escaped)
	if err != nil {
		t.Fatal(err)
	}
	for amount, want := range map[string]string{"-12.50": "-12.50", "12.50": "12.50", "-1+1": "'-1+1", "+1": "'+1", "": `""`} {
		row, err := e.Append(nil, &entry{amount})
		if err != nil || string(row) != want+"\r\n" {
			t.Errorf("decimal %q: %q, %v, want %q", amount, row, err, want)
		}
	}
	// Numbers stay numbers, and without the option the text is unchanged.
	got := encode(t, escaped, []string{"count", "lat", "extra"}, place{Count: -1, Lat: -0.5, Extra: -2.0})
	if diff := cmp.Diff("-1,-0.5,-2\r\n", got); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if got := encode(t, csv.Dialect{NoHeader: true}, []string{"id"}, place{ID: "=1"}); got != "=1\r\n" {
		t.Errorf("without the option: %q", got)
	}
}

const afterQuote = "syntax : there is text after the quotation mark that ends a cell; a mark in a cell must be doubled"

func TestDecode(t *testing.T) {
	t.Parallel()
	plain := func(columns ...string) *csv.DecoderOptions {
		return &csv.DecoderOptions{Dialect: csv.Dialect{NoHeader: true}, Columns: columns}
	}
	tests := []struct {
		name, content string
		o             *csv.DecoderOptions
		want          []string
	}{
		{"nothing", "", nil, nil},
		{"only a mark", "\ufeff", nil, nil},
		{"only a header", "id,name\r\n", nil, nil},
		{"a row", "\ufeffid,count\r\na,1\r\n", nil, []string{`2 {"id":"a","count":1}`}},
		{"LF, no end", "count,id\n1,a", nil, []string{`2 {"count":1,"id":"a"}`}},
		{"empty lines", "\n\r\nid,name\n\na,b\r\n\n\r\n", nil, []string{`5 {"id":"a","name":"b"}`}},
		{"lines in cells", "id,name\n\"a\r\nb\n\",\"c\"\"d\"\nx,y\n", nil,
			[]string{`2 {"id":"a\r\nb\n","name":"c\"d"}`, `5 {"id":"x","name":"y"}`}},
		{"empty cells", "id,name,note,count,tags,extra,kind\n,,,,,,\n\"\",\"\",\"\",,[],null,\"\"\n", nil,
			[]string{`2 {"note":null,"kind":null}`, `3 {"id":"","name":"","note":"","tags":[],"extra":null,"kind":""}`}},
		{"empty cells in quotation marks", "id,count,level,open,address,extra,since\n\"\",\"\",\"\",\"\",\"\",\"\",\"\"\n", nil,
			[]string{`2 {"id":"","level":null,"address":null,"since":""}`}},
		{"one column", "note\n\n\"\"\nx\n", nil, []string{`2 {"note":null}`, `3 {"note":""}`, `4 {"note":"x"}`}},
		{"booleans", "open,id\nTRUE,a\nFalse,b\nyes,c\n", nil,
			[]string{`2 {"open":true,"id":"a"}`, `3 {"open":false,"id":"b"}`, `4 {"open":"yes","id":"c"}`}},
		{"numbers", "count,lat,size\n-1,1.5e3,7\n", nil, []string{`2 {"count":-1,"lat":1.5e3,"size":"7"}`}},
		{"what is no number", "count,lat\n01,+1\n0x1,1.\n\" 1\",.5\n1e,-\n\"1,\"\"a\"\":2\",NaN\n", nil,
			[]string{`2 {"count":"01","lat":"+1"}`, `3 {"count":"0x1","lat":"1."}`, `4 {"count":" 1","lat":".5"}`,
				`5 {"count":"1e","lat":"-"}`, `6 {"count":"1,\"a\":2","lat":"NaN"}`}},
		{"JSON text", "id,tags,address,extra\na,\"[\"\"x\"\"]\",\"{\"\"street\"\":\"\"s\"\"}\",1\nb,x,\"{},\"\"a\"\":1\",\n", nil,
			[]string{`2 {"id":"a","tags":["x"],"address":{"street":"s"},"extra":1}`,
				`3 violations /tags type /address type: tags must be JSON text; address must be JSON text`}},
		{"without a header", "a,1\n", plain("id", "count"), []string{`1 {"id":"a","count":1}`}},
		{"semicolons", "id;name\na;b,c\n", &csv.DecoderOptions{Dialect: csv.Dialect{Delimiter: ';'}},
			[]string{`2 {"id":"a","name":"b,c"}`}},
		{"unknown column", "id,Name,x\na,b,c\n", nil,
			[]string{`violations /Name unknown /x unknown: column "Name" of line 1 is not a member; did you mean "name"?; ` +
				`column "x" of line 1 is not a member`}},
		{"unknown columns are ignored", "id,x\na,b\n", &csv.DecoderOptions{AllowUnknown: true}, []string{`2 {"id":"a"}`}},
		{"a column twice", "id,name,id\n", nil, []string{`violations /id duplicateName: column "id" of line 1 occurs twice`}},
		{"too few and too many", "id,name\na\na,b\na,b,c\n", nil,
			[]string{"2 syntax columns : the row has 1 cells, but must have 2", `3 {"id":"a","name":"b"}`,
				"4 syntax columns : the row has 3 cells, but must have 2"}},
		{"quotation marks", "id,name\na\"b,c\n\"a\"b,c\n\"a\" ,c\nd,e\n", nil,
			[]string{"2 syntax syntax : a cell with a quotation mark must be quoted, and the mark doubled",
				"3 syntax " + afterQuote, "4 syntax " + afterQuote, `5 {"id":"d","name":"e"}`}},
		{"open quotation mark", "id,name\na,b\n\"a,b\nc,d\n", nil,
			[]string{`2 {"id":"a","name":"b"}`, "3-4 syntax syntax : the quotation mark that begins a cell is not closed, " +
				"so the rest of the content is part of the row"}},
		{"open quotation mark of a row that is too long", "id,name\n\"a,b\nc,d\n" + strings.Repeat("x,y\n", 20),
			&csv.DecoderOptions{MaxRow: 20}, []string{"2-23 syntax syntax : the quotation mark that begins a cell is not closed, " +
				"so the rest of the content is part of the row"}},
		{"lines after a bad cell", "id,name\n\"a\"b,\"c\nd,e\"\nf,g\n", nil, []string{"2 syntax " + afterQuote,
			"3 syntax syntax : a cell with a quotation mark must be quoted, and the mark doubled", `4 {"id":"f","name":"g"}`}},
		{"an open quotation mark after a bad cell", "id,name\n\"a\"b\"\nf,g\n", nil,
			[]string{"2 syntax " + afterQuote, `3 {"id":"f","name":"g"}`}},
		{"a mark after a backslash", `id,name` + "\n" + `a,"x\"y"` + "\n" + `b,"z"` + "\n" + `c,"d"` + "\n", nil,
			[]string{"2 syntax " + afterQuote, `3 {"id":"b","name":"z"}`, `4 {"id":"c","name":"d"}`}},
		{"inches", `id,name` + "\n" + `a,"12" pipe"` + "\n" + `b,"z"` + "\n" + `c,d`, nil,
			[]string{"2 syntax " + afterQuote, `3 {"id":"b","name":"z"}`, `4 {"id":"c","name":"d"}`}},
		{"lines up to the next mark", "id,name\n\"a,b\nc,d\ne,\"f\"\ng,h\n", nil,
			[]string{"2-4 syntax " + afterQuote, `5 {"id":"g","name":"h"}`}},
		{"names that occur twice", "address,tags\n\"{\"\"street\"\":1,\"\"street\"\":2}\",[]\n", nil,
			[]string{`2 {"address":{"street":1,"street":2},"tags":[]}`}},
		{"UTF-8 in JSON text", "id,tags\na,\"[\"\"\xff\"\"]\"\n", nil,
			[]string{"2 syntax encoding /tags: tags is not valid UTF-8"}},
		{"a header of commas", strings.Repeat(",", 1<<20-2) + "\n", nil,
			[]string{"syntax columns : the header row has 1048575 cells, but must have 10000 at most"}},
		{"a row of commas", "id,name\n" + strings.Repeat(",", 99_999) + "\na,b\n", nil,
			[]string{"2 syntax columns : the row has 100000 cells, but must have 2", `3 {"id":"a","name":"b"}`}},
		{"a long name", strings.Repeat("é", 100) + "\n", nil,
			[]string{"violations /" + strings.Repeat("é", 50) + "... unknown: column \"" + strings.Repeat("é", 50) +
				"...\" of line 1 is not a member"}},
		{"carriage returns", "id,name\na\rb,c\nd,e\r", nil,
			[]string{"2 syntax syntax : a cell with a carriage return must be quoted; rows end with CRLF or LF",
				"3 syntax syntax : a cell with a carriage return must be quoted; rows end with CRLF or LF"}},
		{"UTF-8", "id,name\n\xff,a\nb,\xff\n", nil,
			[]string{"2 syntax encoding /id: id is not valid UTF-8", "3 syntax encoding /name: name is not valid UTF-8"}},
		{"too long", "id,name\na," + strings.Repeat("x", 200_000) + "\n\"b\n" + strings.Repeat("y", 100) + "\",c\nd,e\n",
			&csv.DecoderOptions{MaxRow: 20},
			[]string{"2 csv: the row is too long", "3-4 csv: the row is too long", `5 {"id":"d","name":"e"}`}},
		{"a header that is too long", "id,name\n", &csv.DecoderOptions{MaxRow: 5}, []string{"csv: the row is too long"}},
		{"secrets can be written", "id,secret\na,b\n", nil, []string{`2 {"id":"a","secret":"b"}`}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, decode(t, tt.content, tt.o)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestReadError: an error of the reader ends the rows and is returned unchanged.
func TestReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fails := func(content string) io.Reader {
		r, w := io.Pipe()
		go func() {
			io.WriteString(w, content)
			w.CloseWithError(broken)
		}()
		return r
	}
	for _, content := range []string{"", "id,na", "id,name\n"} {
		d, err := csv.NewDecoder(fails(content), placeType, nil)
		if err == nil {
			_, err = d.Append(nil)
		}
		if err != broken {
			t.Errorf("%q: error %v, want that of the reader", content, err)
		}
	}
}

func TestDialect(t *testing.T) {
	t.Parallel()
	excel := csv.Dialect{Delimiter: ';', BOM: true, EscapeFormulas: true}
	tests := []struct {
		name, params string
		base, want   csv.Dialect
		fault        string
		media        string
	}{
		{"none", "", csv.Dialect{}, csv.Dialect{}, "", "text/csv; charset=utf-8; header=present"},
		{"registered", ";charset=UTF-8;header=absent", csv.Dialect{}, csv.Dialect{NoHeader: true}, "",
			"text/csv; charset=utf-8; header=absent"},
		{"all", `;header=present;delimiter=";";bom=present;formulas=escaped`, csv.Dialect{}, excel, "",
			`text/csv; charset=utf-8; header=present; delimiter=";"; bom=present; formulas=escaped`},
		{"none keeps the base", "", excel, excel, "",
			`text/csv; charset=utf-8; header=present; delimiter=";"; bom=present; formulas=escaped`},
		{"back to the default", `;delimiter=",";bom=ABSENT;formulas=plain`, excel, csv.Dialect{Delimiter: ','}, "",
			"text/csv; charset=utf-8; header=present"},
		{"tab by name", ";delimiter=tab", csv.Dialect{}, csv.Dialect{Delimiter: '\t'}, "",
			"text/csv; charset=utf-8; header=present; delimiter=tab"},
		{"tab", ";delimiter=\"\t\"", csv.Dialect{}, csv.Dialect{Delimiter: '\t'}, "",
			"text/csv; charset=utf-8; header=present; delimiter=tab"},
		{"pipe", `;delimiter="|"`, csv.Dialect{}, csv.Dialect{Delimiter: '|'}, "",
			`text/csv; charset=utf-8; header=present; delimiter="|"`},
		{"charset", ";charset=latin1", csv.Dialect{}, csv.Dialect{}, "parameter charset of text/csv must be utf-8", ""},
		{"header", ";header=yes", csv.Dialect{}, csv.Dialect{}, "parameter header of text/csv must be present or absent", ""},
		{"delimiter", ";delimiter=x", csv.Dialect{}, csv.Dialect{},
			`parameter delimiter of text/csv must be ",", ";", "|" or tab`, ""},
		{"delimiters", `;delimiter=",;"`, csv.Dialect{}, csv.Dialect{},
			`parameter delimiter of text/csv must be ",", ";", "|" or tab`, ""},
		{"bom", ";bom=1", csv.Dialect{}, csv.Dialect{}, "parameter bom of text/csv must be present or absent", ""},
		{"formulas", ";formulas=present", csv.Dialect{}, csv.Dialect{},
			"parameter formulas of text/csv must be escaped or plain", ""},
		{"unknown", ";quote=x", csv.Dialect{}, csv.Dialect{}, `parameter "quote" of text/csv is not supported; ` +
			"the parameters are charset, header, delimiter, bom and formulas", ""},
	}
	for _, tt := range tests {
		mt, err := header.ParseMediaType("text/csv" + tt.params)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tt.base.With(mt.Params)
		if err != nil {
			if diff := cmp.Diff(tt.fault, err.Error()); diff != "" {
				t.Errorf("%s: error (-want +got):\n%s", tt.name, diff)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || tt.fault != "" {
			t.Errorf("%s: want error %q; dialect (-want +got):\n%s", tt.name, tt.fault, diff)
		}
		if diff := cmp.Diff(tt.media, got.MediaType()); diff != "" {
			t.Errorf("%s: media type (-want +got):\n%s", tt.name, diff)
		}
		// The media type names the dialect in full.
		if mt, err = header.ParseMediaType(got.MediaType()); err != nil {
			t.Fatal(err)
		}
		if again, err := (csv.Dialect{}).With(mt.Params); err != nil || again.MediaType() != got.MediaType() {
			t.Errorf("%s: %q is parsed as %+v, %v", tt.name, got.MediaType(), again, err)
		}
	}
}

func TestInvalidUse(t *testing.T) {
	t.Parallel()
	if _, err := csv.NewEncoder(placeType, csv.Dialect{}, "id", "secret"); err == nil {
		t.Error("a writeOnly member is a column")
	}
	o := &csv.DecoderOptions{Dialect: csv.Dialect{NoHeader: true}, Columns: []string{"x"}}
	if _, err := csv.NewDecoder(strings.NewReader(""), placeType, o); err == nil {
		t.Error("an unknown member is a column")
	}
	for name, use := range map[string]func(){
		"encoder": func() { csv.NewEncoder(placeType, csv.Dialect{Delimiter: 'x'}) },
		"decoder": func() {
			csv.NewDecoder(strings.NewReader(""), placeType, &csv.DecoderOptions{Dialect: csv.Dialect{Delimiter: '"'}})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic for an invalid delimiter", name)
				}
			}()
			use()
		}()
	}
	e, err := csv.NewEncoder(placeType, csv.Dialect{}, "id", "extra")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := e.Append([]byte("x"), &place{ID: "a", Extra: func() {}}); err == nil || string(out) != "x" {
		t.Errorf("a value that is not JSON: %q, %v", out, err)
	}
}

func TestRelated(t *testing.T) {
	t.Parallel()
	e, err := csv.NewEncoder(placeType, csv.Dialect{}, "id")
	if err != nil {
		t.Fatal(err)
	}
	out := e.AppendHeader(nil, "owner", "visits")
	out, err = e.Append(out, &place{ID: "a"}, []byte(`{"id":1}`), []byte("[]"))
	if err == nil {
		out, err = e.Append(out, &place{ID: "b"}, []byte("null"), []byte(`[{"id":2}]`))
	}
	want := "id,owner,visits\r\na,\"{\"\"id\"\":1}\",[]\r\nb,,\"[{\"\"id\"\":2}]\"\r\n"
	if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestAllocations: a row takes constant memory, whether it is written or read. It is not parallel,
// because testing.AllocsPerRun measures the whole process.
func TestAllocations(t *testing.T) {
	p := place{ID: `a "b"`, Name: "=x,\n", Note: pointer("é"), Count: 5, Lat: 1.25, Tags: []string{"x", "y"}}
	e, err := csv.NewEncoder(placeType, csv.Dialect{EscapeFormulas: true})
	if err != nil {
		t.Fatal(err)
	}
	row, err := e.Append(nil, &p)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 1024)
	// One for the text of each of two members with escapes.
	if n := testing.AllocsPerRun(1000, func() { buf, _ = e.Append(buf[:0], &p) }); n > 2 {
		t.Errorf("writing a row takes %v allocations, want 2 at most", n)
	}
	const rows = 1000
	d, err := csv.NewDecoder(strings.NewReader(strings.Repeat(string(row), rows+2)), placeType,
		&csv.DecoderOptions{Dialect: csv.Dialect{NoHeader: true, EscapeFormulas: true}})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(rows, func() {
		if buf, err = d.Append(buf[:0]); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("reading a row takes %v allocations, want 1 at most", n)
	}
}

// TestHeaderOfCommas: the memory of a header row is limited. It is not parallel, because it measures
// the whole process.
func TestHeaderOfCommas(t *testing.T) {
	content := strings.Repeat(",", 1<<20-2) + "\n"
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			csv.NewDecoder(strings.NewReader(content), placeType, &csv.DecoderOptions{AllowUnknown: true})
		}
	})
	if n := r.AllocedBytesPerOp(); n > 2<<20 {
		t.Errorf("a header row of 1 MiB takes %d bytes, want 2 MiB at most", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	p := place{ID: "264371", Name: "Athens", Note: pointer("the capital"), Count: 664046, Lat: 37.98376}
	e, _ := csv.NewEncoder(placeType, csv.Dialect{})
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = e.Append(buf[:0], &p)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecode(b *testing.B) {
	p := place{ID: "264371", Name: "Athens", Note: pointer("the capital"), Count: 664046, Lat: 37.98376}
	row := encode(b, csv.Dialect{NoHeader: true}, nil, p)
	o := &csv.DecoderOptions{Dialect: csv.Dialect{NoHeader: true}}
	d, _ := csv.NewDecoder(&repeat{text: row}, placeType, o)
	var buf []byte
	b.SetBytes(int64(len(row)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = d.Append(buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

// repeat is an endless reader of a text.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}
