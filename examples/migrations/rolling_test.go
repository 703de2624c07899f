package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// step is a deployment: the files that are run before the release starts, and after the last process of
// the release before it has ended.
type step struct {
	before, after []string
	refused       string // by the release before, if it starts after that
}

var steps = []step{
	{before: []string{"00001_customers.sql"}},
	{before: []string{"00002_email.sql", "00003_email_index.sql"}},
	{}, // a member is renamed, and its column is not
	{before: []string{"00004_names_expand.sql"}, after: []string{"00005_names_contract.sql"},
		refused: "there is no column name"},
}

// TestRolling deploys one release after the other. Before and after each migration two releases serve one
// database, while clients write to both. In the end of each step every contract of both has to show the
// same items.
func TestRolling(t *testing.T) {
	t.Parallel()
	programs := build(t)
	databases := map[string]struct {
		dsn   func() string
		steps []step
	}{
		"postgres": {func() string { return sqltest.PostgreSQL(t) }, steps},
		"sqlite":   {func() string { return filepath.Join(t.TempDir(), "test.db") }, steps[:3]},
	}
	for name, d := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rollout{t: t, folder: name, dsn: d.dsn()}
			for i, s := range d.steps {
				r.deploy(i+1, programs, s)
			}
		})
	}
}

// build returns the paths of the programs of all releases.
func build(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range steps {
		name := fmt.Sprintf("release%d", i+1)
		path := filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-tags", name, "-o", path, ".").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		paths = append(paths, path)
	}
	return paths
}

// rollout is a database and the release that serves it.
type rollout struct {
	t           *testing.T
	folder, dsn string
	running     *process
	ids         []string
}

// process is a running release.
type process struct {
	release int
	url     string
	cmd     *exec.Cmd
}

// start starts a release, and returns an error with its output if it ends before it listens.
func (r *rollout) start(release int, path string) (*process, error) {
	cmd := exec.Command(path, "-db", r.dsn, "-addr", "127.0.0.1:0")
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var out strings.Builder
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		out.WriteString(lines.Text() + "\n")
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go io.Copy(io.Discard, log)
			r.t.Cleanup(func() { cmd.Process.Kill() })
			if strings.Contains(out.String(), "sorts or reads") {
				r.t.Errorf("release %d warns of slow queries:\n%s", release, &out)
			}
			return &process{release, url, cmd}, nil
		}
	}
	return nil, errors.Join(errors.New(out.String()), cmd.Wait())
}

func (p *process) stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// deploy replaces the running release by the next one.
func (r *rollout) deploy(release int, programs []string, s step) {
	r.t.Helper()
	old := r.running
	r.during(old, func() { // clients write while the migration runs
		for _, file := range s.before {
			r.migrate(file)
		}
	})
	next, err := r.start(release, programs[release-1])
	if err != nil {
		r.t.Fatalf("release %d: %v", release, err)
	}
	r.running = next
	if old != nil {
		r.exchange(old, next)
		old.stop()
	}
	r.during(next, func() {
		for _, file := range s.after {
			r.migrate(file)
		}
	})
	if s.refused != "" {
		if p, err := r.start(old.release, programs[old.release-1]); err == nil || !strings.Contains(err.Error(), s.refused) {
			r.t.Errorf("release %d starts after the contraction: %v %v, want %q", old.release, p, err, s.refused)
		}
	}
	for v := range next.contracts() {
		r.create(next, v+1)
	}
	r.compare(next)
}

// migrate runs the part Up of a file, as goose does.
func (r *rollout) migrate(file string) {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.folder, file))
	if err != nil {
		r.t.Fatal(err)
	}
	_, up, _ := strings.Cut(string(text), "-- +goose Up\n")
	up, _, _ = strings.Cut(up, "-- +goose Down")
	driver, dsn := "pgx", r.dsn
	if r.folder == "sqlite" {
		driver, dsn = "sqlite", "file:"+r.dsn+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(r.t.Context(), up); err != nil {
		r.t.Fatalf("%s: %v", file, err)
	}
}

// during calls do while a client creates and changes customers at p.
func (r *rollout) during(p *process, do func()) {
	if p == nil {
		do()
		return
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			select {
			case <-done:
				if n > 0 {
					return
				}
			default:
			}
			r.create(p, 1+n%p.contracts())
			r.change(p, 1+n%p.contracts(), r.ids[n%len(r.ids)], fmt.Sprintf("Ada Number King%d", n), "")
		}
	}()
	do()
	close(done)
	<-ended
}

// contracts returns the number of major versions that a release serves.
func (p *process) contracts() int { return max(1, p.release-1) }

