package model_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// selection returns a selection of all fields of t, up to a depth.
func selection(t *model.Type, depth int) string {
	var b strings.Builder
	for _, f := range t.Fields {
		named := f.Type.Named()
		switch {
		// a tag is different for each revision
		case f.Source == model.ETag || named.IsComposite() && depth == 0:
		case named.IsComposite():
			b.WriteString(f.Name + "{" + selection(named, depth-1) + "} ")
		default:
			b.WriteString(f.Name + " ")
		}
	}
	return b.String()
}

// execute sends a document to the handler and returns the response.
func execute(t *testing.T, h http.Handler, document string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

// TestRoundTrip writes, reads and filters values of each kind, and compares the responses.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := things()
	h := graphql.New(c, nil)
	all := selection(typeOf(reflected(t, c, nil), "Thing"), 1)
	tests := []struct{ name, document, want string }{
		{
			"create",
			`mutation{createThing(input:{id:"1" tags:["x"] asked:"a" oldAsked:"o" password:"p" givenBig:7 raw:{a:[1,null]} enum:a
				enumWord:y enums:[a,b] noEnum:"in-stock" truth:"true" secret:"__a" enumInt:1 quoted:"77" int:9007199254740993
				uint64:5 bounded:1 above:1 below:-1 ceiling:3 small:[1] moment:"2026-01-01T00:00:00+02:00" bytes:"AAE="
				part:{name:"n" kind:small hidden:"h" parts:[{name:"k" hidden:"h"}]} mapOf:{q:{name:"z" hidden:"h"}}
				inline:{mode:on more:{x:1}} hollow:{} fixed:{} unseen:{key:"k"} grid:[[1],[]] pair:[1,2] maybeInt:null
				dashedName:"d" spacedName:"s" snake_name:"sn" CAPS:"c"}){` + all + `}}`,
			`{"createThing":{"id":"1","text":"","word":"","dotted":".","bytes":"AAE=",` +
				`"moment":"2026-01-01T00:00:00+02:00",` +
				`"yes":false,"int":9007199254740993,"int8":0,"int16":0,"int32":0,"int64":0,"uint":0,` +
				`"uint8":0,"uint16":0,"uint32":0,` +
				`"uint64":5,"bounded":1,"above":1,"below":-1,"floor":0,"ceiling":3,"uBounded":0,` +
				`"quoted":"77","quotedF":"0.25",` +
				`"float32":0,"float64":0,"enum":"a","enumOmit":null,"enumEmpty":null,"enumNull":null,` +
				`"enumWord":"y",` +
				`"enums":["a","b"],"noEnum":"in-stock","truth":"true","secret":"__a","enumInt":1,` +
				`"maybe":null,"maybeInt":null,` +
				`"any":null,"raw":{"a":[1,null]},"names":{},"maybeMap":null,"tags":["x"],"pointers":[],` +
				`"anys":[],"grid":[[1],[]],` +
				`"pair":[1,2],"small":[1],"maybeList":null,"part":{"name":"n","kind":"small","made":""},` +
				`"maybePart":null,"parts":[],` +
				`"mapOf":{"q":{"name":"z","kind":"big","parts":[],"of":null,"made":""}},"self":null,` +
				`"inline":{"mode":"on"},` +
				`"hollow":{},"unseen":{},"fixed":{"at":0},"inner":"","asked":"a","given":"x",` +
				`"givenInt":-7,"given64":8,"givenBig":7,` +
				`"givenF":0.5,"givenYes":true,"givenAt":"2026-11-21T06:00:00Z","once":"","old":"",` +
				`"oldAsked":"o","dashedName":"d",` +
				`"snake_name":"sn","spacedName":"s","CAPS":"c"}}`,
		},
		{
			"patch",
			`mutation{patchThing(id:"1" input:{part:{name:"other"} maybe:"m" inline:{more:{x:5}} parts:[{name:"q" hidden:"r"}]
				dashedName:"D" quoted:"-3" given:null enumNull:b}){part{name kind parts{name}} maybe inline{mode more{x}}
				parts{name kind} dashedName quoted given enumNull asked}}`,
			`{"patchThing":{"part":{"name":"other","kind":"small","parts":[{"name":"k"}]},"maybe":"m",` +
				`"inline":{"mode":"on","more":{"x":5}},"parts":[{"name":"q","kind":"big"}],` +
				`"dashedName":"D","quoted":"-3","given":"",` +
				`"enumNull":"b","asked":"a"}}`,
		},
		{
			"ask",
			`{things(filter:{quoted:{eq:"-3"} dashedName:{in:["D"]} moment:{lt:"2026-01-01T00:00:00Z"} enumWord:{eq:y}
				id:{startsWith:"1"} givenYes:{eq:true} maybe:{isNull:false} int:{gt:9007199254740992}}
				orderBy:[{field:dashedName direction:DESC}]){totalCount nodes{id}}}`,
			`{"things":{"totalCount":1,"nodes":[{"id":"1"}]}}`,
		},
		{
			"replace", // absent fields have their defaults again, and write-only fields keep their values
			`mutation{replaceThing(id:"1" input:{tags:[] asked:"a2" oldAsked:"o" maybeInt:3 raw:null enumWord:x inline:{mode:off}
				part:{name:"w" hidden:"h"} noEnum:"sold" truth:"maybe" secret:"b" enumInt:2}){asked given givenInt enum raw maybe
				maybeInt part{name kind} parts{name} inline{mode more{x}}}}`,
			`{"replaceThing":{"asked":"a2","given":"x","givenInt":-7,"enum":"C","raw":null,"maybe":null,` +
				`"maybeInt":3,` +
				`"part":{"name":"w","kind":"big"},"parts":[],"inline":{"mode":"off","more":{"x":0}}}}`,
		},
	}
	for _, tt := range tests { // in sequence, because each depends on the state that the previous one leaves
		if diff := cmp.Diff(`{"data":`+tt.want+`}`, execute(t, h, tt.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
