package localserver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"agentctl/server/login"
)

// Token returns the credential for loopback TCP. It is created on first use and kept over restarts.
func (d Dir) Token() (string, error) { return d.secret("token") }

// secret returns the content of a private file: 32 random bytes in hex, created on first use.
func (d Dir) secret(name string) (string, error) {
	b, err := os.ReadFile(d.Path(name))
	if value := strings.TrimSpace(string(b)); err == nil && value != "" {
		return value, os.Chmod(d.Path(name), 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, 32)
	rand.Read(raw)
	value := hex.EncodeToString(raw)
	return value, WritePrivate(d.Path(name), value)
}

// Authenticator returns an authenticator that accepts users and the credentials made with the key
// of the directory. users may be nil.
func (d Dir) Authenticator(users login.Users) (*login.Authenticator, error) {
	key, err := d.secret("key")
	if err != nil {
		return nil, fmt.Errorf("key of credentials: %w", err)
	}
	return login.NewAuthenticator(users, []byte(key)), nil
}
