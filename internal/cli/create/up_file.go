package create

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"agentctl/internal/agents"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/worktree"
	"agentctl/protocol"
)

// upFile is the file of up.
type upFile struct {
	Sessions []upSession `json:"sessions"`
}

// upSession describes a session in the file of up.
type upSession struct {
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Dir      string            `json:"dir"`   // relative to the file
	Agent    string            `json:"agent"` // the script of an agent: relative to the file
	Labels   map[string]string `json:"labels"`
	Mode     string            `json:"mode"`
	Model    string            `json:"model"`
	Policy   string            `json:"policy"`
	Limit    *int              `json:"continue_after_limit"` // continuations; nil: the server's default
	Sandbox  string            `json:"sandbox"`
	Network  string            `json:"sandbox_network"`
	Options  map[string]string `json:"options"`
	Prompt   string            `json:"prompt"` // sent when the session is created
	Worktree *upWorktree       `json:"worktree"`

	relative bool           // dir is of this machine
	lines    map[string]int // of the fields in the file, by name
}

// upWorktree is the git worktree of a session.
type upWorktree struct {
	Branch string `json:"branch"` // "": the name of the session
	Base   string `json:"base"`
}

// readUpFile reads a file in JSON or, by its extension, YAML. "-" is stdin, in either.
func readUpFile(ctx context.Context, in verb.Input, name string) (*upFile, error) {
	dir := filepath.Dir(name)
	b, err := in.ReadFile(ctx, name)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	f, err := parseUpFile(b, filepath.Ext(name) != ".json")
	if err != nil {
		if name == "-" {
			name = "stdin"
		}
		return nil, exit.Usagef("%s: %w", name, err).WithHint("see: agentctl up --help")
	}
	f.setLines(b)
	for i := range f.Sessions {
		s := &f.Sessions[i]
		s.relative = !filepath.IsAbs(s.Dir)
		s.Dir = joinPath(dir, s.Dir)
		if script, ok := strings.CutPrefix(s.Agent, agents.ScriptScheme); ok {
			s.Agent = agents.ScriptScheme + joinPath(dir, script)
		}
	}
	return f, nil
}

// joinPath returns an absolute path; a relative one begins at dir, "~/" at the home directory.
func joinPath(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// parseUpFile parses JSON, or YAML of which JSON is a part, and checks what needs no server.
func parseUpFile(b []byte, isYAML bool) (*upFile, error) {
	if !isYAML {
		if err := json.Unmarshal(b, new(json.RawMessage)); err != nil {
			return nil, err
		}
	} else {
		var v any
		if err := yaml.Unmarshal(b, &v); err != nil {
			return nil, err
		}
		var err error
		if b, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("not a tree of names and values: %w", err)
		}
	}
	f := new(upFile)
	if err := protocol.DecodeStrict(b, f); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for i := range f.Sessions {
		s := &f.Sessions[i]
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("sessions[%d]: %w", i, err)
		}
		if names[s.Name] {
			return nil, fmt.Errorf("sessions[%d]: the name %s is there twice", i, s.Name)
		}
		names[s.Name] = true
	}
	if len(names) == 0 {
		return nil, errors.New("no sessions")
	}
	return f, nil
}

func (s *upSession) check() error {
	if s.Name == "" {
		return errors.New("name: missing")
	}
	if strings.ContainsAny(s.Policy, "./") {
		return errors.New("policy: want the name of a policy")
	}
	if _, set := s.Labels[worktree.Label]; set && s.Worktree != nil {
		return fmt.Errorf("labels: %s is set by worktree", worktree.Label)
	}
	if _, err := s.sandbox().value(); err != nil {
		return err
	}
	return protocol.CheckLabels(s.Labels)
}

func (s *upSession) sandbox() *sandboxFlags {
	return &sandboxFlags{Mode: s.Sandbox, Network: s.Network}
}

// branch returns the branch of the session's worktree, or "".
func (s *upSession) branch() string {
	switch {
	case s.Worktree == nil:
		return ""
	case s.Worktree.Branch == "":
		return s.Name
	}
	return s.Worktree.Branch
}

// settings returns the settings of the agent by name.
func (s *upSession) settings() map[string]string {
	values := maps.Clone(s.Options)
	for name, value := range map[string]string{settingMode: s.Mode, settingModel: s.Model, settingPolicy: s.Policy} {
		if values == nil {
			values = map[string]string{}
		}
		if value != "" {
			values[name] = value
		}
	}
	if s.Limit != nil {
		values[settingLimit] = strconv.Itoa(*s.Limit)
	}
	return values
}

// newOptions returns the options of new that create the session.
func (s *upSession) newOptions(run verb.Options) *newOptions {
	o := &newOptions{Options: run, Name: s.Name, Title: s.Title, Labels: pairs(s.Labels), Prompt: s.Prompt}
	o.SessionFlags = SessionFlags{
		Agent: s.Agent, CWD: s.Dir, Settings: settingFlags{Options: pairs(s.settings())}, Sandbox: *s.sandbox(),
	}
	if s.Worktree != nil {
		o.Worktree = worktreeFlags{Wanted: true, Branch: s.branch(), Base: s.Worktree.Base}
	}
	return o
}

// pairs returns a map as K=V, sorted.
func pairs(m map[string]string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, key+"="+m[key])
	}
	return list
}
