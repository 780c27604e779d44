package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"agentctl/internal/cli/host"
	"agentctl/server"
)

// --connections sets the limit of the server, and overrides the configuration file.
func TestTheFlagSetsTheLimitOfConnections(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(`{"limits": {"connections": 20}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, want int }{{0, 20}, {10_000, 10_000}} {
		o := &serveOptions{Config: file, overrides: overrides{Connections: c.flag}}
		file, err := o.readConfig()
		if err != nil {
			t.Fatal(err)
		}
		l := serverConfig(file, nil, "", slog.New(slog.DiscardHandler)).Limits
		if l.Connections != c.want {
			t.Errorf("--connections %d: a limit of %d", c.flag, l.Connections)
		}
		if n := host.NeededFiles(l.Sockets()); n != uint64(c.want)+64+256+host.SpareFiles {
			t.Errorf("--connections %d: %d files", c.flag, n)
		}
	}
	if n := host.NeededFiles(server.Limits{}.Sockets()); n != 4096+64+256+host.SpareFiles {
		t.Errorf("by default: %d files", n)
	}
}
