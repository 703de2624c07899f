package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// The scenario disk-full gives the shop a file system of a few MiB for its SQLite file and its folder of files, and fills it. Each
// write has to be refused with the reason: 503 of items, 507 of uploads, both with Retry-After, and never 500. Readiness has to be
// 503 meanwhile, and reads continue. When the space is freed, the shop has to recover without a restart. In the end exactly what was
// acknowledged is there, also after the shop was killed and started again.

// diskRun is one run.
type diskRun struct {
	e      *env
	dir    string // the small file system
	client *client.Client
	base   string
	history.Violations

	sent   int
	orders map[string]string // note by path, acknowledged
	files  map[string]string // content by path, acknowledged
	counts []map[string]int  // responses by phase
	phases []string
}

func diskFull(ctx context.Context, e *env) error {
	d := &diskRun{e: e, dir: filepath.Join(e.dir, "disk"), client: client.New(1), orders: map[string]string{},
		files: map[string]string{}}
	if err := d.mount(size(e, "size=12m", "size=64m")); err != nil {
		return err
	}
	err := d.run(ctx)
	return errors.Join(err, e.finish(d.result()))
}

// mount makes a file system that is detached at the end, when the shop has been killed. It needs root.
func (d *diskRun) mount(options string) error {
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, options); err != nil {
		return fmt.Errorf("mounting %s: %w", d.dir, err)
	}
	d.e.closers = append(d.e.closers, func() { syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	return nil
}

// run writes before, while and after the file system is full, several times, and compares what is there.
func (d *diskRun) run(ctx context.Context) error {
	db := filepath.Join(d.dir, "shop.db")
	f, err := d.e.startShop(ctx, 1, "-db", db, "-files", filepath.Join(d.dir, "files"))
	if err != nil {
		return err
	}
	d.base = f.URL(0)
	n := size(d.e, 20, 200)
	for range size(d.e, 2, 10) {
		d.phase(ctx, "free", n, false)
		if err := d.fill(); err != nil {
			return err
		}
		d.exhaust(ctx)
		d.phase(ctx, "full", n, true)
		d.compare(ctx, "while the disk is full")
		if err := os.Remove(d.filler()); err != nil {
			return err
		}
	}
	d.phase(ctx, "free again", n, false)
	d.compare(ctx, "after the space was freed")
	if err := f.Restart(ctx, 0); err != nil {
		return err
	}
	d.base = f.URL(0)
	d.compare(ctx, "after a kill")
	d.ready(ctx, http.StatusOK)
	f.KillAll()
	return errors.Join(d.checkFile(ctx, db), d.client.Check())
}

func (d *diskRun) filler() string { return filepath.Join(d.dir, "filler") }

// fill leaves no space, in steps that become smaller.
func (d *diskRun) fill() error {
	file, err := os.Create(d.filler())
	if err != nil {
		return err
	}
	defer file.Close()
	for size := 1 << 20; size > 0; {
		switch _, err := file.Write(make([]byte, size)); {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		case err != nil:
			return err
		}
	}
	return nil
}

// exhaust sends writes until one is refused. SQLite first uses what it has allocated for its log.
func (d *diskRun) exhaust(ctx context.Context) {
	d.phases, d.counts = append(d.phases, "filled"), append(d.counts, map[string]int{})
	accepted := len(d.orders)
	for limit := accepted + 20_000; accepted < limit && ctx.Err() == nil; accepted++ {
		if d.createOrder(ctx, true); len(d.orders) == accepted {
			return
		}
	}
}

// phase sends n writes of each kind, and checks readiness.
func (d *diskRun) phase(ctx context.Context, name string, n int, full bool) {
	d.phases, d.counts = append(d.phases, name), append(d.counts, map[string]int{})
	if !full {
		d.ready(ctx, http.StatusOK)
	}
	for range n {
		d.createOrder(ctx, full)
		d.createOrder(ctx, full, fmt.Sprintf("Idempotency-Key: key-%d", d.sent))
		d.patchOrder(ctx, full)
		d.putFile(ctx, full)
	}
	if full {
		d.ready(ctx, http.StatusServiceUnavailable)
	}
}

// ready waits until readiness has a status. The shop tests the disk at most once a second.
func (d *diskRun) ready(ctx context.Context, want int) {
	var a client.Answer
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit) && ctx.Err() == nil; client.Pause(ctx, 100*time.Millisecond) {
		if a = d.client.Send(ctx, http.MethodGet, d.base+"/health", ""); a.Status == want {
			return
		}
	}
	d.Add(history.Unexpected, 1, "readiness: %d %s, want %d", a.Status, a.Body, want)
}

