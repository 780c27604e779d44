package testbinary

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Env is the environment variable that holds the absolute path of a built binary, which must be
// called agentctl. CI sets it so that one build serves all test packages.
const Env = "AGENTCTL_TEST_BINARY"

// Build returns the path of the agentctl binary: the path in Env, or else that of a new build in
// dir.
func Build(dir string) (string, error) {
	if path := os.Getenv(Env); path != "" {
		_, err := os.Stat(path)
		return path, err
	}
	path := filepath.Join(dir, "agentctl")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", path, "agentctl/cmd/agentctl")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build agentctl: %w\n%s", err, out)
	}
	return path, nil
}
