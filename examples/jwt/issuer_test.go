package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// issuer is an OpenID Connect issuer with keys that can be rotated.
type issuer struct {
	*httptest.Server
	mu   sync.Mutex
	keys []jose.JSONWebKey // private; the last one signs
	down bool
	asks int // requests for the keys

	elapsed atomic.Int64 // of its clock, in nanoseconds
}

// now is the clock of the API.
func (i *issuer) now() time.Time { return time.Unix(0, i.elapsed.Load()) }

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys",
			"authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.asks++
		if i.down {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		var public jose.JSONWebKeySet
		for _, key := range i.keys {
			public.Keys = append(public.Keys, key.Public())
		}
		json.NewEncoder(w).Encode(public)
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	i.rotate(t, 1)
	return i
}

// newKey returns a signing key.
func newKey(t *testing.T, id string) jose.JSONWebKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(jose.ES256), Use: "sig"}
}

// rotate adds a key, which signs from now on, and keeps the last n keys.
func (i *issuer) rotate(t *testing.T, n int) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, newKey(t, rand.Text()))
	i.keys = i.keys[max(len(i.keys)-n, 0):]
}

// set changes the issuer.
func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// token returns a token of ann, an editor of the tenant acme, with other claims if they are given.
func (i *issuer) token(t *testing.T, claims map[string]any) string {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	return sign(t, i.keys[len(i.keys)-1], i.claims(claims))
}

func (i *issuer) claims(other map[string]any) map[string]any {
	all := map[string]any{"iss": i.URL, "aud": "tasks", "sub": "ann", "tenant": "acme", "roles": []string{"editor"},
		"exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(all, other)
	return all
}

// sign returns a token that is signed with the key.
func sign(t *testing.T, key jose.JSONWebKey, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// unsigned returns a token with the algorithm none.
func unsigned(t *testing.T, claims map[string]any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf("%s.%s.", encode([]byte(`{"alg":"none"}`)), encode(text))
}
