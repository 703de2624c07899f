package main

import (
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// TestSkewResult checks which results of a run pass, as the subject and as a control.
func TestSkewResult(t *testing.T) {
	t.Parallel()
	torn := []history.Kind{history.Torn}
	for _, tt := range []struct {
		name    string
		control []history.Kind
		none    [5]int // rounds of each way after which no doctor is on call
		kinds   []history.Kind
		pass    bool
	}{
		{"one is on call", nil, [5]int{}, nil, true},
		{"none is on call", nil, [5]int{1}, []history.Kind{history.Torn}, false},
		{"both are on call", nil, [5]int{}, []history.Kind{history.Lost}, false},
		{"both are acknowledged", nil, [5]int{}, []history.Kind{history.Unexpected}, false},
		{"a control", torn, [5]int{1, 0, 0, 1, 0}, []history.Kind{history.Torn}, true},
		{"a control that is right in one way", torn, [5]int{1}, []history.Kind{history.Torn}, false},
		{"a control that is right", torn, [5]int{}, nil, false},
	} {
		s := &skew{trial: newTestTrial(), meet: []string{"PATCH", "GraphQL"}, results: map[string]*skewResult{}}
		s.control = tt.control
		for i, way := range skewWays {
			s.results[way.name] = &skewResult{none: tt.none[i]}
		}
		for _, kind := range tt.kinds {
			s.Add(kind, 1, "a round")
		}
		s.judge()
		if err := s.failure(); (err == nil) != tt.pass {
			t.Errorf("%s: %v, want it to pass: %v", tt.name, err, tt.pass)
		}
	}
}

// TestOutcome covers the responses of REST and GraphQL.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{200, `{"id":"7-a","onCall":false}`, ""},
		{200, `{"data":{"patchDoctor":{"onCall":false}}}`, ""},
		{204, "", ""},
		{403, `{}`, "FORBIDDEN"},
		{409, `{}`, "CONFLICT"},
		{503, `{}`, "UNAVAILABLE"},
		{500, `{}`, "UNKNOWN"},
		{200, `{`, "UNKNOWN"},
		{200, `{"data":null,"errors":[{"message":"m","extensions":{"code":"FORBIDDEN"}}]}`, "FORBIDDEN"},
	} {
		if got := outcome(client.Answer{Status: tt.status, Body: []byte(tt.body)}); got != tt.want {
			t.Errorf("outcome of %d %s = %q, want %q", tt.status, tt.body, got, tt.want)
		}
	}
}
