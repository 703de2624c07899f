package openapi

import "github.com/go-json-experiment/json/jsontext"

// The objects of an OpenAPI 3.1 document, as far as they are used. Their members are written in the order of the fields.
//
// A library with the whole of the format would bring its own idea of maps, references and absent members; what is needed
// here is little, and its order has to be ours.

// root is the whole document. Security is always written: an empty list says that nothing is needed, where its absence
// says nothing.
type root struct {
	OpenAPI    string             `json:"openapi"`
	Info       info               `json:"info"`
	Servers    []server           `json:"servers"`
	Security   []requirement      `json:"security"`
	Tags       []tag              `json:"tags,omitzero"`
	Paths      ordered[*pathItem] `json:"paths"`
	Components components         `json:"components"`
}

// info is what the API is called and where its contract is in its life. Dates are those of RFC 3339, as everywhere in the
// document; only in header fields do they have forms of their own.
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

// server is a place where the API is. Paths are appended to its URL as it stands.
type server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitzero"`
}

// tag groups the operations of a resource for readers.
type tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// requirement is a security requirement: the scheme that is asked for, with its scopes. Without members nothing is.
type requirement = ordered[[]string]

// pathItem is one path. Its parameters are those of all its operations: the id, and what names the contract.
type pathItem struct {
	Parameters []*parameter `json:"parameters,omitzero"`
	Get        *operation   `json:"get,omitzero"`
	Put        *operation   `json:"put,omitzero"`
	Post       *operation   `json:"post,omitzero"`
	Delete     *operation   `json:"delete,omitzero"`
	Options    *operation   `json:"options,omitzero"`
	Patch      *operation   `json:"patch,omitzero"`
}

// operation is one method of a path. Security is a pointer, since without it the operation needs what the root says, and
// with an empty list it needs nothing.
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

// parameter is one of the path, the query or the header, or a reference to one. It has a schema, or content where its text
// is JSON.
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

// requestBody is what is sent, by media type.
type requestBody struct {
	Description string              `json:"description,omitzero"`
	Required    bool                `json:"required"`
	Content     ordered[*mediaType] `json:"content"`
}

// mediaType is content of one type.
type mediaType struct {
	Schema   *schemaObject     `json:"schema,omitzero"`
	Examples ordered[*example] `json:"examples,omitzero"`
}

// example is a value as it could be, or a reference to one.
type example struct {
	Ref     string         `json:"$ref,omitzero"`
	Summary string         `json:"summary,omitzero"`
	Value   jsontext.Value `json:"value,omitzero"`
}

// response is an answer, or a reference to one. One without content has none.
type response struct {
	Ref         string                 `json:"$ref,omitzero"`
	Description string                 `json:"description,omitzero"`
	Headers     ordered[*headerObject] `json:"headers,omitzero"`
	Content     ordered[*mediaType]    `json:"content,omitzero"`
	Links       ordered[*link]         `json:"links,omitzero"`
}

// link says which operation goes on from an answer, and where in the answer its parameters are.
type link struct {
	OperationID string          `json:"operationId"`
	Parameters  ordered[string] `json:"parameters"`
	Description string          `json:"description,omitzero"`
}

// headerObject is a header field of an answer, or a reference to one. Its name is that of the component.
type headerObject struct {
	Ref         string         `json:"$ref,omitzero"`
	Description string         `json:"description,omitzero"`
	Schema      *schemaObject  `json:"schema,omitzero"`
	Example     jsontext.Value `json:"example,omitzero"`
}

// schemaObject is a schema of JSON Schema 2020-12, which OpenAPI 3.1 uses as it is.
type schemaObject struct {
	Ref                  string                 `json:"$ref,omitzero"`
	Type                 typeNames              `json:"type,omitzero"`
	Title                string                 `json:"title,omitzero"`
	Description          string                 `json:"description,omitzero"`
	Deprecated           bool                   `json:"deprecated,omitzero"`
	ReadOnly             bool                   `json:"readOnly,omitzero"`
	WriteOnly            bool                   `json:"writeOnly,omitzero"`
	Format               string                 `json:"format,omitzero"`
	ContentEncoding      string                 `json:"contentEncoding,omitzero"`
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
	Not                  *schemaObject          `json:"not,omitzero"`
	Required             []string               `json:"required,omitzero"`
	Properties           ordered[*schemaObject] `json:"properties,omitzero"`
	AdditionalProperties any                    `json:"additionalProperties,omitzero"` // false, or a schema
	Examples             []jsontext.Value       `json:"examples,omitzero"`
}

// discriminator names the member by which the schemas of oneOf are told apart. Readers need none, since each has a const
// there; generators of clients do.
type discriminator struct {
	PropertyName string          `json:"propertyName"`
	Mapping      ordered[string] `json:"mapping,omitzero"`
}

// typeNames are the types that a value may have. One is written as a string, which is what most tools know best.
type typeNames []string

// MarshalJSONTo writes a name, or an array of them.
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

// components are what is referred to. Those that are always there are written even if empty.
type components struct {
	Schemas         ordered[*schemaObject]   `json:"schemas"`
	Responses       ordered[*response]       `json:"responses"`
	Parameters      ordered[*parameter]      `json:"parameters"`
	Examples        ordered[*example]        `json:"examples,omitzero"`
	Headers         ordered[*headerObject]   `json:"headers"`
	SecuritySchemes ordered[*securityObject] `json:"securitySchemes,omitzero"`
}

// securityObject is a [SecurityScheme] as the format has it.
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

// flowsObject has one of the flows of OAuth 2. The implicit one and that of passwords are not to be used any more (RFC 9700
// section 2).
type flowsObject struct {
	AuthorizationCode *flowObject `json:"authorizationCode,omitzero"`
	ClientCredentials *flowObject `json:"clientCredentials,omitzero"`
}

// flowObject is one flow. Scopes are required by the format, even if there are none.
type flowObject struct {
	AuthorizationURL string          `json:"authorizationUrl,omitzero"`
	TokenURL         string          `json:"tokenUrl,omitzero"`
	Scopes           ordered[string] `json:"scopes"`
}
