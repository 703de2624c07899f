package rest_test

import (
	"net/http"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/version"
)

// versionedCommands serves commands in the contracts 1.0.0 and 2.0.0, with all strategies.
func versionedCommands(t testing.TB, parts ...resource.Part) http.Handler {
	t.Helper()
	in := command.New("auth/login", login, &command.Options[loginIn]{Public: true})
	c := catalog(t, append([]resource.Part{in}, parts...)...)
	return version.New([]version.Contract{{Name: "1.0.0", Handler: c}, {Name: "2.0.0", Handler: c}}, []version.Strategy{
		version.Path{}, version.Query{}, version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"}, version.Body{},
	}, &version.Options{Default: "2.0.0"})
}
