// Package task runs work outside of the event loop of a Bubble Tea program: single tasks (Runner), whose messages find their
// owner by its address, and sources of updates (Pump). Their owner stops them and waits for them.
package task
