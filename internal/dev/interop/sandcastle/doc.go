// Package sandcastle tests agentctl's codec of Sandcastle's protocol against the real library,
// @effect/rpc: third-party clients with the schema of Sandcastle's document against agentctl's
// server, and agentctl's client against third-party servers, with cut connections, killed servers
// and failed streams. It also runs the frontend's useChat hook engine with the transport of the
// document and compares the shown messages with the session.
//
// The tests control Node programs over a line protocol; see client.mjs, server.mjs and
// frontend.mjs. They are behind the build tag interop. They need node and the packages that
// ./install installs next to this file, and fail without them. No other package may import this
// package.
package sandcastle
