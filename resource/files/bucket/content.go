package bucket

import (
	"errors"
	"io"
)

// content reads an object from where it is wanted. Whoever seeks and does not read costs nothing.
type content struct {
	open func(at int64) (io.ReadCloser, error)
	size int64
	at   int64
	r    io.ReadCloser // nil until it is read, and after a Seek
}

var errSeek = errors.New("bucket: seek to a place before the beginning")

// Read reads on.
func (c *content) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.r == nil {
		r, err := c.open(c.at)
		if err != nil {
			return 0, err
		}
		c.r = r
	}
	n, err := c.r.Read(p)
	c.at += int64(n)
	if err == io.EOF && c.at < c.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek goes somewhere else. It does not fail for a place behind the end, where there is nothing to read.
func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return c.at, errSeek
	}
	if offset != c.at {
		if err := c.Close(); err != nil {
			return c.at, err
		}
		c.at = offset
	}
	return offset, nil
}

// Close lets go of the object.
func (c *content) Close() error {
	if c.r == nil {
		return nil
	}
	err := c.r.Close()
	c.r = nil
	return err
}
