package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Role limits the commands that a client may send. Of the roles of credentials each includes the
// weaker ones. The empty role, of a client that needs no credential, allows every command.
type Role string

// The roles.
const (
	RoleObserver Role = "observer" // reads
	RoleOperator Role = "operator" // sends, interrupts, changes the queue, creates and closes sessions
	RoleApprover Role = "approver" // decides approvals
	RoleAdmin    Role = "admin"

	// RoleMetrics is the role of a credential that reads the metrics of the server and sends no
	// command.
	RoleMetrics Role = "metrics"

	// RoleAgent is the role of a process that an agent started. No credential has it.
	RoleAgent Role = "agent"

	// RoleDecider is the role of a link in a notification of a hook: it decides one request. No
	// credential has it.
	RoleDecider Role = "decider"
)

// Roles lists the roles of users and credentials, the weakest first. RoleMetrics is apart.
var Roles = []Role{RoleObserver, RoleOperator, RoleApprover, RoleAdmin}

// A Scope defines in which sessions a role may send a command.
type Scope string

// The scopes.
const (
	ScopeNone    Scope = "none"
	ScopeRequest Scope = "request" // only for the request of the link
	ScopeOwn     Scope = "own"     // that the agent of the caller created, or their agents did
	ScopeEvery   Scope = "every"
)

// Scope returns the scope of a command. An unknown verb requires RoleOperator. An unknown role has
// the permissions of RoleObserver.
func (r Role) Scope(v Verb) Scope {
	required := RoleOperator
	if t := CommandOf(v); t != nil {
		required = t.Role
	}
	switch {
	case r == "":
		return ScopeEvery
	case r == RoleDecider && v == DoApprove:
		return ScopeRequest
	case r == RoleDecider, r == RoleMetrics:
		return ScopeNone
	case r == RoleAgent && (required == RoleOperator || v == DoExport): // an export is recorded in its session
		return ScopeOwn
	case max(0, slices.Index(Roles, r)) >= slices.Index(Roles, required):
		return ScopeEvery
	}
	return ScopeNone
}

// May reports whether the role allows a command, in some sessions at least.
func (r Role) May(v Verb) bool { return r.Scope(v) != ScopeNone }

// Refusal returns the error for a command that the role does not allow.
func (r Role) Refusal(v Verb) *Error {
	if r == RoleAgent {
		return Errorf(CodeForbidden, "an agent may not %s: a user decides what agents may do", v)
	}
	return Errorf(CodeForbidden, "the role %s may not %s", r, v)
}

// agentSubject begins the subject of the actor of an agent.
const agentSubject = "agent:"

// AgentActor returns the actor for actions of a session's agent. Name is the session's name, or
// empty.
func AgentActor(session, name string) Actor {
	return Actor{Name: fmt.Sprintf("agent of session %s", cmp.Or(name, session)), Subject: agentSubject + session}
}

// AgentSession returns the session whose agent the actor is, or "".
func (a Actor) AgentSession() string {
	session, ok := strings.CutPrefix(a.Subject, agentSubject)
	if !ok {
		return ""
	}
	return session
}
