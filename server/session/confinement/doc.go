// Package confinement holds the sandbox of a session: who chooses it, what its agent gets of it
// while it is open, and which requests it refuses.
//
// It must not know how agents are opened, how a sandbox is set up, or how a session is stored.
package confinement
