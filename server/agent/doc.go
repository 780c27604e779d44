// Package agent declares what a session and its agent are to each other: the Agent with its optional
// interfaces, and the Host and the Output that serve it. The packages below it implement agents.
//
// It must not know sessions, the store, or any kind of agent.
package agent
