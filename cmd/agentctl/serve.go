package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"agentctl/server"
)

// drainPatience is how long a server may take to end its turns, agents and connections.
const drainPatience = 20 * time.Second

type serveOptions struct {
	app *app

	Listen       []string
	Dialects     []string
	Config       string
	Users        string
	DefaultAgent string
	Sync         string
	Insecure     bool
	Verbose      bool
	IdleExit     time.Duration // of a server in the background; 0: it ends when it is told to

	dialects []dialectListener // what Dialects say
}

func newServe(a *app, run func(context.Context, *serveOptions) error) *cobra.Command {
	o := &serveOptions{app: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run sessions",
		Long: `Run sessions until SIGTERM or SIGINT. The first line of stdout is the server's URL; with -o json it is {"url","pid","token_file",
"dialects"}.

Only a Unix socket that this user alone can open is there by default. --listen opens TCP: it wants a token, which lies in the data
directory and which commands of this user read by themselves. An address that other machines reach is refused unless --insecure says
that this is meant: anybody who gets in runs commands here.

--listen-dialect opens TCP for the clients of another system, in its own protocol (a dialect) and at any path. Clients that cannot
carry a token need ",open": whoever is on this machine gets in, on loopback only, and may do what ",role=R" says; without it create
sessions, send, queue, interrupt and decide. Every dialect is served at /dialect/NAME of the other listeners too.

--users FILE lets the users in it log in ("agentctl login"), each with a role; "agentctl token user" makes them, "agentctl token" makes
credentials without a password. The file is read once, at the start.

--config FILE is JSON:

  {"agents": {"mine": {"command": "my-agent", "args": ["--acp"],
                       "env": {"K": "V"}},
              "demo": {"script": "demo.script"}},
   "default_agent": "mine", "users": "users.json",
   "approval_timeout": "5m", "edit_hold": "30s",
   "state_ttl": "168h", "state_secret": "…", "sync": "normal",
   "window": 16777216,
   "limits": {"message": 1048576, "inflight": 64, "rate": 100},
   "origins": ["http://localhost:5173"],
   "dialects": {"myagent": {"agents": {"their name": "mine"},
                            "options": {"heartbeat": "30s"}}}}

All of it may be left out. Origins are those of web pages that may connect, as
the clients of some dialects are; no other page may.`,
		Example: "  agentctl serve\n  agentctl serve --listen 127.0.0.1:7777 --default-agent claude\n" +
			"  agentctl serve --listen-dialect effectiveagent=127.0.0.1:12345,open",
		Args: takes(0, 0),
	}
	cmd.RunE = does(a, o, func([]string) error { return o.check() }, run)
	f := cmd.Flags()
	f.StringArrayVar(&o.Listen, "listen", nil, "TCP `ADDR`, port 0 for any; may be repeated")
	f.StringArrayVar(&o.Dialects, "listen-dialect", nil, "`NAME=ADDR`[,open][,role=R], a dialect")
	f.StringVar(&o.Config, "config", "", "configuration `FILE`")
	f.StringVar(&o.Users, "users", "", "`FILE` of users who log in")
	f.StringVar(&o.DefaultAgent, "default-agent", "", "`AGENT` of sessions that name none")
	f.StringVar(&o.Sync, "sync", "", "`LEVEL` normal; full survives a power cut")
	f.BoolVar(&o.Insecure, "insecure", false, "let other machines in without TLS")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "log more")
	f.DurationVar(&o.IdleExit, "idle-exit", 0, "end after this long without sessions at work or clients")
	_ = f.MarkHidden("idle-exit")
	return cmd
}

func (o *serveOptions) check() error {
	for _, s := range o.Dialects {
		d, err := parseDialectListener(s)
		if err != nil {
			return err
		}
		o.dialects = append(o.dialects, d)
	}
	switch o.Sync {
	case "", "normal", "full":
		return nil
	}
	return usagef("--sync is normal or full, not %q", o.Sync)
}

