package main

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
)

// A storedLogin is a credential that a server gave for a password. It is sent to that server alone.
type storedLogin struct {
	Server  string     `json:"server"` // scheme and host, or the socket
	User    string     `json:"user"`
	Role    string     `json:"role,omitempty"`
	Expires *time.Time `json:"expires,omitempty"` // where the credential says it
	Token   string     `json:"token,omitempty"`
}

// logins returns what is stored; a file that cannot be read is none.
func (d dataDir) logins() (list []storedLogin, err error) {
	b, err := os.ReadFile(d.path("logins"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("stored logins: %w", err)
	}
	return list, nil
}

// loginFor returns the credential for the server of a URL, if there is one that still holds.
func (d dataDir) loginFor(url string) string {
	list, err := d.logins()
	if err != nil {
		return ""
	}
	for _, l := range list {
		if sameServer(l.Server, url) && (l.Expires == nil || time.Now().Before(*l.Expires)) {
			return l.Token
		}
	}
	return ""
}

// keepLogin stores a login in place of the one to the same server.
func (d dataDir) keepLogin(l storedLogin) error {
	_, err := d.changeLogins(l.Server, &l)
	return err
}

// dropLogin forgets the login to a server; false when there is none.
func (d dataDir) dropLogin(url string) (bool, error) { return d.changeLogins(url, nil) }

func (d dataDir) changeLogins(url string, l *storedLogin) (had bool, err error) {
	list, err := d.logins()
	if err != nil {
		return false, err
	}
	n := len(list)
	list = slices.DeleteFunc(list, func(old storedLogin) bool { return sameServer(old.Server, url) })
	had = len(list) < n
	if l != nil {
		list = append(list, *l)
	} else if !had {
		return false, nil
	}
	if err := d.make(); err != nil {
		return had, err
	}
	b, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = writePrivate(d.path("logins"), string(b)+"\n")
	}
	if err != nil {
		return had, fmt.Errorf("stored logins: %w", err)
	}
	return had, nil
}

// expiry reads when a token says that it expires; nil when it does not. It is not verified: the server does that.
func expiry(token string) *time.Time {
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

// origin is the part of a server's URL that a credential is bound to.
func origin(server string) string {
	if u, err := url.Parse(server); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return server
}
