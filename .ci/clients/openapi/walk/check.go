package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
)

// input is what the validator asks for.
func (q *question) input(req *http.Request) *openapi3filter.RequestValidationInput {
	return &openapi3filter.RequestValidationInput{
		Request: req, PathParams: q.path, Route: q.op.route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus:             true,
			RejectWhenRequestBodyNotSpecified: true,
			SkipSettingDefaults:               true,
		},
	}
}

// checkRequest holds a valid question against the document: either it is not valid, or the walk
// makes it wrong.
func (q *question) checkRequest(ctx context.Context, req *http.Request) error {
	if q.body != nil {
		req.Body, _ = req.GetBody()
	}
	if err := openapi3filter.ValidateRequest(ctx, q.input(req)); err != nil {
		return fmt.Errorf("a valid request does not validate: %w", err)
	}
	return nil
}

// checkStatus judges whether a question was understood. What is wrong with the state, and not with
// the question, is no misunderstanding.
func (q *question) checkStatus(status int) error {
	switch {
	case q.mistake != "" && status < 400:
		return errors.New("a mistake is not refused")
	case q.mistake != "" && status < 500:
		return nil
	case status < 400, status == http.StatusConflict, status == http.StatusPreconditionFailed,
		status == http.StatusPreconditionRequired:
		return nil
	case status == http.StatusNotFound, status == http.StatusGone:
		if !q.alive && q.id != "" || q.op.isCommand() || q.isBatch() {
			return nil
		}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		if q.op.isCommand() { // which knows other things about its input than its schema
			return nil
		}
	case status == http.StatusRequestedRangeNotSatisfiable:
		if q.header.Get("Range") != "" {
			return nil
		}
	}
	return fmt.Errorf("a valid request is answered with %d", status)
}

// checkResponse holds a response against the document.
func (q *question) checkResponse(ctx context.Context, req *http.Request, resp *http.Response, body []byte) error {
	documented := q.op.response(resp.StatusCode)
	if documented == nil {
		return fmt.Errorf("status %d is not documented", resp.StatusCode)
	}
	if err := checkHeader(documented, resp.Header); err != nil {
		return err
	}
	if len(body) > 0 && len(documented.Content) == 0 {
		return errors.New("content is not documented")
	}
	if len(body) == 0 { // HEAD and 304 describe the content of a GET
		return nil
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: q.input(req), Status: resp.StatusCode, Header: resp.Header, Options: q.input(req).Options,
	}
	if err := openapi3filter.ValidateResponse(ctx, input.SetBodyBytes(body)); err != nil {
		return err
	}
	return q.checkMembers(resp, body)
}

// plain are fields that each HTTP response may have. They are not documented because they do not
// depend on the resource. Some are set by a server around the API, for browsers and for logs.
var plain = []string{"Accept-Ranges", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Date",
	"Transfer-Encoding", "Vary", "X-Accel-Buffering", "X-Content-Type-Options",
	"Content-Security-Policy", "Referrer-Policy", "X-Frame-Options", "X-Request-Id"}

// checkHeader looks for fields that are not documented, and for documented ones that have to be there.
func checkHeader(documented *openapi3.Response, header http.Header) error {
	known := slices.Clone(plain)
	for name, h := range documented.Headers {
		known = append(known, http.CanonicalHeaderKey(name))
		if h.Value.Required && len(header.Values(name)) == 0 {
			return fmt.Errorf("the field %s is missing", name)
		}
	}
	for _, name := range sortedKeys(header) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the field %s is not documented", name)
		}
	}
	return nil
}

// checkMembers looks for members that are not documented: a schema permits them, so that there may
// be more of them one day, but those that are there now should be known. Lines of NDJSON are items.
func (q *question) checkMembers(resp *http.Response, body []byte) error {
	schema := q.op.media(resp.StatusCode, resp.Header.Get("Content-Type"))
	if schema == nil && q.op.response(resp.StatusCode).Content["*/*"] != nil {
		return nil // bytes
	}
	if schema == nil {
		return errors.New("the content has no schema")
	}
	switch media := resp.Header.Get("Content-Type"); {
	case strings.HasPrefix(media, textCSV+";"):
		return nil // rows have no members
	case media != ndjson:
		return checkJSON(schema, body)
	}
	item := q.op.item()
	if item == nil {
		return errors.New("what the lines are is not documented")
	}
	for line := range bytes.Lines(body) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if err := item.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse()); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if err := checkJSON(item, line); err != nil {
			return err
		}
	}
	return nil
}

func checkJSON(schema *openapi3.Schema, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if at := undocumented(schema, v, ""); at != "" {
		return fmt.Errorf("the member %s is not documented", at)
	}
	return nil
}

// undocumented returns where a value has a member that its schema does not mention; "" if nowhere.
func undocumented(s *openapi3.Schema, v any, at string) string {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if s.Items != nil {
				if found := undocumented(s.Items.Value, item, at+"/*"); found != "" {
					return found
				}
			}
		}
	case map[string]any:
		if s.AdditionalProperties.Schema != nil || isOpen(s) {
			return ""
		}
		for _, name := range sortedKeys(v) {
			p := property(s, name)
			if p == nil {
				return at + "/" + name
			}
			if found := undocumented(p, v[name], at+"/"+name); found != "" {
				return found
			}
		}
	}
	return ""
}

// isOpen reports whether a schema describes no members.
func isOpen(s *openapi3.Schema) bool {
	return s.Properties == nil && s.AllOf == nil && s.AnyOf == nil && s.OneOf == nil
}

// property finds the schema of a member, in the parts of a schema too.
func property(s *openapi3.Schema, name string) *openapi3.Schema {
	if p := s.Properties[name]; p != nil {
		return p.Value
	}
	for _, part := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		if p := property(part.Value, name); p != nil {
			return p
		}
	}
	return nil
}

// prismFields are those that the proxy adds to every response.
var prismFields = []string{"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Connection", "Keep-Alive"}

// noted returns the violations that a Prism proxy has found, and removes its fields from the header.
func noted(header http.Header) error {
	violations := header.Get("Sl-Violations")
	for _, name := range append(prismFields, "Sl-Violations") {
		header.Del(name)
	}
	if violations == "" {
		return nil
	}
	return fmt.Errorf("the proxy: %s", violations)
}
