package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"agentctl/internal/dev/testbinary"
)

// hello is the shortest program, to which the start of agentctl is compared.
const hello = "package main\n\nfunc main() { println(\"hello\") }\n"

// measureStart measures commands of the command line, from start to exit.
func measureStart(ctx context.Context, b *bench) error {
	program, empty, err := b.buildPrograms(ctx)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp(b.dir, "home-")
	if err != nil {
		return err
	}
	s, err := b.start(ctx, agentctl, "", 0)
	if err != nil {
		return err
	}
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	commands := []struct {
		of   string
		args []string
	}{
		{"hello", []string{empty}},
		{"version", []string{program, "version"}},
		{"send", []string{
			program, "send", "--server", "ws://" + s.address, "--token", token, "--no-wait", id, `{"events":0}`,
		}},
	}
	for range b.Repeat * b.pick(5, 20) {
		for _, c := range commands {
			x := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
			x.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_RUNTIME_DIR="+home)
			began := time.Now()
			if out, err := x.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", c.of, err, out)
			}
			b.add(c.of, "program", "ms", time.Since(began).Seconds()*1e3)
		}
	}
	return nil
}

// buildPrograms builds agentctl and the shortest program, and returns their paths.
func (b *bench) buildPrograms(ctx context.Context) (program, empty string, err error) {
	if program, err = testbinary.Build(b.dir); err != nil {
		return "", "", err
	}
	source, empty := filepath.Join(b.dir, "hello.go"), filepath.Join(b.dir, "hello")
	if err := os.WriteFile(source, []byte(hello), 0o600); err != nil {
		return "", "", err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", empty, source).CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("build hello: %w\n%s", err, out)
	}
	return program, empty, nil
}
