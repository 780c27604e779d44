package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// redirects are the variables by which a hook of git points to its own repository.
var redirects = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
}

// git runs git in a directory and returns its output without the end of the last line. It runs no
// monitor of the file system that the repository's configuration names.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(ctx, dir, nil, &out, args...)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// run runs git in a directory, with more variables. Its output goes to out.
func run(ctx context.Context, dir string, env []string, out io.Writer, args ...string) error {
	options := []string{"-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}
	cmd := exec.CommandContext(ctx, "git", append(options, args...)...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(redirects, name)
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	cmd.Env = append(cmd.Env, env...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return gitError(args[0], err, stderr.String())
	}
	return nil
}

// gitError returns the error of a git command with the last line that it wrote.
func gitError(command string, err error, stderr string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("git is not installed")
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if last := strings.TrimPrefix(lines[len(lines)-1], "fatal: "); last != "" {
		return fmt.Errorf("git %s: %s", command, strings.TrimPrefix(last, "error: "))
	}
	return fmt.Errorf("git %s: %w", command, err)
}
