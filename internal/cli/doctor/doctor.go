package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/agents"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/host"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/instructions"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
	"agentctl/internal/retired"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// The statuses of a check.
const (
	checkOK   = "ok"
	checkNote = "note" // no problem, but worth knowing
	checkBad  = "bad"
)

// A check is the result of one check.
type check struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Detail string `json:"detail"`
}

type doctorOptions struct {
	verb.Options

	Bundle  string // the file of --bundle
	Session string // whose events it has
}

var doctorVerb = verb.Verb{
	Use:   "doctor",
	Short: "Check configuration, data directory, server and agents",
	Long: `Check the configuration files, hooks, data directory, disk, open files, stored sessions, the last errors of
the server, its version, its answer to editors, agents, keys of model providers and sandboxes. It connects to the
configured MCP servers, and starts no server. It exits 1 when a check is bad. With --bundle it writes a new file for the
report of a bug, without texts of sessions, prints what the file has, and sends nothing. See docs/failure.md.`,
	Example: `  agentctl doctor
  agentctl doctor --bundle report.txt --session fix`,
	Group: verb.GroupServer,

	Do: &verb.Steps[doctorOptions]{
		Flags: func(o *doctorOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.Bundle, "bundle", "", "write a report of a bug to a new `FILE`")
			f.StringVar(&o.Session, "session", "", "add the last events of `SESSION`, without texts")
			verb.RequireValues(f, "bundle", "session")
		},
		Read: func(o *doctorOptions, _ []string) error {
			if o.Session != "" && o.Bundle == "" {
				return exit.Usagef("--session needs --bundle FILE")
			}
			if _, err := os.Lstat(o.Bundle); o.Bundle != "" && err == nil {
				return exit.Usagef("--bundle: %s exists, and is not replaced", o.Bundle)
			}
			return nil
		},
		Run: runDoctor,
	},
}

func runDoctor(ctx context.Context, o *doctorOptions) error {
	checks := []check{checkUserConfig(o.CLI.Env, o.CLI.UserErr)}
	checks = append(checks, retiredChecks(checks[0].Check, o.CLI.User.Retired())...)
	o.CLI.UserErr = nil // it is in the check
	if o.CLI.Flags.Server == "" {
		dir, err := o.CLI.DataDir()
		if err != nil {
			return err
		}
		checks = append(checks, checkServerConfig(o.CLI.Env, dir)...)
		checks = append(checks, checkDataDir(dir)...)
		checks = append(checks, checkLimits(dir)...)
		checks = append(checks, checkInstructions(o.CLI.Env)...)
		checks = append(checks, checkStored(ctx, o.CLI.Env, dir)...)
	}
	server := o.checkServer(ctx)
	checks = append(checks, server)
	if server.Status == checkOK && o.CLI.Flags.Dialect == "" {
		checks = append(checks, o.checkEditor(ctx))
	}
	checks = append(checks, o.checkAgents(ctx)...)
	bad, width := 0, 0
	for _, c := range checks {
		width = max(width, len(c.Check))
	}
	for _, c := range checks {
		if c.Status == checkBad {
			bad++
		}
		err := o.CLI.Out.Print(c, func(w io.Writer) {
			fmt.Fprintf(w, "%-4s  %-*s  %s\n", c.Status, width, c.Check, c.Detail)
		})
		if err != nil {
			return err
		}
	}
	if o.Bundle != "" {
		if err := o.writeBundle(o.makeBundle(ctx, checks)); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d checks are bad", bad, len(checks))
	}
	return nil
}

// checkUserConfig checks the user's configuration file.
func checkUserConfig(env func(string) string, failed error) check {
	path, _ := config.UserPath(env)
	c := check{"configuration", checkOK, path}
	switch _, err := os.Stat(path); {
	case failed != nil:
		e := exit.From(failed)
		c.Status, c.Detail = checkBad, e.Error()+" ("+e.Hint+")"
	case path == "":
		c.Status, c.Detail = checkNote, "no directory for a file: set AGENTCTL_CONFIG to name one"
	case err != nil:
		c.Status, c.Detail = checkNote, path+" does not exist: defaults are used"
	}
	return c
}

