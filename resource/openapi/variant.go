package openapi

// The variants of a document: rendering, and the media types of each.

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/openapi/internal/yaml"
)

// Variant selects one form of a [Document]. The zero value is OpenAPI 3.1 with the default profile,
// in JSON.
type Variant struct {
	// Version is the version of OpenAPI: 3.0, 3.1 or 3.2. Default "3.1".
	Version string
	// Full selects the full profile, which describes everything that the API supports. The default
	// profile is for generated clients, see the package documentation. Default false.
	Full bool
	// YAML selects YAML instead of JSON. Default false.
	YAML bool
}

// patchVersions are the supported versions of OpenAPI, the default first.
var patchVersions = []struct{ minor, patch string }{{"3.1", "3.1.0"}, {"3.0", "3.0.3"}, {"3.2", "3.2.0"}}

// versionOf returns the version of OpenAPI with a name, such as 3.1 or 3.1.0; "" if it is unknown.
func versionOf(name string) string {
	for _, v := range patchVersions {
		if name == v.minor || name == v.patch {
			return v.minor
		}
	}
	return ""
}

// normalized returns the variant with its defaults. It panics if the version is unknown.
func (v *Variant) normalized() Variant {
	out := *v
	if out.Version = versionOf(orElse(v.Version, patchVersions[0].minor)); out.Version == "" {
		panic(fmt.Sprintf("openapi: Variant.Version %q is not 3.0, 3.1 or 3.2", v.Version))
	}
	return out
}

// rendering is an immutable variant of a document for one status of its contract. Requests that have
// it keep using it while a new one is rendered.
type rendering struct {
	text     []byte
	document *httpbody.Document
}

// newRendering renders a variant. It panics only because of a bug in this package; the inputs have
// been validated.
func newRendering(c *resource.Catalog, o *settings, now *lifecycle, key renderingKey) *rendering {
	doc := describe(c, o, now, key)
	doc.convert(key.Version)
	text, err := json.Marshal(doc, jsontext.WithIndent("  "))
	if err == nil && key.YAML {
		text, err = yaml.FromJSON(text)
	}
	if err != nil {
		panic(fmt.Sprintf("openapi: %v", err))
	}
	if !key.YAML {
		text = append(text, '\n')
	}
	return &rendering{text, httpbody.NewDocument(text)}
}

// The media types of the document. Browsers and most tools request plain JSON. The others are that
// of draft-ietf-httpapi-rest-api-mediatypes and the older one of the OpenAPI Initiative, for each
// format. application/yaml is RFC 9512.
const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

var openAPITypes = map[bool][]string{
	false: {"application/openapi+json", "application/vnd.oai.openapi+json"},
	true:  {"application/openapi+yaml", "application/vnd.oai.openapi"},
}

// offer is a media type for content negotiation, with the variant that it selects. sent is the
// Content-Type of the response. It has the version if the type is one of OpenAPI.
type offer struct {
	media, sent, version string
	yaml                 bool
}

// offersFor returns the offers of a version of OpenAPI, or of all versions if it is "". The first
// offer is preferred if the client accepts several equally, as with Accept: */*.
func offersFor(version string, yaml bool) []offer {
	allowed := patchVersions
	for i, v := range patchVersions {
		if v.minor == version {
			allowed = patchVersions[i : i+1]
		}
	}
	var out []offer
	for _, yaml := range []bool{yaml, !yaml} {
		plain := mediaJSON
		if yaml {
			plain = mediaYAML
		}
		first := allowed[0].minor
		out = append(out, offer{plain, plain, first, yaml})
		for _, media := range openAPITypes[yaml] {
			out = append(out, offer{media, media + ";version=" + first, first, yaml})
			for _, v := range allowed {
				sent := media + ";version=" + v.minor
				out = append(out, offer{sent, sent, v.minor, yaml},
					offer{media + ";version=" + v.patch, sent, v.minor, yaml})
			}
		}
	}
	return out
}

// mediaTypes returns the media types of offers.
func mediaTypes(offers []offer) []string {
	out := make([]string, len(offers))
	for i := range offers {
		out[i] = offers[i].media
	}
	return out
}
