package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"agentctl/server/agent/acp"
)

// How a check came out.
const (
	checkOK   = "ok"
	checkNote = "note" // nothing is wrong, but it is good to know
	checkBad  = "bad"
)

// A check is one thing that doctor looked at.
type check struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Detail string `json:"detail"`
}

type doctorOptions struct {
	app *app

	look func(program string) (string, error) // finds a program
}

func newDoctor(a *app, run func(context.Context, *doctorOptions) error) *cobra.Command {
	o := &doctorOptions{app: a, look: exec.LookPath}
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, data directory, server and agents",
		Long: `Look at what usually is wrong: the configuration file, the data directory and who else can read it, whether the server answers and which version it is, and
which agents are installed. It starts no server. Exit code 1 when something is bad.`,
		Example: "  agentctl doctor",
		Args:    takes(0, 0),
		RunE:    does(a, o, nil, run),
	}
}

func runDoctor(ctx context.Context, o *doctorOptions) error {
	checks := []check{o.app.configuration()}
	o.app.personalErr = nil // it is told
	if o.app.flags.Server == "" {
		dir, err := o.app.dataDir()
		if err != nil {
			return err
		}
		checks = append(checks, dir.checks()...)
	}
	checks = append(checks, o.server(ctx))
	checks = append(checks, o.agents()...)
	bad := 0
	for _, c := range checks {
		if c.Status == checkBad {
			bad++
		}
		if err := o.app.emit(c, func(w io.Writer) { fmt.Fprintf(w, "%-4s  %-14s  %s\n", c.Status, c.Check, c.Detail) }); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d checks are bad", bad, len(checks))
	}
	return nil
}

// configuration checks the client's configuration file.
func (a *app) configuration() check {
	path, _ := a.personalPath()
	c := check{"configuration", checkOK, path}
	switch _, err := os.Stat(path); {
	case a.personalErr != nil:
		f := faultOf(a.personalErr)
		c.Status, c.Detail = checkBad, f.Error()+" ("+f.hint+")"
	case path == "":
		c.Status, c.Detail = checkNote, "no directory for one: AGENTCTL_CONFIG names a file"
	case err != nil:
		c.Status, c.Detail = checkNote, path+" is not there: all is as usual"
	}
	return c
}

// checks looks at the data directory.
func (d dataDir) checks() []check {
	info, err := os.Stat(string(d))
	if err != nil {
		return []check{{"data directory", checkNote, fmt.Sprintf("%s is not there yet: the first server makes it", d)}}
	}
	if !info.IsDir() {
		return []check{{"data directory", checkBad, fmt.Sprintf("%s is no directory", d)}}
	}
	list := []check{private("data directory", string(d), info)}
	for _, name := range []string{"token", "secret", "key", "logins"} {
		if info, err := os.Stat(d.path(name)); err == nil {
			list = append(list, private(name, d.path(name), info))
		}
	}
	if pid := d.owner(); pid != 0 {
		return append(list, check{"process", checkOK, fmt.Sprintf("a server runs with pid %d", pid)})
	}
	return append(list, check{"process", checkNote, "no server runs; one is started when it is needed"})
}

// private checks that only this user gets at a file.
func private(name, path string, info fs.FileInfo) check {
	if mode := info.Mode().Perm(); canServe && mode&0o077 != 0 {
		return check{name, checkBad, fmt.Sprintf("%s is open to others (mode %#o): chmod go= %s", path, mode, path)}
	}
	return check{name, checkOK, path}
}

// server checks whether it answers.
func (o *doctorOptions) server(ctx context.Context) check {
	o.app.flags.NoStart = true
	l, err := o.app.connect(ctx)
	if err != nil {
		status := checkBad
		if f := faultOf(err); f.code == codeUnreachable && o.app.flags.Server == "" {
			status = checkNote
		}
		return check{"server", status, err.Error()}
	}
	defer l.Close()
	hello := l.Hello()
	return check{"server", checkOK, fmt.Sprintf("%s, protocol %s; you are %s (this is agentctl %s)", hello.Server, hello.Version, actor(&hello.By),
		programVersion())}
}

// agents checks which presets are installed here.
func (o *doctorOptions) agents() []check {
	var list []check
	for _, p := range acp.Presets() {
		c := check{"agent " + p.Name, checkNote, "not installed: " + p.Install}
		if path, err := o.look(p.Command[0]); err == nil {
			c.Status, c.Detail = checkOK, path
		}
		list = append(list, c)
	}
	return list
}
