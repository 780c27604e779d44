// Package interop proves, against real programs, that what the project says over the Agent Client Protocol is understood.
// Its tests run whole sessions, store included, on pinned releases of real agents, whose model is a fake endpoint on the
// loopback interface: no key, no network, the same words each time.
//
// The tests are behind the build tag interop, since they need the agents that ./install puts beside this file. Without
// them they fail. Nothing of the project may import this package.
package interop
