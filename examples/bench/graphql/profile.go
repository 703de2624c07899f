package main

// Profiles of the processor of each job, by hand and with Stoa. Read them with
// go tool pprof -top FILE.

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// profile writes the profiles to a folder and prints their names.
func profile(jobs []job, folder string, each time.Duration, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	words := strings.NewReplacer(" ", "-", ",", "")
	for i := range jobs {
		for _, p := range jobs[i].peers() {
			if p.name != byHand.name && p.name != stoa.name {
				continue
			}
			file := filepath.Join(folder, words.Replace(jobs[i].name+"-"+p.name)+".pprof")
			if err := profileJob(&jobs[i], p, file, each); err != nil {
				return err
			}
			fmt.Fprintln(out, file)
		}
	}
	return nil
}

// profileJob writes the profile of a job on one peer.
func profileJob(j *job, p peer, file string, each time.Duration) error {
	c, err := newClient(p.handler(shop.New(10_000)), j)
	if err != nil {
		return err
	}
	return measure.Profile(file, each, c.send)
}
