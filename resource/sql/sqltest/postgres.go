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

	_ "github.com/jackc/pgx/v5/stdlib" // which registers pgx
)

// server is the PostgreSQL of this process. It is started once, because that takes ten times as long as making a
// database in it.
var server struct {
	once sync.Once
	url  string // of the database postgres
	err  error
	stop func()
	last atomic.Int64 // number of the last database made
}

// errNoPostgres is the only fault for which tests may be skipped.
var errNoPostgres = errors.New("there is no PostgreSQL: install the package postgresql, or name a server in TEST_PG_DSN")

// Main runs the tests of a package and stops the server that they may have started. It is what TestMain calls:
//
//	func TestMain(m *testing.M) { sqltest.Main(m) }
//
// Without it the server still ends with the process, but leaves its folder behind.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that has something to do afterwards. It returns the exit status.
func Run(m *testing.M) int {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	return code
}

// PostgreSQL returns the URL of a new, empty database, which is dropped when the test ends.
//
// The server is that of the environment variable TEST_PG_DSN, a URL, or else one started for this process from the
// programs that are installed. Where there are none the test is skipped, or fails if the variable CI is set.
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

// start finds a server or starts one.
func start() {
	if server.url = os.Getenv("TEST_PG_DSN"); server.url != "" {
		return
	}
	bin, err := programs()
	if err != nil {
		server.err = err
		return
	}
	// Not a folder of the test's: its parents are closed to the user that the server runs as.
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

// programs finds the folder of initdb and postgres, the newest where there are several.
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

// nobody is who the server runs as if this process is root, whom it refuses.
const nobody = 65534

// command makes one that ends with this process, even if that is killed.
func command(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return cmd
}

func initialize(bin, dir string) error {
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			return err
		}
	}
	// A locale that does not sort by code point, where there is one, would be the better test; ICU always has some.
	cmd := command(dir, filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust",
		"--no-sync", "-E", "UTF8", "--locale-provider=icu", "--icu-locale=en-US")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// startServer starts the server and waits until it answers. It does without fsync, which protects from the end of the machine
// only: what is committed outlives every process all the same, also that of the server. There is room for the pools of as many
// tests as a machine of 64 processors runs at a time.
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
	return errors.New("postgres does not answer")
}

func answers(url string) bool {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return false
	}
	defer db.Close()
	return db.Ping() == nil
}

// supervise starts a process and waits for its end on a thread that lives as long: for Pdeathsig, Linux takes the end of
// the thread that started a process for that of the parent.
func supervise(cmd *exec.Cmd, started, ended chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		ended <- cmd.Wait()
	}
}
