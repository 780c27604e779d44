package serve

import (
	"github.com/spf13/pflag"

	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
)

// tlsFlags are the flags of serve for TLS.
type tlsFlags struct {
	Made bool // with a certificate of the data directory
	Cert string
	Key  string
}

func (t *tlsFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&t.Made, "tls", false, "encrypt TCP, with a made certificate")
	f.StringVar(&t.Cert, "tls-cert", "", "PEM `FILE` of a certificate for TLS")
	f.StringVar(&t.Key, "tls-key", "", "PEM `FILE` of its key")
}

func (t *tlsFlags) check() error {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		return exit.Usagef("--tls-cert and --tls-key go together")
	case t.Made && t.Cert != "":
		return exit.Usagef("--tls makes a certificate: omit it with --tls-cert")
	}
	return nil
}

// override replaces the configured TLS by the flags.
func (t *tlsFlags) override(c *config.Server) {
	if t.Made || t.Cert != "" {
		c.TLS = &config.TLS{Cert: t.Cert, Key: t.Key}
	}
}

// certificate returns the certificate of TCP listeners, nil without TLS.
func (o *serveOptions) certificate(dir localserver.Dir, c *config.Server) (*localserver.Certificate, error) {
	switch {
	case c.TLS == nil:
		return nil, nil //nolint:nilnil // no TLS
	case c.TLS.Cert != "":
		return localserver.ReadCertificate(c.TLS.Cert, c.TLS.Key)
	}
	return dir.Certificate(o.Hosts)
}
