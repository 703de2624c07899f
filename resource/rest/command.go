package rest

// Commands: POST on a path of two segments. Called by route.go; calls Command.Call. A command with
// an import is handled in import.go, and one with jobs by command_job.go.

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// serveCommand serves the path of a command, which is one URL without items.
func (x *call) serveCommand() error {
	switch x.r.Method {
	case http.MethodPost:
		if x.route.command.Into() != nil {
			return x.importLines()
		}
		return x.onHeap((*call).command)
	case http.MethodOptions:
		return x.options(x.route.allowList)
	// A client that chooses ids may try to create an item with the name of a command. 409 states
	// that the id is reserved. 405 would suggest that items have no PUT.
	case http.MethodPut:
		if x.shadowsItem() {
			return reservedPath()
		}
	}
	return notAllowed(x.route.allowList)
}

// shadowsItem reports whether the path would be an item that a client could create if it were not a
// command.
func (x *call) shadowsItem() bool {
	area, action, _ := strings.Cut(x.route.name, "/")
	switch above := x.h.table[area]; {
	case above == nil || above.lookup != nil:
		return false
	case above.blobs != nil:
		return true
	default:
		// If ids are integers, no item can have the name of a command.
		return above.takesIDs && above.resource.ValidID(action)
	}
}

func reservedPath() error {
	d := problem.New(problem.Conflict, "The id is reserved, because its path is that of a command.")
	d.Errors = []problem.Violation{{Code: "reserved", Detail: "the id is the name of a command"}}
	return d
}

// command handles POST. The order is rule 143: header fields, body, policy, execution. The policy
// is checked after the body has been parsed, as in a write, because it may depend on the input.
func (x *call) command() error {
	var w writeRequest
	if err := x.prepareCommand(&w); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := x.readInput(&w, buf); err != nil {
		return err
	}
	// The fingerprint of the key covers the body, so the key is looked up after the body has been
	// read.
	w.opts.Key = x.useKey(w.key, "", w.media)
	opts := command.CallOptions{WriteOptions: w.opts, Report: x.reportJob}
	res, err := x.route.command.Call(x.r.Context(), *buf, &opts)
	if err != nil {
		return err
	}
	x.replayed()
	if res.Job != "" {
		return x.awaitJob(&w, res)
	}
	return x.sendOutput(&w, res.Output, nil)
}

// prepareCommand checks the header fields and the query before the body is read. The output of a
// Secret command must not be recorded, so it has no idempotency key.
func (x *call) prepareCommand(w *writeRequest) error {
	c := x.route.command
	w.prefer = x.prefer()
	preference, _ := w.prefer.Get("return")
	w.minimal = preference == "minimal"
	var err error
	// Without a response body, Accept does not apply.
	if !w.minimal && (c.Output() != nil || c.Jobs() != nil || !x.h.opts.CommandNoContent) {
		if err = x.acceptable(); err != nil {
			return err
		}
		if w.enc, err = x.encodings(); err != nil {
			return err
		}
	}
	// A command without input accepts a request without a Content-Type. A chunked body, with the
	// length -1, must have one.
	if c.Input() != nil || httpbody.Length(x.r) != 0 {
		if w.media, err = x.checkContent(x.route.posts...); err != nil {
			return err
		}
	}
	w.opts.Lenient = x.lenient(w.prefer)
	w.opts.MaxDepth, w.opts.MaxNames = x.h.limits.Depth, x.h.limits.Names
	if err = x.refuseQuery(w.opts.Lenient); err != nil {
		return err
	}
	if !c.Secret() {
		w.key, err = x.parseKey()
	}
	return err
}

// refuseQuery rejects all query parameters, unless the client prefers handling=lenient.
func (x *call) refuseQuery(lenient bool) error {
	params, err := x.params()
	if err != nil || lenient {
		return err
	}
	// The parameter that selects the contract has been removed already.
	for _, name := range slices.Sorted(maps.Keys(params)) {
		return badParameter(name, "unknownParameter", unknownParameter())
	}
	return nil
}

// readInput reads the body into buf, and then the version member: a member of the body is known
// only after the body has been read.
func (x *call) readInput(w *writeRequest, buf *[]byte) error {
	if x.route.command.Input() != nil || httpbody.Length(x.r) != 0 {
		if err := x.readContent(buf); err != nil {
			return err
		}
	}
	w.selection.versionMember = x.versionMember()
	return nil
}

// sendOutput sends the output of a command. An empty doc is an empty object, or 204.
func (x *call) sendOutput(w *writeRequest, doc []byte, err error) error {
	if err != nil {
		return err
	}
	if w.minimal || len(doc) == 0 && x.h.opts.CommandNoContent {
		if w.minimal {
			x.applied("return=minimal")
		}
		return x.sendEmpty(http.StatusNoContent)
	}
	if len(doc) == 0 {
		doc = []byte("{}")
	}
	x.applyReturn(w)
	return x.sendDocument(http.StatusOK, w.withVersionMember(doc), w.enc)
}

// withVersionMember adds the member that selected the contract, if there is one. It does not modify
// doc, which may be stored as the output of a job.
func (w *writeRequest) withVersionMember(doc []byte) []byte {
	if w.selection.versionMember == nil {
		return doc
	}
	return append(append(reopenObject(slices.Clone(doc)), w.selection.versionMember...), '}')
}

// sendEmpty sends a response without a body. Responses of commands are never cached.
func (x *call) sendEmpty(status int) error {
	h := x.w.Header()
	header.AddVary(h, x.route.varyItem)
	h["Cache-Control"] = noStore
	return x.noContent(status)
}

// sendDocument sends a JSON document that is not a representation of an item.
func (x *call) sendDocument(status int, doc []byte, enc header.Encodings) error {
	h := x.w.Header()
	if httpbody.ShouldGzip(enc, len(doc)) {
		zipped := buffers.Get()
		defer buffers.Put(zipped)
		*zipped = httpbody.AppendGzip(*zipped, doc)
		doc = *zipped
		h["Content-Encoding"] = gzipValue
	}
	// No entity tag: the document is the result of a request, and no GET returns it.
	validators{length: len(doc)}.set(h)
	header.AddVary(h, x.route.varyItem)
	h["Cache-Control"] = noStore
	h["Content-Type"] = x.mediaType
	return x.respond(status, doc)
}
