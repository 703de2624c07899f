package graphql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
)

// TestLimits: each limit lets pass what is just within it, and refuses what is beyond, before anything is executed.
func TestLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name           string
		limits         graphql.Limits
		within, beyond string
		code           string
	}{
		{"Tokens", graphql.Limits{Tokens: 5}, "{a:__typename}", "{a:__typename b}",
			"GRAPHQL_VALIDATION_FAILED"},
		{"Nesting", graphql.Limits{Nesting: 3}, "{orders{nodes{id}}}", "{orders{nodes{customer{id}}}}",
			"GRAPHQL_VALIDATION_FAILED"},
		{"Directives", graphql.Limits{Directives: 1}, "{__typename@skip(if:false)}",
			"{__typename@skip(if:false)@include(if:true)}",
			"GRAPHQL_VALIDATION_FAILED"},
		{"Depth", graphql.Limits{Depth: 3}, "{orders{nodes{id}}}", "{orders{nodes{customer{id}}}}",
			"GRAPHQL_VALIDATION_FAILED"},
		{"Depth of fragments", graphql.Limits{Depth: 2},
			"{orders{...a}}fragment a on OrderConnection{totalCount}",
			"{orders{...a}}fragment a on OrderConnection{nodes{id}}", "GRAPHQL_VALIDATION_FAILED"},
		{"RootFields", graphql.Limits{RootFields: 1}, "{a:__typename}", "{a:__typename b:__typename}",
			"GRAPHQL_VALIDATION_FAILED"},
		{"Fields", graphql.Limits{Fields: 3}, "{orders{nodes{id}}}", "{orders{nodes{id cents}}}",
			"GRAPHQL_VALIDATION_FAILED"},
		{"Cost", graphql.Limits{Cost: 40}, "{orders(first:20){nodes{customer{id}}}}",
			"{orders(first:21){nodes{customer{id}}}}",
			"BAD_USER_INPUT"},
		{"Cost of variables", graphql.Limits{Cost: 40},
			"query($n:Int=20){orders(first:$n){nodes{customer{id}}}}",
			"query($n:Int=21){orders(first:$n){nodes{customer{id}}}}", "BAD_USER_INPUT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newTestHandler(t, func(s *setup) { s.opts.Limits = tt.limits })
			want(t, send(t, h, "POST /graphql", jsonBody, acceptNew, "", body(t, tt.within)), 200)
			res := send(t, h, "POST /graphql", jsonBody, acceptNew, "", body(t, tt.beyond))
			wantCode(t, res, 400, tt.code)
		})
	}
}

// TestLimitOfAnswer: a response beyond the limit is not sent. Its effects remain.
func TestLimitOfAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, document string
		within         bool
	}{
		{"short", "{orders{nodes{id}}}", true},
		{"many fields of items", "{orders{nodes{" + repeat("a%d:status ", 100) + "}}}", false},
		{"many fields of what may be null", "{" +
			repeat("a%d:order(id:1){"+repeat("a%d:status ", 20)+"} ", 20) + "}", false},
		{"many fields of one item", "{order(id:1){" + repeat("a%d:status ", 200) + "}}", false},
		{"many fields of what is related", "{orders{nodes{customer{" + repeat("a%d:name ", 100) + "}}}}",
			false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newTestHandler(t, func(s *setup) { s.opts.Limits.Answer = 2000 })
			res := send(t, h, "POST /graphql", jsonBody, acceptNew, "", body(t, tt.document))
			if tt.within {
				want(t, res, 200)
				return
			}
			const message = `{"errors":[{"message":"The response is longer than the limit of 2000 bytes. ` +
				`Request less data at once.",` +
				`"extensions":{"code":"BAD_USER_INPUT"}}],"data":null}`
			if got := strings.TrimSpace(res.body); got != message {
				t.Errorf("%d bytes: %.300s", len(got), got)
			}
		})
	}
}

// TestLimitOfErrors: validation stops at the maximum number of errors.
func TestLimitOfErrors(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Limits.Errors = 3 })
	res := send(t, h, "POST /graphql", jsonBody, acceptNew, "", body(t, "{"+repeat("x%d ", 100)+"}"))
	want(t, res, 400)
	if n := len(read(t, res).Errors); n != 3 && n != 4 { // the last one may report that there are more
		t.Errorf("%d errors: %s", n, res.body)
	}
}

// TestLimitOfParallel: no more fields are fetched at a time than is said.
func TestLimitOfParallel(t *testing.T) {
	t.Parallel()
	running, most := make(chan int, 1), make(chan int, 1)
	running <- 0
	most <- 0
	h := newTestHandler(t, func(s *setup) {
		s.opts.Limits.Parallel = 2
		get := s.orderOps.Get
		s.orderOps.Get = func(ctx context.Context, id string) (resource.Item[order], error) {
			n := <-running + 1
			running <- n
			most <- max(n, <-most)
			defer func() { running <- <-running - 1 }()
			return get(ctx, id)
		}
	})
	document := "{" + repeat("a%d:order(id:1){id} ", 50) + "}"
	want(t, send(t, h, "POST /graphql", jsonBody, "", body(t, document)), 200)
	if n := <-most; n > 2 || n == 0 {
		t.Errorf("%d were running at a time", n)
	}
}

// TestDefaultsMatchComments for those that are not tried elsewhere.
func TestDefaultsMatchComments(t *testing.T) {
	t.Parallel()
	report := newTestHandler(t, func(s *setup) {
		s.opts.Limits = graphql.Limits{Cost: -1, Tokens: -1,
			Body: -1}
	}).Report()
	for _, part := range []string{"10000 tokens", "16 levels", "10000 fields", "cost 50000", "8 at a time",
		"30s"} {
		if !strings.Contains(report, part) {
			t.Errorf("without %q: %s", part, report)
		}
	}
}
