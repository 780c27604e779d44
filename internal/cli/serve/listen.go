package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/localserver/instance"
	"agentctl/protocol"
	"agentctl/server"
)

// listeners are the listeners of a server that starts, and their addresses.
type listeners struct {
	options     *serveOptions
	instance    *instance.Instance
	certificate *localserver.Certificate // nil: no TLS

	url      string              // of the first TCP listener, else of the socket
	dialects map[string][]string // URLs by dialect
	urls     []string            // that require the token
	deciding []string            // where programs decide without one
}

// open opens the listeners.
func (l *listeners) open() error {
	dir := l.instance.Dir()
	socket, err := dir.PlaceSocket(l.options.CLI.Env("XDG_RUNTIME_DIR"))
	if err != nil {
		return err
	}
	token, err := dir.Token()
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	rules := l.rules(token)
	var urls []string
	for _, addr := range l.options.Listen {
		tcp, err := server.ListenTCP(addr, rules)
		if errors.Is(err, server.ErrExposed) {
			return exit.Usagef("--listen %s: %w", addr, err)
		}
		if err != nil {
			return err
		}
		l.instance.AddListener(tcp)
		urls = append(urls, tcp.URL())
	}
	if err := l.openDialects(rules); err != nil {
		return err
	}
	l.urls = slices.Concat(urls, l.urls)
	if err := l.record(); err != nil {
		return err
	}
	// The socket last: a server that answers there is complete.
	unix, err := server.ListenUnix(socket)
	if err != nil {
		return err
	}
	l.instance.AddListener(unix)
	l.url = append(urls, "unix://"+socket)[0]
	return nil
}

// rules returns the access rules of TCP listeners.
func (l *listeners) rules(token string) server.TCPOptions {
	o := server.TCPOptions{Token: token, Insecure: l.options.Insecure, Hosts: slices.Clone(l.options.Hosts)}
	if l.certificate != nil {
		o.TLS = l.certificate.TLS()
		o.Hosts = append(o.Hosts, l.certificate.Names()...)
	}
	return o
}

// openDialects opens the listeners of --listen-dialect.
func (l *listeners) openDialects(rules server.TCPOptions) error {
	l.dialects = map[string][]string{}
	for _, d := range l.options.dialects {
		tcp, err := d.listen(rules)
		if err != nil {
			return err
		}
		l.instance.AddListener(tcp)
		url := tcp.URL()
		l.dialects[d.Dialect] = append(l.dialects[d.Dialect], url)
		if !d.Open {
			l.urls = append(l.urls, url)
			continue
		}
		l.options.CLI.Out.Notef("warning: %s lets every program on this machine use sessions (%s, as %s) without a token",
			url, d.Dialect, d.Role)
		if d.Role.May(protocol.DoApprove) {
			l.deciding = append(l.deciding, url)
			l.options.CLI.Out.Notef("warning: agents on this machine can decide their own requests there: add role=operator")
		}
	}
	return nil
}

// record writes the addresses that may receive the token, the certificate's fingerprint, and the
// addresses where programs decide without a token, for local clients.
func (l *listeners) record() error {
	dir := l.instance.Dir()
	a := dir.Addresses()
	return errors.Join(a.Record(l.urls, l.fingerprint()), a.RecordOpen(l.deciding))
}

// fingerprint returns the fingerprint of the certificate, or "" without TLS.
func (l *listeners) fingerprint() string {
	if l.certificate == nil {
		return ""
	}
	return l.certificate.Fingerprint()
}

// printAddress prints the first line of stdout, and the fingerprint to stderr.
func (l *listeners) printAddress() error {
	result := struct {
		URL         string              `json:"url"`
		PID         int                 `json:"pid"`
		TokenFile   string              `json:"token_file"`
		Dialects    map[string][]string `json:"dialects"`
		Fingerprint string              `json:"fingerprint,omitempty"`
	}{l.url, os.Getpid(), l.instance.Dir().Path("token"), l.dialects, l.fingerprint()}
	if f := l.fingerprint(); f != "" {
		l.options.CLI.Out.Notef("SHA-256 fingerprint of the certificate: %s", f)
	}
	return l.options.CLI.Out.Print(result, func(w io.Writer) { fmt.Fprintln(w, l.url) })
}
