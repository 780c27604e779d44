package tool

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"agentctl/server/policy"
)

// maxFile bounds the files that tools read and write, in bytes.
const maxFile = 16 << 20

// A content is a file at one time.
type content struct {
	exists bool
	bytes  []byte
	mode   fs.FileMode
}

// sum identifies the content of a file.
func (c *content) sum() [sha256.Size]byte { return sha256.Sum256(c.bytes) }

// changed returns a file with another text and the same mode.
func (c *content) changed(text string) content {
	return content{exists: true, bytes: []byte(text), mode: c.mode}
}

// same reports whether a file is as it was.
func (c *content) same(other *content) bool {
	return c.exists == other.exists && bytes.Equal(c.bytes, other.bytes)
}

// read returns the content of a file. A missing file is not an error.
func (p *place) read() (content, error) {
	root, err := p.open()
	if err != nil {
		return content{}, err
	}
	defer func() { _ = root.Close() }()
	if policy.Internal(p.real, p.dir.own) {
		return content{}, fmt.Errorf("%s is a file of agentctl's server: only a command can read it", p.shown)
	}
	info, err := root.Lstat(p.name) // before opening: a pipe would block
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}, nil
	case err != nil:
		return content{}, fmt.Errorf("read %s: %w", p.shown, reason(err))
	case info.IsDir():
		return content{}, fmt.Errorf("%s is a directory", p.shown)
	case !info.Mode().IsRegular():
		return content{}, fmt.Errorf("%s is not a regular file", p.shown)
	case info.Size() > maxFile:
		return content{}, fmt.Errorf("%s is larger than %d MiB: read it with a command", p.shown, maxFile>>20)
	}
	f, err := root.Open(p.name)
	if err != nil {
		return content{}, fmt.Errorf("read %s: %w", p.shown, reason(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return content{}, fmt.Errorf("read %s: %w", p.shown, reason(err))
	case len(b) > maxFile:
		return content{}, fmt.Errorf("%s is larger than %d MiB: read it with a command", p.shown, maxFile>>20)
	}
	return content{exists: true, bytes: b, mode: info.Mode().Perm()}, nil
}

// text returns the content as text.
func (c *content) text(p *place) (string, error) {
	if bytes.IndexByte(c.bytes, 0) >= 0 || !utf8.Valid(c.bytes) {
		return "", fmt.Errorf("%s is not a text in UTF-8", p.shown)
	}
	return string(c.bytes), nil
}

// existing returns the content of a file that must exist.
func (p *place) existing() (content, error) {
	c, err := p.read()
	if err == nil && !c.exists {
		err = fmt.Errorf("%s does not exist", p.shown)
	}
	return c, err
}

// reason returns an error of the system without the path, which the caller adds.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
