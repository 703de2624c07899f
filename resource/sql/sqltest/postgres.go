package sqltest

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers pgx
)

// server is the PostgreSQL server of this process. It is started once, because that takes ten times
// as long as creating a database.
var server struct {
	once sync.Once
	url  string // of the database postgres
	err  error
	stop func()
	last atomic.Int64 // number of the newest database
}

// errNoPostgres is the only error for which tests are skipped.
var errNoPostgres = errors.New("no PostgreSQL found: install the package postgresql, or set TEST_PG_DSN")

// Main runs the tests of a package and stops the server that they have started. Call it in
// TestMain:
//
//	func TestMain(m *testing.M) { sqltest.Main(m) }
//
// Without it the server ends with the process as well, but its directory is not removed.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain with further work after the tests. It returns the exit status.
func Run(m *testing.M) int {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	return code
}

// PostgreSQL returns the URL of a new, empty database, which is dropped when the test ends.
//
// The server is that of the environment variable TEST_PG_DSN, a URL. If it is not set, a server is
// started from the installed programs. If there are none the test is skipped, or fails if the
// variable CI is set.
func PostgreSQL(tb testing.TB) string {
	tb.Helper()
	server.once.Do(start)
	if errors.Is(server.err, errNoPostgres) && os.Getenv("CI") == "" {
		tb.Skip(server.err)
	}
	if server.err != nil {
		tb.Fatal(server.err)
	}
	admin, err := sql.Open("pgx", server.url)
	if err != nil {
		tb.Fatal(err)
	}
	name := fmt.Sprintf("stoa_test_%d_%d", os.Getpid(), server.last.Add(1))
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		admin.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		admin.Close()
	})
	made, err := url.Parse(server.url)
	if err != nil {
		tb.Fatal(err)
	}
	made.Path = "/" + name
	return made.String()
}

// start connects to a server or starts one.
func start() {
	if server.url = os.Getenv("TEST_PG_DSN"); server.url != "" {
		return
	}
	bin, err := programs()
	if err != nil {
		server.err = err
		return
	}
	// Not a directory of the test: the user of the server cannot enter its parents.
	dir, err := os.MkdirTemp("", "stoa-pg-")
	if err != nil {
		server.err = err
		return
	}
	server.err = errors.Join(os.Chmod(dir, 0o755), initialize(bin, dir), startServer(bin, dir))
	if server.err != nil {
		os.RemoveAll(dir)
	}
}

// programs returns the directory of initdb and postgres: those in PATH, or otherwise those of the
// version that sorts last as text. Debian does not add them to PATH.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errNoPostgres
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// unprivileged is the user of the server if this process is root, because PostgreSQL refuses to run as
// root.
const unprivileged = 65534

// command returns a command that ends with this process, even if that is killed.
func command(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
	return cmd
}

// initialize creates the files of the server. They belong to its user, which is not root.
func initialize(bin, dir string) error {
	if os.Getuid() == 0 {
		if err := os.Chown(dir, unprivileged, unprivileged); err != nil {
			return err
		}
	}
	// ICU is available everywhere. A locale of the system that does not sort by code point would be
	// a better test.
	cmd := command(dir, filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"),
		"-U", "postgres", "-A", "trust",
		"--no-sync", "-E", "UTF8", "--locale-provider=icu", "--icu-locale=en-US")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// startServer starts the server and waits until it accepts connections. It disables fsync, which is
// only needed if the machine crashes. The connection limit suits the tests that a machine of 64
// processors runs at a time.
func startServer(bin, dir string) error {
	cmd := command(dir, filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data"),
		"-c", "listen_addresses=", "-c", "unix_socket_directories="+dir, "-c", "max_connections=1500",
		"-c", "fsync=off", "-c", "full_page_writes=off")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	ended := make(chan error, 1)
	started := make(chan error)
	go supervise(cmd, started, ended)
	if err := <-started; err != nil {
		return err
	}
	server.url = "postgres:///postgres?user=postgres&host=" + url.QueryEscape(dir)
	server.stop = func() {
		cmd.Process.Signal(syscall.SIGINT)
		<-ended
		os.RemoveAll(dir)
	}
	for range 3000 { // a minute, as much as .ci/postgres gives it
		if answers(server.url) {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("postgres: %w\n%s", err, &out)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.New("postgres does not accept connections")
}

// answers reports whether the server accepts connections. A new pool is used for each attempt,
// because a connection of an earlier one could be broken.
func answers(url string) bool {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return false
	}
	defer db.Close()
	return db.Ping() == nil
}

// supervise starts a process and waits for its end on one locked thread. Linux sends Pdeathsig when
// the thread that started the process ends.
func supervise(cmd *exec.Cmd, started, ended chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		ended <- cmd.Wait()
	}
}
