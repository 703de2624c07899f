package main

import "syscall"

// smallBuffer returns a Control of a net.Dialer: it bounds what the system holds of what is not read.
func smallBuffer(bytes int) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, bytes)
		})
		if err == nil {
			err = failed
		}
		return err
	}
}
