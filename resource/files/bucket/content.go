package bucket

import (
	"errors"
	"io"
)

// objectReader reads an object from the current offset. Seek alone makes no request.
type objectReader struct {
	open func(at int64) (io.ReadCloser, error)
	size int64
	at   int64
	r    io.ReadCloser // nil before the first Read and after a Seek
}

var errSeek = errors.New("bucket: seek before the beginning")

// Read implements [io.Reader]. It opens the object at the current offset if necessary.
func (c *objectReader) Read(p []byte) (int, error) {
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

// Seek implements [io.Seeker]. An offset after the end is valid; reading there returns io.EOF.
func (c *objectReader) Seek(offset int64, whence int) (int64, error) {
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

// Close closes the current read.
func (c *objectReader) Close() error {
	if c.r == nil {
		return nil
	}
	err := c.r.Close()
	c.r = nil
	return err
}
