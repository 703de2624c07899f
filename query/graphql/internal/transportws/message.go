package transportws

// Client messages and server messages: parsing and validation of the former, encoding of the
// latter.

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// message is a message of the client. payload refers to the buffer that the message was read to.
type message struct {
	kind    string
	id      string
	payload []byte // as sent; nil if absent
}

// messageError is the reason why a message is invalid. It is sent to the client.
type messageError string

const (
	notJSON          messageError = "Invalid message: not a JSON object"
	notText          messageError = "Invalid message: not a text message"
	noType           messageError = "Invalid message: no type"
	badType          messageError = "Invalid message: unknown type"
	badID            messageError = "Invalid message: no id"
	badPayload       messageError = "Invalid message: the payload is not an object"
	badQuery         messageError = "Invalid message: the payload has no query"
	badRequestMember messageError = "Invalid message: a member of the payload is of the wrong type"
	badMember        messageError = "Invalid message: a member is of the wrong type"
)

// decoder is a pooled JSON decoder that reads from memory.
type decoder struct {
	jsontext.Decoder
	in   bytes.Buffer
	text []byte
	name []byte
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// newDecoder returns a decoder from the pool.
func newDecoder(text []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.text = text
	d.in = *bytes.NewBuffer(text) // the decoder reads this memory without copying
	d.Reset(&d.in)
	return d
}

// release returns the decoder to the pool.
func (d *decoder) release() {
	d.text, d.in = nil, bytes.Buffer{}
	decoders.Put(d)
}

// members reads an object and calls read for each member. The name is valid during the call only.
// The decoder rejects duplicate names.
func (d *decoder) members(read func(name string) messageError) messageError {
	if d.PeekKind() != '{' {
		return notJSON
	}
	if _, err := d.ReadToken(); err != nil {
		return notJSON
	}
	for d.PeekKind() != '}' {
		raw, err := d.ReadValue()
		if err != nil {
			return notJSON
		}
		d.name, _ = jsontext.AppendUnquote(d.name[:0], raw)
		if wrong := read(string(d.name)); wrong != "" {
			return wrong
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return notJSON
	}
	return ""
}

// value reads a value and returns its source text.
func (d *decoder) value() ([]byte, messageError) {
	raw, err := d.ReadValue()
	if err != nil {
		return nil, notJSON
	}
	end := int(d.InputOffset())
	return d.text[end-len(raw) : end : end], "" // raw is valid until the next call only
}

// string reads a string.
func (d *decoder) string() (string, messageError) {
	if kind := d.PeekKind(); kind != '"' && kind != 0 {
		return "", badMember
	}
	raw, err := d.ReadValue()
	if err != nil {
		return "", notJSON
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", notJSON
	}
	return string(text), ""
}

// parse reads a message. It ignores members that the protocol does not define.
func parse(text []byte) (m message, wrong messageError) {
	d := newDecoder(text)
	defer d.release()
	wrong = d.members(func(name string) (wrong messageError) {
		switch name {
		case "type":
			m.kind, wrong = d.string()
		case "id":
			m.id, wrong = d.string()
		case "payload":
			m.payload, wrong = d.value()
		default:
			_, wrong = d.value()
		}
		return wrong
	})
	switch {
	case wrong != "":
		return m, wrong
	case d.PeekKind() != 0 || len(bytes.TrimSpace(text[d.InputOffset():])) > 0:
		return m, notJSON
	case m.kind == "":
		return m, noType
	}
	return m, m.check()
}

// check validates the members that the type of the message requires.
func (m *message) check() messageError {
	switch m.kind {
	case "connection_init", "ping", "pong":
		if m.payload != nil && m.payload[0] != '{' && m.payload[0] != 'n' {
			return badPayload
		}
	case "subscribe":
		if m.id == "" {
			return badID
		}
		return checkRequest(m.payload)
	case "complete":
		if m.id == "" {
			return badID
		}
	default:
		return badType
	}
	return ""
}

// checkRequest validates the payload of a subscribe message. The members documentId and extensions
// may identify a document in place of query; the handler interprets them.
func checkRequest(payload []byte) messageError {
	if len(payload) == 0 || payload[0] != '{' {
		return badPayload
	}
	d := newDecoder(payload)
	defer d.release()
	named := false
	wrong := d.members(func(name string) messageError {
		kind := d.PeekKind()
		ok := true
		switch name {
		case "query":
			ok, named = kind == '"', true
		case "documentId":
			ok = kind == '"' || kind == 'n'
			named = named || kind == '"'
		case "operationName":
			ok = kind == '"' || kind == 'n'
		case "variables":
			ok = kind == '{' || kind == 'n'
		case "extensions":
			ok = kind == '{' || kind == 'n'
			named = named || kind == '{'
		}
		if !ok {
			return badRequestMember
		}
		_, wrong := d.value()
		return wrong
	})
	if wrong == "" && !named {
		return badQuery
	}
	return wrong
}

// appendNext appends a next message. The functions below append the other messages of a server. An
// id is passed as quoted JSON.

func appendNext(dst, id, result []byte) []byte {
	dst = append(append(append(dst, `{"id":`...), id...), `,"type":"next","payload":`...)
	return append(append(dst, result...), '}')
}

func appendError(dst, id, errors []byte) []byte {
	dst = append(append(append(dst, `{"id":`...), id...), `,"type":"error","payload":`...)
	return append(append(dst, errors...), '}')
}

func appendComplete(dst, id []byte) []byte {
	return append(append(append(dst, `{"id":`...), id...), `,"type":"complete"}`...)
}

func appendPong(dst, payload []byte) []byte {
	dst = append(dst, `{"type":"pong"`...)
	if payload != nil {
		dst = append(append(dst, `,"payload":`...), payload...)
	}
	return append(dst, '}')
}
