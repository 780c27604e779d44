package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	"agentctl/internal/cli/verb"
	"agentctl/internal/credentials"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
)

// ConnectTrusted calls connect with the TLS configuration for the server at a URL, nil without TLS.
// It asks about an unknown certificate on a terminal and, if the user trusts it, pins its
// fingerprint and calls connect again. A passed fingerprint is pinned when connect succeeds.
func ConnectTrusted(
	ctx context.Context, cli *verb.Context, dir localserver.Dir, server string, connect func(*tls.Config) error,
) error {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "wss" && u.Scheme != "https" {
		return connect(nil)
	}
	known := credentials.NewKnownServers(dir)
	trust := newTrust(dir, known, u.Hostname(), server)
	if passed := cli.Flags.Fingerprint; passed != "" {
		if trust.Passed, err = credentials.ParseFingerprint(passed); err != nil {
			return exit.Usagef("--fingerprint: %w", err)
		}
	}
	err = connect(trust.TLS())
	var refused *credentials.CertificateError
	if errors.As(err, &refused) && refused.Want == "" && asksForTrust(cli) {
		if err := askTrust(ctx, cli, u.Host, refused); err != nil {
			return err
		}
		if err := known.Pin(server, refused.Fingerprint); err != nil {
			return err
		}
		return connect(trust.TLS())
	}
	if err != nil || trust.Passed == "" || dir.Addresses().Fingerprint(server) != "" {
		return err
	}
	if pinned, err := known.Fingerprint(server); err == nil && pinned == trust.Passed {
		return nil
	}
	return known.Pin(server, trust.Passed)
}

// newTrust returns the trust in what this user knows of a server's certificate.
func newTrust(dir localserver.Dir, known credentials.KnownServers, host, server string) credentials.Trust {
	return credentials.Trust{Host: host, Pinned: func() (string, error) {
		if own := dir.Addresses().Fingerprint(server); own != "" {
			return own, nil
		}
		return known.Fingerprint(server)
	}}
}

// knownTrust returns the TLS configuration for a server whose certificate is known or one that the
// system trusts, nil without TLS.
func knownTrust(dir localserver.Dir, server string) *tls.Config {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "wss" && u.Scheme != "https" {
		return nil
	}
	return newTrust(dir, credentials.NewKnownServers(dir), u.Hostname(), server).TLS()
}

// asksForTrust reports whether a verb can ask on the terminal. Completions never ask.
func asksForTrust(cli *verb.Context) bool { return cli.Call.Started && output.IsTerminal(cli.Stdin) }

// askTrust asks whether to trust an unknown certificate. It returns an error unless the user does.
func askTrust(ctx context.Context, cli *verb.Context, host string, c *credentials.CertificateError) error {
	fmt.Fprintf(cli.Out.Stderr, "The certificate of %s is not known: %v.\nIts SHA-256 fingerprint is\n  %s\n",
		host, c.Err, c.Fingerprint)
	answer, err := cli.Input().Ask(ctx, cli.Out.Stderr, "If the server printed the same at its start, type yes to trust it: ")
	if err != nil {
		return err
	}
	if answer != "yes" {
		return exit.Errorf(exit.Unreachable, exit.CodeUntrusted, "the certificate of %s is not trusted", host)
	}
	return nil
}
