package verb

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"agentctl/protocol"
)

// A Build says what the program was built from, as the build of a release sets it. Empty fields are
// those that the Go tool recorded.
type Build struct {
	Release string // version of the release
	Commit  string
	Date    string // of the commit
}

// Version returns the version of the program.
func (b *Build) Version() string {
	if b.Release != "" {
		return b.Release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Revision returns the commit that the program was built from and its date. modified reports
// whether files differed from the commit. Without a clone all are empty.
func (b *Build) Revision() (hash, date string, modified bool) {
	if b.Commit != "" {
		return b.Commit, b.Date, false
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

// Line describes the program in one line.
func (b *Build) Line() string {
	return fmt.Sprintf("agentctl %s (%s, %s, %s/%s)", b.Version(), protocol.Subprotocol, runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

// UserAgent returns the name and version of the program for servers.
func (b *Build) UserAgent() string { return "agentctl " + b.Version() }
