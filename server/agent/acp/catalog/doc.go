// Package catalog owns what differs between agents that speak the Agent Client Protocol: one file
// per agent answers a fixed set of questions, with the version in which each answer was seen.
//
// Package acp has no name of an agent. It looks up an agent by the name that it reports, and uses
// the answers; the zero value has the answers for an unknown agent. Extensions and texts of a
// form that no other agent uses are read from every agent, since agents derived from another send
// them too.
package catalog
