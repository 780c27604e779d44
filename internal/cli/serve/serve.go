package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/host"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/credentials"
	"agentctl/internal/exit"
	"agentctl/internal/export"
	"agentctl/internal/localserver"
	"agentctl/internal/localserver/instance"
	"agentctl/server"
	"agentctl/server/archive"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/session/upkeep"
	"agentctl/server/sqlite"
)

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{
	&serveVerb, &stopVerb, &logsVerb, &connectVerb,
}

type serveOptions struct {
	verb.Options

	Listen   []string
	Dialects []string
	Config   string
	overrides
	Insecure bool
	TLS      tlsFlags
	Hosts    []string
	Log      logFlags
	IdleExit time.Duration // of a background server; 0: no limit

	dialects []dialectListen // parsed from Dialects
	running  *runningConfig
}

var serveVerb = verb.Verb{
	Use:   "serve",
	Short: "Run a server",
	Long: `Run a server until SIGTERM or SIGINT, with a Unix socket that this user alone can open; --listen
adds TCP, which requires a token, and TLS or --insecure if other machines can reach it. The first
line of stdout is the URL; with -o json it is {"url","pid","token_file","dialects","fingerprint"}.
The configuration is --config FILE, else server.json in the directory of config.json; SIGHUP reads
it again. See docs/operations.md and docs/config.md.`,
	Example: "  agentctl serve\n  agentctl serve --listen 127.0.0.1:7777 --default-agent claude\n" +
		"  agentctl serve --listen-dialect effectiveagent=127.0.0.1:12345,open\n" +
		"  agentctl serve --listen 0.0.0.0:7777 --tls --users users.json",
	Group: verb.GroupServer, Place: verb.ThisMachine,
	Trial: "--timeout 1s --data other",

	Do: &verb.Steps[serveOptions]{
		Flags: func(o *serveOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringArrayVar(&o.Listen, "listen", nil, "TCP `ADDR` to listen on; repeatable")
			f.StringArrayVar(&o.Dialects, "listen-dialect", nil, "`NAME=ADDR`[,open][,role=R]; repeatable")
			f.StringVar(&o.Config, "config", "", "configuration `FILE`, else server.json")
			o.overrides.add(f)
			f.BoolVar(&o.Insecure, "insecure", false, "listen for other machines without TLS")
			o.TLS.add(f)
			f.StringArrayVar(&o.Hosts, "host", nil, "serve requests for host `NAME`; repeatable")
			o.Log.add(f)
			f.DurationVar(&o.IdleExit, "idle-exit", 0, "exit after this long without running agents and clients")
			_ = f.MarkHidden("idle-exit")
		},
		Read: func(o *serveOptions, _ []string) error { return o.check() },
		Run:  runServe,
	},
}

func (o *serveOptions) check() error {
	for _, s := range o.Dialects {
		d, err := parseDialectListen(s)
		if err != nil {
			return err
		}
		o.dialects = append(o.dialects, d)
	}
	if err := o.Log.check(); err != nil {
		return err
	}
	return cmp.Or(o.overrides.check(), o.TLS.check())
}

// readConfig returns the configuration file, overridden by flags.
func (o *serveOptions) readConfig() (*config.Server, error) {
	c := &config.Server{}
	if o.Config == "" {
		o.Config = host.ServerConfigPath(o.CLI.Env)
	}
	if o.Config != "" {
		var err error
		if c, err = config.ReadServer(o.Config); err != nil {
			return nil, err
		}
	}
	if err := o.overrides.apply(c); err != nil {
		return nil, err
	}
	o.TLS.override(c)
	return c, nil
}

func runServe(ctx context.Context, o *serveOptions) (err error) {
	if !localserver.Supported {
		return exit.Unsupportedf("this system cannot run a server yet: use the other verbs with --server")
	}
	c, err := o.readConfig()
	if err != nil {
		return err
	}
	dir := o.CLI.Dir
	if err := setAgentEnvironment(dir); err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	if err := o.Log.open(o.CLI.Out.Stderr); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Log.Close()) }()
	o.Log.hide(c, dir)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills a server that drains
	i, err := o.open(ctx, dir, c)
	if errors.Is(err, instance.ErrRunning) && o.IdleExit > 0 {
		return nil // another background server won the start
	}
	if err != nil && ctx.Err() != nil {
		return timeoutCause(ctx) // ended by a signal while opening
	}
	if err != nil {
		return err
	}
	defer o.running.sandbox.Close()
	defer func() { err = errors.Join(err, i.Close()) }()
	cert, err := o.certificate(dir, c)
	if err != nil {
		return err
	}
	l := &listeners{options: o, instance: i, certificate: cert}
	if err := l.open(); err != nil {
		return err
	}
	o.running.hideSecrets(c) // with the token that the listeners may have made
	if err := dir.RecordLog(o.Log.path()); err != nil {
		return err
	}
	if err := dir.RecordDefaultAgent(o.DefaultAgent); err != nil {
		return err
	}
	i.SetOrigins(o.running.origins)
	reloads := newReloader(o, l, c.Users, stop)
	if err := l.printAddress(); err != nil {
		return err
	}
	o.Log.logger.Info("server started", "version", o.CLI.Build.Version(), "pid", os.Getpid(), "data", string(dir))
	o.Log.reportCrash()
	defer func() { o.Log.logger.Info("server stopped", "pid", os.Getpid()) }()
	var reloading sync.WaitGroup
	reloading.Go(func() { reloads.run(ctx) })
	defer reloading.Wait()
	defer stop()
	return errors.Join(i.Serve(ctx, o.IdleExit), timeoutCause(ctx))
}

