package idempotency_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
)

// derived runs an operation and returns its derived key and id.
func derived(t *testing.T, op idempotency.Operation) (key, id string) {
	t.Helper()
	d := newDesk(idempotency.AtMostOnce, idempotency.Options{})
	d.ask(t.Context(), op, func(ctx context.Context) (idempotency.Record, error) {
		key, id = idempotency.DeriveKey(ctx, "charge"), idempotency.DeriveID(ctx, "charge")
		if key == idempotency.DeriveKey(ctx, "mail") || id == idempotency.DeriveID(ctx, "mail") {
			t.Error("two names have the same key")
		}
		return idempotency.Record{}, nil
	})
	return key, id
}

func TestDerived(t *testing.T) {
	t.Parallel()
	op := anOperation()
	key, id := derived(t, op)
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`).MatchString(key) {
		t.Errorf("the key is %q", key)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).
		MatchString(id) {
		t.Errorf("the id is %q", id)
	}
	op.Fingerprint[0]++
	if g, i := derived(t, op); g != key || i != id {
		t.Error("what is derived depends on the content, which a second attempt may spell otherwise")
	}
	seen := map[string]string{key: "the first"}
	for name, change := range map[string]func(op *idempotency.Operation){
		"principal":    func(op *idempotency.Operation) { op.Principal = "ben" },
		"method":       func(op *idempotency.Operation) { op.Method = "PUT" },
		"target":       func(op *idempotency.Operation) { op.Target = "/orders/7" },
		"key":          func(op *idempotency.Operation) { op.Key = "k2" },
		"other border": func(op *idempotency.Operation) { op.Principal, op.Method = "annP", "OST" },
	} {
		op := anOperation()
		change(&op)
		g, _ := derived(t, op)
		if other := seen[g]; other != "" {
			t.Errorf("another %s has the same key as %s", name, other)
		}
		seen[g] = name
	}
}

// TestDerivedIsStable: derived values must not change, because other services store them.
func TestDerivedIsStable(t *testing.T) {
	t.Parallel()
	key, id := derived(t, anOperation())
	const (
		wantKey = "qjvKyuFCaVX_ZW-S6EbYDQYO3FOZ1bX5mlwMxgNWFHg"
		wantID  = "e5abce3a-1aa7-8a4f-bea5-bae48812c329"
	)
	if key != wantKey || id != wantID {
		t.Errorf("%s and %s; want %s and %s", key, id, wantKey, wantID)
	}
}

func TestWithoutAnOperation(t *testing.T) {
	t.Parallel()
	idempotency.RecordRefusal(t.Context())
	if got := fmt.Sprintf("%q %q %t", idempotency.DeriveKey(t.Context(), "x"),
		idempotency.DeriveID(t.Context(), "x")+idempotency.ContentHash(t.Context()),
		idempotency.RecordsRefusal(t.Context())); got != `"" "" false` {
		t.Error(got)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	sums := map[[32]byte][]string{}
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"\x01a\x01b"}} {
		var raw [][]byte
		for _, part := range parts {
			raw = append(raw, []byte(part))
		}
		sum := idempotency.Fingerprint(raw...)
		if other, ok := sums[sum]; ok {
			t.Errorf("%q and %q have the same fingerprint", parts, other)
		}
		sums[sum] = parts
	}
}

// TestRule141Meaning: a wrapped handler runs once for two requests with the same content.
func TestRule141Meaning(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typ, a, b string
		same            bool
	}{
		{"white space", "application/json", `{"a":[1,2]}`, "{ \"a\" :\t[1,\n2] }", true},
		{
			"order of members",
			"application/merge-patch+json",
			`{"a":{"b":1,"c":2},"d":3}`,
			`{"d":3,"a":{"c":2,"b":1}}`,
			true,
		},
		{"escapes", "APPLICATION/JSON; charset=utf-8", `"é/"`, `"\u00e9\/"`, true},
		{"order of elements", "application/json", `[1,2]`, `[2,1]`, false},
		{"large numbers", "application/json", `9007199254740993`, `9007199254740992`, false},
		{"long fractions", "application/json", `0.1`, `0.1000000000000000055511151231257827`, false},
		{"null and absent", "application/json", `{"a":null}`, `{}`, false},
		{"duplicate names", "application/json", `{"a":1,"a":2}`, `{"a":1,"a":3}`, false},
		{"trailing data", "application/json", `1`, `1 2`, false},
		{"no JSON", "text/plain", `{"a":1}`, `{"a": 1}`, false},
		{"no type", "", `1`, `1 `, false},
		{"odd type", "application/json;;=", `1`, `1 `, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ran := 0
			h := wrap(func(w http.ResponseWriter, r *http.Request) {
				ran++
				content, err := io.ReadAll(r.Body)
				if err != nil || string(content) != tt.a {
					t.Errorf("the handler read %q, %v; want %q", content, err, tt.a)
				}
			}, idempotency.Options{})
			status := http.StatusUnprocessableEntity
			if tt.same {
				status = http.StatusOK
			}
			send(h, "POST /x", tt.a, "Content-Type: "+tt.typ)
			if res := send(h, "POST /x", tt.b, "Content-Type: "+tt.typ); res.StatusCode != status || ran != 1 {
				t.Errorf("%s after %s is %d, want %d; ran %d times", tt.b, tt.a, res.StatusCode, status, ran)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(levels, idempotency.Level(9), idempotency.OverQuota, idempotency.State(9))
	if want := "[at most once once by identity exactly once] unknown level OverQuota unknown state"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
