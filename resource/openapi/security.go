package openapi

// Authentication schemes. New in openapi.go checks them, and document.go adds them to the document.

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
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

// deriveSecurity sets Security to the schemes of the challenge of a 401, if a part of c has a policy and
// the application has named no scheme: a client would read an empty list as permission for every caller.
func (o *settings) deriveSecurity(c *resource.Catalog) {
	if len(o.Security) > 0 {
		return
	}
	private := map[string]bool{}
	for _, r := range resource.PartsOf[*resource.Resource](c) {
		private[r.Name()] = !r.Describe().Public
	}
	for _, l := range resource.PartsOf[*resource.Lookup](c) {
		private[l.Name()] = !c.Target(l).Describe().Public
	}
	for _, b := range resource.PartsOf[*blob.Collection](c) {
		private[b.Name()] = b.Options().Authorize != nil
	}
	for _, cmd := range resource.PartsOf[*command.Command](c) {
		into := cmd.Into()
		private[cmd.Name()] = !cmd.Public() || into != nil && !into.Describe().Public
	}
	challenge := "Bearer"
	if o.REST != nil && o.REST.Challenge != "" {
		challenge = o.REST.Challenge
	}
	values := slices.Collect(maps.Values(private))
	if !slices.Contains(values, true) {
		return
	}
	o.derived, o.mixed = true, slices.Contains(values, false)
	for _, scheme := range challengeSchemes(challenge) {
		o.Security = append(o.Security, SecurityScheme{Name: scheme + "Auth", Type: "http", Scheme: scheme})
	}
	if o.Secured == nil {
		o.Secured = func(name string, _ resource.Op) bool { return private[name] }
	}
}

var quotedString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// challengeSchemes returns the authentication schemes of a WWW-Authenticate value, in lower case (RFC 9110
// section 11.6.1): the first words that are not the name of a parameter.
func challengeSchemes(value string) (schemes []string) {
	for part := range strings.SplitSeq(quotedString.ReplaceAllString(value, ""), ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		name = strings.ToLower(name)
		if validComponent.MatchString(name) && !strings.HasPrefix(strings.TrimSpace(rest), "=") &&
			!slices.Contains(schemes, name) {
			schemes = append(schemes, name)
		}
	}
	return schemes
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

// rootRequirements returns the default requirements of all operations. If Security is derived and some parts
// are public, there is none, and the operations of the others have their own.
func (o *settings) rootRequirements() []requirement {
	if o.mixed {
		return []requirement{}
	}
	return o.requirements()
}

// requirements returns the requirements of an operation: one of the schemes. Alternatives
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
