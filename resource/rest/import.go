package rest

// Imports: POST of NDJSON or CSV to a command that creates items. Called by serveCommand; calls
// Resource.Import, which reads the body line by line.

import (
	"io"
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// importLines handles POST of an import. The response is 200 also if lines were rejected, because
// the others are stored. The document lists the rejected ones.
func (c *call) importLines() error {
	var w writeRequest
	var o resource.ImportOptions
	if err := c.prepareImport(&w, &o); err != nil {
		return err
	}
	upload, err := httpbody.NewUpload(c.r, math.MaxInt64) // Import limits the content
	if err != nil {
		return err
	}
	var content io.Reader = c.r.Body
	// A key covers the content, and a digest verifies it. Otherwise the body is read directly.
	if w.opts.Key = c.useKey(w.key, "", w.media); w.opts.Key != nil || upload.HasDigest() {
		content = upload
	}
	// The import decompresses the body itself, because a digest covers the compressed content.
	o.WriteOptions, o.Gzip, o.MaxLine = w.opts, httpbody.Gzipped(c.r), c.h.limits.Body
	o.MaxLines, o.MaxBytes = c.h.limits.ImportLines, c.h.limits.ImportBytes
	doc, err := c.route.command.Into().Import(c.r.Context(), content, &o)
	if err != nil {
		return err
	}
	c.replayed()
	return c.sendDocument(http.StatusOK, doc, w.enc)
}

// prepareImport checks the header fields and the query before the body is read.
func (c *call) prepareImport(w *writeRequest, o *resource.ImportOptions) error {
	if err := c.acceptable(); err != nil {
		return err
	}
	var err error
	if w.enc, err = c.encodings(); err != nil {
		return err
	}
	// Not checkContent: an import may be longer than Limits.Body.
	if w.media, err = c.checkContentType(c.route.posts...); err != nil {
		return err
	}
	if w.media == mediaCSV {
		d, err := c.contentDialect()
		if err != nil {
			return err
		}
		// A key covers the form of the content, because the same bytes have another meaning in
		// another form.
		o.CSV, w.media = &d, d.MediaType()
	}
	w.opts.Lenient = c.lenient(c.prefer())
	w.opts.MaxDepth, w.opts.MaxNames = c.h.limits.Depth, c.h.limits.Names
	if err := c.importParams(o, w.opts.Lenient); err != nil {
		return err
	}
	w.key, err = c.parseKey()
	return err
}

// importParams reads the parameters of an import: atomic, mode and, for CSV without a header row, fields.
// handling=lenient ignores unknown parameters, but not a wrong value: the client relies on all or
// nothing.
func (c *call) importParams(o *resource.ImportOptions, lenient bool) error {
	params, err := c.params()
	if err != nil {
		return err
	}
	known := []string{"atomic", "mode"}
	if o.CSV != nil && o.CSV.NoHeader {
		known = append(known, "fields")
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		switch {
		case slices.Contains(known, name):
			if len(params[name]) > 1 {
				return badParameter(name, "duplicateParameter", "must occur once")
			}
		case name == "fields" && o.CSV != nil && !lenient:
			return badParameter(name, "unsupported", "is only for text/csv with header=absent")
		case !lenient:
			return badParameter(name, "unknownParameter", unknownParameter(known...))
		}
	}
	if list, ok := params["fields"]; ok && slices.Contains(known, "fields") {
		if o.Columns, err = c.columnNames(list[0]); err != nil {
			return err
		}
	}
	switch v := params.Get("mode"); {
	case v == "merge":
		o.Merge = true
	case params.Has("mode") && v != "replace":
		return badParameter("mode", "invalidValue", "must be replace or merge")
	}
	switch v := params.Get("atomic"); {
	case !params.Has("atomic") || v == "false":
		return nil
	case v != "true":
		return badParameter("atomic", "invalidValue", "must be true or false")
	// atomic=true needs transactions. Without them, 400 is better than an import that is silently
	// stored in part.
	case !c.route.command.Into().Describe().Batches:
		return badParameter("atomic", "unsupported",
			"is not supported, because the items have no transactions")
	}
	o.Atomic = true
	return nil
}
