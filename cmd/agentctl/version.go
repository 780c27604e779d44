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
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of agentctl, its protocol, and the Go version and platform it was built for.",
		Example: "  agentctl version -o json",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
}

func runVersion(_ context.Context, o *versionOptions) error {
	result := struct {
		Version  string `json:"version"`
		Protocol string `json:"protocol"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{programVersion(), protocol.Subprotocol, runtime.Version(), runtime.GOOS, runtime.GOARCH}
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
