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

// fullDisk is a trial on a small file system.
type fullDisk struct {
	trial
	dir    string            // the file system
	writes int               // of each phase
	orders map[string]string // note by path, acknowledged
	files  map[string]string // content by path, acknowledged
	sent   int
	counts []map[string]int // responses by phase
	phases []string
}

func newFullDisk(dir string, writes int) *fullDisk {
	d := &fullDisk{dir: dir, writes: writes, orders: map[string]string{}, files: map[string]string{}}
	d.trial = trial{title: "SQLite and files on a disk that becomes full",
		command: []string{shop, "-db", d.path("shop.db"), "-files", d.path("files")}}
	return d
}

func (d *fullDisk) path(parts ...string) string {
	return filepath.Join(append([]string{d.dir}, parts...)...)
}

// diskFull mounts a file system, which needs root. It is detached at the end, when the shop has been killed.
func diskFull(ctx context.Context, e *env) error {
	d := newFullDisk(filepath.Join(e.dir, "disk"), size(e, 20, 200))
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, size(e, "size=12m", "size=64m")); err != nil {
		return fmt.Errorf("mounting %s: %w", d.dir, err)
	}
	e.closers = append(e.closers, func() { syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	d.do = func(ctx context.Context) error { return d.run(ctx, size(e, 2, 10)) }
	return e.try(ctx, &d.trial)
}

// run writes before, while and after the file system is full, several times, and compares what is there.
func (d *fullDisk) run(ctx context.Context, times int) error {
	for range times {
		d.phase(ctx, "free", false)
		if err := d.fill(); err != nil {
			return err
		}
		d.exhaust(ctx)
		d.phase(ctx, "full", true)
		d.compare(ctx, "while the disk is full")
		if err := os.Remove(d.path("filler")); err != nil {
			return err
		}
	}
	d.phase(ctx, "free again", false)
	d.compare(ctx, "after the space was freed")
	if err := d.Restart(ctx, 0); err != nil {
		return err
	}
	d.compare(ctx, "after a kill")
	d.ready(ctx, http.StatusOK)
	d.KillAll()
	var text string
	err := database.Ask(ctx, d.path("shop.db"), "PRAGMA integrity_check", &text)
	d.failIf(text != "ok", "integrity_check: %s", text)
	d.fail(d.Check())
	d.judge()
	return err
}

// fill leaves no space, in steps that become smaller.
func (d *fullDisk) fill() error {
	file, err := os.Create(d.path("filler"))
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
func (d *fullDisk) exhaust(ctx context.Context) {
	d.count("filled")
	accepted := len(d.orders)
	for limit := accepted + 20_000; accepted < limit && ctx.Err() == nil; accepted++ {
		if d.createOrder(ctx, true); len(d.orders) == accepted {
			return
		}
	}
}

// count begins a phase.
func (d *fullDisk) count(phase string) {
	d.phases, d.counts = append(d.phases, phase), append(d.counts, map[string]int{})
}

// phase sends writes of each kind, and checks readiness.
func (d *fullDisk) phase(ctx context.Context, name string, full bool) {
	d.count(name)
	if !full {
		d.ready(ctx, http.StatusOK)
	}
	for range d.writes {
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
func (d *fullDisk) ready(ctx context.Context, want int) {
	var a client.Answer
	err := client.Await(ctx, fmt.Sprint("status ", want), 100*time.Millisecond, func() bool {
		a = d.Send(ctx, http.MethodGet, d.URL(0)+"/health", "")
		return a.Status == want
	})
	if err != nil {
		d.Add(history.Unexpected, 1, "readiness: %d %s: %v", a.Status, a.Body, err)
	}
}

// attempt sends a write and checks its status. It reports whether the write was acknowledged.
func (d *fullDisk) attempt(
	ctx context.Context, full bool, refused int, method, path, body string, header ...string,
) (client.Answer, bool) {
	a := d.Send(ctx, method, d.URL(0)+path, body, header...)
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

func (d *fullDisk) createOrder(ctx context.Context, full bool, header ...string) {
	d.sent++
	note := fmt.Sprintf("disk %d %s", d.sent, strings.Repeat("x", 400))
	body := encode(map[string]any{"note": note, "lines": []any{countLine(int64(d.sent))}})
	header = append(header, client.JSON)
	a, ok := d.attempt(ctx, full, http.StatusServiceUnavailable, http.MethodPost, "/orders", body, header...)
	if ok {
		d.orders[a.Header.Get("Location")] = note
	}
}

func (d *fullDisk) patchOrder(ctx context.Context, full bool) {
	for path := range d.orders {
		d.sent++
		note := fmt.Sprintf("disk %d", d.sent)
		body := encode(map[string]any{"note": note})
		_, ok := d.attempt(ctx, full, http.StatusServiceUnavailable, http.MethodPatch, path, body, client.MergePatch)
		if ok {
			d.orders[path] = note
		}
		return
	}
}

func (d *fullDisk) putFile(ctx context.Context, full bool) {
	d.sent++
	path, content := fmt.Sprintf("/files/f%d", d.sent%7), strings.Repeat(fmt.Sprintf("%-10d", d.sent), 2000)
	const media = "Content-Type: text/plain"
	if _, ok := d.attempt(ctx, full, http.StatusInsufficientStorage, http.MethodPut, path, content, media); ok {
		d.files[path] = content
	}
}

// compare reads everything: what was acknowledged has to be there, and nothing else.
func (d *fullDisk) compare(ctx context.Context, when string) {
	all, err := client.Lines[order]("GET /orders", d.Send(ctx, http.MethodGet, d.URL(0)+"/orders", "", client.NDJSON))
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
		if a := d.Send(ctx, http.MethodGet, d.URL(0)+path, ""); !a.OK() || string(a.Body) != want {
			d.Add(history.Lost, 1, "%s: %s is %d with %d bytes, want %d", when, path, a.Status, len(a.Body), len(want))
		}
	}
	left, err := filepath.Glob(d.path("files", ".stoa", "tmp", "*"))
	if err != nil || len(left) > 0 {
		d.Add(history.Torn, len(left), "%s: parts of uploads are left: %q", when, left)
	}
}

// judge reports the responses of each phase. A disk that accepts writes is not full.
func (d *fullDisk) judge() {
	refused, accepted := 0, 0
	for i, counts := range d.counts {
		d.line("%-12s %v", d.phases[i], counts)
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
	d.line("%d orders and %d files acknowledged; while full, %d writes refused and %d accepted", len(d.orders), len(d.files), refused,
		accepted)
	d.failIf(refused == 0 || refused < 3*accepted, "the disk was not full")
}
