package credentials

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"agentctl/internal/localserver"
)

// A Trust decides whether the certificate of a server is trusted. If there is a fingerprint, passed
// by the user or else pinned, only it decides. Otherwise the system's authorities and the name of
// the server decide.
type Trust struct {
	Host   string // of the server, without a port
	Passed string // fingerprint that the user passed; may be empty

	// Pinned returns the fingerprint that the user trusted before, or "". It is called in every
	// handshake.
	Pinned func() (string, error)
}

// A CertificateError refuses the certificate of a server.
type CertificateError struct {
	Fingerprint string // of the certificate
	Want        string // the fingerprint that was passed or pinned; empty: none was
	Passed      bool   // Want was passed by the user
	Err         error  // why the system does not trust it, if Want is empty
}

func (e *CertificateError) Error() string {
	switch {
	case e.Want == "":
		return fmt.Sprintf("the certificate of the server is not trusted: %v; its fingerprint is %s",
			e.Err, e.Fingerprint)
	case e.Passed:
		return fmt.Sprintf("the certificate of the server has another fingerprint than the one passed: %s",
			e.Fingerprint)
	}
	return fmt.Sprintf("the certificate of the server has changed: its fingerprint was %s and is %s",
		e.Want, e.Fingerprint)
}

func (e *CertificateError) Unwrap() error { return e.Err }

// TLS returns the configuration of connections to the server. A refused certificate ends the
// handshake with a *tls.CertificateVerificationError that wraps a *CertificateError.
func (t Trust) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies every connection
		VerifyConnection: func(s tls.ConnectionState) error {
			if err := t.verify(s.PeerCertificates); err != nil {
				return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
			}
			return nil
		},
	}
}

// verify checks a certificate chain, the server's own certificate first.
func (t Trust) verify(chain []*x509.Certificate) error {
	if len(chain) == 0 {
		return errors.New("the server sent no certificate")
	}
	pinned, err := t.Pinned()
	if err != nil {
		return err
	}
	e := &CertificateError{Fingerprint: localserver.Fingerprint(chain[0]), Want: pinned}
	if t.Passed != "" {
		e.Want, e.Passed = t.Passed, true
	}
	if e.Want != "" {
		if e.Want != e.Fingerprint {
			return e
		}
		return nil
	}
	o := x509.VerifyOptions{DNSName: t.Host, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	if _, e.Err = chain[0].Verify(o); e.Err != nil {
		return e
	}
	return nil
}

// ParseFingerprint returns a fingerprint in the form of localserver.Fingerprint. It takes hex
// digits in any case, with or without colons, after an optional "sha256:".
func ParseFingerprint(s string) (string, error) {
	digits := strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(s), ":", ""))
	digits = strings.TrimPrefix(digits, "SHA256")
	if len(digits) != 64 || strings.Trim(digits, "0123456789ABCDEF") != "" {
		return "", errors.New("want the SHA-256 fingerprint of a certificate: 64 hex digits")
	}
	var b strings.Builder
	for i := 0; i < len(digits); i += 2 {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(digits[i : i+2])
	}
	return b.String(), nil
}
