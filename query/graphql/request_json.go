package graphql

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// reader reads requests from JSON. Its buffers are kept for the next one.
type reader struct {
	dec     jsontext.Decoder
	in      bytes.Buffer
	doc     []byte // what is read
	text    []byte // for a string without its escapes
	nesting int
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// readRequests reads the content of a POST: one request or, where batches are allowed, an array of them.
func readRequests(doc []byte, limits *Limits, batch int) (list []request, isBatch bool, err error) {
	d := readers.Get().(*reader)
	defer func() {
		d.doc, d.in = nil, bytes.Buffer{}
		readers.Put(d)
	}()
	d.doc, d.nesting = doc, limits.Nesting
	d.in = *bytes.NewBuffer(doc) // of a Buffer the decoder reads the memory itself, without copying
	d.dec.Reset(&d.in)
	switch d.dec.PeekKind() {
	case '[':
		if batch <= 0 {
			return nil, false, malformed("", "several requests at once are not taken here")
		}
		list, err = d.batch(batch)
		isBatch = true
	default:
		list = make([]request, 1)
		err = d.readRequest(&list[0])
	}
	if err == nil {
		err = d.end()
	}
	return list, isBatch, err
}

// end refuses whatever follows the request.
func (d *reader) end() error {
	if d.dec.PeekKind() != 0 || len(bytes.TrimSpace(d.doc[d.dec.InputOffset():])) > 0 {
		return notJSON()
	}
	return nil
}

// batch reads an array of requests, and stops where there are too many.
func (d *reader) batch(most int) ([]request, error) {
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, notJSON()
	}
	var list []request
	for d.dec.PeekKind() != ']' {
		if len(list) == most {
			return nil, malformed("", "these are more requests at once than are taken here")
		}
		list = append(list, request{})
		if err := d.readRequest(&list[len(list)-1]); err != nil {
			return nil, err
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, notJSON()
	}
	if len(list) == 0 {
		return nil, malformed("", "no request is there")
	}
	return list, nil
}

// readRequest reads an object whose members are the parameters of a request. Members that mean nothing today are for the
// future (section 5.4.1) and are passed over.
func (d *reader) readRequest(q *request) error {
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

// members reads an object, and calls read for each member, which reads its value. Null is an object without members,
// except for the whole request.
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

// unquote returns the value of a string in JSON. The names that nearly every request has are not made again each time.
func (d *reader) unquote(raw jsontext.Value) string {
	d.text, _ = jsontext.AppendUnquote(d.text[:0], raw) // the decoder has seen that it is one
	switch string(d.text) {                             // which costs no memory
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

// skip reads a value that nobody wants; it still has to be JSON.
func (d *reader) skip() error {
	if err := d.dec.SkipValue(); err != nil {
		return notJSON()
	}
	return nil
}

// value reads any value, and returns it as it stands in the document.
func (d *reader) value(pointer string) (jsontext.Value, error) {
	raw, err := d.dec.ReadValue()
	if err != nil {
		return nil, notJSON()
	}
	if deeper(raw, d.nesting) {
		return nil, malformed(pointer, named(pointer)+" is nested too deep")
	}
	end := d.dec.InputOffset()
	// not raw, which lasts until the next call
	return jsontext.Value(d.doc[end-int64(len(raw)) : end : end]), nil
}

// variables reads the variables, each as the JSON that it is: what it means is for its type to say, which stands in the
// document. It is nil where there are none, as in most requests.
func (d *reader) variables(q *request) error {
	return d.members("/variables", func(name string) error {
		v, err := d.value("/variables")
		if q.variables == nil {
			q.variables = make(map[string]jsontext.Value, 4)
		}
		q.variables[name] = v
		return err
	})
}

// extensions looks for what the protocol of automatic persisted queries sends, {"persistedQuery":{"version":1,"sha256Hash":""}},
// and for an idempotencyKey.
func (d *reader) extensions(q *request) error {
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

// deeper reports whether brackets and braces of JSON, which is known to be correct, stand in each other deeper than most.
// Whoever coerces variables goes as deep as they do, so their depth is bounded as that of literals is.
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
