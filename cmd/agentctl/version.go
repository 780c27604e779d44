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
		Example: "  agentctl version -o json",
		Args:    takes(0, 0),
		RunE:    does(a, o, nil, run),
	}
}

func runVersion(_ context.Context, o *versionOptions) error {
	v := struct {
		Version  string `json:"version"`
		Protocol string `json:"protocol"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{programVersion(), protocol.Subprotocol, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	return o.app.emit(v, func(w io.Writer) {
		fmt.Fprintf(w, "agentctl %s (%s, %s, %s/%s)\n", v.Version, v.Protocol, v.Go, v.OS, v.Arch)
	})
}

// programVersion is the release's version, else what the Go tool recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
