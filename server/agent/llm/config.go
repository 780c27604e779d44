package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
	"agentctl/server/policy"
)

// A Config is an agent in the configuration of the server.
type Config struct {
	Model        string   `json:"model"`        // PROVIDER/MODEL, or a name that implies its provider
	Models       []string `json:"models"`       // further ones that users can choose; default all of the provider
	Effort       string   `json:"effort"`       // of reasoning: low, medium, high and others; default the provider's
	Prompt       string   `json:"prompt"`       // path of a file with the system prompt, instead of agentctl's own
	Instructions string   `json:"instructions"` // for the model, after the system prompt
	Budget       Budget   `json:"budget"`       // limits of turns and of the session

	Context ContextConfig `json:"context"` // when the conversation is compacted
	Tasks   TaskConfig    `json:"tasks"`   // of the sub-agents that the model starts

	// Policy defines which tool calls run without asking. Users can choose full only if it is
	// configured; default ask
	Policy policy.Policy `json:"policy"`
}

// A Budget bounds turns and the session.
type Budget struct {
	Turn    Limits `json:"turn"`    // of one turn
	Session Limits `json:"session"` // of all turns together
}

// Limits bound what requests use; 0: no limit, except for the requests of a turn.
type Limits struct {
	Requests int     `json:"requests"` // to the model; default 250 of a turn, 50 of a task
	Tokens   int64   `json:"tokens"`   // of input and output; default no limit
	Cost     float64 `json:"cost"`     // in the currency of the price; default no limit
}

// defaultRequests bounds the requests of a turn unless the budget does.
const defaultRequests = 250

// Check returns the first invalid value. It does not know the models.
func (c *Config) Check() error {
	if c.Effort != "" && !slices.Contains(efforts, c.Effort) {
		return fmt.Errorf("effort: invalid value %q: want one of %s", c.Effort, strings.Join(efforts, ", "))
	}
	if !c.Policy.Valid() {
		return fmt.Errorf("policy: invalid value %q: want ask, auto-read, auto-edit, full, deny or plan", c.Policy)
	}
	if s := c.Context.Strategy; s != "" && s != contextThreshold && s != contextManual {
		return fmt.Errorf("context.strategy: invalid value %q: want threshold or manual", s)
	}
	if t := c.Context.Threshold; t != 0 && (t < 0.1 || t > 0.95) {
		return errors.New("context.threshold: want 0.1 to 0.95")
	}
	for name, l := range map[string]Limits{
		"budget.turn": c.Budget.Turn, "budget.session": c.Budget.Session, "tasks.budget": c.Tasks.Budget,
	} {
		if l.Requests < 0 || l.Tokens < 0 || l.Cost < 0 {
			return errors.New(name + ": must be positive")
		}
	}
	return nil
}

// Options are an agent's dependencies, in addition to its configuration.
type Options struct {
	Name   string // of the agent
	Config Config

	// Open returns a model by its name. The key is read now.
	Open func(ctx context.Context, name string) (model.Backend, error)

	// Models knows the models of providers; nil: the usual ones.
	Models Models

	// Toolbox opens the tools of a session; nil: no tools.
	Toolbox func(spec agent.Spec, host agent.Host) (Toolbox, error)
}
