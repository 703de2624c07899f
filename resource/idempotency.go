package resource

// Idempotency keys: what a key guarantees for each part of a catalog, and how a write is carried
// out under one. There is one path for all writes: Key.Do, for which a nil Key is the trivial case.
// Called by write.go, batch.go and import.go, by packages blob and command, and by protocols. It
// calls package idempotency.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/internal/retry"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// KeyedWrite is a write that can be carried out under a [Key]. The writes of this package implement
// it; a protocol does if one of its requests has several.
type KeyedWrite interface {
	// Content returns the content of the request: two requests with the same key must have the same.
	// It is called once, before the other methods.
	Content(ctx context.Context) KeyedContent
	// Creates reports whether the write creates something under an id that the store chooses.
	Creates() bool
	// Do carries out the write. It is called again if its transaction is retried.
	Do(ctx context.Context) error
	// Record returns what is remembered of a write that succeeded.
	Record() (idempotency.Record, error)
	// Replay restores the result from the record of an earlier request, if the caller may still see
	// it. Otherwise it returns the error of [Resource.Get].
	Replay(ctx context.Context, rec *idempotency.Record) error
}

// KeyedContent is the content of a [KeyedWrite], for comparing requests with the same key.
type KeyedContent struct {
	// Sent is the content as the client has sent it, such as the result of
	// [idempotency.CanonicalJSON]. A new optional field or another default does not change it.
	Sent []byte
	// Contract is the version of the API if it decides what Sent means. Requests in different
	// contracts are compared by their Members, if that is not nil; see [idempotency.Operation].
	Contract string
	Members  func() []idempotency.Member
}

// Key is the idempotency key of one request (draft-ietf-httpapi-idempotency-key-header-08): an
// argument of its write, which then takes effect once, however often the request is repeated.
// [Catalog.Key] makes one. A nil Key is no key. It belongs to one request and is not safe for
// concurrent use.
type Key struct {
	// Content replaces the content of [Resource.Patch], which is otherwise the patch itself. It is
	// in the form of [idempotency.CanonicalJSON].
	Content []byte
	// Raw lets a replayed item be returned by [Key.Item] alone, without an Entry.Value.
	Raw bool
	// Atomic prevents a refusal from being recorded, although [idempotency.RecordRefusal] was
	// called: the request has several writes, which the refusal of one rolls back. Batch and Import
	// set it.
	Atomic bool

	catalog *Catalog
	op      idempotency.Operation
	scope   []string
	words   [2]string // memory of scope
	writes  []*Resource
	levels  idempotency.Guarantee
	level   idempotency.Level
	runner  tx.Runner
	refusal error // remembered; nil for none
	// record is that of the write, also of one that was carried out now. replayed reports whether
	// it was made by an earlier request.
	record   idempotency.Record
	replayed bool
	item     []byte
}

// Key returns a key for a request that writes to the part of the catalog with this name, such as
// "orders". Without such a part, [Key.SetLevel] sets the guarantee. op has the principal, the
// method, the target and the key of the client, none of which is empty; [Key.Do] sets its
// Fingerprint. scope is what a repeated request must repeat beside its content, such as its query
// and media type. Key panics if the catalog has no CatalogOptions.Idempotency.
func (c *Catalog) Key(part string, op idempotency.Operation, scope ...string) *Key {
	if c.opts.Idempotency == nil {
		panic("resource: Catalog.Key needs CatalogOptions.Idempotency")
	}
	k := &Key{catalog: c, op: op}
	k.scope = append(k.words[:0], scope...)
	if p := c.byName[part]; p != nil {
		k.levels, k.runner = p.guarantee, p.Runner
		if r := p.target(); r != nil {
			k.writes = []*Resource{r}
		}
	}
	return k
}

// SetLevel, called before [Key.Do], replaces the guarantee of the part: a request with several
// writes has that of all of them together. runner is used at [idempotency.ExactlyOnce] only. resources
// are those that the request writes to.
func (k *Key) SetLevel(level idempotency.Level, runner tx.Runner, resources ...*Resource) {
	k.levels.Create, k.levels.Others, k.runner, k.writes = level, level, runner, resources
}

