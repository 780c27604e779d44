package create

import (
	"cmp"
	"maps"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// SessionFlags are the flags of new and run for their session.
type SessionFlags struct {
	Agent    string
	CWD      string
	Env      []string
	Settings settingFlags
	Sandbox  sandboxFlags
	Attach   []string

	FailOnDenied bool
}

// sessionNeeds are the features that SessionFlags need.
var sessionNeeds = []verb.FlagFeature{
	{Flag: "env", Feature: codec.CreateEnv},
	{Flag: "cwd", Feature: codec.CreateCWD},
	{Flag: "mode", Feature: codec.CreateSettings},
	{Flag: "model", Feature: codec.CreateSettings},
	{Flag: "option", Feature: codec.CreateSettings},
	{Flag: "policy", Feature: codec.CreateSettings},
	{Flag: settingLimit, Feature: codec.CreateSettings},
	{Flag: "sandbox", Feature: codec.CreateSandbox},
	{Flag: "sandbox-network", Feature: codec.CreateSandbox},
	{Flag: "attach", Feature: codec.SendParts},
}

func (s *SessionFlags) add(cli *verb.Context, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Agent, "agent", "", "`AGENT` to run")
	f.StringVar(&s.CWD, "cwd", "", "working `DIR` of the agent, on the server")
	f.StringArrayVar(&s.Env, "env", nil, "environment `K=V`, K= removes it; repeatable")
	s.Settings.add(f)
	s.Sandbox.add(cmd)
	turn.AddDeniedFlag(cmd, &s.FailOnDenied)
	turn.AddAttachFlag(cmd, &s.Attach)
	_ = cmd.RegisterFlagCompletionFunc("agent", completion.Agents(cli))
	verb.CompleteDirs(cmd, "cwd")
	verb.CompleteValues(cmd, settingPolicy, policyNames())
}

// data returns what the flags choose. An error is wrong usage.
func (s *SessionFlags) data() (protocol.CreateData, error) {
	d := protocol.CreateData{Agent: s.Agent, CWD: s.CWD}
	var envErr, settingsErr, policyErr, sandboxErr error
	d.Env, envErr = verb.ParsePairs("--env", s.Env)
	d.Settings, settingsErr = s.Settings.values()
	d.Policy, policyErr = s.Settings.policyFile()
	d.Sandbox, sandboxErr = s.Sandbox.value()
	return d, cmp.Or(envErr, settingsErr, policyErr, sandboxErr)
}

// complete adds what only this machine knows to the data of a new session: absolute paths, the
// agent, unless it is chosen or loaded, and the variables of the shell.
func complete(cli *verb.Context, c *connection.Conn, d *protocol.CreateData) (err error) {
	if c.Local {
		if err := connection.ResolvePaths(d); err != nil {
			return err
		}
	}
	if d.Agent == "" && d.Load == "" {
		if d.Agent, err = localagent.Choose(cli, c.Own, c.Hello().Agents); err != nil {
			return err
		}
	}
	if c.Own && cli.Flags.Dialect == "" {
		env := localagent.Of(cli).Environment(d.Agent)
		maps.Copy(env, d.Env)
		d.Env = env
	}
	return nil
}

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
