package main

// An OpenID Connect issuer for development. Every caller receives the tokens that it asks for.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// devIssuer is an issuer on a free port of this machine.
type devIssuer struct {
	url, audience string
	key           jose.JSONWebKey
}

// startDevIssuer serves the discovery document and the keys until the process ends. addr is the address
// of the API. If other machines can reach it, the error is that -issuer is missing.
func startDevIssuer(addr, audience string) (*devIssuer, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("jwt: -issuer is missing, and -addr is not a loopback address")
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &devIssuer{
		url: "http://" + listener.Addr().String(), audience: audience,
		key: jose.JSONWebKey{Key: private, KeyID: "dev", Algorithm: "ES256", Use: "sig"},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"issuer": d.url, "jwks_uri": d.url + "/keys",
			"authorization_endpoint": d.url + "/authorize", "token_endpoint": d.url + "/token",
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{d.key.Public()}})
	})
	go http.Serve(listener, mux)
	return d, nil
}

// token responds with a token of an hour. The form has the values sub and tenant, and roles, which may
// be repeated.
func (d *devIssuer) token(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": d.url, "aud": d.audience, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"sub": r.PostFormValue("sub"), "tenant": r.PostFormValue("tenant"), "roles": r.PostForm["roles"],
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: d.key}, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	io.WriteString(w, text)
}
