package openapi

// Authentication schemes. New in openapi.go checks them, and document.go adds them to the document.

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// SecurityScheme is an authentication scheme. Its Type determines which fields are used.
type SecurityScheme struct {
	// Name is the component name, such as bearerAuth: letters, digits, dots, hyphens and
	// underscores. It is required and must be unique.
	Name string
	// Type is http, apiKey, oauth2 or openIdConnect.
	Type string
	// Description is in CommonMark.
	Description string

	// Scheme, for http, is the scheme of the Authorization field, such as bearer or basic.
	// BearerFormat is a hint about the token format, such as JWT.
	Scheme, BearerFormat string
	// In, for apiKey, is header, query or cookie. Key is the name of the header field, parameter or
	// cookie.
	In, Key string
	// URL, for openIdConnect, is the discovery URL of the provider.
	URL string
	// AuthorizationURL and TokenURL, for oauth2, are endpoints of the provider. With both, the flow
	// is the authorization code flow; with TokenURL only, the client credentials flow.
	AuthorizationURL, TokenURL string
	// Scopes, for oauth2, maps each available scope to its description.
	Scopes map[string]string
	// Require, for oauth2 and openIdConnect, are the scopes that every operation requires.
	Require []string
}

var validComponent = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// checkSecurity panics if a scheme is incomplete or its name is invalid. The names become keys of
// components, which may not contain other characters.
func (o *Options) checkSecurity() {
	seen := map[string]bool{}
	for i := range o.Security {
		s := &o.Security[i]
		if !validComponent.MatchString(s.Name) || seen[s.Name] {
			panic(fmt.Sprintf("openapi: Options.Security: scheme name %q is not unique or has characters "+
				"other than A-Za-z0-9._-",
				s.Name))
		}
		seen[s.Name] = true
		if missing := s.missing(); missing != "" {
			panic(fmt.Sprintf("openapi: Options.Security: scheme %s of type %q needs %s", s.Name, s.Type,
				missing))
		}
	}
}

// missing returns what the scheme lacks; "" if it is complete. An unknown Type is found last,
// because the cases before it match known types only.
func (s *SecurityScheme) missing() string {
	switch {
	case s.Type == "http" && s.Scheme == "":
		return "a Scheme"
	case s.Type == "apiKey" && (s.Key == "" || !slices.Contains([]string{"header", "query", "cookie"}, s.In)):
		return "a Key, and In set to header, query or cookie"
	case s.Type == "openIdConnect" && s.URL == "":
		return "a URL"
	case s.Type == "oauth2" && s.TokenURL == "":
		return "a TokenURL"
	case !slices.Contains([]string{"http", "apiKey", "openIdConnect", "oauth2"}, s.Type):
		return "the Type http, apiKey, oauth2 or openIdConnect"
	}
	return ""
}

// object returns the scheme with the fields of its type. Fields of other types are ignored, even if
// they are set.
func (s *SecurityScheme) object() *securityObject {
	out := &securityObject{Type: s.Type, Description: s.Description}
	switch s.Type {
	case "http":
		out.Scheme, out.BearerFormat = s.Scheme, s.BearerFormat
	case "apiKey":
		// Name is the member name of the format for Key; Name of a SecurityScheme is the component.
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

// requirements returns the default requirements of all operations: one of the schemes. Alternatives
// are separate objects of the list; two schemes in one object would both be needed (OpenAPI 3.1,
// Security Requirement Object).
func (o *Options) requirements() []requirement {
	out := []requirement{} // not nil: an empty list is written
	for i := range o.Security {
		s := &o.Security[i]
		scopes := slices.Clone(s.Require)
		if scopes == nil {
			// The format requires an array, which is empty for http and apiKey.
			scopes = []string{}
		}
		out = append(out, requirement{{s.Name, scopes}})
	}
	return out
}
