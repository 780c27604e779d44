// Package testbinary provides the agentctl binary, and servers of it, to tests that run it as a
// process. It must not know what the tests do with it.
package testbinary
