package main

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// The server is killed three times while the client makes payments. Each is made once.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	s := recipe.New(t)
	db := filepath.Join(s.Dir, "payments.db")
	server := s.Exec("./retries", "-addr", "127.0.0.1:0", "-db", db)
	client := exec.CommandContext(t.Context(), s.Build("./retries/client"),
		"-api", "http://"+server.Address, "-n", "600", "-account", "ann")
	var out, log bytes.Buffer
	client.Stdout, client.Stderr = &out, &log
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	for _, paid := range []string{"50", "200", "400"} {
		for stored(t, server.Address, paid) == 0 { // wait for the payment with this number
			time.Sleep(5 * time.Millisecond)
		}
		server.Stop(syscall.SIGKILL)
		server = s.Exec("./retries", "-addr", server.Address, "-db", db)
	}
	if err := client.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	if diff := cmp.Diff("600 payments confirmed, 600 stored\n", out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	t.Logf("%s", &log)
}

// stored returns 1 if there is a payment with this id, and otherwise 0.
func stored(t *testing.T, address, id string) int {
	t.Helper()
	resp, err := http.Get("http://" + address + "/payments?id=" + id + "&fields=id")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", resp.StatusCode, &body, err)
	}
	return strings.Count(body.String(), `"id"`)
}
