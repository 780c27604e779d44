package localserver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"agentctl/internal/atomicfile"
	"agentctl/internal/exit"
)

const (
	minSecret  = 32      // bytes of a token or secret
	maxSecret  = 4 << 10 // bytes
	maxKeyFile = 64 << 10
)

// Token returns the credential for loopback TCP. It is created on first use and kept over restarts.
func (d Dir) Token() (string, error) { return d.Secret("token") }

// lostWith says of each private file what is lost if it is removed and made again.
var lostWith = map[string]string{
	"token":     "programs that were given this token need the next one",
	"secret":    "states that were exported before are refused",
	"key":       "all issued credentials and logins end",
	"env.key":   "the environments of all stored sessions are lost",
	"state.key": "states that were exported before are refused, here and where this key is accepted",
}

// damaged returns the error for a private file whose content is not what it must be.
func (d Dir) damaged(name, problem string) error {
	return exit.Usagef("%s: %s", d.Path(name), problem).WithHint(
		"put back the file of a backup; without one remove it: the next start makes another, and %s", lostWith[name])
}

// Secret returns the content of a private file: 32 random bytes in hex, created on first use. All
// first users get the same.
func (d Dir) Secret(name string) (string, error) {
	b, err := d.readPrivate(name, maxSecret)
	if errors.Is(err, fs.ErrNotExist) {
		raw := make([]byte, 32)
		rand.Read(raw)
		err = atomicfile.Create(d.Path(name), []byte(hex.EncodeToString(raw)), 0o600)
		if err == nil || errors.Is(err, fs.ErrExist) { // another first user has made it
			b, err = d.readPrivate(name, maxSecret)
		}
	}
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(b))
	if len(value) < minSecret || strings.IndexFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		want := fmt.Sprintf("want %d to %d visible ASCII characters in one line", minSecret, maxSecret)
		return "", d.damaged(name, want)
	}
	return value, nil
}

// readPrivate reads a file of the directory and takes the permissions of other users away. It
// refuses a file of another user and one beyond a size.
func (d Dir) readPrivate(name string, limit int64) ([]byte, error) {
	path := d.Path(name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case Supported && !ownedByUser(info):
		return nil, exit.Usagef("%s belongs to another user", path)
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, exit.Usagef("%s: want a file of at most %d bytes", path, limit)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("make %s private: %w", path, err)
	}
	return os.ReadFile(path)
}
