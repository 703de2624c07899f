package main

// Profiles of the processor of each job, by hand and with Stoa, in process and over sockets. Read
// them with go tool pprof -top FILE.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// profile writes the profiles to a folder and prints their names.
func profile(ctx context.Context, jobs []job, folder string, each time.Duration, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	words := strings.NewReplacer(" ", "-", ",", "")
	for _, j := range jobs {
		for _, p := range []peer{byHand, byStoa} {
			file := filepath.Join(folder, words.Replace(j.name+"-"+p.name)+".pprof")
			if err := profileInProcess(j, p, file, each); err != nil {
				return err
			}
			fmt.Fprintln(out, file)
			file = filepath.Join(folder, words.Replace("sockets-"+j.name+"-"+p.name)+".pprof")
			if err := profileSockets(ctx, j, p, file, each); err != nil {
				return err
			}
			fmt.Fprintln(out, file)
		}
	}
	return nil
}

// profileInProcess writes the profile of a job on a handler.
func profileInProcess(j job, p peer, file string, each time.Duration) error {
	c, err := newClient(j, p)
	if err != nil {
		return err
	}
	return measure.Profile(file, each, c.send)
}

// profileSockets writes the profile of a server process.
func profileSockets(ctx context.Context, j job, p peer, file string, each time.Duration) error {
	s, err := startProcess(ctx, p)
	if err != nil {
		return err
	}
	if _, err := s.used(file); err != nil {
		return err
	}
	if _, err := s.perRequest(ctx, j, each); err != nil {
		return err
	}
	return s.stop()
}
