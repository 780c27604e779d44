// Package agentprocess keeps account of the process groups that agents run in: how many there are,
// whose a process is, and which a killed server left.
//
// It must not know sessions, or how processes are started and killed.
package agentprocess
