// Package interop tests agentctl's use of the Agent Client Protocol against real agents: whole
// sessions, store included, on pinned releases. The agents' model is a fake endpoint on the
// loopback interface, so the tests need no key and no network and are deterministic.
//
// The tests are behind the build tag interop. They need the agents that ./install installs next to
// this file, and fail without them. No other package may import this package.
package interop
