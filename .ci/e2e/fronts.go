package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// front is a program before a server: a reverse proxy or a cache, with its default limits. In its texts DIR, FILE, USER, ADDRESS
// and PORT stand for its folder, the file of the configuration, its user, where it listens, and the port of the server.
type front struct {
	name, config string
	args         []string
}

// startFront starts a program that listens on an address, before the server at origin.
func (e *env) startFront(f front, address, origin string) error {
	dir, err := os.MkdirTemp(e.dir, f.name)
	if err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	owner := me.Username
	if f.name == "squid" && me.Uid == "0" { // it changes to another user, which must be able to write here
		owner = "proxy"
		if err := chown(dir, owner); err != nil {
			return err
		}
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(origin, "http://"))
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "conf")
	fill := strings.NewReplacer("DIR", dir, "FILE", file, "USER", owner, "ADDRESS", address, "PORT", port)
	if err := os.WriteFile(file, []byte(fill.Replace(f.config)), 0o644); err != nil {
		return err
	}
	args := slices.Clone(f.args)
	for i := range args {
		args[i] = fill.Replace(args[i])
	}
	_, err = e.startProcess(args...)
	return err
}

func chown(dir, name string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	var uid, gid int
	if _, err := fmt.Sscan(u.Uid+" "+u.Gid, &uid, &gid); err != nil {
		return err
	}
	return errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, uid, gid))
}

// process is a program that the env ends.
type process struct {
	*os.Process
	ended chan struct{} // closed when err is set
	err   error         // of the exit status
}

func (e *env) startProcess(args ...string) (*process, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = e.log, e.log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{Process: cmd.Process, ended: make(chan struct{})}
	go func() { p.err = cmd.Wait(); close(p.ended) }()
	e.closers = append(e.closers, func() {
		p.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(5 * time.Second):
			p.Kill()
			<-p.ended
		}
	})
	return p, nil
}

// waitForProxy sends a GET until the proxy listens, for up to five minutes.
func waitForProxy(ctx context.Context, c *client.Client, url string) (a client.Answer) {
	client.Await(ctx, url, 50*time.Millisecond, func() bool {
		a = c.Send(ctx, http.MethodGet, url, "")
		return a.Status != 0
	})
	return a
}

// freePorts returns addresses with free ports below those that the kernel assigns, so that no connection takes one before its
// server does. The host is one of the loopback addresses that other processes do not use.
func freePorts(n int) (addresses []string, err error) {
	pid := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 64+pid>>16%64, pid>>8%256, 1+pid%254)
	for port := 20000 + pid%10000; len(addresses) < n && port < 32768; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(port)))
		if err != nil {
			continue
		}
		l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	if len(addresses) < n {
		return nil, errors.New("too few free ports")
	}
	return addresses, nil
}

// nginxBegin begins a configuration of nginx with one worker, which writes in its folder only.
const nginxBegin = `daemon off;
worker_processes 1;
pid DIR/pid;
error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path DIR/body;
	proxy_temp_path DIR/proxy;
	fastcgi_temp_path DIR/fastcgi;
	uwsgi_temp_path DIR/uwsgi;
	scgi_temp_path DIR/scgi;
`
