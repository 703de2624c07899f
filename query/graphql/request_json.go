package graphql

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// reader parses requests in JSON. Readers are pooled.
type reader struct {
	dec     jsontext.Decoder
	in      bytes.Buffer
	doc     []byte // the content
	text    []byte // buffer for unquoted strings
	nesting int
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// readRequests parses the content of a POST: a request, or a batch if batches are enabled.
func readRequests(doc []byte, limits *Limits, batch int) (list []parsedRequest, isBatch bool, err error) {
	d := readers.Get().(*reader)
	defer func() {
		d.doc, d.in = nil, bytes.Buffer{}
		readers.Put(d)
	}()
	d.doc, d.nesting = doc, limits.Nesting
	d.in = *bytes.NewBuffer(doc) // the decoder reads the memory of a bytes.Buffer without copying
	d.dec.Reset(&d.in)
	switch d.dec.PeekKind() {
	case '[':
		if batch <= 0 {
			return nil, false, malformed("", "batches are not supported; send one request")
		}
		list, err = d.batch(batch)
		isBatch = true
	default:
		list = make([]parsedRequest, 1)
		err = d.readRequest(&list[0])
	}
	if err == nil {
		err = d.end()
	}
	return list, isBatch, err
}

// end returns an error if there is content after the request.
func (d *reader) end() error {
	if d.dec.PeekKind() != 0 || len(bytes.TrimSpace(d.doc[d.dec.InputOffset():])) > 0 {
		return notJSON()
	}
	return nil
}

// batch parses an array of at most most requests.
func (d *reader) batch(most int) ([]parsedRequest, error) {
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, notJSON()
	}
	var list []parsedRequest
	for d.dec.PeekKind() != ']' {
		if len(list) == most {
			return nil, malformed("", "the batch has more than "+strconv.Itoa(most)+" requests")
		}
		list = append(list, parsedRequest{})
		if err := d.readRequest(&list[len(list)-1]); err != nil {
			return nil, err
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, notJSON()
	}
	if len(list) == 0 {
		return nil, malformed("", "the batch has no requests")
	}
	return list, nil
}

// readRequest parses a request. It ignores unknown members, which are reserved (section 5.4.1).
func (d *reader) readRequest(q *parsedRequest) error {
	err := d.members("", func(name string) error {
		switch name {
		case "query":
			q.hasText = d.dec.PeekKind() == '"'
			return d.string("/query", &q.text)
		case "documentId":
			return d.string("/documentId", &q.id)
		case "operationName":
			return d.string("/operationName", &q.operation)
		case "variables":
			return d.variables(q)
		case "extensions":
			return d.extensions(q)
		}
		return d.skip()
	})
	if err != nil {
		return err
	}
	return q.complete()
}

// members reads an object and calls read for each member, which reads the value. Null is an empty
// object, except for the request itself.
func (d *reader) members(pointer string, read func(name string) error) error {
	switch kind := d.dec.PeekKind(); {
	case kind == 'n' && pointer != "":
		return d.skip()
	case kind == 0:
		return notJSON()
	case kind != '{':
		return malformed(pointer, named(pointer)+" must be an object")
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return notJSON()
	}
	for d.dec.PeekKind() != '}' {
		raw, err := d.dec.ReadValue()
		if err != nil {
			return notJSON()
		}
		if err := read(d.unquote(raw)); err != nil {
			return err
		}
	}
	_, err := d.dec.ReadToken()
	return err
}

// unquote returns the value of a JSON string. It does not allocate for the most frequent names.
func (d *reader) unquote(raw jsontext.Value) string {
	d.text, _ = jsontext.AppendUnquote(d.text[:0], raw) // the decoder has validated it
	switch string(d.text) {                             // does not allocate
	case "query":
		return "query"
	case "variables":
		return "variables"
	case "operationName":
		return "operationName"
	}
	return string(d.text)
}

// string reads a string or null.
func (d *reader) string(pointer string, to *string) error {
	kind := d.dec.PeekKind()
	raw, err := d.dec.ReadValue()
	switch {
	case err != nil:
		return notJSON()
	case kind == '"':
		*to = d.unquote(raw)
	case kind != 'n':
		return malformed(pointer, named(pointer)+" must be a string")
	}
	return nil
}

// skip reads and ignores a value.
func (d *reader) skip() error {
	if err := d.dec.SkipValue(); err != nil {
		return notJSON()
	}
	return nil
}

// value reads a value and returns its source text.
func (d *reader) value(pointer string) (jsontext.Value, error) {
	raw, err := d.dec.ReadValue()
	if err != nil {
		return nil, notJSON()
	}
	if deeper(raw, d.nesting) {
		return nil, malformed(pointer,
			named(pointer)+" is nested deeper than "+strconv.Itoa(d.nesting)+" levels")
	}
	end := d.dec.InputOffset()
	// raw is valid until the next call only
	return jsontext.Value(d.doc[end-int64(len(raw)) : end : end]), nil
}

// variables reads the variables as raw JSON, which is coerced later to the types in the document.
// The map remains nil if there are none.
func (d *reader) variables(q *parsedRequest) error {
	return d.members("/variables", func(name string) error {
		v, err := d.value("/variables")
		if q.variables == nil {
			q.variables = make(map[string]jsontext.Value, 4)
		}
		q.variables[name] = v
		return err
	})
}

// extensions reads idempotencyKey and the member of automatic persisted queries,
// {"persistedQuery":{"version":1,"sha256Hash":""}}.
func (d *reader) extensions(q *parsedRequest) error {
	return d.members("/extensions", func(name string) error {
		switch name {
		case "idempotencyKey":
			q.keyed = d.dec.PeekKind() == '"'
			return d.string("/extensions/idempotencyKey", &q.key)
		case "persistedQuery":
		default:
			return d.skip()
		}
		return d.members("/extensions/persistedQuery", func(name string) error {
			switch name {
			case "version":
				v, err := d.value("/extensions/persistedQuery/version")
				q.foreign = string(v) != "1"
				return err
			case "sha256Hash":
				return d.string("/extensions/persistedQuery/sha256Hash", &q.hash)
			}
			return d.skip()
		})
	})
}

// deeper reports whether valid JSON nests deeper than most. The coercion of variables is recursive,
// so its depth is limited like that of literals.
func deeper(raw []byte, most int) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > most {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