// Replayed returns the record of the earlier request with the result that was returned; nil if the write
// was carried out now, or k is nil. If its Status is 400 or above the earlier request was refused:
// the write returned an error, and the Result of the record is its problem document.
func (k *Key) Replayed() *idempotency.Record {
	if k == nil || !k.replayed {
		return nil
	}
	return &k.record
}

// Item returns the item of a Create, Put or Patch as JSON, which a protocol can send in place of
// Entry.Value. It is nil for a nil Key, for a view, and for a replay without Raw or with a policy.
func (k *Key) Item() []byte {
	if k == nil {
		return nil
	}
	return k.item
}

// errRefusedBefore is the error of a write after an earlier request was refused; see Replayed.
var errRefusedBefore = errors.New("the first request with this key was refused")

// Do carries out w, unless an earlier request with the same key has done so: then w gets the record
// of that one. A nil Key calls w.Do. Errors are those of w and of [idempotency.Guard.Do]; for an
// earlier refusal see [Key.Replayed].
//
// At [idempotency.ExactlyOnce] w.Do runs in a transaction with the record. Below it, w.Do is not
// canceled by a client that disconnects, because a partial effect would leave the outcome unknown.
func (k *Key) Do(ctx context.Context, w KeyedWrite) error {
	if k == nil {
		return w.Do(ctx)
	}
	content := w.Content(ctx)
	for _, r := range k.writes {
		if r.core.scope == nil {
			continue
		}
		fixed, err := r.core.fixedScope(ctx)
		if err != nil {
			return r.wrap(OpGet, "", err)
		}
		k.scope = append(k.scope, fixed)
	}
	k.op.Contract, k.op.Members = content.Contract, k.members(content.Members)
	k.op.Fingerprint = k.fingerprint(&content)
	if k.level = k.levels.Others; w.Creates() {
		k.level = k.levels.Create
	}
	carryOut := func(ctx context.Context) (idempotency.Record, error) { return k.carryOut(ctx, w) }
	attempt := func() (err error) {
		k.record, k.replayed, err = k.catalog.opts.Idempotency.Do(ctx, k.op, k.level, k.runner, carryOut)
		return err
	}
	err := attempt()
	if errors.Is(err, ErrStale) && !errors.As(err, new(*failedError)) && k.level == idempotency.ExactlyOnce &&
		!tx.Active(ctx) {
		// The retry loop of the write cannot retry inside of the transaction.
		limited, cancel := context.WithTimeout(ctx, retry.Timeout)
		defer cancel()
		err = retryStale(limited, attempt)
	}
	switch {
	case err != nil:
		return err
	case !k.replayed:
		return k.refusal
	case k.record.Status >= http.StatusBadRequest:
		return errRefusedBefore
	}
	return hiddenResult(w.Replay(ctx, &k.record))
}

// hiddenResult adds the key to an error of KeyedWrite.Replay, because the caller may not know of an earlier
// request with it.
func hiddenResult(err error) error {
	if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrForbidden) {
		return err
	}
	d := *Problem(err)
	const detail = "was used for a request with a result that the caller may not read; nothing is written"
	used := problem.Violation{Header: idempotency.KeyField, Code: "used", Detail: detail}
	d.Errors = append(slices.Clone(d.Errors), used)
	return fmt.Errorf("%w: %w", &d, err)
}

// carryOut runs the write and makes its record.
func (k *Key) carryOut(ctx context.Context, w KeyedWrite) (rec idempotency.Record, err error) {
	k.refusal = nil
	if k.level < idempotency.ExactlyOnce {
		var cancel context.CancelFunc
		ctx, cancel = detached(ctx)
		defer cancel()
	}
	var part *unfinishedError
	switch err = w.Do(ctx); {
	case err == nil:
		rec, err = w.Record()
	case errors.As(err, &part) && part.repeatable:
		return rec, errors.Join(err, idempotency.ErrNothingDone) // a repetition continues
	case part != nil:
		k.refusal = err
		return k.recordOfRefusal(part.recorded()), nil
	case k.remembers(ctx, err):
		k.refusal = err
		return k.recordOfRefusal(Problem(err)), nil
	}
	return rec, nothingDone(err)
}

