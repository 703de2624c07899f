package patch_test

import (
	"errors"
	"testing"

	"github.com/stoa-go/stoa/resource/patch"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ media, text, want string }{
		{patch.MergeType, `{ "b": 1.0, "a": "\u0062" }`, `{"b":1.0,"a":"b"}`},
		{patch.MergeType, `null`, `null`},
		{patch.JSONType, ` [{"op": "remove", "path": "/a"}]`, `[{"op":"remove","path":"/a"}]`},
	} {
		p, err := patch.Parse(tt.media, []byte(tt.text), patch.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(p.Text()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
	for _, p := range []*patch.Patch{{}, patch.Invalid(errors.New("x"))} {
		if got := p.Text(); got != nil {
			t.Errorf("%s, want nil", got)
		}
	}
}
