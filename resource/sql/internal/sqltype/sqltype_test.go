package sqltype_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

func TestParse(t *testing.T) {
	t.Parallel()
	known := func(name string, size, scale int, array bool, sql string) sqltype.Type {
		return sqltype.Type{Name: name, Known: true, Size: size, Scale: scale, Array: array, SQL: sql}
	}
	tests := []struct {
		text string
		want sqltype.Type
	}{
		{"text", sqltype.Of("text")},
		{" Double  Precision", sqltype.Of("double precision")},
		{"int8", sqltype.Of("bigint")},
		{"numeric", sqltype.Of("numeric")},
		{"numeric(12,2)", known("numeric", 12, 2, false, "numeric(12,2)")},
		{"decimal( 12 , 2 )", known("numeric", 12, 2, false, "numeric(12,2)")},
		{"numeric(5)", known("numeric", 5, 0, false, "numeric(5)")},
		{"numeric(12,2)[]", known("numeric", 12, 2, true, "numeric(12,2)[]")},
		{"character varying(255)", known("varchar", 255, -1, false, "varchar(255)")},
		{"character(3)", known("char", 3, -1, false, "char(3)")},
		{"timestamp without time zone", sqltype.Of("timestamp")},
		{"timestamp(3) with time zone", known("timestamptz", 3, -1, false, "timestamptz(3)")},
		{"time with time zone", sqltype.Of("timetz")},
		{"public.citext", known("citext", -1, -1, false, `"public"."citext"`)},
		{"customer_tier", sqltype.Type{Name: `"customer_tier"`, Size: -1, Scale: -1, SQL: `"customer_tier"`}},
		{"shop.Tier[]", sqltype.Type{Name: `"shop"."Tier"`, Size: -1, Scale: -1, Array: true, SQL: `"shop"."Tier"[]`}},
	}
	for _, tt := range tests {
		got, err := sqltype.Parse(tt.text)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tt.text, diff)
		}
		if again, err := sqltype.Parse(strings.ReplaceAll(got.SQL, `"`, "")); err != nil || again != got {
			t.Errorf("Parse(%q) = %v, %v; want %v", got.SQL, again, err, got)
		}
		if elem := got.Elem(); elem.Array || strings.HasSuffix(elem.SQL, "[]") {
			t.Errorf("Parse(%q).Elem() = %v", tt.text, elem)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", "text[][]", "numeric(12", "numeric(1,2,3)", "numeric(a)", "text(5)",
		"varchar(1,2)", "a.b.c", "order state", `a"b`, "a;b", "a'b", "x)::text", "a.", ".b", "a\x00b", "varchar(99999)"} {
		if got, err := sqltype.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", text, got)
		}
	}
}

// FuzzParse checks that a type is a known name with numbers, or a quoted name.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"numeric(12,2)", "shop.tier[]", "timestamp(3) without time zone", `"`, "a b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := sqltype.Parse(text)
		if err != nil {
			return
		}
		if parts := strings.Split(strings.TrimSuffix(got.SQL, "[]"), `"`); got.SQL[0] == '"' {
			if len(parts) != 3 && len(parts) != 5 {
				t.Errorf("Parse(%q).SQL = %s, which has another number of quotation marks", text, got.SQL)
			}
			return
		}
		if strings.Trim(got.SQL, "abcdefghijklmnopqrstuvwxyz0123456789 (,)[]") != "" {
			t.Errorf("Parse(%q).SQL = %s", text, got.SQL)
		}
	})
}
