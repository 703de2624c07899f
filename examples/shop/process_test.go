package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

// program is the path of the shop, built once as a user would build it.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "shop")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return sqltest.Run(m)
}

// shop is a running process of the shop.
type shop struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string   // http://127.0.0.1:PORT
	report []string // the lines before the address
	tmp    string   // folder for temporary files
	client http.Client
	stdout io.Reader
	stderr *bytes.Buffer
}

// open starts a shop on a free port and waits until it listens.
func open(t *testing.T, args ...string) *shop {
	t.Helper()
	s := start(t, args...)
	s.listens()
	return s
}

// start starts a shop on a free port.
func start(t *testing.T, args ...string) *shop {
	t.Helper()
	s := &shop{t: t, stderr: &bytes.Buffer{}, client: newClient(t)}
	s.cmd = exec.Command(program, append([]string{"-addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Stderr = s.stderr
	s.tmp = t.TempDir()
	s.cmd.Env = append(os.Environ(), "TMPDIR="+s.tmp)
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdout = stdout
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.close(syscall.SIGTERM)
		}
	})
	return s
}

// newClient returns a client that follows no redirects and waits for 100 (Continue) without the
// usual limit of one second.
func newClient(t *testing.T) http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ExpectContinueTimeout = time.Minute
	t.Cleanup(transport.CloseIdleConnections)
	return http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// listens waits until the shop prints its address.
func (s *shop) listens() {
	s.t.Helper()
	lines := bufio.NewScanner(s.stdout)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "shop: listening on "); ok {
			s.url = url
			return
		}
		s.report = append(s.report, lines.Text())
	}
	s.t.Fatalf("the shop ended without listening: %s%s", strings.Join(s.report, "\n"), s.stderr)
}

// close sends a signal, waits for the end and checks the exit status.
func (s *shop) close(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("after %v: %v\n%s", sig, err, s.stderr)
	}
}

// send sends a request, as curl would. Each of header is a line such as "Accept: text/html".
func (s *shop) send(method, path, body string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(content)
}

// fails runs a shop that must not start, and returns its exit status and output.
func fails(t *testing.T, args ...string) (int, string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit == nil {
		return 0, string(out)
	}
	return exit.ExitCode(), string(out)
}
