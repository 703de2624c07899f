package main

// Server processes. Over sockets, each peer runs in a process of its own with one processor, so that
// its processor time includes parsing, header fields and system calls, and excludes the client.
// sockets.go is the client.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// serveVariable names the peer to serve. A test binary has other flags than the program, so the
// parent sets the variable in place of a flag.
const serveVariable = "BENCH_REST_SERVE"

// serveSocket serves a peer until in ends. It prints the address, and for each line of in the
// processor time of this process in nanoseconds. A line with the name of a file starts a profile of
// the processor that ends with the process.
func serveSocket(name string, in io.Reader, out io.Writer) error {
	for _, p := range overSockets {
		if p.name != name {
			continue
		}
		handler, err := p.make(items)
		if err != nil {
			return err
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(l) }() // ends with the process
		fmt.Fprintln(out, l.Addr())
		defer pprof.StopCPUProfile()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if file := lines.Text(); file != "" {
				if err := startProfile(file); err != nil {
					return err
				}
			}
			fmt.Fprintln(out, measure.ProcessorTime().Nanoseconds())
		}
		return server.Close()
	}
	return fmt.Errorf("there is no peer %q", name)
}

// startProfile starts a profile of the processor.
func startProfile(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

// process is a running server process.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	address string
}

// startProcess starts this program as the server of a peer.
func startProcess(ctx context.Context, p peer) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &process{cmd: exec.CommandContext(ctx, self)}
	s.cmd.Env = append(os.Environ(), serveVariable+"="+p.name, "GOMAXPROCS=1")
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if s.address, err = s.line(); err != nil {
		return nil, fmt.Errorf("server of %s: %w", p.name, errors.Join(err, s.stop()))
	}
	return s, nil
}

// startProcesses starts the servers of peers. The caller must call stop, also after an error.
func startProcesses(ctx context.Context, peers []peer) (all []*process, stop func(), err error) {
	stop = func() {
		for _, s := range all {
			_ = s.stop() // a failure of the server has failed a request before
		}
	}
	for _, p := range peers {
		s, err := startProcess(ctx, p)
		if err != nil {
			return all, stop, err
		}
		all = append(all, s)
	}
	return all, stop, nil
}

// line reads a line of the server's output.
func (s *process) line() (string, error) {
	line, err := s.out.ReadString('\n')
	return strings.TrimSpace(line), err
}

// stop ends the process.
func (s *process) stop() error {
	s.in.Close()
	return s.cmd.Wait()
}

// used returns the processor time of the process so far. If profile is not empty, the process starts
// to write a profile to that file.
func (s *process) used(profile string) (time.Duration, error) {
	if _, err := io.WriteString(s.in, profile+"\n"); err != nil {
		return 0, err
	}
	line, err := s.line()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(line, 10, 64)
	return time.Duration(n), err
}
