// Package agentlooptest is the rig of the tests of AgentLoop's dialect: a native client above a
// client codec, a native server below a server codec, and the examples of the protocol's document. A
// test makes the codec and plays the foreign end.
package agentlooptest
