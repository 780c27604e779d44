package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type versionOptions struct{ cli *verb.Context }

var versionVerb = verb.Verb{
	Name: "version", Group: verb.GroupServer,
	Build: func(cli *verb.Context) *cobra.Command { return newVersion(cli, runVersion) },
}

func newVersion(cli *verb.Context, run func(context.Context, *versionOptions) error) *cobra.Command {
	o := &versionOptions{cli: cli}
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: "Print the version of agentctl, its protocol, and the Go version and platform it was built for; " +
			"with -o json also the commit that it was built from, its date, and modified if files differed from it.",
		Example: "  agentctl version -o json",
		Args:    verb.RangeArgs(0, 0),
		RunE:    verb.RunE(cli, o, nil, run),
	}
}

func runVersion(_ context.Context, o *versionOptions) error {
	b := &o.cli.Build
	hash, date, modified := b.Revision()
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
		b.Version(), hash, date, modified, protocol.Subprotocol, runtime.Version(), runtime.GOOS, runtime.GOARCH,
	}
	return o.cli.Print(result, func(w io.Writer) {
		fmt.Fprintln(w, b.Line())
	})
}
