package rest_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestRule142FullStore: the text promises that nothing was stored and proposes to try again, so the key is free.
func TestRule142FullStore(t *testing.T) {
	t.Parallel()
	store := newCellar()
	h := keyedCatalog(idempotency.New(idempotency.NewMemory(nil), nil), blob.New("files", store, &blob.Options{Public: true}))
	store.put = func(string, io.Reader) (*blob.Blob, error) { return nil, blob.ErrFull }
	for _, line := range []string{"POST /files", "PUT /files/a"} {
		wantProblem(t, send(t, h, line, asAnn, keyField("k"), "", "x"), problem.InsufficientStorage)
	}
	store.put = nil
	for _, line := range []string{"POST /files", "PUT /files/a"} {
		want(t, send(t, h, line, asAnn, keyField("k"), "", "x"), http.StatusCreated, "Idempotency-Replayed:")
	}
}

// TestKeyRequiredForForms: a form has no key, so it is rejected if one is required.
func TestKeyRequiredForForms(t *testing.T) {
	t.Parallel()
	store := newCellar()
	h := keyedCatalog(idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{Required: true}),
		blob.New("files", store, &blob.Options{Public: true}))
	wantProblem(t, send(t, h, "POST /files", asAnn, formBody, "", form("a=x")), problem.KeyMissing)
	wantProblem(t, send(t, h, "POST /files", asAnn, keyField("k"), formBody, "", form("a=x")), problem.InvalidHeader)
	same(t, "files", 0, len(store.blobs))
}