// write sends a write and checks its status. It reports whether the write was acknowledged.
func (d *diskRun) write(ctx context.Context, full bool, refused int, method, path, body string, header ...string) (client.Answer, bool) {
	a := d.client.Send(ctx, method, d.base+path, body, header...)
	d.counts[len(d.counts)-1][fmt.Sprintf("%d %s", a.Status, method)]++
	switch {
	case a.OK():
		return a, true
	case full && a.Status == refused && a.RetryAfter():
	default:
		d.Add(history.Unexpected, 1, "%s %s: %d %s %v", method, path, a.Status, a.Body, a.Err)
	}
	return a, false
}

func (d *diskRun) createOrder(ctx context.Context, full bool, header ...string) {
	d.sent++
	note := fmt.Sprintf("disk %d %s", d.sent, strings.Repeat("x", 400))
	body := encode(map[string]any{"note": note, "lines": []any{countLine(int64(d.sent))}})
	a, ok := d.write(ctx, full, http.StatusServiceUnavailable, http.MethodPost, "/orders", body, append(header, client.JSON)...)
	if ok {
		d.orders[a.Header.Get("Location")] = note
	}
}

func (d *diskRun) patchOrder(ctx context.Context, full bool) {
	for path := range d.orders {
		d.sent++
		note := fmt.Sprintf("disk %d", d.sent)
		_, ok := d.write(ctx, full, http.StatusServiceUnavailable, http.MethodPatch, path, encode(map[string]any{"note": note}),
			"Content-Type: application/merge-patch+json")
		if ok {
			d.orders[path] = note
		}
		return
	}
}

func (d *diskRun) putFile(ctx context.Context, full bool) {
	d.sent++
	path, content := fmt.Sprintf("/files/f%d", d.sent%7), strings.Repeat(fmt.Sprintf("%-10d", d.sent), 2000)
	if _, ok := d.write(ctx, full, http.StatusInsufficientStorage, http.MethodPut, path, content, "Content-Type: text/plain"); ok {
		d.files[path] = content
	}
}

// compare reads everything: what was acknowledged has to be there, and nothing else.
func (d *diskRun) compare(ctx context.Context, when string) {
	all, err := client.Lines[order]("GET /orders", d.client.Send(ctx, http.MethodGet, d.base+"/orders", "", client.NDJSON))
	if err != nil {
		d.Add(history.Unexpected, 1, "%s: %v", when, err)
		return
	}
	seen := map[string]bool{}
	for _, o := range all {
		if o.Note == nil || !strings.HasPrefix(*o.Note, "disk ") {
			continue // seeded
		}
		path := "/orders/" + o.idText()
		seen[path] = true
		if want, ok := d.orders[path]; !ok || want != *o.Note {
			d.Add(history.Torn, 1, "%s: %s has the note %.20q, acknowledged was %.20q", when, path, *o.Note, want)
		}
	}
	for path := range d.orders {
		if !seen[path] {
			d.Add(history.Lost, 1, "%s: %s was acknowledged and does not exist", when, path)
		}
	}
	for path, want := range d.files {
		if a := d.client.Send(ctx, http.MethodGet, d.base+path, ""); !a.OK() || string(a.Body) != want {
			d.Add(history.Lost, 1, "%s: %s is %d with %d bytes, want %d", when, path, a.Status, len(a.Body), len(want))
		}
	}
	left, err := filepath.Glob(filepath.Join(d.dir, "files", ".stoa", "tmp", "*"))
	if err != nil || len(left) > 0 {
		d.Add(history.Torn, len(left), "%s: parts of uploads are left: %q", when, left)
	}
}

// checkFile lets SQLite check its file.
func (d *diskRun) checkFile(ctx context.Context, path string) error {
	pool, err := database.Pool(path, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	var text string
	if err := pool.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&text); err != nil {
		return err
	}
	if text != "ok" {
		return fmt.Errorf("integrity_check: %s", text)
	}
	return nil
}

func (d *diskRun) result() *result {
	r := &result{Violations: &d.Violations, title: "SQLite and files on a disk that becomes full"}
	refused, accepted := 0, 0
	for i, counts := range d.counts {
		r.line("%-12s %v", d.phases[i], counts)
		for status, n := range counts {
			switch {
			case d.phases[i] != "full":
			case strings.HasPrefix(status, "2"):
				accepted += n
			default:
				refused += n
			}
		}
	}
	r.line("%d orders and %d files acknowledged; while full, %d writes refused and %d accepted", len(d.orders), len(d.files), refused,
		accepted)
	if refused == 0 || refused < 3*accepted {
		r.fail(errors.New("the disk was not full"))
	}
	return r
}
