package patch_test

import (
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/stoa-go/stoa/resource/patch"
)

const (
	benchDoc = `{"id":"ord_01","customer":"cus_42","status":"open","total":129.90,"currency":"EUR",` +
		`"items":3,"note":"leave at the desk","paid":false,"tags":["gift","fast"],` +
		`"address":{"city":"Graz","zip":"8010"}}`
	benchMerge = `{"status":"paid","paid":true,"note":null}`
	benchJSON  = `[{"op":"test","path":"/status","value":"open"},` +
		`{"op":"replace","path":"/status","value":"paid"},` +
		`{"op":"add","path":"/tags/-","value":"new"}]`
)

func BenchmarkApply(b *testing.B) {
	for _, bb := range []struct {
		name  string
		parse parser
		patch string
	}{
		{"merge", patch.ParseMergePatch, benchMerge},
		{"json", patch.ParseJSONPatch, benchJSON},
	} {
		b.Run(bb.name, func(b *testing.B) {
			p, err := bb.parse([]byte(bb.patch), patch.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Apply([]byte(benchDoc)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEvanphx measures evanphx/json-patch for comparison, with the patch parsed in advance if
// its API permits that.
func BenchmarkEvanphx(b *testing.B) {
	b.Run("merge", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := jsonpatch.MergePatch([]byte(benchDoc), []byte(benchMerge)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		p, err := jsonpatch.DecodePatch([]byte(benchJSON))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Apply([]byte(benchDoc)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.Run("merge", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = patch.ParseMergePatch([]byte(benchMerge), patch.Limits{})
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = patch.ParseJSONPatch([]byte(benchJSON), patch.Limits{})
		}
	})
}
