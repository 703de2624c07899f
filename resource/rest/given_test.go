package rest_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// gateway has writeOnly members and defaults in all places of a document.
type gateway struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	PIN     string            `json:"pin" writeOnly:"true"`
	Free    any               `json:"free,omitempty"`
	Auth    hookAuth          `json:"auth"`
	Backup  *hook             `json:"backup,omitempty"`
	Hooks   []hook            `json:"hooks,omitempty"`
	Servers []hook            `json:"servers,omitempty" key:"url"`
	Named   map[string]hook   `json:"named,omitempty"`
	Groups  map[string][]hook `json:"groups,omitempty"`
	Plain   []plainHook       `json:"plain,omitempty"`
	ByName  map[string]*retry `json:"byName,omitempty"`
	Fixed   [2]plainHook      `json:"fixed"`
}

type hook struct {
	URL    string   `json:"url"`
	Number int      `json:"number" readOnly:"true"`
	Mode   string   `json:"mode" enum:"on,off" default:"on"`
	Size   int      `json:"size,omitzero" default:"5"`
	Secret string   `json:"secret" writeOnly:"true"`
	Auth   hookAuth `json:"auth"`
}

type hookAuth struct {
	User  string `json:"user"`
	Token string `json:"token" writeOnly:"true"`
	Tries *int   `json:"tries" default:"3"`
}

type plainHook struct {
	URL   string `json:"url,omitempty"`
	Mode  string `json:"mode" enum:"on,off" default:"on"`
	Size  int    `json:"size,omitzero" default:"5"`
	Retry *retry `json:"retry,omitempty"`
}

type retry struct {
	Max int `json:"max" default:"9"`
}

// hookOf returns a stored hook. Its values differ from all defaults.
func hookOf(url, secret string) hook {
	return hook{URL: url, Mode: "off", Secret: secret, Auth: authOf(url, secret)}
}

func authOf(user, token string) hookAuth { return hookAuth{User: user, Token: token, Tries: new(1)} }

// newHook returns the hook that a client creates by its URL.
func newHook(url string) hook {
	return hook{URL: url, Mode: "on", Size: 5, Auth: hookAuth{Tries: new(3)}}
}

