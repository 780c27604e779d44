package process

import (
	"os"
	"slices"
	"strings"
)

// tokenVariable holds the credential of a client. No program gets it: with it an agent could decide
// its own requests.
const tokenVariable = "AGENTCTL_TOKEN"

// markVariable has the mark of a program. A server that starts in the background drops it, like all
// variables of agentctl.
const markVariable = "AGENTCTL_COMMAND"

// environment returns the variables of the program, with its mark.
func (c *Command) environment(mark string) []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == tokenVariable || name == SessionVariable || name == markVariable && mark != ""
	})
	if mark != "" {
		env = append(env, mark)
	}
	if c.Session != "" {
		env = append(env, SessionVariable+"="+c.Session)
	}
	return env
}
