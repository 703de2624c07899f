package transportws_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// FuzzMessage: whatever a message says, the socket goes on or is closed with a code that fits, and what is no message is
// found to be none.
func FuzzMessage(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		synctest.Test(t, func(t *testing.T) {
			s := &site{Server: transportws.New(newCrowd(), nil)}
			s.listen(t)
			p := s.connect(t)
			p.talk("> "+text, `> {"type":"ping","payload":{"fuzz":true}}`)
			heard := p.hear()
			for strings.HasPrefix(heard, "< ") && heard != `< {"type":"pong","payload":{"fuzz":true}}` {
				heard = p.hear()
			}
			code, _, _ := strings.Cut(strings.TrimPrefix(heard, "x "), " ")
			switch wrong := unacceptable(text); {
			case wrong && code != "4400":
				t.Errorf("this is no message, and then comes %s", heard)
			case strings.HasPrefix(heard, "x ") && code != "4400" && code != "4429":
				t.Errorf("a message is answered with %s", heard)
			}
			if code == "4400" || code == "4429" {
				p.write(fin|closing, nil)
			}
		})
	})
}

// unacceptable reports whether a text is certainly no message, by another decoder, which lets more pass than ours: names that
// come twice, bytes that are no UTF-8.
func unacceptable(text string) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &m) != nil || m == nil {
		return true
	}
	var kind, id string
	if json.Unmarshal(m["type"], &kind) != nil || m["id"] != nil &&
		(json.Unmarshal(m["id"], &id) != nil || string(m["id"]) == "null") {
		return true
	}
	payload := string(m["payload"])
	switch kind {
	case "connection_init", "ping", "pong":
		return payload != "" && payload != "null" && payload[0] != '{'
	case "subscribe":
		return id == "" || payload == "" || payload[0] != '{'
	case "complete":
		return id == ""
	}
	return true
}
