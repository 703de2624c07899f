package transportws

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// message is one of the client's. Its payload is memory of what it was read from.
type message struct {
	kind    string
	id      string
	payload []byte // as it was sent; nil if there is none
}

// complaint is what is wrong with a message, for the client.
type complaint string

const (
	notJSON    complaint = "Invalid message: not a JSON object"
	notText    complaint = "Invalid message: not a text message"
	noType     complaint = "Invalid message: no type"
	badType    complaint = "Invalid message: unknown type"
	badID      complaint = "Invalid message: no id"
	badPayload complaint = "Invalid message: the payload is not an object"
	badQuery   complaint = "Invalid message: the payload has no query"
	badRequest complaint = "Invalid message: a member of the payload is of the wrong type"
	badMember  complaint = "Invalid message: a member is of the wrong type"
)

// decoder reads JSON from memory. It is kept for the next message.
type decoder struct {
	jsontext.Decoder
	in   bytes.Buffer
	text []byte
	name []byte
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(text []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.text = text
	d.in = *bytes.NewBuffer(text) // whose memory the decoder reads, without copying
	d.Reset(&d.in)
	return d
}

func (d *decoder) giveBack() {
	d.text, d.in = nil, bytes.Buffer{}
	decoders.Put(d)
}

// members reads an object, and calls read for each of its members, with a name that lasts until then. Names that come twice
// are no JSON to the decoder.
func (d *decoder) members(read func(name string) complaint) complaint {
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

// value reads a value, as it stands in the text.
func (d *decoder) value() ([]byte, complaint) {
	raw, err := d.ReadValue()
	if err != nil {
		return nil, notJSON
	}
	end := int(d.InputOffset())
	return d.text[end-len(raw) : end : end], "" // not raw, which lasts until the next call
}

// string reads a string.
func (d *decoder) string() (string, complaint) {
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

// parse reads a message, as far as all of them are alike. Members that the protocol does not know are passed over.
func parse(text []byte) (m message, wrong complaint) {
	d := newDecoder(text)
	defer d.giveBack()
	wrong = d.members(func(name string) (wrong complaint) {
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

// check holds a message to the form of its type.
func (m *message) check() complaint {
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

// checkRequest holds the payload of a subscribe message to its form. A document may also be named by what stands in other
// members (documentId, extensions), which is for the handler to know.
func checkRequest(payload []byte) complaint {
	if len(payload) == 0 || payload[0] != '{' {
		return badPayload
	}
	d := newDecoder(payload)
	defer d.giveBack()
	named := false
	wrong := d.members(func(name string) complaint {
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
			return badRequest
		}
		_, wrong := d.value()
		return wrong
	})
	if wrong == "" && !named {
		return badQuery
	}
	return wrong
}

// What the server sends. An id comes quoted.

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
