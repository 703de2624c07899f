package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// serveCommand answers on the path of a command.
func (x *call) serveCommand() error {
	switch x.r.Method {
	case http.MethodPost:
		if x.route.command.Into() != nil {
			return x.importLines()
		}
		return x.command()
	case http.MethodOptions:
		return x.options(x.route.allowList)
	case http.MethodPut:
		if x.shadowsItem() {
			return reservedPath()
		}
	}
	return notAllowed(x.route.allowList)
}

// reserves reports whether, but for the command, something could be put here.
func (x *call) shadowsItem() bool {
	area, action, _ := strings.Cut(x.route.name, "/")
	switch above := x.h.table[area]; {
	case above == nil || above.lookup != nil:
		return false
	case above.blobs != nil:
		return true
	default:
		return above.takesIDs && above.resource.ValidID(action)
	}
}

// reservedPath refuses a PUT at the path of a command.
func reservedPath() error {
	d := problem.New(problem.Conflict, "This id is reserved.")
	d.Errors = []problem.Violation{{Code: "reserved", Detail: "no item can have this id"}}
	return d
}

// command answers POST, in the order of rule 143: what the header says, the content, policy, and then the deed. Policy comes
// after the content, since it may be about that, as with a write.
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

// prepareCommand does what can be done before the content is read.
func (x *call) prepareCommand(w *writeRequest) error {
	c := x.route.command
	w.prefer = x.prefer()
	preference, _ := w.prefer.Get("return")
	w.minimal = preference == "minimal"
	var err error
	if !w.minimal && (c.Output() != nil || c.Jobs() != nil) { // otherwise Accept does not matter
		if err = x.acceptable(); err != nil {
			return err
		}
		if w.enc, err = x.encodings(); err != nil {
			return err
		}
	}
	if c.Input() != nil || httpbody.Length(x.r) != 0 { // otherwise no Content-Type is needed
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

// noParameters refuses a query where nothing can be asked, unless the client wants leniency.
func (x *call) refuseQuery(lenient bool) error {
	params, err := x.params()
	if err != nil || lenient {
		return err
	}
	for name := range params { // the contract's own is gone by now
		return badParameter(name, "unknownParameter", "there is no such parameter here")
	}
	return nil
}

// readInput reads the content into buf.
func (x *call) readInput(w *writeRequest, buf *[]byte) error {
	if x.route.command.Input() != nil || httpbody.Length(x.r) != 0 {
		if err := x.readContent(buf); err != nil {
			return err
		}
	}
	w.selection.versionMember = x.versionMember()
	return nil
}

// sendOutput answers with what a command gave, as JSON; empty for nothing.
func (x *call) sendOutput(w *writeRequest, doc []byte, err error) error {
	if err != nil {
		return err
	}
	if len(doc) == 0 || w.minimal {
		if w.minimal {
			x.applied("return=minimal")
		}
		return x.sendEmpty(http.StatusNoContent)
	}
	x.applyReturn(w)
	return x.sendDocument(http.StatusOK, w.withVersionMember(doc), w.enc)
}

// echoed adds what named the contract in the content, if anything did. It leaves doc, which may be kept as that of a job.
func (w *writeRequest) withVersionMember(doc []byte) []byte {
	if w.selection.versionMember == nil {
		return doc
	}
	return append(append(reopenObject(slices.Clone(doc)), w.selection.versionMember...), '}')
}

// sendNothing answers without content. Nothing that a command answers is stored.
func (x *call) sendEmpty(status int) error {
	h := x.w.Header()
	header.AddVary(h, x.route.varyItem)
	h["Cache-Control"] = noStore
	return x.noContent(status)
}

// sendDocument answers with a document that is no representation of an item.
func (x *call) sendDocument(status int, doc []byte, enc header.Encodings) error {
	h := x.w.Header()
	if httpbody.ShouldGzip(enc, len(doc)) {
		zipped := buffers.Get()
		defer buffers.Put(zipped)
		*zipped = httpbody.AppendGzip(*zipped, doc)
		doc = *zipped
		h["Content-Encoding"] = gzipValue
	}
	validators{length: len(doc)}.set(h)
	header.AddVary(h, x.route.varyItem)
	h["Cache-Control"] = noStore
	h["Content-Type"] = x.mediaType
	return x.respond(status, doc)
}
