package testbinary

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Env is the environment variable that holds the absolute path of a built binary, which must be
// called agentctl. CI sets it so that one build serves all test packages.
const Env = "AGENTCTL_TEST_BINARY"

// Build returns the path of the agentctl binary: the path in Env, or else of a copy in dir. The copy is
// taken from the cache of go run, so only the first test package after a change links the binary.
func Build(dir string) (string, error) {
	if path := os.Getenv(Env); path != "" {
		_, err := os.Stat(path)
		return path, err
	}
	path := filepath.Join(dir, "agentctl")
	build := exec.CommandContext(context.Background(), "go", "run", "-exec", "cp", "agentctl/cmd/agentctl", path)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build agentctl: %w\n%s", err, out)
	}
	return path, nil
}

// Program is the path of the binary, for the tests of a package that Run runs.
var Program string

// Run builds agentctl, runs the tests of a package and returns their exit code. Call it from TestMain.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "agentctl-test")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		Program, err = Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
