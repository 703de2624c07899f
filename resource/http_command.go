package resource

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

func (c *Command) addTo(*Catalog) *route {
	vary := []string{"Accept, Accept-Encoding"}
	return &route{name: c.name, command: c, allowList: []string{"POST, OPTIONS"}, varyItem: vary, varyList: vary,
		acceptPost: []string{strings.Join(c.accepts, ", ")}, posts: c.accepts}
}

// resolveCommand finds where the jobs of a command are, and reserves its action in the collection that it is below: an item
// of that id could not be reached.
func (c *Catalog) resolveCommand(rt *route) {
	if jobs := rt.command.jobs; jobs != nil {
		rt.jobs = c.mustFind("command "+rt.name, jobs.Name())
	}
	area, action, _ := strings.Cut(rt.name, "/")
	if above := c.table[area]; above != nil && above.lookup == nil && above.resource != nil {
		if h := above.resource.core; h.canonical(action) {
			h.reserved.Store(action, true)
		}
	}
}

// reservedID refuses an id under which a command is served.
func reservedID(pointer string) error {
	d := problem.New(problem.Conflict, "This id is reserved.")
	d.Errors = []problem.Violation{{Pointer: pointer, Code: "reserved", Detail: "no item can have this id"}}
	return d
}

// serveCommand answers on the path of a command.
func (x *call) serveCommand() error {
	switch x.r.Method {
	case http.MethodPost:
		if serve := x.route.command.serve; serve != nil {
			return serve(x)
		}
		return x.command()
	case http.MethodOptions:
		return x.options(x.route.allowList)
	case http.MethodPut:
		if x.reserves() {
			return reservedID("")
		}
	}
	return notAllowed(x.route.allowList)
}

// reserves reports whether, but for the command, something could be put here.
func (x *call) reserves() bool {
	area, action, _ := strings.Cut(x.route.name, "/")
	switch above := x.c.table[area]; {
	case above == nil || above.lookup != nil:
		return false
	case above.blobs != nil:
		return true
	default:
		return above.resource.core.ops.insert != nil && above.resource.core.canonical(action)
	}
}

// command answers POST, in the order of rule 143: what the header says, the content, policy, and then the deed. Policy comes
// after the content, since it may be about that, as with a write.
func (x *call) command() error {
	var w writeRequest
	if err := x.prepareCommand(&w); err != nil {
		return err
	}
	buf := getBuffer()
	defer putBuffer(buf)
	if err := x.readInput(&w, buf); err != nil {
		return err
	}
	in, err := x.decodeInput(&w, *buf)
	if w.key != "" {
		return x.commandOnce(&w, in, err, *buf)
	}
	if err != nil {
		return err
	}
	c := x.route.command
	if err := c.permit(x.r.Context(), in); err != nil {
		return err
	}
	if c.jobs != nil {
		return x.commandJob(&w, in)
	}
	out, err := c.run(x.r.Context(), in)
	if err != nil || out == nil {
		return x.sendOutput(&w, nil, err)
	}
	result := getBuffer()
	defer putBuffer(result)
	*result, err = c.out.Append(*result, out)
	return x.sendOutput(&w, *result, err)
}

// prepareCommand does what can be done before the content is read.
func (x *call) prepareCommand(w *writeRequest) error {
	c := x.route.command
	w.prefer = x.prefer()
	wish, _ := w.prefer.Get("return")
	w.minimal = wish == "minimal"
	var err error
	if !w.minimal && (c.Output() != nil || c.jobs != nil) { // else nothing is sent that Accept could be about
		if err = x.acceptable(); err != nil {
			return err
		}
		if w.enc, err = x.encodings(); err != nil {
			return err
		}
	}
	if c.Input() != nil || x.length() != 0 { // else a client need not say of what type its nothing is
		if w.media, err = x.checkContent(c.accepts...); err != nil {
			return err
		}
	}
	w.opts.Lenient = x.lenient(w.prefer)
	w.opts.MaxDepth, w.opts.MaxNames = x.c.opts.Limits.Depth, x.c.opts.Limits.Names
	if err = x.noParameters(w.opts.Lenient); err != nil {
		return err
	}
	if !c.secret {
		w.key, err = x.key()
	}
	return err
}

// noParameters refuses a query where nothing can be asked, unless the client wants leniency.
func (x *call) noParameters(lenient bool) error {
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
	if x.route.command.Input() != nil || x.length() != 0 {
		if err := x.content(buf); err != nil {
			return err
		}
	}
	w.selection.versionMember = x.versionMember()
	return nil
}

// decodeInput reads content into the input of a command. in does not share it.
func (x *call) decodeInput(w *writeRequest, doc []byte) (in any, err error) {
	c := x.route.command
	if c.Input() == nil && len(doc) == 0 {
		return c.in.New(), nil
	}
	return c.in.Decode(doc, w.opts.decode(schema.Create, nil))
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
		return x.sendNothing(http.StatusNoContent)
	}
	x.representation(w)
	return x.sendDocument(http.StatusOK, w.echoed(doc), w.enc)
}

// echoed adds what named the contract in the content, if anything did. It leaves doc, which may be kept as that of a job.
func (w *writeRequest) echoed(doc []byte) []byte {
	if w.selection.versionMember == nil {
		return doc
	}
	return append(append(reopen(slices.Clone(doc)), w.selection.versionMember...), '}')
}

// sendNothing answers without content. Nothing that a command answers is stored.
func (x *call) sendNothing(status int) error {
	h := x.w.Header()
	header.AddVary(h, x.route.varyItem)
	h["Cache-Control"] = noStore
	return x.noContent(status)
}

// sendDocument answers with a document that is no representation of an item.
func (x *call) sendDocument(status int, doc []byte, enc header.Encodings) error {
	h := x.w.Header()
	if choose(enc, len(doc)) == gzipped {
		zipped := getBuffer()
		defer putBuffer(zipped)
		doc = compress(zipped, doc)
		h["Content-Encoding"] = gzipValue
	}
	validators{length: len(doc)}.set(h)
	header.AddVary(h, x.route.varyItem)
	h["Cache-Control"] = noStore
	h["Content-Type"] = x.mediaType
	return x.respond(status, doc)
}

// reportOther describes what is no resource and no lookup.
func (rt *route) reportOther(b *strings.Builder) {
	switch {
	case rt.command != nil:
		rt.command.report(b)
	case rt.blobs != nil:
		rt.blobs.report(b)
	}
}

func (c *Command) report(b *strings.Builder) {
	fmt.Fprintf(b, "/%s  POST, OPTIONS\n", c.name)
	if c.into != nil {
		fmt.Fprintf(b, "    import: lines of %s into /%s\n", mediaNDJSON, c.into.Name())
		return
	}
	fmt.Fprintf(b, "    command: takes %s, gives %s", listFields(c.in), listFields(c.out))
	if c.jobs != nil {
		fmt.Fprintf(b, ", as a job in /%s", c.jobs.Name())
	}
	b.WriteByte('\n')
	if c.authorize == nil && !c.public {
		b.WriteString("    weak: everybody may call it: give Authorize, or say Public\n")
	}
}

func listFields(typ *schema.Type) string {
	if len(typ.Fields) == 0 {
		return "nothing"
	}
	names := make([]string, len(typ.Fields))
	for i, f := range typ.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, " ")
}
