package connection

import (
	"agentctl/internal/exit"
	"agentctl/wsclient"
)

// Peer returns what a client knows of its server, for hints.
func Peer(c *wsclient.Client) exit.Peer {
	return exit.Peer{Dialect: c.Dialect(), Commands: c.Hello().Commands, Role: c.Hello().Role, Ephemeral: c.Ephemeral()}
}
