// Package recipe runs the README.md of an example: it starts the programs of the document, runs the
// commands with bash and compares their output. Called by the tests of the examples.
package recipe

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/console"
)

// Session is a README.md that is being run. Its methods must be called in the goroutine of the test.
type Session struct {
	// Dir is the working directory of programs and commands. Its entry examples is the folder of the
	// examples, so that commands may use the paths of the repository.
	Dir string

	t        *testing.T
	programs map[string]string // by argument of go run
	to, from []string          // pairs of addresses, for [strings.NewReplacer]
}

// start matches a block with the command that starts a program.
var start = regexp.MustCompile("(?m)^```\ngo run -C examples (\\./\\S+)(.*)\n```$")

// varying matches values that differ each time: cursors and UUIDs.
var varying = regexp.MustCompile(`retry: [0-9]{4}\b|id: [\w-]{23,}|` +
	`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// New returns a session without programs.
func New(t *testing.T) *Session {
	t.Helper()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(tool, "is not installed")
		}
	}
	dir := t.TempDir()
	examples, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	return &Session{Dir: dir, t: t, programs: map[string]string{}}
}

// Readme runs the README.md in the folder of the test. Each block with the command "go run -C examples
// ./NAME" starts a program on a free port, and the commands after it run until the next one. The
// document must have commands. args are added to those of each program.
func Readme(t *testing.T, args ...string) {
	t.Helper()
	s := New(t)
	text := Text(t)
	starts := start.FindAllStringSubmatchIndex(text, -1)
	if len(starts) == 0 {
		t.Fatal("README.md starts no program")
	}
	commands := 0
	for i, m := range starts {
		s.Start(text[m[2]:m[3]], append(strings.Fields(text[m[4]:m[5]]), args...)...)
		until := len(text)
		if i+1 < len(starts) {
			until = starts[i+1][0]
		}
		commands += s.Run(text[m[1]:until])
	}
	if commands == 0 {
		t.Error("README.md has no block of commands after the start of a program")
	}
}

// ReadmeOf is [Readme] for a program without the flag -addr: h serves localhost:8080.
func ReadmeOf(t *testing.T, h http.Handler) {
	t.Helper()
	s := New(t)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s.address("localhost:8080", strings.TrimPrefix(server.URL, "http://"))
	if s.Run(Text(t)) == 0 {
		t.Error("README.md has no block of commands")
	}
}

// Text returns README.md in the folder of the test.
func Text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// address makes commands use the address here in place of the one of the document.
func (s *Session) address(document, here string) {
	s.to = append([]string{document, here}, s.to...)
	s.from = append([]string{here, document}, s.from...)
}

// Program is a running program.
type Program struct {
	// Address is the host and port of the program.
	Address string

	cmd   *exec.Cmd
	ended chan struct{} // closed when its output has ended

	mu     sync.Mutex
	output strings.Builder
}

// Start starts a program, such as ./jwt, with the arguments of the document, and waits until it
// listens. The address in -addr, localhost:8080 by default, becomes a free port in later commands.
func (s *Session) Start(name string, args ...string) *Program {
	s.t.Helper()
	document := "localhost:8080"
	if i := slices.Index(args, "-addr"); i >= 0 {
		document = args[i+1]
		args = slices.Delete(slices.Clone(args), i, i+2)
	}
	for i, arg := range args {
		args[i] = s.here(arg)
	}
	p := s.Exec(name, append([]string{"-addr", "127.0.0.1:0"}, args...)...)
	s.address(document, p.Address)
	return p
}

// Exec starts a program with these arguments, unchanged, and waits until it listens. It ends with
// the test.
func (s *Session) Exec(name string, args ...string) *Program {
	s.t.Helper()
	return s.ExecPath(s.Build(name), args...)
}

// ExecPath is [Session.Exec] for the path of a program.
func (s *Session) ExecPath(path string, args ...string) *Program {
	s.t.Helper()
	p := &Program{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Dir = s.Dir
	output, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if p.Stop(syscall.SIGTERM); s.t.Failed() {
			text := p.Output()
			s.t.Logf("end of the output of %s:\n%s", path, text[max(0, len(text)-2000):])
		}
	})
	listening := make(chan string, 1)
	go p.read(output, listening)
	select {
	case p.Address = <-listening:
	case <-p.ended:
		s.t.Fatalf("%s ended before it was listening:\n%s", path, p.Output())
	}
	return p
}

// read collects the output, and sends the address after "listening on http://".
func (p *Program) read(output io.ReadCloser, listening chan<- string) {
	defer close(p.ended)
	defer output.Close()
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		fmt.Fprintln(&p.output, lines.Text())
		p.mu.Unlock()
		if _, address, ok := strings.Cut(lines.Text(), "listening on http://"); ok {
			select {
			case listening <- address:
			default:
			}
		}
	}
}

// Output returns what the program has written to standard output and standard error.
func (p *Program) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// ExitCode returns the exit status of a program that has ended, and -1 if a signal has ended it.
func (p *Program) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Stop sends a signal, if the program has not ended, and waits for its end.
func (p *Program) Stop(sig os.Signal) {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Signal(sig)
		p.cmd.Wait()
	}
	<-p.ended
}

// Build compiles an example, such as ./jwt, and returns the path of the program.
func (s *Session) Build(name string) string {
	s.t.Helper()
	if s.programs[name] == "" {
		path := filepath.Join(s.t.TempDir(), filepath.Base(name))
		build := exec.CommandContext(s.t.Context(), "go", "build", "-o", path, name)
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			s.t.Fatalf("go build %s: %v\n%s", name, err, out)
		}
		s.programs[name] = path
	}
	return s.programs[name]
}

// here returns text with the addresses of the programs in place of those of the document.
func (s *Session) here(text string) string { return strings.NewReplacer(s.to...).Replace(text) }

// Run runs the blocks of commands in text, compares their output, and returns the number of blocks.
func (s *Session) Run(text string) (blocks int) {
	s.t.Helper()
	blocks = strings.Count(text, "\n```console\n")
	if blocks == 0 {
		return 0
	}
	script, want := console.Script(text)
	shell := exec.CommandContext(s.t.Context(), "bash", "-c", s.here(script))
	shell.Dir = s.Dir
	out, err := shell.CombinedOutput()
	if err != nil {
		s.t.Error(err)
	}
	got := strings.NewReplacer(s.from...).Replace(strings.ReplaceAll(string(out), "\r\n", "\n"))
	diff := cmp.Diff(varying.ReplaceAllString(want, "..."), varying.ReplaceAllString(got, "..."))
	if diff != "" {
		s.t.Errorf("(-README +got):\n%s", diff)
	}
	return blocks
}
