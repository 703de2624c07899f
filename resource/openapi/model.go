package openapi

// The parts of an OpenAPI document, as Go types that are encoded in the usual order.

import "github.com/go-json-experiment/json/jsontext"

// The objects of an OpenAPI document that this package uses. Members are written in the order of the
// fields. Documents are generated as OpenAPI 3.1. dialect.go sets the members that other versions
// have instead.
//
// A library for the format would have its own representation of maps, references and absent
// members. This package needs few objects and control over their order.

// root is the document. Security is always written: an empty list means that no authentication is
// needed, while an absent one is unspecified. Tags and Paths are required by this package only:
// many tools read them without a check for absence.
type root struct {
	OpenAPI    string             `json:"openapi"`
	Info       info               `json:"info"`
	Servers    []server           `json:"servers"`
	Security   []requirement      `json:"security"`
	Tags       []tag              `json:"tags,omitzero"`
	Paths      ordered[*pathItem] `json:"paths"`
	Components components         `json:"components"`
}

// info describes the API and the status of its contract. Dates are in RFC 3339, unlike in header
// fields. The members Status to Successor are extensions, see newInfo in document.go.
type info struct {
	Title          string   `json:"title"`
	Version        string   `json:"version"`
	Description    string   `json:"description,omitzero"`
	TermsOfService string   `json:"termsOfService,omitzero"`
	Contact        *Contact `json:"contact,omitzero"`
	License        *License `json:"license,omitzero"`
	Status         string   `json:"x-status,omitzero"`
	Deprecation    string   `json:"x-deprecation,omitzero"`
	Sunset         string   `json:"x-sunset,omitzero"`
	Successor      string   `json:"x-successor,omitzero"`
}

// server is a base URL of the API. Paths are appended to it. A trailing slash is therefore removed
// if a path segment follows.
type server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitzero"`
}

// tag is a group of operations. The order of the tags is the order of the groups in documentation
// pages.
type tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// requirement is a security requirement: a scheme with its scopes. An empty one requires nothing.
type requirement = ordered[[]string]

// pathItem is one path. Parameters apply to all its operations: the id, and those that name the
// contract. HEAD and TRACE are not described.
type pathItem struct {
	Parameters []*parameter `json:"parameters,omitzero"`
	Get        *operation   `json:"get,omitzero"`
	Put        *operation   `json:"put,omitzero"`
	Post       *operation   `json:"post,omitzero"`
	Delete     *operation   `json:"delete,omitzero"`
	Options    *operation   `json:"options,omitzero"`
	Patch      *operation   `json:"patch,omitzero"`
	Query      *operation   `json:"query,omitzero"` // in OpenAPI 3.2 only
}

// operation is one method of a path. Security is a pointer: nil means that the requirements of the
// root apply, an empty list means none. OperationID is unique in the document, case-sensitively.
// Generators make method names of it, so a change of it breaks generated clients. Sunset is an
// extension.
type operation struct {
	OperationID string             `json:"operationId"`
	Tags        []string           `json:"tags"`
	Summary     string             `json:"summary"`
	Description string             `json:"description"`
	Deprecated  bool               `json:"deprecated,omitzero"`
	Sunset      string             `json:"x-sunset,omitzero"`
	Parameters  []*parameter       `json:"parameters,omitzero"`
	RequestBody *requestBody       `json:"requestBody,omitzero"`
	Responses   ordered[*response] `json:"responses"`
	Security    *[]requirement     `json:"security,omitzero"`
}

// parameter is a path, query or header parameter, or a reference to one. It has Content if its
// value is JSON, and otherwise Schema. The format requires exactly one of Schema and Content, and
// one media type in Content. Explode is a pointer, because the default of style form is true.
type parameter struct {
	Ref         string              `json:"$ref,omitzero"`
	Name        string              `json:"name,omitzero"`
	In          string              `json:"in,omitzero"`
	Description string              `json:"description,omitzero"`
	Required    bool                `json:"required,omitzero"`
	Style       string              `json:"style,omitzero"`
	Explode     *bool               `json:"explode,omitzero"`
	Schema      *schemaObject       `json:"schema,omitzero"`
	Example     jsontext.Value      `json:"example,omitzero"`
	Content     ordered[*mediaType] `json:"content,omitzero"`
}

