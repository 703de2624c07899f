package rest

// Imports: POST of NDJSON to a command that creates items. Called by serveCommand; calls
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
func (x *call) importLines() error {
	var w writeRequest
	atomic, err := x.prepareImport(&w)
	if err != nil {
		return err
	}
	var content io.Reader = x.r.Body
	// A key covers the content, so the body passes through a hash. Otherwise it is read directly.
	if w.opts.Key = x.useKey(w.key, "", w.media); w.opts.Key != nil {
		// There is a limit for each line, and none for the whole body.
		if content, err = httpbody.NewUpload(x.r, math.MaxInt64); err != nil {
			return err
		}
	}
	doc, err := x.route.command.Into().Import(x.r.Context(), content, &resource.ImportOptions{
		// The import decompresses the body itself, because a digest covers the compressed content.
		WriteOptions: w.opts, Atomic: atomic, Gzip: httpbody.Gzipped(x.r), MaxLine: x.h.limits.Body})
	if err != nil {
		return err
	}
	x.replayed()
	return x.sendDocument(http.StatusOK, doc, w.enc)
}

// prepareImport checks the header fields and the query before the body is read.
func (x *call) prepareImport(w *writeRequest) (atomic bool, err error) {
	if err = x.acceptable(); err != nil {
		return false, err
	}
	if w.enc, err = x.encodings(); err != nil {
		return false, err
	}
	// Not checkContent: an import may be longer than Limits.Body.
	if _, err = x.checkContentType(x.route.posts...); err != nil {
		return false, err
	}
	w.media = mediaNDJSON
	w.opts.Lenient = x.lenient(x.prefer())
	w.opts.MaxDepth, w.opts.MaxNames = x.h.limits.Depth, x.h.limits.Names
	if atomic, err = x.atomic(w.opts.Lenient); err != nil {
		return false, err
	}
	w.key, err = x.parseKey()
	return atomic, err
}

// atomic reads the parameter atomic, the only one of an import. handling=lenient ignores unknown
// parameters, but not a wrong value: the client relies on all or nothing.
func (x *call) atomic(lenient bool) (bool, error) {
	params, err := x.params()
	if err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name != "atomic" && !lenient {
			return false, badParameter(name, "unknownParameter", unknownParameter("atomic"))
		}
	}
	values := params["atomic"]
	switch {
	case len(values) == 0:
		return false, nil
	case len(values) > 1:
		return false, badParameter("atomic", "duplicateParameter", "must occur once")
	case values[0] == "false":
		return false, nil
	case values[0] != "true":
		return false, badParameter("atomic", "invalidValue", "must be true or false")
	// atomic=true needs transactions. Without them, 400 is better than an import that is silently
	// stored in part.
	case !x.route.command.Into().Describe().Batches:
		return false, badParameter("atomic", "unsupported",
			"is not supported, because the items have no transactions")
	}
	return true, nil
}
