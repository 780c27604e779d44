package localserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"agentctl/internal/atomicfile"
	"agentctl/internal/exit"
)

// madeCertificateTTL is the lifetime of a certificate that is made. Clients that pinned it do not
// look at its dates.
const madeCertificateTTL = 10 * 365 * 24 * time.Hour

// A Certificate is the TLS certificate of a server, read from files. Its methods may be called from
// any goroutine: Reload replaces it for the connections that follow.
type Certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]
}

// ReadCertificate reads a certificate chain and its key from PEM files. A key file that other users
// can read is refused.
func ReadCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	return c, c.Reload()
}

// Certificate returns the self-signed certificate of the directory, in the files tls.crt and
// tls.key. It is made on first use, for the given names and this machine's names.
func (d Dir) Certificate(names []string) (*Certificate, error) {
	certFile, keyFile := d.Path("tls.crt"), d.Path("tls.key")
	_, err := os.Stat(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeCertificate(certFile, keyFile, names)
	}
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	return ReadCertificate(certFile, keyFile)
}

// Reload reads the files again. On an error the old certificate stays.
func (c *Certificate) Reload() error {
	info, err := os.Stat(c.keyFile)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if mode := info.Mode().Perm(); Supported && mode&0o027 != 0 {
		return exit.Usagef("certificate: others can open the key %s: run chmod go= %[1]s", c.keyFile)
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", c.certFile, err)
	}
	c.current.Store(&pair)
	return nil
}

// Files returns the paths of the certificate and its key.
func (c *Certificate) Files() []string { return []string{c.certFile, c.keyFile} }

// TLS returns the configuration of listeners.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // WebSockets need it
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// Fingerprint returns the fingerprint of the server's certificate.
func (c *Certificate) Fingerprint() string { return Fingerprint(c.current.Load().Leaf) }

// Names returns the DNS names of the certificate, without wildcards.
func (c *Certificate) Names() (names []string) {
	for _, name := range c.current.Load().Leaf.DNSNames {
		if !strings.Contains(name, "*") {
			names = append(names, name)
		}
	}
	return names
}

// Fingerprint returns the SHA-256 of a certificate as openssl and browsers write it: pairs of hex
// digits, separated by colons.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

// makeCertificate makes a key and a self-signed certificate and writes them to private files, the
// key last: with it the pair is complete.
func makeCertificate(certFile, keyFile string, names []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "agentctl"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(madeCertificateTTL),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	for _, name := range append([]string{"localhost", "127.0.0.1", "::1"}, names...) {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
	if err := atomicfile.Write(certFile, certPEM, 0o600); err != nil {
		return err
	}
	return atomicfile.Write(keyFile, keyPEM, 0o600)
}