// requestBody is the request body, by media type.
type requestBody struct {
	Description string              `json:"description,omitzero"`
	Required    bool                `json:"required"`
	Content     ordered[*mediaType] `json:"content"`
}

// mediaType is the content for one media type. Examples can be references to components, which the
// keyword examples of a schema cannot. ItemSchema describes each item of a stream, in OpenAPI 3.2 only.
type mediaType struct {
	Schema     *schemaObject     `json:"schema,omitzero"`
	ItemSchema *schemaObject     `json:"itemSchema,omitzero"`
	Examples   ordered[*example] `json:"examples,omitzero"`
	Idempotent bool              `json:"x-idempotent,omitzero"` // of a patch.Format
}

// example is an example value, or a reference to one. In a reference, all other members are absent.
type example struct {
	Ref     string         `json:"$ref,omitzero"`
	Summary string         `json:"summary,omitzero"`
	Value   jsontext.Value `json:"value,omitzero"`
}

// response is a response, or a reference to one. Content is nil if it has no body. Description is
// required by the format, and absent in references only.
type response struct {
	Ref         string                 `json:"$ref,omitzero"`
	Description string                 `json:"description,omitzero"`
	Headers     ordered[*headerObject] `json:"headers,omitzero"`
	Content     ordered[*mediaType]    `json:"content,omitzero"`
	Links       ordered[*link]         `json:"links,omitzero"`
}

// link names a follow-up operation and the parts of the response that are its parameters. The
// values of Parameters are runtime expressions such as `$response.body#/id`.
type link struct {
	OperationID string          `json:"operationId"`
	Parameters  ordered[string] `json:"parameters"`
	Description string          `json:"description,omitzero"`
}

// headerObject is a response header field, or a reference to one. Its name is that of the
// component. Content-Type is never among them: the format ignores it and uses the keys of Content.
type headerObject struct {
	Ref         string         `json:"$ref,omitzero"`
	Description string         `json:"description,omitzero"`
	Schema      *schemaObject  `json:"schema,omitzero"`
	Example     jsontext.Value `json:"example,omitzero"`
}

