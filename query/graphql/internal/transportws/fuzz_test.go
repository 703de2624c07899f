package transportws_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// FuzzMessage checks that a socket either continues or is closed with a valid code after any
// message, and that invalid messages are detected.
func FuzzMessage(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		synctest.Test(t, func(t *testing.T) {
			s := &site{Server: transportws.New(newCrowd(), nil)}
			s.listen(t)
			p := s.connect(t)
			p.talk("> "+text, `> {"type":"ping","payload":{"fuzz":true}}`)
			got := p.receive()
			for strings.HasPrefix(got, "< ") && got != `< {"type":"pong","payload":{"fuzz":true}}` {
				got = p.receive()
			}
			code, _, _ := strings.Cut(strings.TrimPrefix(got, "x "), " ")
			switch wrong := unacceptable(text); {
			case wrong && code != "4400":
				t.Errorf("invalid message, and then %s", got)
			case strings.HasPrefix(got, "x ") && code != "4400" && code != "4429":
				t.Errorf("a message is answered with %s", got)
			}
			if code == "4400" || code == "4429" {
				p.write(fin|closing, nil)
			}
		})
	})
}

// unacceptable reports whether another decoder, which accepts duplicate names and invalid UTF-8,
// rejects text as a message.
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