// checkServerConfig checks the configuration of this user's server, and its hooks.
func checkServerConfig(env func(string) string, dir localserver.Dir) []check {
	path := host.ConfigPath(env, dir)
	c := check{"server config", checkOK, path}
	if path == "" {
		c.Status, c.Detail = checkNote, config.ServerPath(env)+" does not exist: defaults are used"
		if dir.Holder() != 0 {
			c.Detail = "the server runs without a file"
		}
		return []check{c}
	}
	file, err := config.ReadServer(path)
	if err != nil {
		c.Status, c.Detail = checkBad, err.Error()
		return []check{c}
	}
	return slices.Concat([]check{c}, retiredChecks(c.Check, file.Retired()), checkHooks(file))
}

// retiredChecks returns a note for each name of a file that has no effect.
func retiredChecks(of string, names []retired.Name) (notes []check) {
	for _, n := range names {
		notes = append(notes, check{of, checkNote, n.String()})
	}
	return notes
}

// checkDataDir checks the data directory and looks for its server.
func checkDataDir(dir localserver.Dir) []check {
	info, err := os.Stat(string(dir))
	if err != nil {
		detail := fmt.Sprintf("%s does not exist yet: the first server creates it", dir)
		return []check{{"data directory", checkNote, detail}}
	}
	if !info.IsDir() {
		return []check{{"data directory", checkBad, fmt.Sprintf("%s is not a directory", dir)}}
	}
	checks := []check{checkPrivate("data directory", string(dir), info)}
	for _, name := range []string{"token", "secret", "key", "env.key", "state.key", "logins"} {
		if info, err := os.Stat(dir.Path(name)); err == nil {
			checks = append(checks, checkPrivate(name, dir.Path(name), info))
		}
	}
	checks = append(checks, checkTokens(dir)...)
	for _, url := range dir.Addresses().Open() {
		checks = append(checks, check{"open listener", checkNote, url + " needs no token, so that agents on this machine " +
			"can decide their own requests there: start the server with role=operator for it"})
	}
	if pid := dir.Holder(); pid != 0 {
		return append(checks, check{"process", checkOK, fmt.Sprintf("a server runs with pid %d", pid)})
	}
	return append(checks, check{"process", checkNote, "no server runs; one is started when needed"})
}

// checkTokens looks for records of credentials that cannot be read. Their credentials are refused.
func checkTokens(dir localserver.Dir) (checks []check) {
	const name = "credential"
	list, err := dir.Tokens()
	if err != nil {
		return []check{{name, checkBad, err.Error()}}
	}
	for _, t := range list {
		if t.Problem != "" {
			detail := fmt.Sprintf("%s: this credential is refused; make another with agentctl token, and end this one: "+
				"agentctl token revoke %s", t.Problem, t.ID)
			checks = append(checks, check{name, checkBad, detail})
		}
	}
	return checks
}

// checkPrivate checks that other users cannot open a file.
func checkPrivate(name, path string, info fs.FileInfo) check {
	if mode := info.Mode().Perm(); localserver.Supported && mode&0o077 != 0 {
		problem := fmt.Sprintf("%s is open to other users (mode %#o): run chmod go= %s", path, mode, path)
		return check{name, checkBad, problem}
	}
	return check{name, checkOK, path}
}

