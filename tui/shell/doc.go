// Package shell runs shell commands of the user on this machine. It owns their process groups: none
// outlives its context. It knows nothing of sessions and agents.
package shell