// settings joins the configuration file and the flags, which win.
func (o *serveOptions) settings() (*config, error) {
	c := &config{}
	if o.Config != "" {
		b, err := os.ReadFile(o.Config)
		if err != nil {
			return nil, fmt.Errorf("configuration: %w", err)
		}
		if c, err = readConfig(b); err != nil {
			return nil, fmt.Errorf("configuration %s: %w", o.Config, err)
		}
		c.from(filepath.Dir(o.Config))
	}
	if o.DefaultAgent != "" {
		c.DefaultAgent = o.DefaultAgent
		if err := c.roster().check(c.DefaultAgent); err != nil {
			return nil, usagef("--default-agent: %w", err)
		}
	}
	if o.Sync != "" {
		c.Sync = o.Sync
	}
	if o.Users != "" {
		c.Users = o.Users
	}
	return c, nil
}

func runServe(ctx context.Context, o *serveOptions) (err error) {
	if !canServe {
		return unsupportedf("this system cannot run a server yet; all other verbs work with --server")
	}
	c, err := o.settings()
	if err != nil {
		return err
	}
	if err := os.Unsetenv("AGENTCTL_TOKEN"); err != nil { // agents inherit the environment
		return fmt.Errorf("environment: %w", err)
	}
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	ends := []os.Signal{syscall.SIGTERM, os.Interrupt}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends a drain that hangs
	i, err := openInstance(ctx, dir, c, o.log())
	if errors.Is(err, errLocked) && o.IdleExit > 0 {
		return nil // the one that was faster serves
	}
	if err != nil && ctx.Err() != nil {
		return ended(ctx) // told to end before it had begun
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	url, dialects, err := o.open(i)
	if err != nil {
		return err
	}
	if err := o.announce(dir, url, dialects); err != nil {
		return err
	}
	for _, l := range i.listeners {
		l.Origins = c.Origins
	}
	return errors.Join(i.serve(ctx, o.IdleExit), ended(ctx))
}

// ended is why a server that was told to end has ended: nothing, when it was by a signal.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errTimeout) {
		return cause
	}
	return nil
}

// open opens the listeners and returns the server's URL, the first TCP one's, else the socket's, and the dialects' URLs.
func (o *serveOptions) open(i *instance) (url string, dialects map[string][]string, err error) {
	socket, err := i.dir.placeSocket(o.app.env("XDG_RUNTIME_DIR"))
	if err != nil {
		return "", nil, err
	}
	token, err := i.dir.token()
	if err != nil {
		return "", nil, fmt.Errorf("token: %w", err)
	}
	var urls []string
	for _, addr := range o.Listen {
		l, err := server.ListenTCP(addr, token, o.Insecure)
		if errors.Is(err, server.ErrExposed) {
			return "", nil, usagef("--listen %s: %w", addr, err)
		}
		if err != nil {
			return "", nil, err
		}
		i.listeners = append(i.listeners, l)
		urls = append(urls, "ws://"+l.Addr().String())
	}
	dialects, closed, err := o.openDialects(i, token)
	if err != nil {
		return "", nil, err
	}
	if err := writePrivate(i.dir.path("url"), strings.Join(slices.Concat(urls, closed, []string{""}), "\n")); err != nil {
		return "", nil, fmt.Errorf("record the server's address: %w", err)
	}
	// The socket last: what answers there is ready in full.
	l, err := server.ListenUnix(socket)
	if err != nil {
		return "", nil, err
	}
	i.listeners = append(i.listeners, l)
	return append(urls, "unix://"+socket)[0], dialects, nil
}

// announce writes the first line of stdout.
func (o *serveOptions) announce(dir dataDir, url string, dialects map[string][]string) error {
	view := struct {
		URL       string              `json:"url"`
		PID       int                 `json:"pid"`
		TokenFile string              `json:"token_file"`
		Dialects  map[string][]string `json:"dialects"`
	}{url, os.Getpid(), dir.path("token"), dialects}
	return o.app.emit(view, func(w io.Writer) { fmt.Fprintln(w, url) })
}
