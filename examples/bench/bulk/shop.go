package main

// The shop as a user runs it: a separate process, built from its own module, that receives one
// request over HTTP with all lines.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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

// shop is the path of the shop's executable.
type shop string

// buildShop builds the shop in its own module. The go command finds it by the replace directive in
// go.mod.
func buildShop(ctx context.Context, dir string) (shop, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/stoa-go/stoa").
		Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	program := filepath.Join(dir, "shop")
	examples := filepath.Join(strings.TrimSpace(string(root)), "examples")
	out, err := exec.CommandContext(ctx, "go", "build", "-C", examples, "-o", program, "./shop").
		CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return shop(program), nil
}

// importInto sends all lines to a shop without places. It returns the time from the request to the
// response.
func (s shop) importInto(
	ctx context.Context, t *target, lines []byte,
) (took time.Duration, n int, err error) {
	database, err := t.next(ctx)
	if err != nil {
		return 0, 0, err
	}
	err = s.open(ctx, database, func(url string) error {
		began := time.Now()
		n, err = post(ctx, url+"/places/import", lines)
		took = time.Since(began)
		return err
	})
	return took, n, err
}

// post imports the lines and returns the number of places created.
func post(ctx context.Context, url string, lines []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(lines))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	var report struct {
		Created, Replaced int
		Rejected          []json.RawMessage
	}
	// A rejected or replaced line means that the sides did different work, so it is an error.
	if err := json.Unmarshal(body, &report); err != nil || res.StatusCode != http.StatusOK ||
		report.Replaced > 0 || len(report.Rejected) > 0 {
		return 0, fmt.Errorf("%s: %.500s", res.Status, body)
	}
	return report.Created, nil
}

// open starts a shop, calls do with its URL and stops the shop with SIGTERM.
func (s shop) open(ctx context.Context, database string, do func(url string) error) error {
	cmd := exec.CommandContext(ctx, string(s), "-addr", "127.0.0.1:0", "-seed=false", "-db", database)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// The last line of the start-up report has the address, because the shop chooses a free port.
	err = fmt.Errorf("it never said where it listens")
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "shop: listening on "); ok {
			err = do(url)
			break
		}
	}
	// At SIGTERM the shop completes what it has begun and closes the database.
	cmd.Process.Signal(syscall.SIGTERM)
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	return err
}
