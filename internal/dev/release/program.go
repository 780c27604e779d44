package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A program is a binary, as its build information describes it.
type program struct {
	name     string
	settings map[string]string // of the build
	modules  []*module         // the standard library first, then the others by path
}

// A module is compiled into a program.
type module struct {
	path, version string
	dir           string // where its files are
	licences      []licence
}

// readProgram reads a binary and the licences of its modules.
func readProgram(ctx context.Context, binary string) (*program, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	root, err := goOutput(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	p := &program{name: info.Main.Path, settings: map[string]string{}}
	for _, s := range info.Settings {
		p.settings[s.Key] = s.Value
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		p.modules = append(p.modules, &module{path: m.Path, version: m.Version})
	}
	slices.SortFunc(p.modules, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	if err := findModules(ctx, p.modules); err != nil {
		return nil, err
	}
	std := &module{path: "std", version: strings.TrimPrefix(info.GoVersion, "go"), dir: strings.TrimSpace(root)}
	p.modules = slices.Insert(p.modules, 0, std)
	for _, m := range p.modules {
		if m.licences, err = readLicences(m.dir); err != nil {
			return nil, fmt.Errorf("module %s: %w", m.path, err)
		}
	}
	return p, nil
}

// findModules sets the directories of modules.
func findModules(ctx context.Context, modules []*module) error {
	if len(modules) == 0 {
		return nil
	}
	args := []string{"list", "-m", "-f", "{{.Path}}@{{.Version}}\t{{.Dir}}"}
	for _, m := range modules {
		args = append(args, m.path+"@"+m.version)
	}
	out, err := goOutput(ctx, args...)
	if err != nil {
		return err
	}
	dirs := map[string]string{}
	for line := range strings.Lines(out) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[name] = dir
	}
	for _, m := range modules {
		if m.dir = dirs[m.path+"@"+m.version]; m.dir == "" {
			return fmt.Errorf("module %s %s is not in the module cache; run go mod download", m.path, m.version)
		}
	}
	return nil
}

// goOutput returns what a command of Go prints.
func goOutput(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), nil
}
