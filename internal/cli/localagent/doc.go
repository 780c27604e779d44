// Package localagent looks at the agents of this machine for the user's own server: which are
// installed and logged in, which one is the default, and which variables of the shell a session of
// theirs gets.
//
// It starts no agent and opens no connection.
package localagent
