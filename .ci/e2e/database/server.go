package database

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Server is a server of its own, with fsync, that a script starts: PostgreSQL by .ci/postgres, or Redis by .ci/redis, which has
// the commands of StartServer, Crash and Stop only.
type Server struct {
	script, dir string
	url         string // of Redis
	databases   int
}

// StartServer installs the server if it is missing, which takes root, and starts it.
func StartServer(ctx context.Context, script string) (*Server, error) {
	s := &Server{script: script}
	if _, err := s.run(ctx, "install"); err != nil {
		return nil, err
	}
	out, err := s.run(ctx, "start")
	s.dir, s.url, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return s, err
}

// URL returns the URL of Redis.
func (s *Server) URL() string { return s.url }

// Create creates a database and returns its URL.
func (s *Server) Create(ctx context.Context) (string, error) {
	s.databases++
	out, err := s.run(ctx, "database", s.dir, fmt.Sprint("e2e", s.databases))
	return strings.TrimSpace(out), err
}

// Crash ends the server as a crash of the machine would, and starts it again.
func (s *Server) Crash(ctx context.Context) error { return s.command(ctx, "crash") }

// Down shuts the server down, and Up starts it again.
func (s *Server) Down(ctx context.Context) error { return s.command(ctx, "down") }
func (s *Server) Up(ctx context.Context) error   { return s.command(ctx, "up") }

// Standby starts a hot standby of the server, and Promote makes a standby a server of its own.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	out, err := s.run(ctx, "standby", s.dir)
	return &Server{script: s.script, dir: strings.TrimSpace(out)}, err
}

func (s *Server) Promote(ctx context.Context) error { return s.command(ctx, "promote") }

// At returns the URL of a database of other at this server.
func (s *Server) At(source string, other *Server) string {
	return strings.ReplaceAll(source, other.dir, s.dir)
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error { return s.command(context.Background(), "stop") }

func (s *Server) command(ctx context.Context, name string) error {
	_, err := s.run(ctx, name, s.dir)
	return err
}

func (s *Server) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.script, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", s.script, args[0], err, out, &stderr)
	}
	return string(out), nil
}
