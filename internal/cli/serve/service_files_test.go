//go:build unix

package serve

import (
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"

	"agentctl/internal/cli/verb"
)

// TestTheServiceFilesRunAServer reads the command lines of the service files as the program does.
func TestTheServiceFilesRunAServer(t *testing.T) {
	unit, err := os.ReadFile("../../../packaging/agentctl@.service")
	if err != nil {
		t.Fatal(err)
	}
	plist, err := os.ReadFile("../../../packaging/agentctl.server.plist")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Arguments []string `xml:"dict>array>string"`
	}
	if err := xml.Unmarshal(plist, &document); err != nil || len(document.Arguments) != 3 {
		t.Fatalf("%q, %v", document.Arguments, err)
	}
	for _, text := range []string{string(unit), document.Arguments[2]} {
		m := regexp.MustCompile(`(?:=|/usr/local/bin/)agentctl (serve .*)`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no server in %s", text)
		}
		var got *serveOptions
		cmd := serveVerb.Command(&verb.Context{Env: os.Getenv}, func(o any) error { got = o.(*serveOptions); return nil })
		cmd.SetArgs(strings.Fields(m[1])[1:])
		if err := cmd.ExecuteContext(t.Context()); err != nil || got == nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}