// body returns a customer in the shape of a contract.
func body(version int, name, phone string) map[string]any {
	doc := map[string]any{}
	if first, last, ok := cutLast(name); name != "" && version == 3 && ok {
		doc["firstName"], doc["lastName"] = first, last
	} else if name != "" {
		doc["name"] = name
	}
	if phone != "" {
		doc[map[bool]string{true: "phone", false: "telephone"}[version == 1]] = phone
	}
	return doc
}

func cutLast(name string) (first, last string, ok bool) {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// shown returns a customer of any contract in one form.
func shown(doc map[string]any) map[string]any {
	if last, ok := doc["lastName"]; ok {
		doc["name"] = fmt.Sprint(doc["firstName"], " ", last)
	}
	if phone, ok := doc["telephone"]; ok {
		doc["phone"] = phone
	}
	return map[string]any{"name": doc["name"], "phone": doc["phone"]}
}

// send sends a request, which must succeed.
func (r *rollout) send(p *process, method, path string, doc any) map[string]any {
	r.t.Helper()
	content, _ := json.Marshal(doc)
	req, err := http.NewRequestWithContext(r.t.Context(), method, p.url+path, bytes.NewReader(content))
	if err != nil {
		r.t.Error(err)
		return nil
	}
	if method != "GET" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Errorf("release %d: %s %s: %v", p.release, method, path, err)
		return nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	got := map[string]any{}
	if err := json.Unmarshal(text, &got); err != nil || res.StatusCode >= 300 {
		r.t.Errorf("release %d: %s %s %s: %d %s", p.release, method, path, content, res.StatusCode, text)
	}
	return got
}

func path(version int, id string) string { return fmt.Sprintf("/v%d/customers/%s", version, id) }

func (r *rollout) create(p *process, version int) string {
	doc := r.send(p, "POST", strings.TrimSuffix(path(version, ""), "/"), body(version, "Ada Maria King", "1"))
	id := fmt.Sprint(doc["id"])
	r.ids = append(r.ids, id)
	return id
}

func (r *rollout) change(p *process, version int, id, name, phone string) {
	r.send(p, "PATCH", path(version, id), body(version, name, phone))
}

// exchange has both releases serve, and clients write to both.
func (r *rollout) exchange(old, next *process) {
	r.t.Helper()
	for _, pair := range [][2]*process{{old, next}, {next, old}} {
		for v := range pair[0].contracts() {
			r.create(pair[0], v+1)
			r.change(pair[1], 1, r.ids[0], "Grace Hopper", "")
		}
	}
	if next.release >= 2 { // a PUT by a release that does not know the member keeps it
		r.send(next, "PATCH", path(1, r.ids[0]), map[string]any{"email": "ada@example.com"})
		r.send(old, "PUT", path(1, r.ids[0]), body(1, "Ada King", "2"))
		doc := r.send(next, "GET", path(1, r.ids[0]), nil)
		if email := doc["email"]; old.release == 1 && email != "ada@example.com" {
			r.t.Errorf("after a PUT by release %d the email is %v", old.release, email)
		}
	}
	// Two clients change different members of one item.
	id, last := r.ids[len(r.ids)-1], 19
	var all sync.WaitGroup
	for n, p := range []*process{old, next} {
		all.Go(func() {
			for i := range last + 1 {
				if n == 0 {
					r.change(p, p.contracts(), id, "", fmt.Sprint("phone ", i))
				} else {
					r.change(p, p.contracts(), id, fmt.Sprint("Name ", i), "")
				}
			}
		})
	}
	all.Wait()
	doc := r.send(old, "GET", path(1, id), nil)
	want := map[string]any{"name": fmt.Sprint("Name ", last), "phone": fmt.Sprint("phone ", last)}
	if diff := cmp.Diff(want, shown(doc)); diff != "" {
		r.t.Errorf("release %d, after changes of both (-want +got):\n%s", next.release, diff)
	}
	r.compare(old, next)
}

// compare reads all customers by all contracts of the releases.
func (r *rollout) compare(all ...*process) {
	r.t.Helper()
	for _, id := range r.ids {
		var want map[string]any
		for _, p := range all {
			for v := range p.contracts() {
				doc := r.send(p, "GET", path(v+1, id), nil)
				got := shown(doc)
				if want == nil {
					want = maps.Clone(got)
				}
				if diff := cmp.Diff(want, got); diff != "" || got["name"] == nil || got["name"] == "" {
					r.t.Errorf("customer %s at release %d, contract %d (-want +got):\n%s", id, p.release, v+1, diff)
				}
			}
		}
	}
}
