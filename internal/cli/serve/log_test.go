package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/agents"
	"agentctl/internal/config"
	"agentctl/internal/localserver"
)

func TestTheLogHidesSecretsOfTheServer(t *testing.T) {
	dir := localserver.Dir(t.TempDir())
	if err := os.WriteFile(dir.Path("token"), []byte("token-of-the-directory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MODEL_API_KEY", "value-of-the-server")
	c := &config.Server{StateSecret: "secret-of-states"}
	c.Agents = map[string]agents.Config{"mine": {Env: map[string]string{"K": "value-of-the-agent"}}}
	server := agents.MCPServer{}
	server.Env = map[string]string{"K": "prefix ${MODEL_API_KEY}"}
	server.Headers = map[string]string{"X": "value-of-the-header"}
	c.MCP = map[string]agents.MCPServer{"files": server}

	l := &logFlags{File: filepath.Join(t.TempDir(), "log")}
	if err := l.open(nil); err != nil {
		t.Fatal(err)
	}
	l.hide(c, dir)
	secrets := []string{
		"token-of-the-directory", "value-of-the-server", "secret-of-states", "value-of-the-agent",
		"value-of-the-header",
	}
	l.logger.Info("all: "+strings.Join(secrets, " "), "err", secrets)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(l.path())
	if err != nil || !strings.Contains(string(b), "all: ") {
		t.Fatalf("%q %v", b, err)
	}
	for _, secret := range secrets {
		if strings.Contains(string(b), secret) {
			t.Errorf("%s in %s", secret, b)
		}
	}
}
