package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type versionOptions struct{ verb.Options }

var versionVerb = verb.Verb{
	Use:   "version",
	Short: "Print the version",
	Long: "Print the version of agentctl, its protocol, and the Go version and platform it was built for; " +
		"with -o json also the commit that it was built from, its date, and modified if files differed from it.",
	Example: "  agentctl version -o json",
	Group:   verb.GroupServer,

	Do: &verb.Steps[versionOptions]{Run: runVersion},
}

func runVersion(_ context.Context, o *versionOptions) error {
	b := &o.CLI.Build
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
	return o.CLI.Out.Print(result, func(w io.Writer) {
		fmt.Fprintln(w, b.Line())
	})
}
