package doctor

import (
	"fmt"

	"agentctl/internal/agents"
	"agentctl/protocol"
)

// checkSandboxes shows the sandbox of sessions that choose none, and which modes can be set up here.
func checkSandboxes(r *agents.Registry) []check {
	c := check{"sandbox", checkOK, "by default " + r.SandboxDefault.Or().String()}
	if !r.SandboxDefault.Confines() {
		c.Status, c.Detail = checkNote, "off by default: agentctl refuses an agent the direct ways to decide its own "+
			"requests, and a process of the same user can act as that user"
	}
	checks := []check{c}
	for _, mode := range protocol.SandboxModes[1:] {
		for _, network := range []protocol.SandboxNetwork{protocol.SandboxNetworkOn, protocol.SandboxNetworkOff} {
			s := protocol.Sandbox{Mode: mode, Network: network}
			c := check{"sandbox " + string(mode), checkOK, fmt.Sprintf("can be set up, network %s", network)}
			if err := r.CheckSandbox(s); err != nil {
				c.Status, c.Detail = checkNote, fmt.Sprintf("network %s: %s", network, protocol.AsError(err).Message)
			}
			checks = append(checks, c)
		}
	}
	return checks
}