// TestRule068PatchSetsDefaults: a new object has the defaults that POST and PUT store, and an old one is as before.
func TestRule068PatchSetsDefaults(t *testing.T) {
	t.Parallel()
	created := plainHook{URL: "b", Mode: "on", Size: 5}
	old := plainHook{URL: "a", Mode: "off"} // without size, which GET omits
	tests := []struct {
		name, body, media string
		before, want      gateway
	}{
		{name: "merge, elements", body: `{"plain":[{"url":"a","mode":"off"},{"url":"b"}]}`,
			before: gateway{Plain: []plainHook{old}}, want: gateway{Plain: []plainHook{old, created}}},
		{name: "merge, the first element", body: `{"plain":[{"url":"b","retry":{}}]}`,
			want: gateway{Plain: []plainHook{{URL: "b", Mode: "on", Size: 5, Retry: &retry{9}}}}},
		{name: "merge, a changed element", body: `{"plain":[{"url":"b"}]}`,
			before: gateway{Plain: []plainHook{old}}, want: gateway{Plain: []plainHook{created}}},
		{name: "merge, an array of Go", body: `{"fixed":[{"url":"b"},{"mode":"off"}]}`,
			want: gateway{Fixed: [2]plainHook{created, {Mode: "off", Size: 5}}}},
		{name: "merge, values of a map", body: `{"byName":{"a":{},"b":{"max":1},"c":{"max":null},"d":null}}`,
			before: gateway{ByName: map[string]*retry{"a": {2}, "d": {4}}},
			want:   gateway{ByName: map[string]*retry{"a": {2}, "b": {1}, "c": {9}}}},
		{name: "merge, a member of an old value", body: `{"byName":{"a":{"max":null}}}`,
			before: gateway{ByName: map[string]*retry{"a": {2}}},
			want:   gateway{ByName: map[string]*retry{"a": {0}}}},
		{name: "merge, an object in place of null", body: `{"backup":{"url":"b"}}`,
			want: gateway{Backup: new(newHook("b"))}},
		{name: "merge, another member", body: `{"name":"n","auth":{"user":"u"}}`,
			before: gateway{Plain: []plainHook{old}, Backup: new(hookOf("a", "s"))},
			want: gateway{Name: "n", Auth: hookAuth{User: "u"}, Plain: []plainHook{old},
				Backup: new(hookOf("a", "s"))}},

		{name: "JSON Patch, an element", media: patchBody,
			body:   `[{"op":"add","path":"/plain/-","value":{"url":"b"}}]`,
			before: gateway{Plain: []plainHook{old}}, want: gateway{Plain: []plainHook{old, created}}},
		{name: "JSON Patch, an array", media: patchBody,
			body:   `[{"op":"replace","path":"/plain","value":[{"url":"b"},{"url":"a","mode":"off"}]}]`,
			before: gateway{Plain: []plainHook{old}}, want: gateway{Plain: []plainHook{created, old}}},
		{name: "JSON Patch, members of elements", media: patchBody,
			body: `[{"op":"add","path":"/plain/0/retry","value":{}},{"op":"replace","path":"/plain/0/url","value":"c"},` +
				`{"op":"copy","from":"/plain/0","path":"/plain/-"}]`,
			before: gateway{Plain: []plainHook{old}},
			want: gateway{Plain: []plainHook{{URL: "c", Mode: "off", Retry: &retry{9}},
				{URL: "c", Mode: "off", Retry: &retry{9}}}}},
		{name: "JSON Patch, a value of a map", media: patchBody,
			body:   `[{"op":"add","path":"/byName/b","value":{}},{"op":"remove","path":"/byName/a/max"}]`,
			before: gateway{ByName: map[string]*retry{"a": {2}}},
			want:   gateway{ByName: map[string]*retry{"a": {0}, "b": {9}}}},
		{name: "JSON Patch, an object in place of none", media: patchBody,
			body: `[{"op":"add","path":"/backup","value":{"url":"b"}}]`,
			want: gateway{Backup: new(newHook("b"))}},
		{name: "JSON Patch, added, moved and changed", media: patchBody,
			body: `[{"op":"add","path":"/free","value":{}},{"op":"add","path":"/plain","value":[{},{}]},` +
				`{"op":"move","from":"/plain/1","path":"/plain/0"},{"op":"add","path":"/plain/0/url","value":"b"},` +
				`{"op":"remove","path":"/plain/1"},{"op":"remove","path":"/free"}]`,
			want: gateway{Plain: []plainHook{created}}},
		{name: "a format", media: "Content-Type: text/x-constant", body: `{"id":"a","name":"","auth":{"user":""},` +
			`"plain":[{"url":"b"},{"url":"a","mode":"off"}],"fixed":[{"mode":"off"},{"mode":"off"}]}`,
			before: gateway{Plain: []plainHook{old}, Fixed: [2]plainHook{{Mode: "off"}, {Mode: "off"}}},
			want: gateway{Plain: []plainHook{created, old}, Fixed: [2]plainHook{{Mode: "off"},
				{Mode: "off"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.media == "" {
				tt.media = mergeBody
			}
			for _, g := range []*gateway{&tt.before, &tt.want} {
				if g.Fixed == [2]plainHook{} {
					g.Fixed = [2]plainHook{{Mode: "on"}, {Mode: "on"}}
				}
			}
			checkGateway(t, tt.before, "PATCH", tt.media, tt.body, tt.want)
		})
	}
}

// checkGateway sends a request that changes one gateway to another.
func checkGateway(t *testing.T, before gateway, method, media, body string, want gateway) {
	t.Helper()
	before.ID, want.ID = "a", "a"
	store := stocked[gateway](t)
	if _, err := store.Insert(t.Context(), "a", before); err != nil {
		t.Fatal(err)
	}
	constant := patch.Format{MediaType: "text/x-constant",
		Apply: func(_, p []byte) ([]byte, error) { return p, nil }}
	h := catalogWith(t, &rest.Options{PatchFormats: []patch.Format{constant}}, resource.New("gateways", store, nil))
	res := send(t, h, method+" /gateways/a", media, "", body)
	if res.status != http.StatusOK {
		t.Fatalf("%s: %d %s", body, res.status, res.body)
	}
	if diff := cmp.Diff(want, stored(t, store, "a")); diff != "" {
		t.Errorf("stored after %s (-want +got):\n%s", body, diff)
	}
}

// TestRule123SentBackKeepsSecrets: an element keeps its writeOnly members if its visible members, or its key, equal those of
// an element before, at any index. Others are new. PUT, both patches and formats agree.
func TestRule123SentBackKeepsSecrets(t *testing.T) {
	t.Parallel()
	a, b, c := hookOf("a", "sa"), hookOf("b", "sb"), hookOf("c", "sc")
	const (
		docA = `{"url":"a","number":0,"mode":"off","auth":{"user":"a","tries":1}}`
		docB = `{"auth":{"tries":1.0,"user":"b"},"mode":"off","url":"b"}`
		docC = `{"url":"c","mode":"off","auth":{"user":"c","tries":1}}`
	)
	with := func(h hook, change func(*hook)) hook {
		change(&h)
		return h
	}
	numbered := func(h hook, n int) hook { return with(h, func(h *hook) { h.Number = n }) }
	tests := []struct {
		name   string
		elems  string // of the array
		before []hook
		want   []hook // without a key
		keyed  []hook // with the key url; want if nil
	}{
		{name: "unchanged", elems: docA + "," + docB, before: []hook{a, b}, want: []hook{a, b}},
		{name: "swapped", elems: docB + "," + docA, before: []hook{a, b}, want: []hook{b, a}},
		{name: "removed", elems: docB, before: []hook{a, b}, want: []hook{b}},
		{name: "inserted", elems: `{"url":"n"},` + docA + "," + docB, before: []hook{a, b},
			want: []hook{newHook("n"), a, b}},
		{name: "rotated", elems: docC + "," + docA + "," + docB, before: []hook{a, b, c}, want: []hook{c, a, b}},
		{name: "changed key", elems: `{"url":"n","mode":"off","auth":{"user":"a","tries":1}},` + docB,
			before: []hook{a, b},
			want:   []hook{{URL: "n", Mode: "off", Size: 5, Auth: authOf("a", "")}, b}},
		{name: "changed member", elems: docB + `,{"url":"a","auth":{"user":"x"}}`, before: []hook{a, b},
			want: []hook{b, with(newHook("a"), func(h *hook) { h.Auth.User = "x" })},
			keyed: []hook{b, with(newHook("a"), func(h *hook) {
				h.Secret, h.Auth = "sa", hookAuth{User: "x", Token: "sa", Tries: new(3)}
			})}},
		{name: "written", elems: `{"url":"a","mode":"off","secret":"n","auth":{"user":"a","tries":1}},` +
			`{"url":"b","mode":"off","secret":"","auth":{"user":"b","tries":1,"token":""}}`, before: []hook{a, b},
			want: []hook{with(a, func(h *hook) { h.Secret = "n" }),
				with(b, func(h *hook) { h.Secret, h.Auth.Token = "", "" })}},
		{name: "twice", elems: docA + "," + docA, before: []hook{a},
			want: []hook{a, {URL: "a", Mode: "off", Size: 5, Auth: authOf("a", "")}}},
		{name: "equal elements", elems: `{"url":"n"},` + docA, before: []hook{with(a, func(h *hook) { h.Secret = "1" }),
			with(a, func(h *hook) { h.Secret = "2" })},
			want: []hook{newHook("n"), with(a, func(h *hook) { h.Secret = "2" })}},
		{name: "without readOnly members", elems: docB + "," + docA[:10] + docA[21:],
			before: []hook{numbered(a, 1), numbered(b, 2)}, want: []hook{numbered(b, 2), numbered(a, 1)}},
		{name: "readOnly members decide", elems: `{"url":"a","number":2,"mode":"off","auth":{"user":"a","tries":1}}`,
			before: []hook{numbered(a, 1), numbered(with(a, func(h *hook) { h.Secret = "2" }), 2)},
			want:   []hook{numbered(with(a, func(h *hook) { h.Secret = "2" }), 2)}},
		{name: "default", elems: `{"url":"a","auth":{}}`,
			before: []hook{with(newHook("a"), func(h *hook) { h.Secret = "s" })},
			want:   []hook{with(newHook("a"), func(h *hook) { h.Secret = "s" })}},
		{name: "none before", elems: `{"url":"n"}`, want: []hook{newHook("n")}},
	}
	places := []struct {
		name, before, after string // around the elements in the document of the item
		path                string
		set                 func(*gateway, []hook)
		keyed               bool
	}{
		{"array", `"hooks":[`, `]`, "/hooks", func(g *gateway, h []hook) { g.Hooks = h }, false},
		{"array with a key", `"servers":[`, `]`, "/servers", func(g *gateway, h []hook) { g.Servers = h }, true},
		{"map of arrays", `"groups":{"x":[`, `]}`, "/groups/x",
			func(g *gateway, h []hook) { g.Groups = map[string][]hook{"x": h} }, false},
	}
	for _, tt := range tests {
		for _, place := range places {
			before, want := gateway{Name: "n"}, gateway{Name: "n"}
			for _, g := range []*gateway{&before, &want} {
				g.Auth, g.Fixed = authOf("u", "t"), [2]plainHook{{Mode: "on", Size: 5}, {Mode: "on", Size: 5}}
			}
			after := tt.want
			if place.keyed && tt.keyed != nil {
				after = tt.keyed
			}
			place.set(&before, tt.before)
			place.set(&want, after)
			member := place.before + tt.elems + place.after
			whole := `{"id":"a","name":"n","auth":{"user":"u","tries":1},"fixed":[{},{}],` + member + `}`
			array := `[{"op":"add","path":"` + place.path + `","value":[` + tt.elems + `]}]`
			if place.path == "/groups/x" && tt.before == nil {
				before.Groups["x"] = []hook{}
			}
			for _, r := range []struct{ name, method, media, body string }{
				{"PUT", "PUT", jsonBody, whole},
				{"merge patch", "PATCH", mergeBody, "{" + member + "}"},
				{"JSON Patch, array", "PATCH", patchBody, array},
				{"JSON Patch, document", "PATCH", patchBody, `[{"op":"replace","path":"","value":` + whole + `}]`},
				{"format", "PATCH", "Content-Type: text/x-constant", whole},
			} {
				t.Run(tt.name+"/"+place.name+"/"+r.name, func(t *testing.T) {
					t.Parallel()
					expect := want
					if r.method == "PUT" {
						expect = putDefaults(want)
					}
					checkGateway(t, before, r.method, r.media, r.body, expect)
				})
			}
		}
	}
}

// putDefaults returns g after a PUT, which stores the default of each member that the document does not have.
func putDefaults(g gateway) gateway {
	filled := func(hooks []hook) []hook {
		hooks = slices.Clone(hooks)
		for i := range hooks {
			hooks[i].Size = 5
		}
		return hooks
	}
	if g.Hooks, g.Servers = filled(g.Hooks), filled(g.Servers); g.Groups != nil {
		g.Groups = map[string][]hook{"x": filled(g.Groups["x"])}
	}
	return g
}

// TestRule121KeepsSecrets: what a JSON Patch moves, replaces and adds keeps the writeOnly members that belong to
// it, and no operation reveals one.
func TestRule121KeepsSecrets(t *testing.T) {
	t.Parallel()
	a, b := hookOf("a", "sa"), hookOf("b", "sb")
	const docA = `{"url":"a","number":0,"mode":"off","auth":{"user":"a","tries":1}}`
	tests := []struct {
		name, ops string
		change    func(*gateway)
	}{
		{"test of the document", `{"op":"test","path":"","value":{"name":"n","id":"a","auth":{"user":"u","tries":1},` +
			`"backup":{"url":"b","number":0,"mode":"off","auth":{"user":"b","tries":1}},` +
			`"hooks":[` + docA + `,{"url":"b","number":0,"mode":"off","auth":{"user":"b","tries":1}}],` +
			`"named":{"x":` + docA + `},"fixed":[{"mode":"on"},{"mode":"on"}]}}`, func(*gateway) {}},
		{"test of an object", `{"op":"test","path":"/auth","value":{"user":"u","tries":1}}`, func(*gateway) {}},
		{"test of an element", `{"op":"test","path":"/hooks/0","value":` + docA + `}`, func(*gateway) {}},
		{"test after a write", `{"op":"add","path":"/hooks/0/secret","value":"x"},{"op":"test","path":"/hooks/0","value":` +
			docA + `}`, func(g *gateway) { g.Hooks[0].Secret = "x" }},
		{"copy of an element", `{"op":"copy","from":"/hooks/0","path":"/hooks/-"}`, func(g *gateway) {
			g.Hooks = append(g.Hooks, hook{URL: "a", Mode: "off", Auth: authOf("a", "")})
		}},
		{"copy to any", `{"op":"copy","from":"/auth","path":"/free"}`,
			func(g *gateway) { g.Free = map[string]any{"user": "u", "tries": 1.0} }},
		{"copy of an object", `{"op":"copy","from":"/hooks/0/auth","path":"/hooks/1/auth"}`,
			func(g *gateway) { g.Hooks[1].Auth = authOf("a", "") }},
		{"move of an element", `{"op":"move","from":"/hooks/0","path":"/hooks/1"}`,
			func(g *gateway) { g.Hooks = []hook{b, a} }},
		{"move to another place", `{"op":"move","from":"/hooks/0","path":"/named/y"}`, func(g *gateway) {
			g.Hooks = g.Hooks[1:]
			g.Named["y"] = hook{URL: "a", Mode: "off", Auth: authOf("a", "")}
		}},
		{"move to the same place", `{"op":"move","from":"/auth","path":"/auth"}`, func(*gateway) {}},
		{"replaced object", `{"op":"replace","path":"/auth","value":{"user":"v"}}`,
			func(g *gateway) { g.Auth = hookAuth{User: "v", Token: "t", Tries: new(3)} }},
		{"replaced object and secret", `{"op":"replace","path":"/auth","value":{"user":"v","tries":1,"token":"x"}}`,
			func(g *gateway) { g.Auth = authOf("v", "x") }},
		{"replaced value of a map", `{"op":"add","path":"/named/x","value":{"url":"v","number":0}}`, func(g *gateway) {
			h := newHook("v")
			h.Secret, h.Auth.Token = "sa", "sa"
			g.Named["x"] = h
		}},
		{"replaced element", `{"op":"replace","path":"/hooks/0","value":` + docA + `}`, func(*gateway) {}},
		{"replaced elements, swapped", `{"op":"replace","path":"/hooks/0","value":{"url":"b","mode":"off",` +
			`"auth":{"user":"b","tries":1}}},{"op":"replace","path":"/hooks/1","value":` + docA + `}`,
			func(g *gateway) { g.Hooks = []hook{b, a} }},
		{"replaced by another element", `{"op":"replace","path":"/hooks/0","value":{"url":"n"}}`,
			func(g *gateway) { g.Hooks[0] = newHook("n") }},
		{"removed and added", `{"op":"remove","path":"/hooks/0"},{"op":"add","path":"/hooks/-","value":` + docA + `}`,
			func(g *gateway) { g.Hooks = []hook{b, a} }},
		{"added once more", `{"op":"add","path":"/hooks/0","value":` + docA + `}`, func(g *gateway) {
			g.Hooks = []hook{{URL: "a", Mode: "off", Size: 5, Auth: authOf("a", "")}, a, b}
		}},
		{"member of an element", `{"op":"replace","path":"/hooks/0/mode","value":"on"}`,
			func(g *gateway) { g.Hooks[0].Mode = "on" }},
		{"object in an element", `{"op":"replace","path":"/hooks/0/auth","value":{"user":"v"}}`,
			func(g *gateway) { g.Hooks[0].Auth = hookAuth{User: "v", Token: "sa", Tries: new(3)} }},
		{"removed secrets", `{"op":"remove","path":"/hooks/0/secret"},{"op":"remove","path":"/auth/token"},` +
			`{"op":"remove","path":"/pin"}`,
			func(g *gateway) { g.Hooks[0].Secret, g.Auth.Token, g.PIN = "", "", "" }},
		{"removed secret, moved", `{"op":"remove","path":"/hooks/0/secret"},` +
			`{"op":"move","from":"/hooks/0","path":"/hooks/1"}`,
			func(g *gateway) { a := a; a.Secret = ""; g.Hooks = []hook{b, a} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begin := func() gateway {
				return gateway{Name: "n", PIN: "p", Auth: authOf("u", "t"), Backup: new(b), Hooks: []hook{a, b},
					Named: map[string]hook{"x": a}, Fixed: [2]plainHook{{Mode: "on"}, {Mode: "on"}}}
			}
			want := begin()
			tt.change(&want)
			checkGateway(t, begin(), "PATCH", patchBody, "["+tt.ops+"]", want)
		})
	}
}

// TestViewKeepsOmittedZero: a write through a view changes what was asked, and not a zero value that the encoding
// omits to the default.
func TestViewKeepsOmittedZero(t *testing.T) {
	t.Parallel()
	type named struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	type plain struct {
		ID   string      `json:"id"`
		Name string      `json:"name"`
		Size int         `json:"size,omitzero" default:"5"`
		All  []plainHook `json:"all"`
	}
	store := stocked[plain](t)
	if _, err := store.Insert(t.Context(), "a", plain{All: []plainHook{{Mode: "off"}}}); err != nil {
		t.Fatal(err)
	}
	all := resource.New("plains", store, nil)
	view := resource.View(all,
		func(p plain) (named, error) { return named{p.ID, p.Name}, nil },
		func(v named, base plain) (plain, error) { base.Name = v.Name; return base, nil }, nil)
	want(t, send(t, catalog(t, view), "PATCH /plains/a", mergeBody, "", `{"name":"n"}`), http.StatusOK)
	if diff := cmp.Diff(plain{ID: "a", Name: "n", All: []plainHook{{Mode: "off"}}}, stored(t, store, "a")); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}
