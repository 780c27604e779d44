package create

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"agentctl/internal/agents"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/server/agent/acp"
)

// checkNew returns an error with a line for each thing that keeps sessions from being created.
func (o *upOptions) checkNew(c *connection.Conn, steps []*upStep) error {
	var found []string
	for _, step := range steps {
		if step.result.Result != upCreated {
			continue
		}
		s := step.session
		if err := s.checkDir(c); err != nil {
			found = append(found, s.where("dir", o.File)+err.Error())
		}
		if err := s.checkAgent(localagent.Of(o.CLI), c); err != nil {
			found = append(found, s.where("agent", o.File)+err.Error())
		}
	}
	if len(found) == 0 {
		return nil
	}
	return exit.Usagef("%s", strings.Join(found, "\n")).WithHint("see: agentctl up --help; agentctl agents")
}

// where returns the beginning of an error about a field: file, line and name of the session.
func (s *upSession) where(field, file string) string {
	if file == "-" {
		file = "stdin"
	}
	if line := s.lines[field]; line > 0 {
		file = fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s: %s: %s: ", file, output.OneLine(s.Name, 0), field)
}

// checkDir returns an error if the directory is missing. A directory of another machine is not
// checked.
func (s *upSession) checkDir(c *connection.Conn) error {
	if !c.Local {
		return nil
	}
	if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory", output.Cell(s.Dir, 0))
	}
	return nil
}

// checkAgent returns an error if the server has no agent of that name, or none for a session
// without one. It starts nothing.
func (s *upSession) checkAgent(m localagent.Machine, c *connection.Conn) error {
	names := c.Hello().Agents
	if s.Agent == "" {
		if c.Own {
			_, _, err := m.Default(names)
			return err
		}
		return nil
	}
	if script, ok := strings.CutPrefix(s.Agent, agents.ScriptScheme); ok {
		if !c.Local {
			return nil
		}
		_, err := os.Stat(script)
		return err
	}
	if slices.Contains(names, s.Agent) ||
		strings.HasPrefix(s.Agent, acp.Scheme) || strings.HasPrefix(s.Agent, agents.LLMScheme) {
		return nil
	}
	return fmt.Errorf("no agent is called %q: want one of %s, llm:MODEL, acp:COMMAND or script:FILE",
		s.Agent, strings.Join(names, ", "))
}

// setLines sets the lines of the fields of sessions from their file. The lines of a file that YAML
// does not read are not known.
func (f *upFile) setLines(b []byte) {
	var file struct {
		Sessions []yaml.Node `yaml:"sessions"`
	}
	if yaml.Unmarshal(b, &file) != nil || len(file.Sessions) != len(f.Sessions) {
		return
	}
	for i := range f.Sessions {
		node := &file.Sessions[i]
		if node.Alias != nil {
			node = node.Alias
		}
		lines := map[string]int{}
		for k := 0; k+1 < len(node.Content); k += 2 { // keys and values
			lines[node.Content[k].Value] = node.Content[k].Line
		}
		for _, field := range []string{"dir", "agent"} {
			if lines[field] == 0 {
				lines[field] = node.Line
			}
		}
		f.Sessions[i].lines = lines
	}
}
