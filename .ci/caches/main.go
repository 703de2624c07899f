// Command caches asks a shop through shared caches, and judges whether anyone ever got what was meant for somebody else.
// The script run, beside it, starts the caches and the shop and calls it thus:
//
//	caches ports 6                             free addresses, one a line
//	caches strip http://127.0.0.1:8080         a proxy to there that takes Vary out of every response
//	caches ask -n 1000 nginx=URL,URL ...       the check: each cache in front of the shop, and in front of that proxy
//
// voices.go is who asks and what the right answer is, ask.go sends the questions, write.go looks at what is left after a
// write, report.go prints what came of it all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "caches:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("want ports N, strip URL, or ask [-n N] and for each cache NAME=URL,URL")
	}
	switch command := args[0]; command {
	case "ports":
		return printPorts(args[1], out)
	case "strip":
		return strip(args[1], out)
	case "ask":
		return askAll(ctx, args[1:], out)
	default:
		return fmt.Errorf("%q is none of ports, strip, ask", command)
	}
}

// printPorts prints addresses with free ports below those that the kernel hands out by itself, so that no connection of this
// check takes one before its server does. The host is one of the thousands that lead to this machine, so that nobody else does,
// either: others have their servers, and the ends of their connections, on 127.0.0.1.
func printPorts(count string, out io.Writer) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	pid := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 64+pid>>16%64, pid>>8%256, 1+pid%254)
	for port := 20000 + pid%10000; n > 0 && port < 32768; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		l.Close()
		fmt.Fprintln(out, l.Addr())
		n--
	}
	if n > 0 {
		return errors.New("too few free ports")
	}
	return nil
}

// strip serves the proxy of the control until it is killed.
func strip(target string, out io.Writer) error {
	to, err := url.Parse(target)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "strip: listening on http://%s\n", l.Addr())
	server := http.Server{Handler: withoutVary(to), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

// askAll is the check. Its error says what makes it fail, if anything does.
func askAll(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	n := flags.Int("n", 1000, "requests of each voice")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var rows []row
	for _, arg := range flags.Args() {
		subject, err := parseSubject(arg)
		if err != nil {
			return err
		}
		r, err := check(ctx, subject, *n)
		if err != nil {
			return fmt.Errorf("%s: %w", subject.cache, err)
		}
		rows = append(rows, r)
	}
	report(out, rows)
	return verdict(rows)
}

// check asks one cache in front of the shop, then the same cache in front of the shop without Vary, and writes last,
// since a write changes what there is to judge.
func check(ctx context.Context, s subject, n int) (row, error) {
	r := row{cache: s.cache}
	c := newClient()
	defer c.CloseIdleConnections()
	var err error
	if r.measured, err = c.ask(ctx, s.shop, n); err != nil {
		return r, err
	}
	if r.control, err = c.ask(ctx, s.control, n); err != nil {
		return r, fmt.Errorf("control: %w", err)
	}
	for _, w := range writes {
		stale, err := c.write(ctx, s, w)
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.method, err)
		}
		r.stale = append(r.stale, stale)
	}
	return r, nil
}