// setAgentEnvironment changes the environment, which agents inherit: their processes reach this
// server, by its socket and without a credential.
func setAgentEnvironment(dir localserver.Dir) error {
	path, err := filepath.Abs(string(dir))
	if err != nil {
		return err
	}
	for _, name := range []string{
		"AGENTCTL_TOKEN", "AGENTCTL_SERVER", "AGENTCTL_DIALECT", "AGENTCTL_DIALECT_OPTIONS",
	} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return os.Setenv("AGENTCTL_DATA", path)
}

// timeoutCause returns the cause of the end of ctx if it is --timeout. A signal is no error.
func timeoutCause(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, exit.ErrTimeout) {
		return cause
	}
	return nil
}

// open opens the server of a data directory, without listeners.
func (o *serveOptions) open(ctx context.Context, dir localserver.Dir, c *config.Server) (*instance.Instance, error) {
	o.running = newRunningConfig(o, dir, c)
	options := instance.Options{
		Server: o.running.server(c), Sync: sqlite.Sync(c.Sync), Log: o.running.log, Config: o.Config,
	}
	var err error
	if options.Server.Hooks, err = serverHooks(c, o.running.secrets); err != nil {
		return nil, err
	}
	o.running.warnHooks(options.Server.Hooks)
	options.Server.Session.RemoveWorktree = removeWorktree
	for _, path := range c.StateKeys {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("state_keys: %w", err)
		}
		key, err := login.ParsePublicKey(b)
		if err != nil {
			return nil, exit.Usagef("state_keys: %s: %s", path, err)
		}
		options.Server.Session.Accepted = append(options.Server.Session.Accepted, key)
	}
	if c.Users != "" {
		var err error
		if options.Users, err = credentials.ReadUsers(c.Users); err != nil {
			return nil, err
		}
	}
	i, err := instance.Open(ctx, dir, options)
	if err != nil {
		return nil, instance.StoreError(err)
	}
	return i, nil
}

// serverConfig returns the configuration file as the configuration of the server.
func serverConfig(c *config.Server, registry session.Agents, version string, log *slog.Logger) server.Config {
	agents, options := map[string]map[string]string{}, map[string]map[string]string{}
	for name, d := range c.Dialects {
		agents[name], options[name] = d.Agents, d.Options
	}
	return server.Config{
		Session: session.Config{
			Agents: registry, DefaultAgent: c.DefaultAgent, Log: log,
			ApprovalTimeout: time.Duration(c.ApprovalTimeout), EditHold: time.Duration(c.EditHold),
			Limits: session.Limits{
				Sessions: c.Limits.Sessions, Agents: c.Limits.Agents, Queue: c.Limits.Queue,
				Requests: c.Limits.Requests, Rules: c.Limits.Rules, Bytes: c.Limits.SessionBytes,
				SubAgents: c.Limits.SubAgents,
				Disk:      c.Limits.Disk, LogMemory: c.Limits.LogMemory,
			},
			AgentIdle: time.Duration(c.AgentIdle), ContinueAfterLimit: c.ContinueAfterLimit,
			Retention: upkeep.Retention{
				Age: time.Duration(c.Retention.Age), Sessions: c.Retention.Sessions, Bytes: c.Retention.Bytes,
			},
			StateTTL: time.Duration(c.StateTTL), Signing: archive.Signing{Secret: []byte(c.StateSecret)},
		},
		Version: version, Log: log, Documents: export.Documents{},
		Limits: server.Limits{
			Connections: c.Limits.Connections, PerSender: c.Limits.PerSender, Reserve: c.Limits.Reserve,
			Unauthenticated: c.Limits.Unauthenticated, Message: c.Limits.Message, InFlight: c.Limits.InFlight,
			Rate: c.Limits.Rate, Window: c.Window,
		},
		Dialects: server.Dialects{Agents: agents, Options: options},
	}
}