// checkServer checks that the server answers.
func (o *doctorOptions) checkServer(ctx context.Context) check {
	o.CLI.Flags.NoStart = true
	c, err := connection.Open(ctx, o.CLI)
	if errors.Is(err, wsclient.ErrEphemeral) {
		detail := fmt.Sprintf("answers, and is not agentctl; %s was not tried", o.CLI.Flags.Dialect)
		return check{"server", checkNote, detail}
	}
	if err != nil {
		status := checkBad
		if e := exit.From(err); e.Code == exit.CodeUnreachable && o.CLI.Flags.Server == "" {
			status = checkNote
		}
		return check{"server", status, err.Error()}
	}
	defer c.Close()
	hello := c.Hello()
	return check{"server", checkOK, fmt.Sprintf("%s, protocol %s; you are %s (this is agentctl %s)",
		hello.Server, hello.Version, output.Actor(&hello.By), o.CLI.Build.Version())}
}

// checkAgents checks which agents are installed, and looks for their logins, the keys of the
// providers of models, and the MCP servers.
func (o *doctorOptions) checkAgents(ctx context.Context) []check {
	registry, err := localagent.Of(o.CLI).Registry()
	if err != nil {
		return []check{{"agents", checkBad, err.Error()}}
	}
	inspector := localagent.Of(o.CLI).Inspector(registry)
	var checks []check
	for _, name := range registry.Names() {
		r := inspector.Inspect(name)
		c := check{"agent " + name, checkNote, "not installed: " + localagent.LoginText(&r)}
		if r.Installed {
			kind := cmp.Or(r.Path, r.Model, r.Pipeline, "script")
			if r.URL != "" {
				kind = "sandbox " + string(protocol.SandboxRemote)
			}
			c.Detail = kind + "; " + localagent.LoginText(&r)
			if r.Login != agents.LoginMissing {
				c.Status = checkOK
			}
		}
		checks = append(checks, c)
	}
	for _, r := range inspector.Providers() {
		checks = append(checks, readinessCheck("provider "+r.Name, &r))
	}
	checks = append(checks, check{"models", checkOK, agents.ModelTable()})
	if o.CLI.Flags.Server == "" {
		defer registry.Sandbox.Close()
		checks = append(checks, checkSandboxes(registry)...)
	}
	if len(registry.MCP) == 0 || o.CLI.Flags.Server != "" {
		return checks
	}
	ctx, cancel := context.WithTimeout(ctx, localagent.ProbeTimeout)
	defer cancel()
	for _, r := range inspector.MCPServers(ctx, os.TempDir()) {
		checks = append(checks, readinessCheck("mcp "+r.Name, &r))
	}
	return checks
}

func readinessCheck(name string, r *agents.Readiness) check {
	c := check{name, checkOK, output.OneLine(r.Detail, 200)}
	if !r.Ready {
		c.Status = checkNote
	}
	return c
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&doctorVerb}

// checkHooks looks for the programs of the hooks of a server.
func checkHooks(c *config.Server) (checks []check) {
	for _, name := range slices.Sorted(maps.Keys(c.Hooks)) {
		configured := c.Hooks[name]
		h := configured.Hook(name)
		found := check{"hook " + name, checkOK, output.OneLine(strings.Join(h.Command, " "), 200)}
		if err := h.CheckProgram(exec.LookPath); err != nil {
			found.Status, found.Detail = checkBad, err.Error()
		}
		if len(h.Command) > 0 {
			checks = append(checks, found)
		}
	}
	return checks
}

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

// shownInstructions are the bytes of instructions that agents with a model get if their context is large.
const shownInstructions = 32 << 10

// checkInstructions names the files with instructions that agents with a model get in this directory.
func checkInstructions(env func(string) string) (checks []check) {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	files, left := instructions.Read(instructions.Place{
		Dir: dir, Global: config.UserInstructions(env), Most: shownInstructions,
	})
	for _, f := range files {
		detail := fmt.Sprintf("%s, %d bytes", f.Path, len(f.Text))
		if f.By != "" {
			detail += ", imported by " + f.By
		}
		checks = append(checks, check{"instructions", checkOK, detail})
	}
	if left != nil {
		checks = append(checks, check{"instructions", checkNote, fmt.Sprintf(
			"more than %d KiB: left out or cut are %s", shownInstructions>>10, strings.Join(left, ", "))})
	}
	return checks
}
