// Package shop starts the reference application as a process of its own, so that tests see what a
// client sees.
package shop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Contracts returns the full names of the contracts that the shop serves, oldest first.
func Contracts() []string { return []string{"1.0.0", "1.1.0", "2.0.0"} }

// now is a time at which the shop serves all of them, so that no check depends on the date.
const now = "2026-12-01T00:00:00Z"

// Shop is a process that serves.
type Shop struct {
	// URL is where it listens, such as http://127.0.0.1:40123.
	URL string

	cmd *exec.Cmd
	dir string // the program, if Start has built it
}

// build compiles the shop into a file in out.
func build(out string) (program string, err error) {
	examples, err := find(".")
	if err != nil {
		return "", err
	}
	program = filepath.Join(out, "shop")
	if text, err := exec.Command("go", "build", "-C", examples, "-o", program, "./shop").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return program, nil
}

// find returns the folder of the examples module, which is beside one of the folders above dir.
func find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		examples := filepath.Join(dir, "examples")
		if _, err := os.Stat(filepath.Join(examples, "shop", "main.go")); err == nil {
			return examples, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("examples/shop is in none of the folders above")
		}
	}
}

// Start starts the program SHOP on a free port, and returns when it listens. Without SHOP it builds
// the shop. The result has to be closed.
func Start() (*Shop, error) {
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		return nil, err
	}
	s := &Shop{dir: dir}
	program := os.Getenv("SHOP")
	if program == "" {
		program, err = build(dir)
	}
	if err == nil {
		err = s.run(program)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

func (s *Shop) run(program string) error {
	s.cmd = exec.Command(program, "-addr", "127.0.0.1:0", "-now", now)
	s.cmd.Stderr = os.Stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	var said strings.Builder
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "shop: listening on "); ok {
			s.URL = url
			go io.Copy(io.Discard, stdout)
			return nil
		}
		fmt.Fprintln(&said, lines.Text())
	}
	return fmt.Errorf("the shop ended without listening: %w\n%s", s.cmd.Wait(), &said)
}

// Close ends the process and removes what Start has built.
func (s *Shop) Close() error {
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(2*time.Minute, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	return errors.Join(err, s.cmd.Wait(), os.RemoveAll(s.dir))
}

// Document returns the full OpenAPI document of a contract.
func (s *Shop) Document(ctx context.Context, contract string) ([]byte, error) {
	return Document(ctx, s.URL, contract)
}

// Document returns the full OpenAPI document of a contract from the shop at a URL.
func Document(ctx context.Context, url, contract string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/openapi/"+contract+".json?profile=full", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", req.URL, resp.Status)
	}
	return io.ReadAll(resp.Body)
}
