package main

// The documentation page, of package docspage.

import (
	"net/http"

	"github.com/stoa-go/stoa/resource/openapi/docspage"
	"github.com/stoa-go/stoa/version"
)

// newDocs returns the documentation page with the document of every contract that is served, the
// newest first.
func newDocs(n *version.Negotiator) http.Handler {
	var documents []docspage.Document
	for _, c := range n.Contracts() {
		if c.OpenAPI != "" {
			documents = append(documents, docspage.Document{
				Name: c.Name, URL: c.OpenAPI, Full: c.OpenAPI + "?profile=full"})
		}
	}
	return docspage.New(documents, &docspage.Options{Title: "The shop"})
}

// docsFolder redirects /docs/ to the page. There is nothing else below it.
func docsFolder(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/docs/" {
		serveNotFound(w, r)
		return
	}
	w.Header().Set("Location", "/docs")
	w.WriteHeader(http.StatusPermanentRedirect)
}