// remembers reports whether a repeated request must get the same refusal, because
// [idempotency.RecordRefusal] was called.
func (k *Key) remembers(ctx context.Context, err error) bool {
	return idempotency.RecordsRefusal(ctx) && !k.Atomic && !errors.Is(err, tx.ErrOutcomeUnknown) &&
		Problem(err).StatusCode() < http.StatusInternalServerError
}

// nothingDone marks errors after which nothing was written: refusals, ErrStale, and a store that
// could not be asked. After a timeout the write may have been committed.
func nothingDone(err error) error {
	switch {
	case err == nil, errors.Is(err, tx.ErrOutcomeUnknown):
		return err
	case Problem(err).StatusCode() < http.StatusInternalServerError,
		errors.Is(err, ErrStale),
		errors.Is(err, retry.ErrContended),
		errors.Is(err, ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded):
		return errors.Join(err, idempotency.ErrNothingDone)
	}
	return err
}

// detached returns ctx without its cancellation. Its deadline stays.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline)
}

// NewID returns the id of what is created under the key if the guarantee is
// [idempotency.ByIdentity]; empty otherwise, and for a nil Key. Call it in KeyedWrite.Do. It
// depends on the content: a key that is used again after its record has expired must not find the
// item of another request.
func (k *Key) NewID(ctx context.Context, name string) string {
	if k == nil || k.level != idempotency.ByIdentity {
		return ""
	}
	return idempotency.DeriveID(ctx, name+"/"+idempotency.ContentHash(ctx))
}

// Digest returns a digest of the content of a request that is read as a stream, for
// KeyedWrite.Content. k must not be nil. If the client has sent a digest (RFC 9530), the content is
// read and verified while it is stored, and the write may take as long as its request, up to an
// hour. Otherwise the content is read into memory; if it is longer than the MaxBody of
// [idempotency.Options], the error is 413.
func (k *Key) Digest(ctx context.Context, content *httpbody.Upload) ([]byte, error) {
	if content.HasDigest() {
		k.extend(ctx)
	}
	return content.Fingerprint(k.catalog.opts.Idempotency.Options().MaxBody)
}

// maxResult is the size that a result must not exceed to be recorded, in bytes.
func (k *Key) maxResult() int { return k.catalog.opts.Idempotency.Options().MaxResult }

// maxStreaming limits how long a keyed write may take while its content is being received.
const maxStreaming = time.Hour

// extend lets the write take as long as its request may, up to maxStreaming.
func (k *Key) extend(ctx context.Context) {
	k.op.Time = maxStreaming
	if until, ok := ctx.Deadline(); ok {
		k.op.Time = min(time.Until(until), maxStreaming)
	}
}

// buffers hold the text that a fingerprint is made of.
var buffers = httpbody.NewBuffers(4096, 1<<20)

// fingerprint is [idempotency.Fingerprint] of the request, with a pooled buffer.
func (k *Key) fingerprint(c *KeyedContent) [32]byte {
	buf := buffers.Get()
	defer buffers.Put(buf)
	b := appendSized(appendSized(appendSized(*buf, k.op.Method), k.op.Target), c.Contract)
	for _, part := range k.scope {
		b = appendSized(b, part)
	}
	b = append(binary.AppendUvarint(b, uint64(len(c.Sent))), c.Sent...)
	*buf = b
	return sha256.Sum256(b)
}

// members adds the scope, which requests in different contracts have in common, to the members of a
// request.
func (k *Key) members(all func() []idempotency.Member) func() []idempotency.Member {
	if all == nil {
		return nil
	}
	return func() []idempotency.Member {
		members := all()
		for i, part := range k.scope {
			if members == nil {
				break
			}
			members = append(members,
				idempotency.Member{Name: " scope" + strconv.Itoa(i), Value: []byte(part), Sent: true})
		}
		return members
	}
}

