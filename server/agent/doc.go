// Package agent declares the interfaces between a session and its agent: the Agent with its
// optional interfaces, and the Host and the Output that serve it. The packages below it implement
// agents.
//
// It must not know sessions, the store, or any kind of agent.
package agent