// schemaObject is a schema of JSON Schema 2020-12, which OpenAPI 3.1 uses. Unlike in OpenAPI 3.0,
// keywords beside $ref apply too, and null is a type instead of the keyword nullable. The zero
// value of a keyword means that it is absent, which restricts nothing; bounds are pointers or JSON
// values, because 0 is a bound. Nullable, Example and AllOf are those of OpenAPI 3.0.
type schemaObject struct {
	Ref                  string                 `json:"$ref,omitzero"`
	Type                 typeNames              `json:"type,omitzero"`
	Title                string                 `json:"title,omitzero"`
	Description          string                 `json:"description,omitzero"`
	Deprecated           bool                   `json:"deprecated,omitzero"`
	ReadOnly             bool                   `json:"readOnly,omitzero"`
	WriteOnly            bool                   `json:"writeOnly,omitzero"`
	Format               string                 `json:"format,omitzero"`
	Nullable             bool                   `json:"nullable,omitzero"`
	ContentEncoding      string                 `json:"contentEncoding,omitzero"`
	ContentMediaType     string                 `json:"contentMediaType,omitzero"`
	ContentSchema        *schemaObject          `json:"contentSchema,omitzero"`
	Const                jsontext.Value         `json:"const,omitzero"`
	Enum                 []jsontext.Value       `json:"enum,omitzero"`
	ExtensibleEnum       []string               `json:"x-extensible-enum,omitzero"`
	Default              jsontext.Value         `json:"default,omitzero"`
	MinLength            *int                   `json:"minLength,omitzero"`
	MaxLength            *int                   `json:"maxLength,omitzero"`
	Pattern              string                 `json:"pattern,omitzero"`
	Minimum              jsontext.Value         `json:"minimum,omitzero"`
	Maximum              jsontext.Value         `json:"maximum,omitzero"`
	MinItems             *int                   `json:"minItems,omitzero"`
	MaxItems             *int                   `json:"maxItems,omitzero"`
	UniqueItems          bool                   `json:"uniqueItems,omitzero"`
	MinProperties        *int                   `json:"minProperties,omitzero"`
	MaxProperties        *int                   `json:"maxProperties,omitzero"`
	Items                *schemaObject          `json:"items,omitzero"`
	OneOf                []*schemaObject        `json:"oneOf,omitzero"`
	Discriminator        *discriminator         `json:"discriminator,omitzero"`
	AnyOf                []*schemaObject        `json:"anyOf,omitzero"`
	AllOf                []*schemaObject        `json:"allOf,omitzero"`
	Not                  *schemaObject          `json:"not,omitzero"`
	Required             []string               `json:"required,omitzero"`
	Properties           ordered[*schemaObject] `json:"properties,omitzero"`
	AdditionalProperties any                    `json:"additionalProperties,omitzero"` // false, or a schema
	PropertyNames        *schemaObject          `json:"propertyNames,omitzero"`
	Example              jsontext.Value         `json:"example,omitzero"`
	Examples             []jsontext.Value       `json:"examples,omitzero"`
}

// discriminator names the member that selects one of oneOf. Client generators need it; validators
// use the const of each schema. It does not change which documents are valid.
type discriminator struct {
	PropertyName string          `json:"propertyName"`
	Mapping      ordered[string] `json:"mapping,omitzero"`
}

// typeNames are the allowed JSON types. A single one is written as a string, which tools support
// best.
type typeNames []string

// MarshalJSONTo writes a string or an array of strings.
func (t typeNames) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(t) == 1 {
		return enc.WriteToken(jsontext.String(t[0]))
	}
	if err := enc.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, name := range t {
		if err := enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndArray)
}

// components are the targets of references. Those that every document has are written even if
// empty. Keys match ^[a-zA-Z0-9._-]+$. The order is that of first use, see ordered.
type components struct {
	Schemas         ordered[*schemaObject]   `json:"schemas"`
	Responses       ordered[*response]       `json:"responses"`
	Parameters      ordered[*parameter]      `json:"parameters"`
	Examples        ordered[*example]        `json:"examples,omitzero"`
	Headers         ordered[*headerObject]   `json:"headers"`
	SecuritySchemes ordered[*securityObject] `json:"securitySchemes,omitzero"`
}

// securityObject is a [SecurityScheme] in the format of OpenAPI. Name is the name of a header
// field, parameter or cookie, not that of the component.
type securityObject struct {
	Type             string       `json:"type"`
	Description      string       `json:"description,omitzero"`
	Name             string       `json:"name,omitzero"`
	In               string       `json:"in,omitzero"`
	Scheme           string       `json:"scheme,omitzero"`
	BearerFormat     string       `json:"bearerFormat,omitzero"`
	OpenIDConnectURL string       `json:"openIdConnectUrl,omitzero"`
	Flows            *flowsObject `json:"flows,omitzero"`
}

// flowsObject has one OAuth 2 flow. The implicit and password flows are not supported (RFC 9700
// section 2).
type flowsObject struct {
	AuthorizationCode *flowObject `json:"authorizationCode,omitzero"`
	ClientCredentials *flowObject `json:"clientCredentials,omitzero"`
}

// flowObject is one flow. The format requires Scopes even if there are none.
type flowObject struct {
	AuthorizationURL string          `json:"authorizationUrl,omitzero"`
	TokenURL         string          `json:"tokenUrl,omitzero"`
	Scopes           ordered[string] `json:"scopes"`
}
