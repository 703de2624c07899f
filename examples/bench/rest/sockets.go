package main

// The second table: the processor time of a server for each request, over sockets. The client sends
// the same bytes on each connection and reads no more of a response than its length, so that it
// leaves most of the machine to the server.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// connections is the number of connections of the client, which each send one request at a time.
const connections = 16

// socketPairs are the ratios of the second table.
var socketPairs = [][2]string{
	{report.Stoa, report.ByHand}, {report.Stoa, "gin"}, {report.Stoa, "echo"}, {report.Stoa, "huma"},
	{report.StoaMemory, report.ByHand},
}

// measureSockets measures jobs on server processes of the peers, in turn. Each job has processes of
// its own: otherwise the places that POST adds would make garbage collection dearer in later jobs.
func measureSockets(
	ctx context.Context, jobs []job, peers []peer, rounds int, each time.Duration,
) (*report.Results, error) {
	results := &report.Results{}
	for _, j := range jobs {
		samples, err := measureSocketJob(ctx, j, peers, rounds, each)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.name, err)
		}
		results.Compare(tableSockets, j.name, names(peers), samples, socketPairs)
	}
	return results, nil
}

// measureSocketJob returns the samples of one job by peer.
func measureSocketJob(
	ctx context.Context, j job, peers []peer, rounds int, each time.Duration,
) ([][]measure.Sample, error) {
	processes, stop, err := startProcesses(ctx, peers)
	defer stop()
	if err != nil {
		return nil, err
	}
	var turns []func() (measure.Sample, error)
	for _, s := range processes {
		turns = append(turns, func() (measure.Sample, error) { return s.perRequest(ctx, j, each) })
	}
	return measure.InTurn(rounds, turns...)
}

// perRequest sends the request of a job over all connections for some time, and returns the
// processor time of the server for each.
func (s *process) perRequest(ctx context.Context, j job, each time.Duration) (measure.Sample, error) {
	var all []*connection
	defer func() {
		for _, c := range all {
			c.conn.Close()
		}
	}()
	for i := range connections {
		c, err := s.dial(ctx, j, sampleID+i)
		if err != nil {
			return measure.Sample{}, err
		}
		all = append(all, c)
	}
	before, err := s.used("")
	if err != nil {
		return measure.Sample{}, err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(all))
	until := time.Now().Add(each)
	for i, c := range all {
		wg.Go(func() { errs[i] = c.sendUntil(until) })
	}
	wg.Wait()
	after, err := s.used("")
	if err := errors.Join(append(errs, err)...); err != nil {
		return measure.Sample{}, err
	}
	sent := 0
	for _, c := range all {
		sent += c.sent
	}
	return measure.Sample{Nanoseconds: float64(after-before) / float64(sent), Bytes: -1}, nil
}

// connection sends the request of a job repeatedly.
type connection struct {
	conn     net.Conn
	in       *bufio.Reader
	requests [][]byte // sent in turn
	status   []byte   // expected: "HTTP/1.1 200 "
	sent     int
}

// dial connects and prepares the requests for an item.
func (s *process) dial(ctx context.Context, j job, id int) (*connection, error) {
	fields := "Accept: application/json\r\n"
	if j.contentType != "" {
		fields += "Content-Type: " + j.contentType + "\r\n"
	}
	if j.conditional {
		tag, err := s.etag(ctx, j.url(id))
		if err != nil {
			return nil, err
		}
		fields += "If-None-Match: " + tag + "\r\n"
	}
	c := &connection{status: fmt.Appendf(nil, "HTTP/1.1 %d ", j.status)}
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s", j.method, j.url(id), s.address, fields)
	for _, body := range j.bodies {
		c.requests = append(c.requests,
			fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body))
	}
	if len(j.bodies) == 0 {
		c.requests = [][]byte{[]byte(head + "\r\n")}
	}
	var err error
	if c.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", s.address); err != nil {
		return nil, err
	}
	c.in = bufio.NewReaderSize(c.conn, 64<<10)
	return c, nil
}

// etag returns the entity tag of a response.
func (s *process) etag(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.Header.Get("ETag") == "" {
		return "", fmt.Errorf("GET %s: status %d without an entity tag", url, resp.StatusCode)
	}
	return resp.Header.Get("ETag"), nil
}

// sendUntil sends requests until a time, and at least one.
func (c *connection) sendUntil(until time.Time) error {
	for c.sent == 0 || time.Now().Before(until) {
		if _, err := c.conn.Write(c.requests[c.sent%len(c.requests)]); err != nil {
			return err
		}
		if err := c.skipResponse(); err != nil {
			return err
		}
		c.sent++
	}
	return nil
}

// skipResponse reads a response with the expected status.
func (c *connection) skipResponse() error {
	length, chunked := 0, false
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		switch name, value, _ := bytes.Cut(line, []byte(": ")); {
		case first && !bytes.HasPrefix(line, c.status):
			return fmt.Errorf("response %q, want %q", line, c.status)
		case len(line) == 0 && chunked:
			return c.skipChunks()
		case len(line) == 0:
			_, err := c.in.Discard(length)
			return err
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
}

// skipChunks reads a body with the transfer coding chunked, which gin and echo use for a list.
func (c *connection) skipChunks() error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return err
		}
		if _, err := c.in.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}
