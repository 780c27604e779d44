package sandbox

import (
	"fmt"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// seatbeltBase is what every profile begins with. Later rules overrule earlier ones. The names of
// operations and services are the names that published profiles use: a profile with an unknown one runs
// nothing. Filters for the processes of others do not match reliably, so everything is denied first.
const seatbeltBase = `(version 1)
(allow default)
(deny file-write*)
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))
(deny sysctl-read (sysctl-name "kern.procargs2"))
(deny mach-priv-task-port)
(deny job-creation)
(deny lsopen)
(deny appleevent-send)
(deny mach-lookup
	(global-name "com.apple.SecurityServer")
	(global-name "com.apple.secd")
	(global-name "com.apple.securityd")
	(global-name "com.apple.securityd.xpc")
	(global-name "com.apple.coreservices.launchservicesd")
	(global-name "com.apple.xpc.smd"))
(deny network-outbound (remote unix-socket))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/stdout") (literal "/dev/stderr") (subpath "/dev/fd"))
(deny file-read* file-write* file-ioctl (regex #"^/dev/tty"))
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
`

// seatbeltProfile returns the profile of sandbox-exec for a table. macOS has no private directories and
// no copies in place of files: what is private on Linux is closed, and a file that is copied there is
// read only. Processes have their own directory temp for temporary files and sockets.
func seatbeltProfile(t table, s protocol.Sandbox, temp string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	b.WriteString(seatbeltBase)
	if s.Network == protocol.SandboxNetworkOff {
		line("(deny network*)")
	}
	for _, r := range t.rules() {
		at := "subpath " + strconv.Quote(r.path)
		switch {
		case r.source != "" && r.path == socketInside:
			line("(allow network-outbound (literal %s))", strconv.Quote(r.source))
		case r.access == write && r.source == "":
			line("(allow file-read* file-write* (%s))", at)
		case r.access == read || r.source != "":
			line("(allow file-read* (%s))", at)
			line("(deny file-write* (%s))", at)
		default:
			line("(deny file-read* file-write* (%s))", at)
		}
	}
	for _, r := range t.rules() { // a rename would take a path from its rule
		line("(deny file-write-unlink (literal %s))", strconv.Quote(r.path))
	}
	if temp != "" {
		line("(allow file-read* file-write* network-outbound (subpath %s))", strconv.Quote(temp))
	}
	return b.String()
}
