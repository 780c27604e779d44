package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
	"agentctl/server/login"
)

// loginPatience is how long a server may take to check a password.
const loginPatience = 30 * time.Second

type loginOptions struct {
	app *app

	User          string
	PasswordStdin bool
	Print         bool
	Forget        bool
	Insecure      bool
}

func newLogin(a *app, run func(context.Context, *loginOptions) error) *cobra.Command {
	o := &loginOptions{app: a}
	cmd := &cobra.Command{
		Use:   "login [USER]",
		Short: "Get a credential from a server for a password",
		Long: `Log in to the server that --server names, as a user of it. What is not given is asked for on the terminal, the password without
showing it.

The credential is stored in the data directory, for this user's eyes alone, and later commands send it to that server and no
other, until it expires or --forget takes it away. --token and AGENTCTL_TOKEN win over it.

With --dialect multiagent the server may be one of that system, too: it is asked in the same way.`,
		Example: "  agentctl login ada --server wss://agents.example.com\n" +
			"  agentctl login ci --server ws://127.0.0.1:7777 --password-stdin <secret",
		Args: takes(0, 1),
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.User = strings.Join(args, "")
		return o.check()
	}, run)
	f := cmd.Flags()
	f.BoolVar(&o.PasswordStdin, "password-stdin", false, "read the password from stdin")
	f.BoolVar(&o.Print, "print", false, "print the credential, store nothing")
	f.BoolVar(&o.Forget, "forget", false, "forget the stored credential")
	f.BoolVar(&o.Insecure, "insecure", false, "send it unencrypted to another machine")
	return cmd
}

func (o *loginOptions) check() error {
	g := &o.app.flags
	switch {
	case g.Server == "":
		return usagef("which server? name it with --server; this machine's own lets you in without a login")
	case strings.HasPrefix(g.Server, "unix:"):
		return usagef("whoever reaches a Unix socket is let in without a login")
	case g.Dialect != "" && g.Dialect != multiagent.Name:
		return usagef("the dialect %s has no login", g.Dialect)
	case o.Forget && (o.Print || o.PasswordStdin || o.User != ""):
		return usagef("--forget goes with nothing else")
	case o.PasswordStdin && o.User == "":
		return usagef("with --password-stdin the user is an argument")
	}
	return checkURL(g.Server)
}

func runLogin(ctx context.Context, o *loginOptions) error {
	a := o.app
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	server := origin(a.flags.Server)
	if o.Forget {
		return a.forgetLogin(dir, server)
	}
	client, at, err := loginAt(a.flags.Server)
	if err != nil {
		return err
	}
	if at.Scheme == "http" && !o.Insecure && !onThisMachine(at.Hostname()) {
		return usagef("%s is another machine, and the way there is not encrypted: use wss://, or --insecure if that is meant", at.Host)
	}
	if o.User == "" {
		if o.User, err = a.typed(ctx, "User: ", true); err != nil {
			return err
		}
	}
	password, err := a.password(ctx, o.PasswordStdin, "Password: ", false)
	if err != nil {
		return err
	}
	got, err := logIn(ctx, client, at, o.User, password)
	if err != nil {
		return err
	}
	got.Server, got.User, got.Expires = server, o.User, expiry(got.Token)
	if o.Print {
		return a.emit(got, func(w io.Writer) { fmt.Fprintln(w, got.Token) })
	}
	return a.keepLogin(dir, got)
}

// forgetLogin drops the credential for a server.
func (a *app) forgetLogin(dir dataDir, server string) error {
	had, err := dir.dropLogin(server)
	if err != nil {
		return err
	}
	return a.emit(map[string]any{"server": server, "forgotten": had}, func(w io.Writer) {
		if had {
			fmt.Fprintf(w, "forgotten: the credential for %s\n", server)
		} else {
			fmt.Fprintf(w, "there is no credential for %s\n", server)
		}
	})
}

// keepLogin stores a credential and says what it is, but does not show it.
func (a *app) keepLogin(dir dataDir, got storedLogin) error {
	if err := dir.keepLogin(got); err != nil {
		return err
	}
	got.Token = ""
	return a.emit(got, func(w io.Writer) {
		fmt.Fprintf(w, "logged in to %s as %s", got.Server, got.User)
		if got.Role != "" {
			fmt.Fprintf(w, " (%s)", got.Role)
		}
		if got.Expires != nil {
			fmt.Fprintf(w, ", until %s", got.Expires.Local().Format(time.DateTime))
		}
		fmt.Fprintln(w)
	})
}

// loginAt makes the way to where a server's users log in: at its root, whatever path it is spoken to at.
func loginAt(server string) (*http.Client, *url.URL, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return nil, nil, usagef("--server is no URL of a server")
	}
	at := &url.URL{Scheme: "http", Host: u.Host, Path: login.Path}
	if u.Scheme == "wss" || u.Scheme == "https" {
		at.Scheme = "https"
	}
	return &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}, Timeout: loginPatience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a password goes nowhere else
	}, at, nil
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// logIn asks for a credential.
func logIn(ctx context.Context, c *http.Client, at *url.URL, user, password string) (got storedLogin, _ error) {
	body := protocol.MustEncode(map[string]string{"username": user, "password": password})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return got, fmt.Errorf("log in: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return got, unreachablef("log in: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return got, unreachablef("log in: %w", err)
	}
	var said struct {
		Token  string `json:"access_token"`
		Role   string `json:"role"`
		Detail any    `json:"detail"`
	}
	_ = json.Unmarshal(b, &said) // what is no JSON says nothing
	switch {
	case resp.StatusCode == http.StatusOK && said.Token != "":
		return storedLogin{Token: said.Token, Role: said.Role}, nil
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return got, faultf(exitForbidden, protocol.CodeUnauthorized, "no user has that name and password")
	case resp.StatusCode == http.StatusNotFound:
		return got, faultf(exitError, protocol.CodeNotFound, "%s has no users who log in", at.Host).
			hinting("agentctl serve --users FILE has them")
	}
	detail, _ := said.Detail.(string)
	return got, faultf(exitError, codeFailed, "log in: %s", strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", resp.StatusCode, detail), ": "))
}