func appendSized(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

const mediaProblem = "application/problem+json"

// recordOfRefusal returns the record of a refusal that a repeated request gets again, without its errors and
// other members if it is too large.
func (k *Key) recordOfRefusal(d *problem.Details) idempotency.Record {
	rec := idempotency.Record{Status: d.StatusCode(), Media: mediaProblem, Result: d.Append(nil)}
	if len(rec.Result) > k.maxResult() {
		short := *d
		short.Errors, short.Extensions = nil, nil
		rec.Result = short.Append(nil)
	}
	for _, name := range []string{"Retry-After", "Www-Authenticate"} {
		if lines := d.Header[name]; lines != nil {
			if rec.Header == nil {
				rec.Header = http.Header{}
			}
			rec.Header[name] = lines
		}
	}
	return rec
}

// recordOf returns the record of a written item: its stored JSON, which every projection can be
// made from, without writeOnly members.
func (r *Resource) recordOf(status int, e *Entry, key *Key) idempotency.Record {
	rec := idempotency.Record{
		Status:     status,
		Collection: r.Name(),
		ID:         e.ID,
		Rev:        string(e.Rev),
		Media:      mediaJSON,
		Schema:     r.core.schemaID,
	}
	rec.SetModified(e.Modified)
	var err error
	if rec.Result, err = r.core.typ.Append(make([]byte, 0, 256), e.stored); err != nil { // it was written
		key.catalog.Logger().Error("resource: the written item cannot be encoded for its idempotency record",
			"resource", r.Name(), "error", safe.Truncate(err.Error()))
		rec.Media = ""
	}
	if r.projection.down == nil {
		key.item = rec.Result
	}
	return rec
}

// replayItem returns the item of a record, if the caller may still see it.
func (r *Resource) replayItem(ctx context.Context, rec *idempotency.Record, key *Key) (Entry, error) {
	e := Entry{ID: rec.ID, Rev: Rev(rec.Rev), Modified: rec.Modified()}
	foreign := r.core.foreign(rec.Schema)
	if r.projection.down == nil && key.Raw && !r.guarded() && rec.Result != nil && !foreign {
		key.item = rec.Result
		return e, nil
	}
	whole := rec.Result != nil
	if whole {
		e.stored = r.core.typ.New()
		if err := json.Unmarshal(rec.Result, e.stored); err != nil { // only if it is foreign
			e.stored, whole = nil, false
		}
	}
	if err := r.core.stillVisible(ctx, &e, r.projection.down != nil, foreign); err != nil {
		return e, r.wrap(OpGet, e.ID, err)
	}
	if changed := rec.Rev == "" || string(e.Rev) != rec.Rev; !whole || foreign && changed {
		key.record = *rec
		key.record.Result = nil
	}
	if e.stored == nil {
		return e, nil
	}
	e.Value = e.stored
	return r.entryOf(&e), nil
}

// guarded reports whether some callers may not see every item.
func (r *Resource) guarded() bool { return r.core.scope != nil || r.core.ops.authorize != nil }

// stillVisible authorizes reading an item of a record: the caller may have lost the right since it
// was written. The policy gets the item as it is now or, if it has been deleted, as it was. If the
// record has no content, or the revision is still current, the entry becomes the item as it is.
// whole requests that also without a policy, because views may show more than a record holds, such
// as whether there is a password. foreign requests the item as it is whatever its revision is,
// because the record may lack fields.
func (c *core) stillVisible(ctx context.Context, e *Entry, whole, foreign bool) error {
	guarded := c.scope != nil || c.ops.authorize != nil
	if !guarded && !whole && !foreign && e.stored != nil {
		return nil
	}
	now, err := c.load(ctx, e.ID, nil)
	switch {
	case err == nil && (e.stored == nil || foreign || e.Rev != "" && e.Rev == now.Rev):
		*e = *now
		return nil
	case !guarded && e.stored != nil:
		return nil
	case err == nil, errors.Is(err, errHidden):
		return err
	case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone):
		return err
	case !guarded:
		return nil
	case e.stored == nil:
		return err
	}
	scope, err := c.scopeOf(ctx)
	if err != nil {
		return err
	}
	return c.visible(ctx, e, &scope)
}

