package credentials

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"agentctl/internal/atomicfile"
	"agentctl/internal/localserver"
)

// A Login is a credential that a server returned for a password. It is sent to that server only.
type Login struct {
	Server  string     `json:"server"` // its Origin
	User    string     `json:"user"`
	Role    string     `json:"role,omitempty"`
	Expires *time.Time `json:"expires,omitempty"` // nil: not known
	Token   string     `json:"token,omitempty"`
}

// A Store keeps logins in the file "logins" of a data directory, at most one for each server.
type Store struct{ dir localserver.Dir }

// NewStore returns the store of a data directory, which need not exist.
func NewStore(dir localserver.Dir) Store { return Store{dir} }

func (s Store) path() string { return s.dir.Path("logins") }

func (s Store) read() (logins []Login, err error) {
	b, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &logins)
	}
	if err != nil {
		return nil, fmt.Errorf("stored logins: %w", err)
	}
	return logins, nil
}

// TokenFor returns the credential for the server at url, or "" if it is missing or expired, or if
// the file cannot be read.
func (s Store) TokenFor(url string) string {
	logins, err := s.read()
	if err != nil {
		return ""
	}
	for _, l := range logins {
		if localserver.SameServer(l.Server, url) && (l.Expires == nil || time.Now().Before(*l.Expires)) {
			return l.Token
		}
	}
	return ""
}

// Save stores a login and replaces the one for the same server.
func (s Store) Save(l Login) error {
	_, err := s.replace(l.Server, &l)
	return err
}

// Delete deletes the login for the server at url and reports whether there was one.
func (s Store) Delete(url string) (found bool, err error) { return s.replace(url, nil) }

func (s Store) replace(url string, l *Login) (found bool, err error) {
	logins, err := s.read()
	if err != nil {
		return false, err
	}
	n := len(logins)
	logins = slices.DeleteFunc(logins, func(old Login) bool { return localserver.SameServer(old.Server, url) })
	found = len(logins) < n
	if l != nil {
		logins = append(logins, *l)
	} else if !found {
		return false, nil
	}
	if err := s.dir.Create(); err != nil {
		return found, err
	}
	b, err := json.MarshalIndent(logins, "", "  ")
	if err == nil {
		err = atomicfile.Write(s.path(), append(b, '\n'), 0o600)
	}
	if err != nil {
		return found, fmt.Errorf("stored logins: %w", err)
	}
	return found, nil
}

// Expiry returns the time when a token expires according to its claims, or nil if it does not say.
// The signature is not checked: that is up to the server.
func Expiry(token string) *time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.Exp <= 0 || claims.Exp > 1e11 {
		return nil
	}
	at := time.Unix(int64(claims.Exp), 0).UTC()
	return &at
}

// Origin returns the scheme and host of a server's URL, which a login is bound to. A URL without a
// host is returned unchanged.
func Origin(server string) string {
	if u, err := url.Parse(server); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return server
}
