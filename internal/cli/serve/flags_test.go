package serve

import (
	"testing"

	"agentctl/internal/dev/verbtest"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	verbtest.CheckOptions(t, &serveVerb, "--listen :1 --listen :2 --default-agent a --insecure", serveOptions{
		Listen: []string{":1", ":2"}, overrides: overrides{DefaultAgent: "a"}, Insecure: true,
	})
}
