package acp

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"agentctl/protocol"
)

// An account is what an agent reports of the account that it uses. The zero value has no report.
type account struct {
	mu        sync.Mutex
	windows   []protocol.UsageWindow // as last reported
	cost      *cost                  // of the ACP session, reported since the last call of takeCost
	loggedOut bool
}

// setWindows notes reported windows and returns all, if they have changed. A report with one window
// leaves the others as they are.
func (a *account) setWindows(reported []protocol.UsageWindow) (all []protocol.UsageWindow, changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all = slices.Clone(a.windows)
	for _, w := range reported {
		i := slices.IndexFunc(all, func(known protocol.UsageWindow) bool { return known.Name == w.Name })
		if i < 0 {
			all = append(all, w)
		} else {
			all[i] = w
		}
	}
	changed = !reflect.DeepEqual(all, a.windows)
	a.windows = all
	return all, changed
}

func (a *account) setCost(reported *cost) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cost = reported
}

// takeCost returns the last reported cost and forgets it; nil: none since the last call.
func (a *account) takeCost() *cost {
	a.mu.Lock()
	defer a.mu.Unlock()
	reported := a.cost
	a.cost = nil
	return reported
}

// applyStatus notes whether the agent reports that no user is logged in. Agents that send this
// extension still open a session, and refuse the first prompt.
func (a *account) applyStatus(method string, params json.RawMessage) {
	if method != "_auth/status_update" {
		return
	}
	var p struct {
		Status struct{ Kind string } `json:"authStatus"`
	}
	if decode(params, &p) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loggedOut = p.Status.Kind == "none"
}

// isLoggedOut reports whether the agent reported that no user is logged in, and its environment has
// none of the keys. The status of claude-agent-acp 0.101 ignores CLAUDE_CODE_OAUTH_TOKEN.
func (a *account) isLoggedOut(keys, env []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	lookup := lookupIn(env)
	return a.loggedOut && !slices.ContainsFunc(keys, func(name string) bool { return lookup(name) != "" })
}
