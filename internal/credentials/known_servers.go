package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"

	"agentctl/internal/atomicfile"
	"agentctl/internal/localserver"
)

// KnownServers are the fingerprints of the certificates that the user trusts, in the file
// "known_servers" of a data directory: a JSON object with a fingerprint for each HOST:PORT.
type KnownServers struct{ dir localserver.Dir }

// NewKnownServers returns the known servers of a data directory, which need not exist.
func NewKnownServers(dir localserver.Dir) KnownServers { return KnownServers{dir} }

// Fingerprint returns the fingerprint of the server at a URL, or "" if it is not known.
func (k KnownServers) Fingerprint(server string) (string, error) {
	known, err := k.read()
	return known[hostPort(server)], err
}

// Pin records the fingerprint of the server at a URL. It replaces an old one.
func (k KnownServers) Pin(server, fingerprint string) error {
	known, err := k.read()
	if err != nil {
		return err
	}
	known[hostPort(server)] = fingerprint
	if err := k.dir.Create(); err != nil {
		return err
	}
	b, err := json.MarshalIndent(known, "", "  ")
	if err == nil {
		err = atomicfile.Write(k.dir.Path("known_servers"), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("known servers: %w", err)
	}
	return nil
}

func (k KnownServers) read() (map[string]string, error) {
	known := map[string]string{}
	b, err := os.ReadFile(k.dir.Path("known_servers"))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	for server, fingerprint := range known {
		if _, invalid := ParseFingerprint(fingerprint); err == nil && invalid != nil {
			err = fmt.Errorf("%s: %w", server, invalid)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("known servers: %s: %w", k.dir.Path("known_servers"), err)
	}
	return known, nil
}

// hostPort returns the host and port of a server's URL with TLS.
func hostPort(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
