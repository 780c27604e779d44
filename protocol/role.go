package protocol

import "slices"

// A Role limits the commands that the holder of a credential may send. Each role includes the
// weaker ones. The empty role, of a client that needs no credential, allows every command.
type Role string

// The roles.
const (
	RoleObserver Role = "observer" // reads
	RoleOperator Role = "operator" // sends, interrupts, changes the queue, creates and closes sessions
	RoleApprover Role = "approver" // decides approvals
	RoleAdmin    Role = "admin"
)

// Roles lists the roles, the weakest first.
var Roles = []Role{RoleObserver, RoleOperator, RoleApprover, RoleAdmin}

// May reports whether the role allows a command. An unknown verb requires RoleOperator. An unknown
// role allows what RoleObserver allows.
func (r Role) May(v Verb) bool {
	if r == "" {
		return true
	}
	required := RoleOperator
	if t := CommandOf(v); t != nil {
		required = t.Role
	}
	return max(0, slices.Index(Roles, r)) >= slices.Index(Roles, required)
}