// Remember returns what [Raw.Recall] needs of an item that a recorded answer shows, as JSON
// without writeOnly members. guarded is false if every caller may see every item, and nothing has
// to be recorded. doc is nil then, and if the Entry has no item.
func (raw Raw) Remember(e *Entry) (doc []byte, guarded bool) {
	r := raw.r
	if !r.guarded() {
		return nil, false
	}
	if e.stored == nil {
		return nil, true
	}
	doc, err := r.core.typ.Append(nil, e.stored)
	if err != nil { // Recall then authorizes the item as it is
		return nil, true
	}
	return doc, true
}

// Recall returns an error if the caller may not see an item any more: as it is now or, if it has
// been deleted, as it was when [Raw.Remember] returned remembered. If that is nil, a deleted
// item is an error. The error is that of [Resource.Get].
func (raw Raw) Recall(ctx context.Context, id string, remembered []byte) error {
	r := raw.r
	ctx = r.inCatalog(ctx)
	if !r.guarded() {
		return nil
	}
	e := Entry{ID: id}
	if remembered != nil {
		e.stored = r.core.typ.New()
		if err := json.Unmarshal(remembered, e.stored); err != nil {
			return r.wrap(OpGet, id, err)
		}
	}
	if err := r.core.stillVisible(ctx, &e, false, false); err != nil {
		return r.wrap(OpGet, id, err)
	}
	return nil
}

// identifyParts panics if the Guard is that of another catalog with different parts of one name: the record
// of one would be replayed for the other, which would not be written. Each contract of an API has commands
// of its own, so these may differ in catalogs that share another part.
func (c *Catalog) identifyParts() {
	shared, other := false, ""
	for _, p := range c.parts {
		if !p.Keyed || c.opts.Idempotency == nil || !reflect.TypeOf(p.definition).Comparable() {
			continue
		}
		part := any(p.definition)
		if r := p.target(); r != nil {
			part = r.core
		}
		first, known := c.opts.Idempotency.Identify(p.Name, part)
		shared = shared || known && first == part
		if first != part && (other == "" || !strings.Contains(p.Name, "/")) {
			other = p.Name
		}
	}
	if other != "" && !(shared && strings.Contains(other, "/")) {
		panic("resource: " + other + " is in two catalogs with one idempotency.Guard, but is not the same " +
			"part; give one of them a Guard with another Options.Service")
	}
}

// Idempotency returns CatalogOptions.Idempotency. If it is nil, an Idempotency-Key is ignored.
func (c *Catalog) Idempotency() *idempotency.Guard { return c.opts.Idempotency }

// Guarantees returns what an Idempotency-Key guarantees for each part of the catalog that can be
// written to, in the order in which the parts were given. It is nil if the catalog keeps no keys.
func (c *Catalog) Guarantees() []idempotency.Guarantee {
	var out []idempotency.Guarantee
	for _, p := range c.parts {
		if p.Keyed && c.opts.Idempotency != nil {
			out = append(out, p.guarantee)
		}
	}
	return out
}

// Guarantee returns what a key guarantees for the part with this name, and the runner of the
// transactions in which it writes, at any level; nil if it has none. create selects the creation of an
// item with an id that the store chooses: a protocol that passes no Key sets WriteOptions.NewID if
// the level is [idempotency.ByIdentity]. For a part that the catalog does not have, and in a
// catalog without keys, the level is AtMostOnce.
func (c *Catalog) Guarantee(name string, create bool) (level idempotency.Level, runner tx.Runner) {
	p := c.byName[name]
	if p == nil {
		return idempotency.AtMostOnce, nil
	}
	if create {
		return p.guarantee.Create, p.Runner
	}
	return p.guarantee.Others, p.Runner
}

// sampleID is an id as it would be derived from a key.
const sampleID = "01234567-89ab-8def-8123-456789abcdef"

// derivesIDs reports whether a new item can have an id that is derived from a key.
func (r *Resource) derivesIDs() bool {
	c := r.core
	if c.ops.create == nil || c.ops.insert == nil || c.id.Type.Kind != schema.String {
		return false
	}
	v := c.typ.New()
	if c.id.SetText(v, sampleID) != nil {
		return false
	}
	return !slices.ContainsFunc(c.typ.Validate(v),
		func(bad schema.Violation) bool { return bad.Pointer == pointer.To(c.id.Name) })
}
