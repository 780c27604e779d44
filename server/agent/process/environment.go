package process

import (
	"os"
	"slices"
	"strings"
)

// tokenVariable holds the credential of a client. No program gets it: with it an agent could decide
// its own requests.
const tokenVariable = "AGENTCTL_TOKEN"

// environment returns the variables of the program.
func (c *Command) environment() []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == tokenVariable || name == SessionVariable
	})
	if c.Session != "" {
		env = append(env, SessionVariable+"="+c.Session)
	}
	return env
}
