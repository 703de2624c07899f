package resource

import (
	"context"
	"net/http"

	"github.com/stoa-go/stoa/idempotency"
)

// commandOnce answers POST on a command under a key. in is what has been read of the content, and bad why there is none.
// Policy is asked before the key is looked up, so it is asked again each time. A job is not waited for: it outlives the
// request, and what is answered again is where to ask for it.
func (x *call) commandOnce(w *writeRequest, in any, bad error, doc []byte) error {
	c := x.route.command
	if bad == nil {
		if err := c.permit(x.r.Context(), in); err != nil {
			return err
		}
	}
	var rec idempotency.Record
	before, err := x.under(w, "", false, x.route.meaningOf(in, bad, doc)).once(
		func(ctx context.Context) (_ idempotency.Record, err error) {
			if in == nil && bad == nil { // not for the first time: whoever got it may have changed it
				in, bad = x.decodeInput(w, doc)
			}
			if bad != nil {
				return rec, bad
			}
			given := in
			in = nil
			rec, err = x.perform(ctx, given)
			return rec, err
		})
	if err != nil {
		return err
	}
	if before != nil {
		x.replayed(before)
		rec = *before
	}
	if rec.Status == http.StatusAccepted {
		return x.accepted(w, rec.ID)
	}
	return x.sendOutput(w, rec.Result, nil)
}

// perform does a command and makes the record of that.
func (x *call) perform(ctx context.Context, in any) (rec idempotency.Record, err error) {
	c := x.route.command
	if c.jobs != nil {
		id, _, err := c.jobs.Start(ctx, x.route.name, x.job(&outcome{}, in))
		return idempotency.Record{Status: http.StatusAccepted, Collection: c.jobs.Name(), ID: id}, c.wrap(err)
	}
	rec.Status = http.StatusNoContent
	out, err := c.run(ctx, in)
	if err != nil || out == nil {
		return rec, err
	}
	rec.Status, rec.Media = http.StatusOK, mediaJSON
	rec.Result, err = c.out.Append(nil, out)
	return rec, err
}

// meaningOf is what the input of a command means. Commands of several contracts have nothing in common but a name: what one
// gives is no answer to a caller of another, so its form is part of that.
func (rt *route) meaningOf(in any, bad error, doc []byte) []byte {
	c := rt.command
	meaning := idempotency.Meaning(mediaJSON, doc)
	if bad == nil {
		if full, err := c.in.AppendFull(nil, in); err == nil {
			meaning = full
		}
	}
	return append([]byte(rt.gives), meaning...)
}
