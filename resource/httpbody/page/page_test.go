package page_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/httpbody/page"
)

// modules returns a file system from pairs of name and text.
func modules(pairs ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

func TestLink(t *testing.T) {
	t.Parallel()
	got, err := page.Link(modules(
		"app.js", "// The page.\nimport { b } from './b.js'\nimport {\n\tA, $c,\n} from './a.js'\nnew A(b, $c)\n",
		"b.js", "import { A } from './a.js'\n/** @type {A} */\nexport const b = /** @type {A} */ (new A())\n"+
			"\t/** @type {A} */ (b).go()\n",
		"a.js", "/**\n * @template T\n * @returns {T[]} one **/\nexport class A {}\nexport async function $c() {}\nlet d\n",
		"unused.js", "let unused\n",
	), "app.js")
	if err != nil {
		t.Fatal(err)
	}
	want := "class A {}\nasync function $c() {}\nlet d\n" +
		"const b = (new A())\n\t(b).go()\n" +
		"// The page.\nnew A(b, $c)\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("script (-want +got):\n%s", diff)
	}
}

func TestLinkShared(t *testing.T) {
	t.Parallel()
	got, err := page.Link(modules("app.js", "import { make } from '../../httpbody/page/dom.js'\nmake('p')\n"),
		"app.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nfunction make(tag, properties, ...children) {\n", "\nmake('p')\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the script lacks %q", want)
		}
	}
}

func TestLinkErrors(t *testing.T) {
	t.Parallel()
	const a = "export const a = 1\nconst hidden = 2\n"
	tests := []struct {
		name, app, want string
	}{
		{"not exported", "import { hidden } from './a.js'\n",
			`page: link: app.js imports "hidden", and a.js exports no such name`},
		{"renamed", "import { a as b } from './a.js'\n",
			`page: link: app.js imports "a as b", and a.js exports no such name`},
		{"no such module", "import { a } from './b.js'\n", "page: link: open b.js: file does not exist"},
		{"no such shared module", "import { a } from '../httpbody/page/b.js'\n",
			"page: link: open b.js: file does not exist"},
		{"another folder", "import { a } from '../a.js'\n",
			"page: link: app.js imports ../a.js, which is not in its folder and not shared"},
		{"a package", "import { a } from 'httpbody/page/dom.js'\n",
			"page: link: app.js imports httpbody/page/dom.js, which is not in its folder and not shared"},
		{"circle", "import { c } from './circle.js'\nexport const d = 1\n",
			"page: link: app.js imports itself through other modules"},
		{"name of another module", "import { a } from './a.js'\nfunction hidden() {}\n",
			"page: link: a.js and app.js declare hidden"},
		{"name of its own", "let b\nlet b\n", "page: link: app.js and app.js declare b"},
		{"whole module", "import * as a from './a.js'\n",
			"page: link: app.js has an unsupported statement: import * as a from './a.js'"},
		{"default export", "export default 1\n", "page: link: app.js has an unsupported statement: export default 1"},
		{"list of exports", "let a\nexport { a }\n", "page: link: app.js has an unsupported statement: export { a }"},
		{"two names in a statement", "let b = null, c\n",
			"page: link: app.js has an unsupported statement: let b = null, c"},
		{"pattern", "const [b, c] = [1, 2]\n",
			"page: link: app.js has an unsupported statement: const [b, c] = [1, 2]"},
		{"var", "var b\n", "page: link: app.js has an unsupported statement: var b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := modules("app.js", tt.app, "a.js", a, "circle.js", "import { d } from './app.js'\nexport const c = 1\n")
			_, err := page.Link(files, "app.js")
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	p := page.New(modules("app.js", "let a = '{{title}}'\n", "page.css", "p { margin: 0 }",
		"page.html", "<title>{{title}}</title><style>{{style}}</style><script>{{script}}</script>"),
		"{{title}}", "{{script}}")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	want := "<title>{{script}}</title><style>p { margin: 0 }</style><script>let a = '{{title}}'\n</script>"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"script-src " + httpbody.InlineSource("let a = '{{title}}'\n") + ";",
		"style-src " + httpbody.InlineSource("p { margin: 0 }") + ";", "default-src 'none';",
		"require-trusted-types-for 'script';", "connect-src 'self';"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %s lacks %s", policy, want)
		}
	}
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]fstest.MapFS{
		"script":    modules("page.css", "", "page.html", ""),
		"style":     modules("app.js", "", "page.html", ""),
		"page.html": modules("app.js", "", "page.css", ""),
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a page without %s is accepted", name)
				}
			}()
			page.New(files)
		}()
	}
}
