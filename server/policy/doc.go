// Package policy decides which calls of tools and which requests of agents need no user: policies by
// name, policy files, and what a request certainly does. It is data and pure functions, except that
// it resolves links of paths.
//
// It must not know the names of agents and of their tools, sessions, or how a decision is recorded.
package policy
