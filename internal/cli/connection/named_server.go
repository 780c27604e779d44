package connection

import (
	"context"
	"net"
	"strings"

	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/credentials"
	"agentctl/internal/ssh"
	"agentctl/wsclient"
)

// NamedOptions returns the options of a client of a named server. Its certificate must be known
// already, or be one that the system trusts.
func NamedOptions(cli *verb.Context, s config.NamedServer) wsclient.Options {
	o := wsclient.Options{Name: cli.UserName(), UserAgent: cli.Build.UserAgent()}
	if strings.HasPrefix(s.URL, ssh.Scheme) {
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			d, err := SSHDialer(cli, s)
			if err != nil {
				return nil, err
			}
			return d.Dial(ctx, false)
		}
		return o
	}
	if dir, err := cli.DataDir(); err == nil {
		o.Token = credentials.NewStore(dir).TokenFor(s.URL)
		o.TLS = knownTrust(dir, s.URL)
	}
	return o
}
