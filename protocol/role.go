package protocol

// A Role says what whoever holds a credential may do. Each may what the one before it may. The empty role is that of who needs
// no credential: everything.
type Role string

// The roles.
const (
	RoleObserver Role = "observer" // reads
	RoleOperator Role = "operator" // sends, interrupts, arranges the queue, makes and closes sessions
	RoleApprover Role = "approver" // decides what agents may do
	RoleAdmin    Role = "admin"
)

// Roles lists the roles, the weakest first.
var Roles = []Role{RoleObserver, RoleOperator, RoleApprover, RoleAdmin}

// May reports whether the role allows a command. A role that is none of Roles allows what an observer may.
func (r Role) May(v Verb) bool {
	switch r {
	case "", RoleApprover, RoleAdmin:
		return true
	case RoleOperator:
		return v != DoApprove && v != DoRulesRevoke
	}
	t := CommandOf(v)
	return t != nil && !t.Changes
}
