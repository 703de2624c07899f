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
func (c *call) serveCommand() error {
	switch c.r.Method {
	case http.MethodPost:
		if c.route.command.Into() != nil {
			return c.importLines()
		}
		return c.onHeap((*call).command)
	case http.MethodOptions:
		return c.options(c.route.allowList)
	// A client that chooses ids may try to create an item with the name of a command. 409 states
	// that the id is reserved. 405 would suggest that items have no PUT.
	case http.MethodPut:
		if c.shadowsItem() {
			return reservedPath()
		}
	}
	return notAllowed(c.route.allowList)
}

// shadowsItem reports whether the path would be an item that a client could create if it were not a
// command.
func (c *call) shadowsItem() bool {
	area, action, _ := strings.Cut(c.route.name, "/")
	switch above := c.h.table[area]; {
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
func (c *call) command() error {
	var w writeRequest
	if err := c.prepareCommand(&w); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := c.readInput(&w, buf); err != nil {
		return err
	}
	// The fingerprint of the key covers the body, so the key is looked up after the body has been
	// read.
	w.opts.Key = c.useKey(w.key, "", w.media)
	opts := command.CallOptions{WriteOptions: w.opts, Report: c.reportJob}
	res, err := c.route.command.Call(c.r.Context(), *buf, &opts)
	if err != nil {
		return err
	}
	c.replayed()
	if res.Job != "" {
		return c.awaitJob(&w, res)
	}
	return c.sendOutput(&w, res.Output, nil)
}

// prepareCommand checks the header fields and the query before the body is read. The output of a
// Secret command must not be recorded, so it has no idempotency key.
func (c *call) prepareCommand(w *writeRequest) error {
	cmd := c.route.command
	w.prefer = c.prefer()
	preference, _ := w.prefer.Get("return")
	w.minimal = preference == "minimal"
	var err error
	// Without a response body, Accept does not apply.
	if !w.minimal && (cmd.Output() != nil || cmd.Jobs() != nil || !c.h.opts.CommandNoContent) {
		if err = c.acceptable(); err != nil {
			return err
		}
		if w.enc, err = c.encodings(); err != nil {
			return err
		}
	}
	// A command without input accepts a request without a Content-Type. A chunked body, with the
	// length -1, must have one.
	if cmd.Input() != nil || httpbody.Length(c.r) != 0 {
		if w.media, err = c.checkContent(c.route.posts...); err != nil {
			return err
		}
	}
	w.opts.Lenient = c.lenient(w.prefer)
	w.opts.MaxDepth, w.opts.MaxNames = c.h.limits.Depth, c.h.limits.Names
	if err = c.refuseQuery(w.opts.Lenient); err != nil {
		return err
	}
	if !cmd.Secret() {
		w.key, err = c.parseKey()
	}
	return err
}

// refuseQuery rejects all query parameters, unless the client prefers handling=lenient.
func (c *call) refuseQuery(lenient bool) error {
	params, err := c.params()
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
func (c *call) readInput(w *writeRequest, buf *[]byte) error {
	if c.route.command.Input() != nil || httpbody.Length(c.r) != 0 {
		if err := c.readContent(buf); err != nil {
			return err
		}
	}
	w.selection.versionMember = c.versionMember()
	return nil
}

// sendOutput sends the output of a command. An empty doc is an empty object, or 204.
func (c *call) sendOutput(w *writeRequest, doc []byte, err error) error {
	if err != nil {
		return err
	}
	if w.minimal || len(doc) == 0 && c.h.opts.CommandNoContent {
		if w.minimal {
			c.applied("return=minimal")
		}
		return c.sendEmpty(http.StatusNoContent)
	}
	if len(doc) == 0 {
		doc = []byte("{}")
	}
	c.applyReturn(w)
	return c.sendDocument(http.StatusOK, w.withVersionMember(doc), w.enc)
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
func (c *call) sendEmpty(status int) error {
	h := c.w.Header()
	header.AddVary(h, c.route.varyItem)
	h["Cache-Control"] = noStore
	return c.noContent(status)
}

// sendDocument sends a JSON document that is not a representation of an item.
func (c *call) sendDocument(status int, doc []byte, enc header.Encodings) error {
	h := c.w.Header()
	if httpbody.ShouldGzip(enc, len(doc)) {
		zipped := buffers.Get()
		defer buffers.Put(zipped)
		*zipped = httpbody.AppendGzip(*zipped, doc)
		doc = *zipped
		h["Content-Encoding"] = gzipValue
	}
	// No entity tag: the document is the result of a request, and no GET returns it.
	validators{length: len(doc)}.set(h)
	header.AddVary(h, c.route.varyItem)
	h["Cache-Control"] = noStore
	h["Content-Type"] = c.mediaType
	return c.respond(status, doc)
}
