package policy

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
)

// A Choice is the policy that users chose for an agent, as stored.
type Choice struct {
	Policy Policy               `json:"policy,omitempty"`      // if the agent has no policy setting; empty: the default
	File   *protocol.PolicyFile `json:"policy_file,omitempty"` // decides instead of Policy
}

// A Decider decides the requests of an agent instead of users, by a policy or a policy file. An
// agent with its own policy decides itself, unless there is a file.
type Decider struct {
	Choice

	Configured Policy // of the agent in the configuration; empty: Ask
	AgentHas   bool   // the agent has the setting SettingID
}

// Name returns the policy in force.
func (d *Decider) Name() Policy { return Effective(d.Policy, d.Configured) }

// Label returns the value of the setting: the name of the policy or of the file.
func (d *Decider) Label() string {
	if d.File != nil {
		return protocol.PolicyFilePrefix + d.File.Name
	}
	return string(d.Name())
}

// Take moves the policy from the settings of a new session to the choice, unless the agent has its
// own policy. With a policy file, it sets the agent's own policy to ask. It returns the settings
// for the agent. An invalid file or policy has the code invalid_message.
func (d *Decider) Take(settings map[string]string) (map[string]string, error) {
	if d.File != nil {
		if err := CheckFile(d.File); err != nil {
			return settings, protocol.Errorf(protocol.CodeInvalidMessage, "policy: %v", err)
		}
	}
	value, chosen := settings[SettingID]
	if d.AgentHas && d.File == nil || !d.AgentHas && !chosen {
		return settings, nil
	}
	left := map[string]string{}
	maps.Copy(left, settings)
	if d.AgentHas {
		left[SettingID] = string(Ask)
		return left, nil
	}
	if err := d.check(value); err != nil {
		return settings, err
	}
	d.Policy = Policy(value)
	delete(left, SettingID)
	return left, nil
}

// Choose returns the choice after the setting was set to a value: without the file, unless the
// value is its label. For a value that is not offered the error has the code invalid_message;
// without a file, the agent checks the values of its own policy.
func (d *Decider) Choose(value string) (Choice, error) {
	if d.File != nil && value == d.Label() {
		return d.Choice, nil
	}
	if !d.AgentHas || d.File != nil {
		if err := d.check(value); err != nil {
			return d.Choice, err
		}
	}
	if d.AgentHas {
		return Choice{Policy: d.Policy}, nil
	}
	return Choice{Policy: Policy(value)}, nil
}

// check returns an error unless the setting offers a policy.
func (d *Decider) check(name string) error {
	offered := Setting("", d.Configured).Choices
	switch {
	case slices.ContainsFunc(offered, func(c protocol.Choice) bool { return c.ID == name }):
		return nil
	case name == string(Full):
		return protocol.Errorf(protocol.CodeInvalidMessage,
			`the policy full needs "policy": "full" of the agent in the configuration of the server`)
	}
	return protocol.Errorf(protocol.CodeInvalidMessage,
		"%.80q is not a policy: want ask, auto-read, auto-edit, deny or plan", name)
}

// HasSetting reports whether the policy is a setting added to the agent's settings.
func (d *Decider) HasSetting() bool { return !d.AgentHas || d.File != nil }

// AddSetting returns the settings of the agent with the policy as the last one. It replaces a
// setting of the same id.
func (d *Decider) AddSetting(o protocol.Options) protocol.Options {
	own := RequestSetting(d.Name(), cmp.Or(d.Configured, Ask))
	if d.File != nil {
		own.Value = d.Label()
		own.Choices = append(own.Choices, protocol.Choice{ID: own.Value, Label: "File " + d.File.Name})
	}
	settings := slices.DeleteFunc(slices.Clone(o.Settings), func(set protocol.Setting) bool {
		return set.ID == SettingID
	})
	o.Settings = append(settings, own)
	return o
}

// Judge returns the policy's ruling on a request. Under the policy ask it leaves the request to a
// user: the agent sends only requests that need one.
func (d *Decider) Judge(c *Call) Ruling {
	if d.File != nil {
		return JudgeFile(d.File, c)
	}
	p := d.Name()
	if d.AgentHas || p == Ask {
		return Ruling{}
	}
	r := p.Judge(*c)
	if r.Action == Allow && r.Reason == "" {
		switch {
		case p == Full:
			r.Reason = "everything is allowed"
		case c.Safe:
			r.Reason = "it only reads, in the directory of the session"
		default:
			r.Reason = "it changes files in the directory of the session only"
		}
	}
	return r
}

// Resolve returns the resolution of a request by the policy. ok is false if a user is asked.
func (d *Decider) Resolve(request string, c *Call) (r protocol.ApprovalResolvedData, ok bool) {
	ruling := d.Judge(c)
	r = protocol.ApprovalResolvedData{Request: request, ByPolicy: d.Label(), Reason: ruling.Reason}
	switch ruling.Action {
	case Allow:
		r.Outcome, r.Decision = protocol.Allowed, protocol.AllowOnce
	case Refuse:
		r.Outcome, r.Decision = protocol.Denied, protocol.Deny
	default:
		return r, false
	}
	return r, true
}

// AfterPlan returns the choice after a user allowed a request under the policy Plan: a plan, or the
// agent's next step, such as the choice of a mode, which agents send as a tool request. ok is false
// if the request does not end planning.
func (d *Decider) AfterPlan(a *protocol.Approval) (next Choice, ok bool) {
	if !d.AgentHas && d.File == nil && d.Name() == Plan &&
		(a.Kind == protocol.ApprovePlan || a.Kind == protocol.ApproveTool) {
		next.Policy = cmp.Or(d.Configured, Ask)
		if next.Policy == Plan {
			next.Policy = Ask
		}
		return next, true
	}
	return d.Choice, false
}

// Timeout returns the time for the decision of a request: the shorter one of the server and of the
// policy file; 0: no limit.
func (d *Decider) Timeout(server time.Duration) time.Duration {
	if d.File != nil {
		if own, _ := FileTimeout(d.File); own > 0 && (server == 0 || own < server) {
			return own
		}
	}
	return server
}
