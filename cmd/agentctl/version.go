package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type versionOptions struct{ app *app }

func newVersion(a *app, run func(context.Context, *versionOptions) error) *cobra.Command {
	o := &versionOptions{app: a}
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: "Print the version of agentctl, its protocol, and the Go version and platform it was built for; " +
			"with -o json also the commit that it was built from, its date, and modified if files differed from it.",
		Example: "  agentctl version -o json",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
}

func runVersion(_ context.Context, o *versionOptions) error {
	hash, date, modified := revision()
	result := struct {
		Version  string `json:"version"`
		Commit   string `json:"commit,omitempty"`
		Date     string `json:"date,omitempty"`
		Modified bool   `json:"modified,omitempty"`
		Protocol string `json:"protocol"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{
		programVersion(), hash, date, modified, protocol.Subprotocol, runtime.Version(), runtime.GOOS, runtime.GOARCH,
	}
	return o.app.print(result, func(w io.Writer) {
		fmt.Fprintln(w, versionLine())
	})
}

func versionLine() string {
	return fmt.Sprintf("agentctl %s (%s, %s, %s/%s)", programVersion(), protocol.Subprotocol, runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

// programVersion returns the version of the release, else the version that the Go tool recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Set by the build of a release.
var commit, commitDate string

// revision returns the commit that the program was built from and its date: those of the release,
// else those that the Go tool recorded. modified reports whether files differed from the commit.
// Without a clone all are empty.
func revision() (hash, date string, modified bool) {
	if commit != "" {
		return commit, commitDate, false
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = s.Value
		case "vcs.time":
			date = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return hash, date, modified
}
