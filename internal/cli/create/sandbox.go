package create

import (
	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// sandboxFlags are the flags that choose the sandbox of a session.
type sandboxFlags struct {
	Mode    string
	Network string
}

func (s *sandboxFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Mode, "sandbox", "", "`MODE`: off, workspace or read-only")
	f.StringVar(&s.Network, "sandbox-network", "", "`on` or off: network of the sandbox")
	verb.RequireValues(f, "sandbox", "sandbox-network")
	verb.CompleteValues(cmd, "sandbox", []string{
		string(protocol.SandboxOff), string(protocol.SandboxWorkspace), string(protocol.SandboxReadOnly),
	})
	verb.CompleteValues(cmd, "sandbox-network", []string{
		string(protocol.SandboxNetworkOn), string(protocol.SandboxNetworkOff),
	})
}

// value returns the chosen sandbox. A network without a mode needs a sandbox of the configuration,
// which the server knows.
func (s *sandboxFlags) value() (protocol.Sandbox, error) {
	chosen := protocol.Sandbox{Mode: protocol.SandboxMode(s.Mode), Network: protocol.SandboxNetwork(s.Network)}
	checked := chosen
	if checked.Mode == "" {
		checked.Mode = protocol.SandboxWorkspace
	}
	if err := checked.Check(); err != nil {
		return protocol.Sandbox{}, exit.Usagef("--sandbox: %s", protocol.AsError(err).Message)
	}
	return chosen, nil
}
