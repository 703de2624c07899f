package database

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// Pooler is a PgBouncer in transaction mode before a server. It listens only on a socket in its folder.
type Pooler struct {
	dir string
	cmd *exec.Cmd
}

const poolerConfig = `[databases]
* = host=%s user=postgres
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
`

// StartPooler starts a pooler in a folder, with at most size connections to each database of the server. PgBouncer does not run
// as root, so for root it runs as nobody.
func (s *Server) StartPooler(dir string, size int, log io.Writer) (*Pooler, error) {
	p := &Pooler{dir: dir}
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(config, fmt.Appendf(nil, poolerConfig, s.dir, dir, size), 0o644); err != nil {
		return nil, err
	}
	p.cmd = exec.Command("pgbouncer", "-q", config)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	return p, p.cmd.Start()
}

// At returns the URL of a database of the server at the pooler. mode is the default_query_exec_mode of pgx.
func (p *Pooler) At(source, mode string) (string, error) {
	u, err := url.Parse(source)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("host", p.dir)
	q.Set("port", "6432")
	q.Set("default_query_exec_mode", mode)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// Stop ends the pooler.
func (p *Pooler) Stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}
