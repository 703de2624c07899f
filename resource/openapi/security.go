package openapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// SecurityScheme is a way to say who one is. Which of the fields count depends on Type.
type SecurityScheme struct {
	// Name is what the document calls the scheme: bearerAuth. Letters, digits and ._- make it up.
	Name string
	// Type is http, apiKey, oauth2 or openIdConnect.
	Type string
	// Description is for people, in CommonMark.
	Description string

	// Scheme, for http, is that of the field Authorization: bearer, basic. BearerFormat hints at what a token is: JWT.
	Scheme, BearerFormat string
	// In, for apiKey, is header, query or cookie, and Key the name of what holds the key there.
	In, Key string
	// URL, for openIdConnect, is where the provider describes itself.
	URL string
	// AuthorizationURL and TokenURL, for oauth2, are those of the provider. With both it is the authorization code flow,
	// with TokenURL alone that of client credentials.
	AuthorizationURL, TokenURL string
	// Scopes, for oauth2, are what can be granted, and what that allows.
	Scopes map[string]string
	// Require, for oauth2 and openIdConnect, are the scopes without which nothing is served.
	Require []string
}

var validComponent = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// checkSecurity panics on a scheme of which no client could make anything.
func (o *Options) checkSecurity() {
	seen := map[string]bool{}
	for i := range o.Security {
		s := &o.Security[i]
		if !validComponent.MatchString(s.Name) || seen[s.Name] {
			panic(fmt.Sprintf("openapi: Options.Security: %q cannot be the name of a scheme: letters, digits and ._- can, once",
				s.Name))
		}
		seen[s.Name] = true
		if missing := s.missing(); missing != "" {
			panic(fmt.Sprintf("openapi: Options.Security: scheme %s of type %q needs %s", s.Name, s.Type, missing))
		}
	}
}

// missing says what the scheme lacks; "" if nothing.
func (s *SecurityScheme) missing() string {
	switch {
	case s.Type == "http" && s.Scheme == "":
		return "a Scheme"
	case s.Type == "apiKey" && (s.Key == "" || !slices.Contains([]string{"header", "query", "cookie"}, s.In)):
		return "a Key, and In to be header, query or cookie"
	case s.Type == "openIdConnect" && s.URL == "":
		return "a URL"
	case s.Type == "oauth2" && s.TokenURL == "":
		return "a TokenURL"
	case !slices.Contains([]string{"http", "apiKey", "openIdConnect", "oauth2"}, s.Type):
		return "a Type that there is: http, apiKey, oauth2 or openIdConnect"
	}
	return ""
}

// object writes down what belongs to the type of the scheme. The rest, if it is there, is left out.
func (s *SecurityScheme) object() *securityObject {
	out := &securityObject{Type: s.Type, Description: s.Description}
	switch s.Type {
	case "http":
		out.Scheme, out.BearerFormat = s.Scheme, s.BearerFormat
	case "apiKey":
		out.In, out.Name = s.In, s.Key
	case "openIdConnect":
		out.OpenIDConnectURL = s.URL
	case "oauth2":
		flow := &flowObject{AuthorizationURL: s.AuthorizationURL, TokenURL: s.TokenURL}
		flow.Scopes = ordered[string]{}
		for _, name := range slices.Sorted(maps.Keys(s.Scopes)) {
			flow.Scopes.add(name, s.Scopes[name])
		}
		out.Flows = &flowsObject{AuthorizationCode: flow}
		if s.AuthorizationURL == "" {
			out.Flows = &flowsObject{ClientCredentials: flow}
		}
	}
	return out
}

// requirements are what an operation needs unless it says otherwise: one of the schemes.
func (o *Options) requirements() []requirement {
	out := []requirement{} // no nil: nothing is needed, which is said
	for i := range o.Security {
		s := &o.Security[i]
		scopes := slices.Clone(s.Require)
		if scopes == nil {
			scopes = []string{}
		}
		out = append(out, requirement{{s.Name, scopes}})
	}
	return out
}
