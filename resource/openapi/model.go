package openapi

import "github.com/go-json-experiment/json/jsontext"

// The objects of an OpenAPI 3.1 document, as far as they are used. Their members are written in the order of the fields.

type root struct {
	OpenAPI    string             `json:"openapi"`
	Info       info               `json:"info"`
	Servers    []server           `json:"servers"`
	Security   []requirement      `json:"security"`
	Tags       []tag              `json:"tags,omitzero"`
	Paths      ordered[*pathItem] `json:"paths"`
	Components components         `json:"components"`
}

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

type server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitzero"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// requirement is a security requirement: the scheme that is asked for, with its scopes. Without members nothing is.
type requirement = ordered[[]string]

type pathItem struct {
	Parameters []*parameter `json:"parameters,omitzero"`
	Get        *operation   `json:"get,omitzero"`
	Put        *operation   `json:"put,omitzero"`
	Post       *operation   `json:"post,omitzero"`
	Delete     *operation   `json:"delete,omitzero"`
	Options    *operation   `json:"options,omitzero"`
	Patch      *operation   `json:"patch,omitzero"`
}

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

type requestBody struct {
	Description string              `json:"description,omitzero"`
	Required    bool                `json:"required"`
	Content     ordered[*mediaType] `json:"content"`
}

type mediaType struct {
	Schema   *schemaObject     `json:"schema,omitzero"`
	Examples ordered[*example] `json:"examples,omitzero"`
}

type example struct {
	Ref     string         `json:"$ref,omitzero"`
	Summary string         `json:"summary,omitzero"`
	Value   jsontext.Value `json:"value,omitzero"`
}

type response struct {
	Ref         string                 `json:"$ref,omitzero"`
	Description string                 `json:"description,omitzero"`
	Headers     ordered[*headerObject] `json:"headers,omitzero"`
	Content     ordered[*mediaType]    `json:"content,omitzero"`
}

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
	AnyOf                []*schemaObject        `json:"anyOf,omitzero"`
	Required             []string               `json:"required,omitzero"`
	Properties           ordered[*schemaObject] `json:"properties,omitzero"`
	AdditionalProperties any                    `json:"additionalProperties,omitzero"` // false, or a schema
	Examples             []jsontext.Value       `json:"examples,omitzero"`
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

type components struct {
	Schemas         ordered[*schemaObject]   `json:"schemas"`
	Responses       ordered[*response]       `json:"responses"`
	Parameters      ordered[*parameter]      `json:"parameters"`
	Examples        ordered[*example]        `json:"examples,omitzero"`
	Headers         ordered[*headerObject]   `json:"headers"`
	SecuritySchemes ordered[*securityObject] `json:"securitySchemes,omitzero"`
}

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

type flowsObject struct {
	AuthorizationCode *flowObject `json:"authorizationCode,omitzero"`
	ClientCredentials *flowObject `json:"clientCredentials,omitzero"`
}

type flowObject struct {
	AuthorizationURL string          `json:"authorizationUrl,omitzero"`
	TokenURL         string          `json:"tokenUrl,omitzero"`
	Scopes           ordered[string] `json:"scopes"`
}
