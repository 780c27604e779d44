package sandbox

import (
	"fmt"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// seatbeltProfile returns the profile of sandbox-exec for a table. Later rules overrule earlier
// ones. home's caches that are private on Linux are written: macOS has no private directories, so
// processes get their own temporary directory instead.
func seatbeltProfile(t table, s protocol.Sandbox, temp string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("(version 1)")
	line("(allow default)")
	line("(deny file-write*)")
	line("(deny process-info* (target others))")
	line("(deny signal (target others))")
	line("(allow signal (target same-sandbox))")
	line("(deny mach-lookup (global-name \"com.apple.securityd\") (global-name \"com.apple.coreservices.launchservicesd\"))")
	line("(deny appleevent-send)")
	line("(deny network-outbound (remote unix-socket))")
	if s.Network == protocol.SandboxNetworkOff {
		line("(deny network*)")
	}
	line("(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\"))")
	for _, r := range t.rules() {
		at := "subpath " + strconv.Quote(r.path)
		switch {
		case r.source != "" && r.path == socketInside:
			line("(allow network-outbound (literal %s))", strconv.Quote(r.source))
		case r.access == write:
			line("(allow file-read* file-write* (%s))", at)
		case r.access == read:
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
		line("(allow file-read* file-write* (subpath %s))", strconv.Quote(temp))
	}
	return b.String()
}
