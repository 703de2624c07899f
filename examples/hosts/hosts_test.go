package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/console"
)

// started matches the blocks of README.md that start a process.
var started = regexp.MustCompile("(?m)^```\ngo run -C examples \\./hosts (.*)\n```$")

// TestReadme starts the two processes of README.md, runs its commands and compares their output.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(tool, "is not installed")
		}
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := started.FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d processes, want 2", len(blocks))
	}
	p := startTwo(t, strings.Fields(blocks[0][1]), strings.Fields(blocks[1][1]))
	script, want := console.Script(string(text))
	shell := exec.CommandContext(t.Context(), "bash", "-c", p.here.Replace(script))
	shell.Dir = t.TempDir()
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	got := strings.ReplaceAll(p.asWritten.Replace(string(out)), "\r\n", "\n") // of header fields
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-README +got):\n%s", diff)
	}
	// Without the other server, only its contracts fail.
	p.older.stop(t)
	for path, want := range map[string]int{"/v1.1/notes": 502, "/v1.0/notes": 308, "/v2/notes": 200} {
		if got := status(t, p.here.Replace("http://localhost:8080")+path); got != want {
			t.Errorf("GET %s: %d, want %d", path, got, want)
		}
	}
	p.newer.stop(t)
}

// pair is the two processes, and the conversions between the ports of README.md and their ports.
type pair struct {
	older, newer    *process
	here, asWritten *strings.Replacer
}

// startTwo starts both processes on free ports. Another program can take a port before its process
// does, and then other ports are tried.
func startTwo(t *testing.T, older, newer []string) *pair {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hosts")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var failed error
	for range 5 {
		ports := freePorts(t, 2)
		file := filepath.Join(t.TempDir(), "notes.db")
		p := &pair{
			here:      strings.NewReplacer(":8080", ports[0], ":8081", ports[1], "notes.db", file),
			asWritten: strings.NewReplacer(ports[0], ":8080", ports[1], ":8081"),
		}
		if p.older, failed = start(t, program, p.arguments(older)); failed != nil {
			continue
		}
		// The default of the flag is the port 8080, too.
		if p.newer, failed = start(t, program, p.arguments(append(newer, "-addr=localhost:8080"))); failed == nil {
			return p
		}
		p.older.stop(t)
	}
	t.Fatal(failed)
	return nil
}

// arguments converts the arguments of README.md.
func (p *pair) arguments(args []string) (converted []string) {
	for _, arg := range args {
		converted = append(converted, p.here.Replace(arg))
	}
	return converted
}

// freePorts returns ports that no program listens on, as ":8080".
func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // after the last port has been chosen, so that all differ
		ports = append(ports, fmt.Sprintf(":%d", l.Addr().(*net.TCPAddr).Port))
	}
	return ports
}

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	stderr *bytes.Buffer
}

// start starts a process and waits until it prints its address.
func start(t *testing.T, program string, args []string) (*process, error) {
	t.Helper()
	// The context of the test is done before its cleanup, which ends the process.
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(t.Context()), program, args...),
		stderr: &bytes.Buffer{}}
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "hosts: listening on ") {
			t.Cleanup(func() { p.stop(t) })
			return p, nil
		}
	}
	return nil, fmt.Errorf("%s: %w: %s", args, p.cmd.Wait(), p.stderr)
}

// stop ends the process, unless it has ended, and checks its exit status.
func (p *process) stop(t *testing.T) {
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.stderr)
	}
}

// status sends a GET and returns the status, without following redirects.
func status(t *testing.T, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

func TestArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"help", []string{"-help"}, 0, "-forward CONTRACT=URL"},
		{"no URL", []string{"-at", "1.0.0"}, 2, "use CONTRACT=URL"},
		{"another major version", []string{"-serve", "3"}, 2, "-serve is 1 or 2"},
		{"no flag", []string{"x"}, 2, "no other arguments"},
		{"no database", []string{"-db", filepath.Join(t.TempDir(), "missing", "notes.db")}, 1, "hosts: create the table"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			if got := run(t.Context(), tt.args, io.Discard, &stderr); got != tt.status ||
				!strings.Contains(stderr.String(), tt.want) {
				t.Errorf("status %d, want %d: %s", got, tt.status, &stderr)
			}
		})
	}
}
